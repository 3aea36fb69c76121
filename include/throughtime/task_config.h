#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "throughtime/choice.h"
#include "throughtime/header_line.h"

namespace throughtime {

class OptionList;
class Task;
struct ArrayData;

/// What becomes of the validation data when the last model is to learn from all there is.
enum class HeldOut {
  nothing,     // it is generated apart from the training data: there is nothing to give back
  given_back,  // training reads it now
  kept,        // the task cannot learn from it
};

// Each task has a struct of what it reads, and beside it, in the file of its name:
//
//   describe    the options of the struct, for files, errors and help
//   make_task   the task; all its random numbers come from `seed`
//   give_back   changes the struct so that training reads the validation data too; none: HeldOut::kept
//
// Fields that hold paths are called `data` (the directory of the data sets; empty: $THROUGHTIME_DATA, else data),
// `path`, `target_path` or `files` in every task: TaskType::paths finds them by these names.

/// How tasks of separate sequences show them: one sequence per row, or one endless stream of them per row.
struct SequenceLayout {
  bool stream = false;
  int window = 0;      // streams: steps of a window; 0: length of a sequence
  bool reset = true;   // streams: the state is zero where a sequence starts
  int history = 1000;  // streams: steps before a window that stay readable
};
void describe(SequenceLayout& layout, OptionList& list);

enum class AddMarkers { halves, anywhere };
constexpr auto names_of(AddMarkers) { return choice_names("halves", "anywhere"); }

/// The sum of the two marked numbers of a sequence.
struct AddConfig {
  int length = 200;  // T
  AddMarkers markers = AddMarkers::halves;
  SequenceLayout layout = {};
};
void describe(AddConfig& config, OptionList& list);
std::unique_ptr<Task> make_task(const AddConfig& config, std::uint64_t seed);
inline HeldOut give_back(AddConfig&) { return HeldOut::nothing; }

/// Ten symbols, repeated after a wait.
struct CopyConfig {
  int length = 200;  // T, the blanks to wait
  int symbols = 8;   // data symbols, 8 or 7
  SequenceLayout layout = {};
};
void describe(CopyConfig& config, OptionList& list);
std::unique_ptr<Task> make_task(const CopyConfig& config, std::uint64_t seed);
inline HeldOut give_back(CopyConfig&) { return HeldOut::nothing; }

enum class RecallGenerator { paper, reference, files };
constexpr auto names_of(RecallGenerator) { return choice_names("paper", "reference", "files"); }

/// Each block of symbols of an unbroken stream, repeated.
struct RecallConfig {
  int length = 200;  // steps of a window
  RecallGenerator generator = RecallGenerator::paper;
  bool variable = false;       // blocks of shortest ... block symbols
  int block = 10;              // symbols of a block
  int shortest = 5;            // of a variable block
  std::int64_t steps = 0;      // generated: steps of a row in one pass; 0: endless
  int history = 1000;          // generated: steps before a window that stay readable
  int evaluation_columns = 0;  // files: rows of an evaluation; 0: as many as in training
  std::string data = {};       // files
};
void describe(RecallConfig& config, OptionList& list);
std::unique_ptr<Task> make_task(const RecallConfig& config, std::uint64_t seed);
HeldOut give_back(RecallConfig& config);

/// A bit that is 1 every p steps.
struct CycleWorldConfig {
  int length = 200;        // steps of a window
  int period = 6;          // p
  std::int64_t steps = 0;  // of a row in one pass; 0: endless
  int history = 1000;      // steps before a window that stay readable
};
void describe(CycleWorldConfig& config, OptionList& list);
std::unique_ptr<Task> make_task(const CycleWorldConfig& config, std::uint64_t seed);
inline HeldOut give_back(CycleWorldConfig&) { return HeldOut::nothing; }

/// A bit whose odds depend on the inputs of two lags before.
struct StochasticWorldConfig {
  int length = 200;  // steps of a window
  std::vector<int> lags = {5, 12};
  std::int64_t steps = 0;  // of a row in one pass; 0: endless
  int history = 1000;      // steps before a window that stay readable
};
void describe(StochasticWorldConfig& config, OptionList& list);
std::unique_ptr<Task> make_task(const StochasticWorldConfig& config, std::uint64_t seed);
inline HeldOut give_back(StochasticWorldConfig&) { return HeldOut::nothing; }

/// What a step shows: a pixel, a pixel in an order that was drawn, a row of pixels.
enum class PixelOrder { pixels, permuted, rows };
constexpr auto names_of(PixelOrder) { return choice_names("pixels", "permuted", "rows"); }

/// The steps at which the target of a sequence is asked for.
enum class LossSteps { last, every };
constexpr auto names_of(LossSteps) { return choice_names("last", "every"); }

/// The class of a handwritten digit.
struct MnistConfig {
  PixelOrder order = PixelOrder::pixels;
  std::uint64_t permutation = 1;  // its seed
  LossSteps loss = LossSteps::last;
  double validation = 0.1;  // share of the training images held out
  std::string data = {};
  SequenceLayout layout = {};
};
void describe(MnistConfig& config, OptionList& list);
std::unique_ptr<Task> make_task(const MnistConfig& config, std::uint64_t seed);
HeldOut give_back(MnistConfig& config);

/// The class of a photograph.
struct Cifar10Config {
  LossSteps loss = LossSteps::last;
  double validation = 0.1;  // share of the training images held out
  std::string data = {};
  SequenceLayout layout = {};
};
void describe(Cifar10Config& config, OptionList& list);
std::unique_ptr<Task> make_task(const Cifar10Config& config, std::uint64_t seed);
HeldOut give_back(Cifar10Config& config);

enum class TextCorpus { ptb, wikitext_2, text8, files };
constexpr auto names_of(TextCorpus) { return choice_names("ptb", "wikitext-2", "text8", "files"); }

/// What a token is.
enum class TextUnit { word, character };
constexpr auto names_of(TextUnit) { return choice_names("word", "character"); }

/// The next word or character of a text.
struct TextConfig {
  int length = 200;  // steps of a window
  TextCorpus corpus = TextCorpus::ptb;
  TextUnit unit = TextUnit::word;
  std::vector<std::string> files = {};  // TextCorpus::files: train, validation and test, or one that is cut by `splits`
  std::vector<double> splits = {};      // one file: shares of train, validation, test; none: 0.9, 0.05, 0.05
  int minimum_count = 0;                // rarer tokens are read as <unk>; 0: all tokens count
  bool published_metric = false;        // Metric::published_perplexity beside the exact one
  int evaluation_columns = 0;           // rows of an evaluation; 0: 10
  bool length_varies = false;           // training windows have random lengths around `length`
  int length_cap = 40;                  // and at most so many steps more
  std::string data = {};
};
void describe(TextConfig& config, OptionList& list);
std::unique_ptr<Task> make_task(const TextConfig& config, std::uint64_t seed);
HeldOut give_back(TextConfig& config);

/// What becomes of a value that a recording does not have: it is refused; the last one before it stands in; or that
/// too, and what would have it as a target has no loss.
enum class MissingValues { refuse, hold, skip };
constexpr auto names_of(MissingValues) { return choice_names("refuse", "hold", "skip"); }

/// The user's own recording.
struct SeriesConfig {
  int length = 200;                       // steps of a window
  std::string path = {};                  // the file of the inputs, and of the targets unless they have their own
  std::string target_path = {};           // the file of the targets
  std::vector<std::string> inputs = {};   // columns by name or number; none: all
  std::vector<std::string> targets = {};  // columns by name or number; none: all inputs, or all of target_path
  std::vector<std::string> known = {};    // columns that are known ahead: they enter as they are at the target's step
  std::vector<int> horizon = {1};         // the targets are the target columns so many steps later
  bool difference = false;                // the model predicts how much a target changes until then
  MissingValues missing = MissingValues::refuse;
  int season = 0;                   // steps of a season, for the seasonal baseline; 0: there is none
  double pre_emphasis = 0;          // c of Metric::pre_emphasis_esr; 0: it is not measured
  std::vector<double> splits = {};  // shares of train, validation, test; none: 0.7, 0.1, 0.2
  bool standardise = true;          // inputs and targets to mean 0 and deviation 1 of the training part
  HeaderLine header = HeaderLine::automatic;
  std::string delimiter = ",";  // between the fields of a CSV file, or tab
  int channels = 1;             // numbers per step of a raw float32 file
  int evaluation_columns = 0;   // rows of an evaluation; 0: 1
};
void describe(SeriesConfig& config, OptionList& list);
std::unique_ptr<Task> make_task(const SeriesConfig& config, std::uint64_t seed);
HeldOut give_back(SeriesConfig& config);

/// Mark and time of the next event.
struct PointProcessConfig {
  int length = 200;                     // steps of a window
  std::vector<std::string> files = {};  // train, validation, test; train and test; or one cut by `splits`; none: book
                                        // orders
  std::vector<double> splits = {};      // one file: shares of train, validation, test; none: 0.7, 0.1, 0.2
  std::string delimiter = ",";          // between the fields of a CSV file, or tab
  int fold = 1;                         // 1 to 5 of the book orders
  double scale = 1;                     // factor of all intervals
  bool reset_sequences = false;         // the state is zero where a sequence starts
  bool published_metric = false;        // the published_ metrics beside the exact ones
  int evaluation_columns = 0;           // rows of an evaluation; 0: 64 for book orders, else 1
  std::string data = {};
};
void describe(PointProcessConfig& config, OptionList& list);
std::unique_ptr<Task> make_task(const PointProcessConfig& config, std::uint64_t seed);

/// Whether the target of a sequence is one of several classes, or numbers.
enum class SequenceTarget { automatic, classes, numbers };
constexpr auto names_of(SequenceTarget) { return choice_names("auto", "class", "number"); }

/// A class or a number for each of the user's own sequences.
struct SequencesConfig {
  std::vector<std::string> files = {};    // NPZ, CSV or folder: one that is cut by `splits`; train and test, the first
                                          // of which is cut; or train, validation and test
  std::string target_path = {};           // folder: the table of its targets; empty: labels.csv in it
  std::string id = {};                    // the column that tells sequences apart; empty: id, in a folder's table file
  std::vector<std::string> inputs = {};   // columns of a step; none: all other numbers
  std::vector<std::string> targets = {};  // columns of the targets; none: label
  SequenceTarget kind = SequenceTarget::automatic;  // automatic: numbers where some have a fraction
  LossSteps loss = LossSteps::last;
  std::vector<double> splits = {};  // shares of train, validation, test; none: 0.7, 0.1, 0.2
  std::uint64_t split_seed = 1;     // which sequences are in which split
  bool standardise = true;      // inputs, and targets that are numbers, to mean 0 and deviation 1 of the training part
  std::string delimiter = ",";  // between the fields of a CSV file, or tab
};
void describe(SequencesConfig& config, OptionList& list);
std::unique_ptr<Task> make_task(const SequencesConfig& config, std::uint64_t seed);
HeldOut give_back(SequencesConfig& config);

/// Arrays: those of a program that calls the library, or files of NumPy.
struct ArraysConfig {
  std::string path = {};                         // a directory of .npy files; empty: `memory`
  int length = 100;                              // steps of a window of a recording
  int classes = 0;                               // files: of the labels; 0: targets are numbers
  int vocabulary = 0;                            // files: of the tokens; 0: there are none
  std::shared_ptr<const ArrayData> memory = {};  // no option: only a program has it. Goes before `path`
};
void describe(ArraysConfig& config, OptionList& list);
std::unique_ptr<Task> make_task(const ArraysConfig& config, std::uint64_t seed);

/// The settings of every task, and which one is meant. A member is called as its task.
struct TaskConfig {
  std::string name = "add";
  std::string data = {};  // where the data sets lie, for tasks whose own `data` is empty
  AddConfig add = {};
  CopyConfig copy = {};
  RecallConfig recall = {};
  CycleWorldConfig cycle_world = {};
  StochasticWorldConfig stochastic_world = {};
  MnistConfig mnist = {};
  Cifar10Config cifar10 = {};
  TextConfig text = {};
  SeriesConfig series = {};
  PointProcessConfig point_process = {};
  SequencesConfig sequences = {};
  ArraysConfig arrays = {};
};
/// `name` and `data`, and a table of the options of each task.
void describe(TaskConfig& config, OptionList& list);
/// Makes the task that `config.name` names.
std::unique_ptr<Task> make_task(const TaskConfig& config, std::uint64_t seed);
/// `give_back` of the task that `config.name` names.
HeldOut give_back_validation(TaskConfig& config);

}  // namespace throughtime
