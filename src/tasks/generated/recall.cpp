#include <algorithm>
#include <array>
#include <cmath>

#include "data/byte_stream.h"
#include "data/printable.h"
#include "data/sets.h"
#include "tasks/generated/streams.h"
#include "tasks/series/columns.h"
#include "tasks/shared_options.h"
#include "throughtime/error.h"
#include "throughtime/index.h"
#include "throughtime/options.h"
#include "throughtime/random.h"

namespace throughtime {
namespace {

constexpr std::int32_t blank = 0, mark = 1, first_symbol = 2;

/// The two ways to write a block of length m, which takes 2m steps.
struct Alphabet {
  bool mark_first;  // reference: the mark opens a block and is repeated with the m - 1 symbols after it
  int symbols;      // data symbols
};

Alphabet alphabet_of(RecallGenerator generator) {
  if (generator == RecallGenerator::paper) return {.mark_first = false, .symbols = 6};
  return {.mark_first = true, .symbols = 4};
}

std::vector<Metric> recall_metrics() { return {Metric::perplexity, Metric::cross_entropy, Metric::accuracy}; }

/// Blocks one after the other. Paper: m symbols, the mark, m - 1 blanks; the target is m blanks, then the symbols.
/// Reference: the mark, m - 1 symbols, m blanks; the target is m blanks, then the mark and the symbols.
class RecallStream final : public StepStream {
 public:
  RecallStream(const RecallConfig& config, std::uint64_t seed)
      : pass_steps_(config.steps),
        alphabet_(alphabet_of(config.generator)),
        longest_(config.block),
        shortest_(config.variable ? config.shortest : config.block),
        random_(seed, Purpose::task) {
    require_range("recall", "task.recall.block", longest_, 2, 1'000'000);
    require_range("recall", "task.recall.shortest", shortest_, 2, longest_);
    shape_ = {.window = config.length,
              .input = {.vocabulary = first_symbol + alphabet_.symbols},
              .head = {.name = "softmax", .outputs = first_symbol + alphabet_.symbols},
              .labels = true};
  }

  const StreamShape& shape() const override { return shape_; }
  std::vector<Metric> metrics() const override { return recall_metrics(); }
  /// Knows when a symbol is due, but not which: f ln(symbols), with f the share of symbols among the targets.
  double baseline() const override {
    const double mean = 0.5 * (shortest_ + longest_);
    const double share = (alphabet_.mark_first ? mean - 1 : mean) / (2 * mean);
    return std::exp(share * std::log(alphabet_.symbols));
  }
  std::string baseline_text() const override { return "the right time, any symbol"; }
  std::int64_t pass_steps(Split split, int) const override { return generated_pass(pass_steps_, split); }
  bool starts_over() const override { return true; }

  void write(Split split, int row, int rows, std::int64_t first, const StepSpan& out) override {
    if (cursors_.size() != elements(rows)) cursors_.assign(elements(rows), Cursor());
    Cursor& cursor = cursors_[row];
    seek(cursor, split, row, first);
    for (std::size_t step = 0; step < out.steps(); ++step) {
      const std::int64_t position = first + static_cast<std::int64_t>(step);
      if (position >= cursor.start + 2 * cursor.length) next_block(cursor, row);
      write_step(cursor, row, static_cast<int>(position - cursor.start), out.tokens[step], out.labels[step]);
    }
  }

 private:
  /// The block that a row has come to.
  struct Cursor {
    Split split = Split::train;
    std::int64_t block = -1;
    std::int64_t start = 0;
    int length = 0;
    std::array<std::uint32_t, 4> words = {};  // of four symbols
    int group = -1;                           // which four
  };

  /// Block lengths add up, so a place is found by walking there: from where the row is, or from the start.
  void seek(Cursor& cursor, Split split, int row, std::int64_t position) {
    if (cursor.split != split || cursor.block < 0 || position < cursor.start) {
      cursor = Cursor();
      cursor.split = split;
      next_block(cursor, row);
    }
    if (shortest_ == longest_) {
      const std::int64_t skipped = (position - cursor.start) / (2 * longest_);
      cursor.block += skipped;
      cursor.start += skipped * 2 * longest_;
      if (skipped > 0) cursor.group = -1;
    }
    while (position >= cursor.start + 2 * cursor.length) next_block(cursor, row);
  }

  void next_block(Cursor& cursor, int row) const {
    cursor.start += 2 * cursor.length;
    ++cursor.block;
    cursor.group = -1;
    cursor.length = longest_;
    if (shortest_ < longest_)
      cursor.length = shortest_ + static_cast<int>(random_.below(static_cast<std::uint64_t>(longest_ - shortest_) + 1,
                                                                 counter(cursor), static_cast<std::uint32_t>(row), 0));
  }

  static std::uint64_t counter(const Cursor& cursor) {
    return split_iteration(cursor.split, static_cast<std::uint64_t>(cursor.block));
  }

  /// Entry `index` of the block's m entries.
  std::int32_t entry(Cursor& cursor, int row, int index) const {
    if (alphabet_.mark_first && index == 0) return mark;
    if (index / 4 != cursor.group) {
      cursor.group = index / 4;
      cursor.words =
          random_.words(counter(cursor), static_cast<std::uint32_t>(row), static_cast<std::uint64_t>(cursor.group) + 1);
    }
    const std::uint64_t word = cursor.words[index % 4];
    return first_symbol + static_cast<std::int32_t>(word * static_cast<std::uint64_t>(alphabet_.symbols) >> 32);
  }

  void write_step(Cursor& cursor, int row, int step, std::int32_t& token, std::int32_t& label) const {
    const int m = cursor.length;
    token = step < m ? entry(cursor, row, step) : !alphabet_.mark_first && step == m ? mark : blank;
    label = step < m ? blank : entry(cursor, row, step - m);
  }

  std::int64_t pass_steps_;
  Alphabet alphabet_;
  int longest_, shortest_;  // m
  Random random_;
  StreamShape shape_;
  std::vector<Cursor> cursors_;  // [B]
};

/// The published files: two lines of digits per stream, its inputs and its targets.
class RecallFiles final : public ColumnTask {
 public:
  RecallFiles(const RecallConfig& config, std::uint64_t seed)
      : ColumnTask("recall", seed, {.window = config.length, .evaluation_columns = config.evaluation_columns}) {
    const std::string folder = config.variable ? "copy_variable/" : "copy_fixed/";
    const std::string directory = data_directory(config.data);
    for (const Split split : {Split::train, Split::validation, Split::test}) {
      const std::string name = split == Split::validation ? "valid" : split_name(split);
      read(require_data_file(directory, folder + name + ".txt"), split);
    }
  }

  InputConfig input() const override { return {.vocabulary = 6}; }
  HeadConfig head() const override { return {.name = "softmax", .outputs = 6}; }
  std::vector<Metric> metrics() const override { return recall_metrics(); }
  double baseline() const override {
    const auto labels = source(Split::test).labels;
    const auto data = std::ranges::count_if(labels, [](std::int32_t label) { return label >= first_symbol; });
    return std::exp(static_cast<double>(data) / static_cast<double>(labels.size()) * std::log(4.0));
  }
  std::string baseline_text() const override { return "the right time, any symbol"; }

 private:
  void read(const std::string& path, Split split) {
    std::vector<std::int32_t>& tokens = tokens_[static_cast<std::size_t>(split)];
    std::vector<std::int32_t>& labels = labels_[static_cast<std::size_t>(split)];
    const std::unique_ptr<ByteStream> stream = ByteStream::open(path);
    std::vector<std::byte> chunk(1 << 16);
    std::uint64_t line = 1;
    while (const std::size_t count = stream->read(chunk)) {
      for (std::size_t i = 0; i < count; ++i) {
        const char digit = static_cast<char>(chunk[i]);
        if (digit == '\n') {
          if (++line % 2 == 1 && tokens.size() != labels.size())
            refuse_line("recall", path, line - 1, "a stream has {} inputs and {} targets in all", tokens.size(),
                        labels.size());
          continue;
        }
        if (digit < '0' || digit > '5')
          refuse_line("recall", path, line, "a digit from 0 to 5 was expected, got {}", excerpt({&digit, 1}));
        (line % 2 == 1 ? tokens : labels).push_back(digit - '0');
      }
    }
    if (tokens.empty() || tokens.size() != labels.size())
      refuse("recall", "{}: {} inputs and {} targets; every stream needs as many of both", path, tokens.size(),
             labels.size());
    source(split).steps = tokens.size();
    source(split).tokens = tokens;
    source(split).labels = labels;
  }

  std::array<std::vector<std::int32_t>, 3> tokens_, labels_;
};

}  // namespace

void describe(RecallConfig& config, OptionList& list) {
  list.add("length", config.length, "steps of a window", between(1, 1e7));
  list.add("generator", config.generator,
           "paper: 6 symbols, with a mark after them; reference: 4 symbols, with a mark before them; files: the "
           "published files");
  list.add("block", config.block, "symbols of a block; variable = true: of the longest block", between(2, 1e6));
  list.add("variable", config.variable, "blocks differ in length, from `shortest` to `block` symbols");
  list.add("shortest", config.shortest, "variable = true: symbols of the shortest block, at most `block`",
           between(2, 1e6));
  describe_generated_stream(config.steps, config.history, list);
  list.add("evaluation_columns", config.evaluation_columns,
           "generator = files: how many rows an evaluation cuts the data into, to read them side by side; 0: as many "
           "as in training",
           between(0, 65536));
}

std::unique_ptr<Task> make_task(const RecallConfig& config, std::uint64_t seed) {
  if (config.generator == RecallGenerator::files) return std::make_unique<RecallFiles>(config, seed);
  return make_stream_task("recall", config.history, seed, std::make_unique<RecallStream>(config, seed));
}

HeldOut give_back(RecallConfig& config) {
  return config.generator == RecallGenerator::files ? HeldOut::kept : HeldOut::nothing;
}

}  // namespace throughtime
