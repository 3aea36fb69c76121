#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include "commands.h"
#include "core/files.h"
#include "stream_answers.h"
#include "tasks/series/series_table.h"
#include "tasks/shared_options.h"
#include "terminal.h"
#include "throughtime/error.h"
#include "train/files/run_directory.h"
#include "train/predict/answer_file.h"
#include "train/predict/answer_writer.h"
#include "train/predict/forecast_cells.h"
#include "train/predict/forecast_rows.h"
#include "train/predict/sequence_answers.h"
#include "train/predict/split_predictions.h"
#include "train/predict/step_source.h"
#include "train/run/session.h"
#include "weight_choice.h"

namespace throughtime {
namespace {

constexpr const char* speaker = "predict";

struct PredictArguments {
  std::string run;
  std::string input;         // empty or -: stdin
  std::string input_format;  // empty: by the task and the name
  std::string output;        // empty: stdout
  std::string format;        // of the answers; empty: by the name of the output, as the lines of the input, else csv
  std::string split;         // of the run's own data, in the place of an input
  std::string data;
  std::string delimiter;  // of tables; empty: that of the training data
  std::vector<std::string> overrides;
  int top = 0;
  WeightChoice weights;

  bool piped() const { return input.empty() || input == "-"; }
};

/// Lines of stdin and of the answers are alike where nothing else is said; a file is what its name says.
StepFormat input_format_of(const PredictArguments& arguments, const RunConfig& config) {
  if (!arguments.input_format.empty()) return choice_of<StepFormat>(arguments.input_format, speaker, "input format");
  const StepFormat alike = arguments.format == name_of(AnswerFormat::jsonl) ? StepFormat::jsonl : StepFormat::csv;
  return arguments.piped() ? alike : step_format_of(config, arguments.input);
}

AnswerFormat answer_format_of(const PredictArguments& arguments, StepFormat input) {
  if (!arguments.format.empty()) return choice_of<AnswerFormat>(arguments.format, speaker, "format");
  const std::string ending = std::filesystem::path(arguments.output).extension().string();
  for (const std::string_view name : names_of(AnswerFormat()))
    if (ending == "." + std::string(name)) return choice_of<AnswerFormat>(std::string(name), speaker, "format");
  if (ending == ".ndjson") return AnswerFormat::jsonl;
  if (!ending.empty() && ending != ".txt")
    refuse(speaker, "{}: answers are written as .csv, .jsonl, .npy or .wav; --format says it of another name",
           arguments.output);
  return input == StepFormat::jsonl ? AnswerFormat::jsonl : AnswerFormat::csv;
}

/// Where a format goes, before anything is read.
void check_output(const PredictArguments& arguments, AnswerFormat format) {
  if (arguments.output == "csv" || arguments.output == "jsonl")
    refuse(speaker, "--output names a file; the format is --format {} (a file of that name: ./{})", arguments.output,
           arguments.output);
  if (is_lines(format)) return;
  if (arguments.output.empty()) refuse(speaker, "{} goes into a file: -o FILE.{}", name_of(format), name_of(format));
  if (arguments.top > 0) refuse(speaker, "--top writes names, which {} cannot hold", name_of(format));
}

/// Calls `write` with what takes text: stdout, where each line is seen at once if `at_once`, or the file.
void write_lines(const PredictArguments& arguments, bool at_once,
                 const std::function<void(const std::function<void(const std::string&)>&)>& write) {
  if (arguments.output.empty())
    return write([&](const std::string& text) {
      show("{}", text);
      if (at_once) std::fflush(stdout);
    });
  write_output(arguments.output, [&](OutputFile& file) {
    TextFile lines(file);
    write([&](const std::string& text) { lines.add(text); });
    lines.finish();
  });
}

std::unique_ptr<StepSource> open_input(const PredictArguments& arguments, const RunConfig& config,
                                       const Predictor& predictor, StepFormat format) {
  if (!arguments.piped()) return open_steps(config, predictor, arguments.input, format);
  if (format != StepFormat::csv && format != StepFormat::jsonl)
    refuse(speaker, "stdin brings lines, csv or jsonl; {} is read from a file", name_of(format));
  return line_steps(predictor, std::cin, line_options(config, format));
}

/// Calls `use` with every step and what the model says; `gap` before a new sequence.
void answer_steps(StepSource& steps, Predictor& predictor,
                  const std::function<void(const Step&, const std::vector<double>&)>& use,
                  const std::function<void()>& gap) {
  Step step;
  for (StepKind kind = steps.next(step); kind != StepKind::end; kind = steps.next(step)) {
    if (kind == StepKind::step) {
      use(step, predictor.step(step.token, step.reals, step.levels));
    } else {
      predictor.reset();
      gap();
    }
  }
}

/// Lines of answers below their header, which is written with the first of them: a file that is refused at its own
/// header leaves nothing. Whoever feeds a pipe sees it at once.
void write_answers(const PredictArguments& arguments, const std::string& header, StepSource& steps,
                   Predictor& predictor,
                   const std::function<std::string(const Step&, const std::vector<double>&)>& line) {
  const bool at_once = arguments.piped();
  write_lines(arguments, at_once, [&](const auto& put) {
    bool begun = false;
    const auto begin = [&] {
      if (!begun) put(header);
      begun = true;
    };
    if (at_once) begin();
    answer_steps(
        steps, predictor,
        [&](const Step& step, const std::vector<double>& predictions) {
          begin();
          put(line(step, predictions));
        },
        [&] {
          begin();
          put("\n");
        });
    begin();
  });
}

/// For each event the time at which the next one is expected, and its most likely mark.
void answer_events(const PredictArguments& arguments, const RunConfig& config, StepSource& steps, Predictor& predictor,
                   AnswerFormat format) {
  const ForecastCells cells(config, predictor.model(), predictor.names());
  const CellLines lines({"time", "next_time", "next_mark", "probability"}, format);
  write_answers(arguments, lines.header(), steps, predictor, [&](const Step& step, const std::vector<double>& numbers) {
    const std::vector<Cell> next = cells.forecast(numbers);  // mark, probability, interval
    return lines.line({step.time, step.time + std::get<double>(next[2]), next[0], next[1]});
  });
}

void answer_lines(const PredictArguments& arguments, StepSource& steps, Predictor& predictor, AnswerFormat format) {
  const AnswerWriter answers(predictor, format == AnswerFormat::jsonl ? LineFormat::jsonl : LineFormat::csv,
                             arguments.top);
  write_answers(arguments, answers.header(), steps, predictor,
                [&](const Step&, const std::vector<double>& predictions) { return answers.line(predictions); });
}

void answer_numbers(const PredictArguments& arguments, StepSource& steps, Predictor& predictor, AnswerFormat format) {
  write_output(arguments.output, [&](OutputFile& file) {
    NumberFile numbers(format, file, predictor.output_names().size(), steps.rate(), steps.steps());
    answer_steps(
        steps, predictor, [&](const Step&, const std::vector<double>& predictions) { numbers.add(predictions); },
        [] {});
    numbers.finish();
  });
}

/// One line for each sequence of a file that is read as in training.
void answer_sequences(const PredictArguments& arguments, const LabelledSequences& sequences, Predictor& predictor) {
  const AnswerFormat format = answer_format_of(arguments, StepFormat::csv);
  if (!is_lines(format)) refuse(speaker, "a line for each sequence is csv or jsonl, not {}", name_of(format));
  const SequenceAnswers answers(predictor, format == AnswerFormat::jsonl ? LineFormat::jsonl : LineFormat::csv,
                                arguments.top);
  check_output(arguments, format);
  write_lines(arguments, false, [&](const auto& put) {
    put(answers.header());
    for (std::size_t i = 0; i < sequences.size(); ++i)
      put(answers.line(sequences.ids[i], predict_sequence(predictor, sequences, i)));
  });
}

/// Tables that another program wrote may have another delimiter than those of the training data.
void use_delimiter(const PredictArguments& arguments, TaskConfig& task) {
  if (arguments.delimiter.empty()) return;
  const std::string ending = data_ending_of(arguments.input);
  if (ending == ".tsv") refuse(speaker, "--delimiter: the fields of a .tsv file lie between tabs");
  require_delimiter(speaker, "--delimiter", arguments.delimiter);
  for (std::string* delimiter : {&task.series.delimiter, &task.point_process.delimiter, &task.sequences.delimiter})
    *delimiter = arguments.delimiter;
}

void answer(const PredictArguments& arguments, const RunConfig& config, StepFormat input, AnswerFormat format,
            StepSource& steps, Predictor& predictor) {
  if (!is_lines(format)) return answer_numbers(arguments, steps, predictor, format);
  if (input == StepFormat::events && arguments.top == 0)
    return answer_events(arguments, config, steps, predictor, format);
  answer_lines(arguments, steps, predictor, format);
}

void predict_input(const PredictArguments& arguments, bool best) {
  TrainedModel trained(arguments.run, best);
  Predictor predictor(trained);
  RunConfig config = trained.config();
  use_delimiter(arguments, config.task);
  const TaskType& task = find_task(config.task.name);
  if (task.read_sequences != nullptr && !arguments.piped() && arguments.input_format.empty())
    return answer_sequences(arguments, task.read_sequences(config.task, predictor.input_names(), arguments.input),
                            predictor);
  const StepFormat input = input_format_of(arguments, config);
  if (!arguments.delimiter.empty() && input != StepFormat::csv && input != StepFormat::events)
    refuse(speaker, "--delimiter is for tables: csv or events, not {}", name_of(input));
  const AnswerFormat format = answer_format_of(arguments, input);
  check_output(arguments, format);
  const std::unique_ptr<StepSource> steps = open_input(arguments, config, predictor, input);
  predictor.bring_levels(steps->levels());
  if (arguments.piped()) say_weights(arguments.run, best);  // whoever types wants to know it before the answers
  answer(arguments, config, input, format, *steps, predictor);
  if (const std::string note = steps->note(); !note.empty()) tell("{}\n", note);
}

/// The run's own data: row, truth and forecast of every step that carries a loss.
void predict_own(const PredictArguments& arguments, bool best) {
  if (!arguments.input.empty() || !arguments.input_format.empty() || arguments.top > 0)
    refuse(speaker, "--split reads the data of the run: no file, --input-format or --top beside it");
  const Split split = choice_of<Split>(arguments.split, speaker, "split");
  const AnswerFormat format = answer_format_of(arguments, StepFormat::csv);
  check_output(arguments, format);
  std::vector<std::string> overrides = arguments.overrides;
  if (!arguments.data.empty()) overrides.push_back("task.data=" + arguments.data);
  const std::unique_ptr<Trainer> trainer = open_run(arguments.run, best, overrides);
  const Model& model = trainer->engine().model();
  const ModelNames meanings = model_names(trainer->plan().task, RunDirectory(arguments.run).task().string(), model);
  const ForecastCells cells(trainer->config(), model, meanings);
  const ForecastView* view = trainer->task().forecast();
  std::optional<ForecastRows> recorded;
  if (view) recorded.emplace(*view, model);
  const Task& task = trainer->task();
  // An array holds numbers alone.
  const bool named = is_lines(format) && task.has(split) && !task.example_name(split, 0).empty();
  std::vector<std::string> names = {"row"};
  if (named) names.emplace_back("id");
  const auto append = [](auto& to, const auto& more) { to.insert(to.end(), more.begin(), more.end()); };
  if (recorded) {
    append(names, recorded->names());
  } else {
    append(names, cells.truth_names());
    append(names, cells.forecast_names());
  }
  const auto walk = [&](const std::function<void(const std::vector<Cell>&)>& use) {
    predict_split(*trainer, split, [&](const PredictedStep& step) {
      std::vector<Cell> row = {step.row};
      if (named) row.emplace_back(task.example_name(split, step.row));
      if (recorded) {
        append(row, recorded->cells(split, step.row, step.predictions));
      } else {
        append(row, cells.truth(step.target));
        append(row, cells.forecast(step.predictions));
      }
      use(row);
    });
  };
  if (!is_lines(format))
    return write_output(arguments.output, [&](OutputFile& file) {
      NumberFile numbers(format, file, names.size(), 0, std::nullopt);
      walk([&](const std::vector<Cell>& row) { numbers.add(numbers_of(row)); });
      numbers.finish();
    });
  const CellLines lines(names, format);
  write_lines(arguments, false, [&](const auto& put) {
    put(lines.header());
    walk([&](const std::vector<Cell>& row) { put(lines.line(row)); });
  });
}

void predict(const PredictArguments& arguments) {
  if (RunDirectory(arguments.run).is_stream()) {
    if (arguments.top > 0 || arguments.weights.asked() || !arguments.split.empty() || !arguments.output.empty() ||
        !arguments.delimiter.empty())
      refuse(speaker,
             "--top, --best, --last, --split, --output and --delimiter are not for runs of throughtime stream");
    return predict_stream(arguments.run, arguments.input, arguments.input_format, arguments.format);
  }
  const bool own = !arguments.split.empty();
  if (own && !arguments.delimiter.empty())
    refuse(speaker, "--delimiter is for a file, --split reads the run's own data");
  if (!own && (!arguments.data.empty() || !arguments.overrides.empty()))
    refuse(speaker, "--data and --set say where the data of --split lies");
  const bool best = choose_weights(arguments.run, arguments.weights);
  own ? predict_own(arguments, best) : predict_input(arguments, best);
  if (own || !arguments.piped()) say_weights(arguments.run, best);
}

}  // namespace

void add_predict_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("predict", "Read steps, carry the state, write what the model predicts");
  const auto arguments = std::make_shared<PredictArguments>();
  command->add_option("run", arguments->run, "Directory of the run")->required();
  command->add_option("input", arguments->input,
                      "A file as in training: CSV, NPY, file.npz:name, WAV, raw floats, text, events, a folder of "
                      "sequences; else lines of stdin");
  command->add_option("--input-format", arguments->input_format,
                      "Of the input: csv, jsonl, text, events, npy, wav or raw; else by the task and the file's name");
  command
      ->add_option("--delimiter", arguments->delimiter,
                   "Between the fields of a table: one character, or tab; else as in training")
      ->type_name("CHARACTER");
  command->add_option("-o,--output", arguments->output, "File of the answers; else stdout")->type_name("FILE");
  command->add_option("--format", arguments->format,
                      "Of the answers: csv, jsonl, npy or wav; else by the name of the output or as the input's lines");
  command->add_option("--split", arguments->split,
                      "The run's own data instead of a file: row, truth and forecast of train, validation or test");
  command->add_option("--data", arguments->data, "With --split: where the data sets lie now")->type_name("DIRECTORY");
  command
      ->add_option("--set", arguments->overrides, "With --split: where the run's files lie now: task.series.path=FILE")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command->add_option("--top", arguments->top, "Only the most probable classes")->check(CLI::NonNegativeNumber);
  add_weight_options(*command, arguments->weights);
  command->callback([arguments] { predict(*arguments); });
}

}  // namespace throughtime
