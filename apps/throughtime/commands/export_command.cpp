#include <fmt/format.h>

#include <memory>
#include <string>

#include "commands.h"
#include "core/files.h"
#include "core/names.h"
#include "throughtime/error.h"
#include "train/checkpoint/checkpoint.h"
#include "train/run/environment.h"
#include "train/run/trained_model.h"
#include "weight_choice.h"

namespace throughtime {
namespace {

struct ExportArguments {
  std::string run;
  std::string format = "safetensors";
  std::string output;
  WeightChoice weights;
  bool strip_prefix = false;
};

void write_weights(const ExportArguments& arguments) {
  if (arguments.format != "safetensors") refuse_unknown("export", "format", arguments.format, {"safetensors"});
  const bool best = choose_weights(arguments.run, arguments.weights);
  TrainedModel trained(arguments.run, best);
  const std::vector<double> values = trained.engine().read(trained.parameters());
  TensorFile file;
  file.metadata = {{"format", "pt"}, {version_key, version()}, {config_key, resolved_config(trained.config())}};
  for (const ParameterBlock& block : trained.model().parameters().blocks()) {
    const bool recurrent = block.name.starts_with("rnn.");
    if (arguments.strip_prefix && !recurrent) continue;
    file.tensors.push_back(float_tensor(arguments.strip_prefix ? block.name.substr(4) : block.name,
                                        {block.shape.begin(), block.shape.end()},
                                        std::span(values).subspan(block.offset, block.size())));
  }
  write_output(arguments.output, [&](OutputFile& out) { write_tensors(out, file); });
  say_weights(arguments.run, best);
}

}  // namespace

void add_export_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("export", "Write the weights of a run for other programs");
  const auto arguments = std::make_shared<ExportArguments>();
  command->add_option("run", arguments->run, "Directory of the run")->required();
  command->add_option("--format", arguments->format, "safetensors")->capture_default_str();
  command->add_option("-o,--output", arguments->output, "File to write")->required();
  add_weight_options(*command, arguments->weights);
  command->add_flag("--strip-prefix", arguments->strip_prefix,
                    "Only the recurrent layers, named as torch.nn.LSTM names them");
  command->callback([arguments] { write_weights(*arguments); });
}

}  // namespace throughtime
