#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>

#include "commands.h"
#include "stream_answers.h"
#include "terminal.h"
#include "throughtime/error.h"
#include "train/run/run_directory.h"
#include "train/run/sequence_answers.h"
#include "train/run/step_reader.h"

namespace throughtime {
namespace {

struct PredictArguments {
  std::string run;
  std::string input;   // empty: stdin
  std::string format;  // empty: csv, or as a stream was learned from
  std::string output;  // empty: as the input
  int top = 0;
  bool best = false;
};

LineFormat format_of(const std::string& name) {
  return name.empty() ? LineFormat::csv : choice_of<LineFormat>(name, "predict", "format");
}

/// An empty line before a new sequence.
void answer_all(std::istream& input, Predictor& predictor, StepReader reader, const AnswerWriter& answers,
                bool at_once) {
  show("{}", answers.header());
  Step step;
  for (std::string line; std::getline(input, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty()) {
      predictor.reset();
      reader.skip();
      show("\n");
      continue;
    }
    if (!reader.read(line, step)) continue;
    show("{}", answers.line(predictor.step(step.token, step.reals)));
    if (at_once) std::fflush(stdout);
  }
  if (input.bad()) fail("predict", "cannot read all of the input: {}", std::strerror(errno));
}

/// One line for each sequence of a file that is read as in training.
void answer_sequences(const LabelledSequences& sequences, Predictor& predictor, const SequenceAnswers& answers) {
  show("{}", answers.header());
  for (std::size_t i = 0; i < sequences.size(); ++i)
    show("{}", answers.line(sequences.ids[i], predict_sequence(predictor, sequences, i)));
}

void predict(const PredictArguments& arguments) {
  if (RunDirectory(arguments.run).is_stream()) {
    if (arguments.top > 0 || arguments.best)
      refuse("predict", "--top and --best are not for runs of throughtime stream");
    return predict_stream(arguments.run, arguments.input, arguments.format, arguments.output);
  }
  const LineFormat input_format = format_of(arguments.format);
  const LineFormat output_format = arguments.output.empty() ? input_format : format_of(arguments.output);
  TrainedModel trained(arguments.run, arguments.best);
  Predictor predictor(trained);
  const TaskType& task = find_task(trained.config().task.name);
  if (task.read_sequences != nullptr && !arguments.input.empty() && arguments.format.empty()) {
    const LabelledSequences sequences =
        task.read_sequences(trained.config().task, predictor.input_names(), arguments.input);
    return answer_sequences(sequences, predictor, SequenceAnswers(predictor, output_format, arguments.top));
  }
  const AnswerWriter answers(predictor, output_format, arguments.top);
  std::ifstream file;
  if (!arguments.input.empty()) {
    file.open(arguments.input);
    if (!file) refuse("predict", "cannot read {}", arguments.input);
    if (std::filesystem::is_directory(arguments.input))
      refuse("predict", "cannot read {}: it is a directory; give a file with one step per line", arguments.input);
  }
  const bool piped = arguments.input.empty();  // whoever feeds a pipe waits for the answer
  answer_all(piped ? std::cin : file, predictor, StepReader(predictor, input_format), answers, piped);
}

}  // namespace

void add_predict_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("predict", "Read steps, carry the state, write what the model predicts");
  const auto arguments = std::make_shared<PredictArguments>();
  command->add_option("run", arguments->run, "Directory of the run")->required();
  command->add_option("input", arguments->input,
                      "File with one step per line, an empty line before a new sequence; else stdin. Of the task "
                      "sequences: a file or folder as in training, without its targets");
  command->add_option("--format", arguments->format, "Of the input: csv or jsonl")->capture_default_str();
  command->add_option("--output", arguments->output, "Format of the output; else that of the input");
  command->add_option("--top", arguments->top, "Only the most probable classes")->check(CLI::NonNegativeNumber);
  command->add_flag("--best", arguments->best, "The checkpoint that was best on validation, not the last");
  command->callback([arguments] { predict(*arguments); });
}

}  // namespace throughtime
