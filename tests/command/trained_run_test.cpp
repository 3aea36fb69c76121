#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "command/command_run.h"

namespace throughtime {
namespace {

using testing::lines_in;
using testing::Outcome;
using testing::text_of;
using testing::tiny;
using testing::write_text;

/// What can be done with a run that was trained.
class TrainedRun : public testing::CommandTest {};

const char* const wave_config =
    "[task]\nname = \"series\"\nseries.path = \"wave.csv\"\nseries.length = 10\n[model]\nhidden = "
    "4\n[train]\niterations = 12\nbatch "
    "= 2\n"
    "evaluate_every = 4\n[run]\nthreads = 1\n";

std::string wave_text() {
  std::string text = "level,flow\n";
  for (int i = 0; i < 300; ++i) text += std::to_string(i % 7) + "," + std::to_string((i * i) % 11) + "\n";
  return text;
}

TEST_F(TrainedRun, EvaluatesWhatTrainingSaid) {
  config_file(tiny);
  const Outcome trained = run("train --quiet tiny.toml --json --set train.evaluate_every=5");
  const nlohmann::json result = nlohmann::json::parse(trained.out);
  const nlohmann::json last = nlohmann::json::parse(run("evaluate runs/tiny --last --json").out);
  EXPECT_EQ(last.at("loss"), result.at("metrics").at("test_loss"));
  const nlohmann::json best = nlohmann::json::parse(run("evaluate runs/tiny --best --split validation --json").out);
  EXPECT_EQ(best.at("loss"), result.at("best").at("validation_loss"));
  EXPECT_NE(run("evaluate runs/tiny").out.find("mse"), std::string::npos);
  expect_refusal(run("evaluate runs/tiny --split tset"), "did you mean 'test'?");
  expect_refusal(run("evaluate runs/none"), "no such directory");
}

TEST_F(TrainedRun, TakesTheWeightsThatValidationChose) {
  config_file(tiny);
  const Outcome trained =
      run("train --quiet tiny.toml --json --set train.evaluate_every=2 --set optimizer.rate=0.5 --set train.seed=3");
  ASSERT_EQ(trained.code, 0) << trained.err;
  const nlohmann::json result = nlohmann::json::parse(trained.out);
  const int chosen = result.at("best").at("iteration");
  ASSERT_LT(chosen, 20) << "else the test shows nothing";
  const auto evaluated = [&](const std::string& flag) {
    return nlohmann::json::parse(run("evaluate runs/tiny --json" + flag).out);
  };
  EXPECT_EQ(evaluated(""), evaluated(" --best"));
  EXPECT_EQ(evaluated("").at("iteration"), chosen);
  EXPECT_EQ(evaluated("").at("best"), true);
  EXPECT_EQ(evaluated("").at("loss"), result.at("best").at("test_loss"));
  EXPECT_EQ(evaluated(" --last").at("iteration"), 20);
  EXPECT_EQ(evaluated(" --last").at("loss"), result.at("metrics").at("test_loss"));
  EXPECT_EQ(run("evaluate runs/tiny").err,
            fmt::format("weights: those that validation chose, of iteration {}; --last takes the last ones, of "
                        "iteration 20\n",
                        chosen));
  EXPECT_EQ(run("evaluate runs/tiny --last").err,
            fmt::format("weights: the last ones, of iteration 20; validation chose others, of iteration {}\n", chosen));
  write_text(path("steps.csv"), "0.5,0\n0.25,1\n0.75,1\n");
  for (const char* command : {"predict runs/tiny steps.csv", "predict runs/tiny --split test",
                              "diagnose runs/tiny --json --lags 2 --set learner.adaptive_tbptt.burn_in=1"}) {
    const Outcome usual = run(command), best = run(std::string(command) + " --best");
    EXPECT_EQ(usual.code, 0) << command << usual.err;
    EXPECT_NE(usual.err.find("weights: those that validation chose"), std::string::npos) << command << usual.err;
    EXPECT_EQ(usual.out, best.out) << command;
  }
  EXPECT_NE(run("predict runs/tiny steps.csv").out, run("predict runs/tiny steps.csv --last").out);
  EXPECT_EQ(
      run("export runs/tiny -o usual; " THROUGHTIME_COMMAND " export runs/tiny --best -o best; " THROUGHTIME_COMMAND
          " export runs/tiny --last -o last; cmp usual best && ! cmp -s best last")
          .code,
      0);
  expect_refusal(run("evaluate runs/tiny --best --last"), "--best excludes --last");
}

TEST_F(TrainedRun, ImportedWeightsTakeThePlaceOfThoseThatValidationChose) {
  config_file(tiny);
  ASSERT_EQ(run("train --quiet tiny.toml --set train.evaluate_every=5").code, 0);
  ASSERT_EQ(run("train --quiet tiny.toml --set run.name=other --set optimizer.rate=0.05").code, 0);
  ASSERT_EQ(run("export runs/other -o a.safetensors").code, 0);
  ASSERT_EQ(run("import runs/tiny a.safetensors").code, 0);
  const Outcome imported = run("evaluate runs/tiny");
  EXPECT_EQ(imported.out, run("evaluate runs/other").out);
  EXPECT_EQ(imported.err, "weights: the last ones, of iteration 20; no validation chose any\n");
  expect_refusal(run("evaluate runs/tiny --best"), "has no best checkpoint");
  const Outcome on = run("train --quiet --json --resume runs/tiny --set train.iterations=25");
  ASSERT_EQ(on.code, 0) << on.err;
  EXPECT_EQ(nlohmann::json::parse(on.out).at("best").at("iteration"), 25) << "the first validation since";
}

TEST_F(TrainedRun, EverySplitIsEvaluatedWithItsOwnBaseline) {
  std::string text = "y\n";  // steps of 1, then of 2, then of 3
  for (int t = 0, y = 0; t < 300; ++t) text += std::to_string(y += t < 210 ? 1 : t < 240 ? 2 : 3) + "\n";
  write_text(path("wave.csv"), text);
  config_file(wave_config, "wave");
  const Outcome trained = run("train wave.toml --json --set task.series.standardise=false");
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_NE(trained.err.find("test baseline mse 9.0000 (the last value)"), std::string::npos) << trained.err;
  const nlohmann::json result = nlohmann::json::parse(trained.out);
  EXPECT_EQ(result.at("baseline"), 9);
  EXPECT_EQ(result.at("baselines").at("validation_mse"), 4);
  EXPECT_EQ(result.at("baselines").at("test_mse"), 9);
  const auto baseline = [&](const std::string& split) {
    return nlohmann::json::parse(run("evaluate runs/wave --json --split " + split).out).at("baseline");
  };
  EXPECT_EQ(baseline("train"), 1);
  EXPECT_EQ(baseline("validation"), 4);
  EXPECT_EQ(baseline("test"), 9);
}

TEST_F(TrainedRun, InspectsCheckpoints) {
  config_file(tiny);
  ASSERT_EQ(run("train --quiet tiny.toml").code, 0);
  const Outcome outcome = run("inspect runs/tiny/checkpoints/last.safetensors");
  for (const char* part :
       {"rnn.weight_ih_l0", "throughtime.optimizer.moment.0", "[task]", "throughtime.iteration = 20"})
    EXPECT_NE(outcome.out.find(part), std::string::npos) << part;
  const nlohmann::json file = nlohmann::json::parse(run("inspect runs/tiny --json").out);
  EXPECT_EQ(file.at("tensors").at(0).at("shape"), (std::vector<int>{16, 2}));
  expect_refusal(run("inspect tiny.toml"), "header");
}

TEST_F(TrainedRun, ExportedWeightsLoadIntoTorch) {
  config_file(tiny);
  ASSERT_EQ(run("train --quiet tiny.toml --set model.layers=2 --set run.engine=cpu").code, 0);
  ASSERT_EQ(run("export runs/tiny -o rnn.safetensors --strip-prefix").code, 0);
  ASSERT_EQ(run("export runs/tiny -o all.safetensors").code, 0);
  write_text(path("load.py"), R"(
import json, struct, sys
try:
    import torch
except ImportError:
    sys.exit(77)

def load(path):
    raw = open(path, 'rb').read()
    length, = struct.unpack('<Q', raw[:8])
    header = json.loads(raw[8:8 + length])
    tensors = {}
    for name, entry in header.items():
        if name == '__metadata__':
            continue
        assert entry['dtype'] == 'F32'
        begin, end = entry['data_offsets']
        numbers = struct.unpack('<%df' % ((end - begin) // 4), raw[8 + length + begin:8 + length + end])
        tensors[name] = torch.tensor(numbers).reshape(entry['shape'])
    return tensors

net = torch.nn.LSTM(2, 4, num_layers=2)
net.load_state_dict(load('rnn.safetensors'))
head = torch.nn.Linear(4, 1)
every = load('all.safetensors')
head.load_state_dict({'weight': every['head.weight'], 'bias': every['head.bias']})
steps = torch.tensor([[[0.5, 1.0]], [[0.25, 0.0]], [[0.75, 1.0]]])
with torch.no_grad():
    for value in head(net(steps)[0]).flatten().tolist():
        print(value)
)");
  // The system's Python first: that is where Debian's PyTorch is.
  Outcome torch = shell("/usr/bin/python3 load.py");
  if (torch.code == 77 || torch.code == 127) torch = shell("python3 load.py");
  if (torch.code == 77 || torch.code == 127) GTEST_SKIP() << "no PyTorch here";
  ASSERT_EQ(torch.code, 0) << torch.err;
  write_text(path("steps.csv"), "value,marker\n0.5,1\n0.25,0\n0.75,1\n");
  const Outcome ours = run("predict runs/tiny steps.csv");
  std::istringstream expected(torch.out), predicted(ours.out);
  std::string header;
  std::getline(predicted, header);
  double a = 0, b = 0;
  int lines = 0;
  while (expected >> a && predicted >> b) {
    EXPECT_NEAR(a, b, 1e-6);
    ++lines;
  }
  EXPECT_EQ(lines, 3) << ours.out << ours.err;
}

TEST_F(TrainedRun, ImportedWeightsComeBack) {
  config_file(tiny);
  ASSERT_EQ(run("train --quiet tiny.toml").code, 0);
  ASSERT_EQ(run("export runs/tiny -o a.safetensors").code, 0);
  ASSERT_EQ(run("import tiny.toml a.safetensors --set run.name=copy").code, 0);
  ASSERT_EQ(run("export runs/copy -o b.safetensors").code, 0);
  const auto tail = [&](const std::string& name) {
    const std::string text = text_of(path(name));
    return text.substr(text.size() - 16 * 4);
  };
  EXPECT_EQ(tail("a.safetensors"), tail("b.safetensors"));
  EXPECT_EQ(run("train --quiet --resume runs/copy").code, 0);
  EXPECT_EQ(run("import runs/tiny b.safetensors").code, 0);
  expect_refusal(run("import runs/tiny tiny.toml"), "header");
  expect_refusal(run("import tiny.toml a.safetensors --set model.hidden=5 --set run.name=other"),
                 "must have the shape");
  expect_refusal(run("export runs/tiny -o c --format onnx"), "unknown format 'onnx'");
}

TEST_F(TrainedRun, PredictsFromLinesAndCarriesTheState) {
  config_file(tiny);
  ASSERT_EQ(run("train --quiet tiny.toml").code, 0);
  write_text(path("in.csv"), "0.5,1\n0.25,0\n\n0.5,1\n");
  const Outcome csv = run("predict runs/tiny", "in.csv");
  EXPECT_EQ(csv.code, 0) << csv.err;
  std::istringstream lines(csv.out);
  std::string header, first, second, empty, again;
  for (std::string* line : {&header, &first, &second, &empty, &again}) std::getline(lines, *line);
  EXPECT_EQ(header, "output_0");
  EXPECT_NE(first, second);
  EXPECT_EQ(empty, "");
  EXPECT_EQ(first, again);

  write_text(path("in.jsonl"), "[0.5, 1]\n{\"input\": [0.25, 0]}\n");
  const Outcome json = run("predict runs/tiny in.jsonl --format jsonl");
  std::istringstream objects(json.out);
  std::string object;
  std::getline(objects, object);
  EXPECT_EQ(nlohmann::json::parse(object).at("prediction").at(0).get<double>(), std::stod(first));

  write_text(path("bad.csv"), "0.5,1\n0.25\n");
  const Outcome narrow = run("predict runs/tiny bad.csv");
  EXPECT_EQ(narrow.code, 2);
  EXPECT_NE(narrow.err.find("line 2: a step has 2 numbers, got 1"), std::string::npos) << narrow.err;
  write_text(path("bad.csv"), "0.5,1\n0.25,x\n");
  const Outcome words = run("predict runs/tiny bad.csv");
  EXPECT_EQ(words.code, 2);
  EXPECT_NE(words.err.find("line 2: 'x' is not a finite number"), std::string::npos) << words.err;
  expect_refusal(run("predict runs/tiny in.csv --top 2"), "--top is for models that choose between classes");
}

TEST_F(TrainedRun, PredictsClasses) {
  config_file("[task]\nname = \"copy\"\ncopy.length = 5\n[model]\nhidden = 4\n[train]\niterations = 5\nbatch = 4\n");
  const Outcome trained = run("train --quiet tiny.toml");
  ASSERT_EQ(trained.code, 0) << trained.err;
  write_text(path("in"), "1\n2\n");
  const Outcome top = run("predict runs/tiny in --top 2");
  EXPECT_EQ(lines_in(top.out), 3u) << top.out << top.err;
  EXPECT_EQ(top.out.substr(0, top.out.find('\n')), "class_1,probability_1,class_2,probability_2");
  write_text(path("in"), "99\n");
  EXPECT_NE(run("predict runs/tiny in").err.find("line 1: a token must be a number"), std::string::npos);
}

TEST_F(TrainedRun, AMovedRunPredictsWithoutItsDataAndEvaluatesWhereItIsTold) {
  write_text(path("wave.csv"), wave_text());
  ASSERT_EQ(run("train --quiet " + config_file(wave_config, "wave")).code, 0);
  write_text(path("in.csv"), "level,flow\n3,4\n5,6\n");
  const Outcome before = run("predict runs/wave in.csv");
  const Outcome evaluated = run("evaluate runs/wave --json");
  ASSERT_EQ(before.code + evaluated.code, 0) << before.err << evaluated.err;
  std::filesystem::rename(path("wave.csv"), path("moved.csv"));
  std::filesystem::rename(path("runs/wave"), path("copy"));
  const Outcome after = run("predict copy in.csv");
  EXPECT_EQ(after.code, 0) << after.err;
  EXPECT_EQ(after.out, before.out);
  EXPECT_EQ(run("export copy -o weights.safetensors").code, 0);
  expect_refusal(run("evaluate copy"),
                 "wave.csv: there is no such file; name it with task.series.path (--set task.series.path=FILE)");
  const Outcome found = run("evaluate copy --json --set task.series.path=moved.csv");
  EXPECT_EQ(found.code, 0) << found.err;
  EXPECT_EQ(nlohmann::json::parse(found.out).at("loss"), nlohmann::json::parse(evaluated.out).at("loss"));
  std::filesystem::remove(path("copy/task/interface.json"));
  expect_refusal(run("predict copy in.csv"), "what the model reads and predicts");
}

TEST_F(TrainedRun, TunedSeriesIsTrainedOnAllButTheTestPart) {
  write_text(path("wave.csv"), wave_text());
  config_file(wave_config, "wave");
  const Outcome outcome = run("tune --quiet --json wave.toml --grid optimizer.rate=0.001,0.01");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const nlohmann::json line = nlohmann::json::parse(outcome.out);
  EXPECT_NE(line.at("trained_on").get<std::string>().find("training and validation data"), std::string::npos);
  const std::string config = text_of(path(line.at("run").get<std::string>() + "/config.toml"));
  EXPECT_NE(config.find("splits = [0.8, 0.0, 0.2]"), std::string::npos) << config;
  EXPECT_NE(config.find("evaluate_every = 0"), std::string::npos);
}

}  // namespace
}  // namespace throughtime
