#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "interrupt.h"
#include "stream_answers.h"
#include "terminal.h"
#include "throughtime/error.h"
#include "train/stream/run.h"

namespace throughtime {
namespace {

struct StreamArguments {
  std::string config;
  std::vector<std::string> overrides;
  std::string arm;
  std::string resume, from;
  std::string format, on_error;  // empty: as configured
  std::string input = "-";
  std::string output;
  bool follow = false;
  bool previous = false;
  bool force = false;
  bool quiet = false;
};

std::unique_ptr<StreamRun> open_run(const StreamArguments& arguments) {
  std::vector<std::string> overrides = arguments.overrides;
  if (!arguments.format.empty()) overrides.push_back("stream.format=" + arguments.format);
  if (!arguments.on_error.empty()) overrides.push_back("stream.on_error=" + arguments.on_error);
  if (arguments.resume.empty()) {
    if (arguments.config.empty()) refuse("stream", "give a configuration file, or --resume RUN");
    if (arguments.previous) refuse("stream", "--previous belongs to --resume RUN");
    return std::make_unique<StreamRun>(load_config(arguments.config, overrides, arguments.arm, "stream"),
                                       arguments.force, arguments.from);
  }
  if (!arguments.config.empty() || arguments.force || !arguments.arm.empty() || !arguments.from.empty())
    refuse("stream",
           "--resume takes the configuration of the run: no configuration file, --arm, --from or --force beside it");
  return std::make_unique<StreamRun>(arguments.resume, overrides, arguments.previous);
}

std::string error_text(double value) { return std::isfinite(value) ? fmt::format("{:.6g}", value) : "-"; }

void tell_end(StreamRun& run) {
  const StreamForecaster& forecaster = run.forecaster();
  const StreamCounts& counts = forecaster.counts();
  tell("{} rows in {:.1f} s, {} skipped; mean squared error {} (the last value: {}), last {} rows {} ({})\n",
       counts.rows, run.seconds(), counts.skipped, error_text(forecaster.error().cumulative()),
       error_text(forecaster.naive().cumulative()), run.config().stream.rolling,
       error_text(forecaster.error().rolling()), error_text(forecaster.naive().rolling()));
  if (const NaiveWatch& watch = forecaster.watch(); watch.warned())
    tell("the last {} forecasts were worse than the last value: {:.6g} ({:.6g}){}\n", watch.worse(), watch.error(),
         watch.naive(), watch.diverged() ? "; the run has diverged" : "");
}

void stream(const StreamArguments& arguments) {
  const CheckpointWatch requests;
  RowFeed feed(arguments.input, arguments.follow);
  const std::unique_ptr<StreamRun> run = open_run(arguments);
  StreamAnswers answers(arguments.output, run->config());
  if (!arguments.quiet)
    tell("{}: {} after row {}, files in {}\n", run->config().run.name, arguments.resume.empty() ? "learns" : "goes on",
         run->forecaster().counts().rows, run->directory().string());
  // A file is read from its front again; what comes through a pipe was taken once and for all.
  const bool from_front = !arguments.resume.empty() && feed.repeatable();
  const StreamEnd end = run->run(feed, from_front, answers);
  const std::string place = run->directory().string();
  if (answers.closed())
    fail("stream",
         "nobody reads the output any more; {} rows were learned from: go on with throughtime stream --resume {}",
         run->forecaster().counts().rows, place);
  if (end == StreamEnd::stopped)
    throw Interrupted(fmt::format("stopped after row {}; go on with throughtime stream --resume {}",
                                  run->forecaster().counts().rows, place),
                      InterruptWatch::signal());
  if (!arguments.quiet) tell_end(*run);
}

}  // namespace

void predict_stream(const std::string& run, const std::string& input, const std::string& format,
                    const std::string& output) {
  RowFeed feed(input.empty() ? "-" : input, false);
  std::vector<std::string> overrides;
  if (!format.empty()) overrides.push_back("stream.format=" + format);
  StreamRun frozen(run, overrides, false, false);
  StreamAnswers answers(output, frozen.config());
  frozen.run(feed, false, answers);
}

void add_stream_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("stream", "Learn from a live stream: predict each row, then learn from it");
  const auto arguments = std::make_shared<StreamArguments>();
  command->add_option("config", arguments->config, "TOML file, task.name = \"series\" (docs/streams.md)");
  command->add_option("--set", arguments->overrides, "An option that overrides the file: stream.slots=8")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command->add_option("--arm", arguments->arm, "This [[arm]] of the file")->type_name("NAME");
  command->add_option("--resume", arguments->resume, "Go on with the run in this directory")->type_name("RUN");
  command
      ->add_option("--from", arguments->from, "Begin with the best weights of this run, whose model has the same shape")
      ->type_name("RUN");
  command->add_flag("--previous", arguments->previous, "With --resume: from the checkpoint before the last");
  command->add_flag("--force", arguments->force, "Overwrite a run that is there already");
  command->add_option("--format", arguments->format, "Of the rows: csv, jsonl or raw (stream.format)");
  command->add_option("--input", arguments->input, "File or named pipe; - is stdin")->capture_default_str();
  command->add_flag("--follow", arguments->follow, "Wait for more at the end of a file or of a pipe's writer");
  command->add_option("--output", arguments->output, "Of the predictions: csv or jsonl; else as the rows");
  command->add_option("--on-error", arguments->on_error, "Rows that cannot be read: skip or stop (stream.on_error)");
  command->add_flag("--quiet", arguments->quiet, "Nothing on stderr but errors");
  command->callback([arguments] { stream(*arguments); });
}

}  // namespace throughtime
