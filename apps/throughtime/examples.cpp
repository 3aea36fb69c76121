#include <map>
#include <string>

#include "command_tree.h"

namespace throughtime {
namespace {

/// A line each, without the name of the program; those of a command's own subcommands stand with them.
const std::map<std::string, std::vector<std::string>>& examples() {
  static const std::map<std::string, std::vector<std::string>> all = {
      {"train",
       {"train experiments/add-tbptt.toml", "train experiments/add-tbptt.toml --set train.iterations=100 --force",
        "train --resume runs/add-tbptt"}},
      {"stream", {"stream meter.toml --input rows.csv", "stream --resume runs/meter --follow --input rows.csv"}},
      {"evaluate", {"evaluate runs/add-tbptt", "evaluate runs/add-tbptt --split validation --json"}},
      {"predict",
       {"predict runs/etth1 new.csv -o forecasts.csv", "predict runs/etth1 --split test -o test.csv",
        "predict runs/amplifier in.wav -o out.wav", "predict runs/letters --top 3"}},
      {"sample", {"sample runs/letters --prompt \"The \" --temperature 0.8 --top 40 --length 400 --seed 1"}},
      {"compare",
       {"compare experiments/add-tbptt.toml --learners bptt,tbptt,fptt --seeds 3 --jobs 2",
        "compare experiments/demo.toml --arms bptt,fptt --seeds 3"}},
      {"tune", {"tune experiments/add-tbptt.toml --grid optimizer.rate=0.001,0.01 --grid model.hidden=32,64"}},
      {"plot", {"plot runs/add-tbptt --metric validation_mse --log", "plot runs/a runs/b --svg curves.svg"}},
      {"report", {"report runs -o report.html", "report runs/a runs/b --format csv -o results.csv"}},
      {"reproduce", {"reproduce --list", "reproduce RESULT --jobs 2"}},
      {"diagnose", {"diagnose runs/add-tbptt --svg decay.svg", "diagnose experiments/add-tbptt.toml"}},
      {"inspect", {"inspect runs/add-tbptt", "inspect weights.safetensors --json"}},
      {"export", {"export runs/add-tbptt -o weights.safetensors --last"}},
      {"import", {"import runs/add-tbptt weights.safetensors"}},
      {"list", {"list cells", "list learners"}},
      {"list cells", {"list cells"}},
      {"list heads", {"list heads"}},
      {"list optimizers", {"list optimizers"}},
      {"list learners", {"list learners --json"}},
      {"list tasks", {"list tasks"}},
      {"list engines", {"list engines"}},
      {"gradcheck", {"gradcheck --cell lstm"}},
      {"bench", {"bench --quick", "bench --json > bench.jsonl", "bench --python"}},
      {"data", {"data list", "data check"}},
      {"data list", {"data list --json"}},
      {"data check", {"data check"}},
      {"completions",
       {"completions bash > ~/.local/share/bash-completion/completions/throughtime",
        "completions zsh > ~/.zfunc/_throughtime", "completions fish > ~/.config/fish/completions/throughtime.fish"}},
      {"help", {"help train", "help options", "help --man | man -l -"}},
  };
  return all;
}

void add_to(CLI::App& app, const std::string& path) {
  for (CLI::App* inner : app.get_subcommands([](CLI::App*) { return true; })) {
    const std::string name = path.empty() ? inner->get_name() : path + " " + inner->get_name();
    const auto found = examples().find(name);
    if (found != examples().end()) {
      std::string text = found->second.size() == 1 ? "Example:" : "Examples:";
      for (const std::string& line : found->second) text += "\n  throughtime " + line;
      inner->footer(text);
    }
    add_to(*inner, name);
  }
}

}  // namespace

void add_examples(CLI::App& app) { add_to(app, ""); }

}  // namespace throughtime
