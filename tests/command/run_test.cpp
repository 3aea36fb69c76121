#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "command/command_run.h"
#include "support/metrics.h"

namespace throughtime {
namespace {

using testing::lines_in;
using testing::metrics_without_times;
using testing::Outcome;
using testing::text_of;
using testing::tiny;
using testing::write_text;

const char* const longer =
    "[task]\nlength = 30\n[model]\nhidden = 16\n[learner]\nname = \"tbptt\"\npreset = \"paper\"\ntruncation = 5\n"
    "[optimizer]\nschedule = \"plateau\"\n[train]\niterations = 6000\nbatch = 8\nevaluate_every = 200\n"
    "evaluate_batches = 2\n[run]\nthreads = 1\ncheckpoint_every = 37\n";

/// The program as it runs beside the test.
class Runs : public testing::CommandTest {
 protected:
  pid_t start(std::vector<std::string> arguments) const {
    const pid_t child = fork();
    if (child != 0) return child;
    if (chdir(path("").c_str()) != 0) _exit(99);
    const int null = open("/dev/null", O_RDWR);
    const int log = open("started", O_WRONLY | O_CREAT | O_APPEND, 0666);
    dup2(null, 0);
    dup2(log, 1);
    dup2(log, 2);
    arguments.insert(arguments.begin(), THROUGHTIME_COMMAND);
    std::vector<char*> pointers;
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    execv(THROUGHTIME_COMMAND, pointers.data());
    _exit(98);
  }

  static int wait_for(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return status;
  }

  /// Waits until a file is there, at most a minute.
  void wait_for_file(const std::string& name) const {
    for (int i = 0; i < 6000 && !std::filesystem::exists(path(name)); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
};

TEST_F(Runs, ASignalFinishesTheStepSavesAndSaysHowToGoOn) {
  for (const auto& [signal, code] : {std::pair(SIGINT, 130), std::pair(SIGTERM, 143)}) {
    const std::string name = "parts" + std::to_string(code);
    config_file(longer, name);
    const pid_t child = start({"train", name + ".toml", "--set", "train.iterations=100000000"});
    wait_for_file("runs/" + name + "/checkpoints/last.safetensors");
    kill(child, signal);
    const int status = wait_for(child);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), code);
    EXPECT_NE(text_of(path("started")).find("go on with: throughtime train --resume runs/" + name), std::string::npos);
    // It goes on after the last step that was done.
    const nlohmann::json saved = nlohmann::json::parse(run("inspect --json runs/" + name).out);
    const std::string done = saved.at("metadata").at("throughtime.iteration").get<std::string>();
    const Outcome resumed = run("train --resume runs/" + name + " --set train.iterations=" + done);
    EXPECT_EQ(resumed.code, 0) << resumed.err;
    EXPECT_NE(resumed.err.find("goes on at iteration " + done), std::string::npos) << resumed.err;
  }
}

TEST_F(Runs, KilledAtAnyMomentAndResumedEqualsUninterrupted) {
  ASSERT_EQ(run("train --quiet " + config_file(longer, "whole")).code, 0);
  config_file(longer, "parts");
  const int kills = std::getenv("THROUGHTIME_FULL") != nullptr ? 100 : 10;
  std::mt19937 random(7);
  std::uniform_int_distribution<int> pause(1, 120);  // milliseconds
  for (int i = 0; i < kills; ++i) {
    const bool begun = std::filesystem::exists(path("runs/parts/config.toml"));
    const pid_t child = begun ? start({"train", "--quiet", "--resume", "runs/parts"})
                              : start({"train", "--quiet", "--force", "parts.toml"});
    std::this_thread::sleep_for(std::chrono::milliseconds(pause(random)));
    kill(child, SIGKILL);
    const int status = wait_for(child);
    if (WIFEXITED(status)) {
      ASSERT_EQ(WEXITSTATUS(status), 0) << text_of(path("started"));
    }
  }
  const bool begun = std::filesystem::exists(path("runs/parts/config.toml"));
  const Outcome last = run(begun ? "train --quiet --resume runs/parts" : "train --quiet --force parts.toml");
  ASSERT_EQ(last.code, 0) << last.err;
  EXPECT_EQ(metrics_without_times(path("runs/whole")), metrics_without_times(path("runs/parts")));
  const Outcome a = run("export runs/whole -o whole.safetensors"), b = run("export runs/parts -o parts.safetensors");
  ASSERT_EQ(a.code + b.code, 0) << a.err << b.err;
  const auto data = [&](const std::string& name) {
    const std::string text = text_of(path(name));
    std::uint64_t header = 0;
    text.copy(reinterpret_cast<char*>(&header), 8);
    return text.substr(8 + header);
  };
  EXPECT_EQ(data("whole.safetensors"), data("parts.safetensors"));
}

TEST_F(Runs, AFullDiskStopsTheRunAndKeepsTheLastCheckpoint) {
  const std::filesystem::path small = path("small");
  std::filesystem::create_directories(small);
  if (mount("tmpfs", small.c_str(), "tmpfs", 0, "size=200k") != 0) GTEST_SKIP() << "mounting needs root";
  config_file(longer);
  const Outcome outcome = run("train --quiet tiny.toml --set run.directory=small/run --set train.report_every=1");
  EXPECT_EQ(outcome.code, 1) << outcome.out << outcome.err;
  EXPECT_NE(outcome.err.find("No space left on device; make room and resume the run"), std::string::npos)
      << outcome.err;
  EXPECT_EQ(lines_in(outcome.err), 1u) << outcome.err;
  EXPECT_EQ(run("inspect small/run").code, 0);
  // With room again it goes on.
  ASSERT_EQ(mount("tmpfs", small.c_str(), "tmpfs", MS_REMOUNT, "size=4m"), 0);
  const Outcome resumed = run("train --quiet --resume small/run");
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(umount2(small.c_str(), MNT_DETACH), 0);
}

TEST_F(Runs, AnExistingRunIsNotOverwritten) {
  config_file(tiny);
  EXPECT_EQ(run("train --quiet tiny.toml").code, 0);
  expect_refusal(run("train --quiet tiny.toml"), "--resume runs/tiny");
  EXPECT_EQ(run("train --quiet tiny.toml --force").code, 0);
  expect_refusal(run("train tiny.toml --resume runs/tiny"), "no configuration file");
  expect_refusal(run("train --resume runs/none"), "no such directory");
  expect_refusal(run("train --previous"), "nothing to train");
}

TEST_F(Runs, ADamagedCheckpointIsRefusedAndTheOlderOneOffered) {
  config_file(tiny);
  ASSERT_EQ(run("train --quiet tiny.toml --set run.checkpoint_every=5").code, 0);
  const std::string good = text_of(path("runs/tiny/checkpoints/last.safetensors"));
  write_text(path("runs/tiny/checkpoints/last.safetensors"), good.substr(0, good.size() / 2));
  expect_refusal(run("train --quiet --resume runs/tiny"), "add --previous");
  const Outcome outcome = run("train --quiet --resume runs/tiny --previous --json");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(nlohmann::json::parse(outcome.out).at("iterations"), 20);
}

TEST_F(Runs, TrainsEveryArmSideBySide) {
  config_file(
      std::string(tiny) +
      "[[arm]]\nname = \"slow\"\noptimizer.rate = 1e-5\n[[arm]]\nname = \"fast\"\noptimizer = { rate = 0.1 }\n");
  const Outcome all = run("train --quiet tiny.toml");
  EXPECT_EQ(all.code, 0) << all.err;
  EXPECT_EQ(lines_in(all.out), 4u) << all.out;
  EXPECT_TRUE(std::filesystem::exists(path("runs/tiny/slow/config.toml")));
  EXPECT_NE(text_of(path("runs/tiny/fast/config.toml")).find("rate = 0.1"), std::string::npos);
  const Outcome one = run("train --quiet tiny.toml --arm fast --force --json");
  EXPECT_EQ(nlohmann::json::parse(one.out).at("run"), "runs/tiny/fast");
  expect_refusal(run("train tiny.toml --arm fats"), "did you mean 'fast'?");
  expect_refusal(run("compare tiny.toml --learners bptt"), "pick one with --arm");
}

TEST_F(Runs, EvaluatesWhatTrainingSaid) {
  config_file(tiny);
  const Outcome trained = run("train --quiet tiny.toml --json --set train.evaluate_every=5");
  const nlohmann::json result = nlohmann::json::parse(trained.out);
  const nlohmann::json last = nlohmann::json::parse(run("evaluate runs/tiny --json").out);
  EXPECT_EQ(last.at("loss"), result.at("metrics").at("test_loss"));
  const nlohmann::json best = nlohmann::json::parse(run("evaluate runs/tiny --best --split validation --json").out);
  EXPECT_EQ(best.at("loss"), result.at("best").at("validation_loss"));
  EXPECT_NE(run("evaluate runs/tiny").out.find("mse"), std::string::npos);
  expect_refusal(run("evaluate runs/tiny --split tset"), "did you mean 'test'?");
  expect_refusal(run("evaluate runs/none"), "no such directory");
}

TEST_F(Runs, InspectsCheckpoints) {
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

TEST_F(Runs, ExportedWeightsLoadIntoTorch) {
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

TEST_F(Runs, ImportedWeightsComeBack) {
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

TEST_F(Runs, PredictsFromLinesAndCarriesTheState) {
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

TEST_F(Runs, PredictsClasses) {
  config_file("[task]\nname = \"copy\"\nlength = 5\n[model]\nhidden = 4\n[train]\niterations = 5\nbatch = 4\n");
  const Outcome trained = run("train --quiet tiny.toml");
  ASSERT_EQ(trained.code, 0) << trained.err;
  write_text(path("in"), "1\n2\n");
  const Outcome top = run("predict runs/tiny in --top 2");
  EXPECT_EQ(lines_in(top.out), 3u) << top.out << top.err;
  EXPECT_EQ(top.out.substr(0, top.out.find('\n')), "class_1,probability_1,class_2,probability_2");
  write_text(path("in"), "99\n");
  EXPECT_NE(run("predict runs/tiny in").err.find("line 1: a token must be a number"), std::string::npos);
}

TEST_F(Runs, ComparesLearnersOverSeeds) {
  config_file(std::string(tiny) + "[learner]\npreset = \"plain\"\ntruncation = 2\n");
  const Outcome table = run("compare --quiet tiny.toml --learners bptt,tbptt --seeds 2");
  EXPECT_EQ(table.code, 0) << table.err;
  EXPECT_EQ(lines_in(table.out), 4u) << table.out;
  EXPECT_NE(table.out.find("±"), std::string::npos);
  // Everything is there: the second time nothing is trained, and the numbers are the same.
  const Outcome again = run("compare tiny.toml --learners bptt,tbptt --seeds 2");
  EXPECT_EQ(again.out, table.out);
  EXPECT_EQ(again.err, "");
  const Outcome json = run("compare --quiet tiny.toml --learners bptt --seeds 2 --json");
  EXPECT_EQ(nlohmann::json::parse(json.out).at("runs").size(), 2u);
  expect_refusal(run("compare tiny.toml --learners bptt,tbpt"), "did you mean 'tbptt'?");
}

TEST_F(Runs, TunesOnValidationAndTrainsTheBest) {
  config_file(std::string(tiny) + "[optimizer]\nname = \"sgd\"\n");
  expect_refusal(run("tune tiny.toml --grid optimizer.rate=0.1"), "train.evaluate_every");
  const std::string command =
      "tune --quiet tiny.toml --set train.evaluate_every=10 --grid optimizer.rate=0.0,0.1,1e200 --grid train.batch=2,4";
  const Outcome outcome = run(command + " --json");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const nlohmann::json line = nlohmann::json::parse(outcome.out);
  ASSERT_EQ(line.at("trials").size(), 6u);
  double lowest = 1e300;
  std::string best;
  for (const nlohmann::json& trial : line.at("trials")) {
    const bool wild = trial.at("setting").get<std::string>().find("1e200") != std::string::npos;
    EXPECT_EQ(trial.at("validation_loss").is_null(), wild);
    if (wild || trial.at("validation_loss").get<double>() >= lowest) continue;
    lowest = trial.at("validation_loss").get<double>();
    best = trial.at("setting").get<std::string>();
  }
  EXPECT_EQ(line.at("best"), best);
  EXPECT_TRUE(line.at("test_mse").is_number());
  // No trial has looked at the test data.
  for (const nlohmann::json& trial : line.at("trials"))
    EXPECT_EQ(text_of(path(trial.at("run").get<std::string>() + "/metrics.jsonl")).find("test"), std::string::npos);
  EXPECT_EQ(run(command + " --json").out, outcome.out);
  expect_refusal(run("tune tiny.toml --set train.evaluate_every=10 --grid optimizer.rat=1,2"),
                 "did you mean 'optimizer.rate'?");
}

const char* const wave_config =
    "[task]\nname = \"series\"\npath = \"wave.csv\"\nlength = 10\n[model]\nhidden = 4\n[train]\niterations = 12\nbatch "
    "= 2\n"
    "evaluate_every = 4\n[run]\nthreads = 1\n";

std::string wave_text() {
  std::string text = "level,flow\n";
  for (int i = 0; i < 300; ++i) text += std::to_string(i % 7) + "," + std::to_string((i * i) % 11) + "\n";
  return text;
}

TEST_F(Runs, AMovedRunPredictsWithoutItsDataAndEvaluatesWhereItIsTold) {
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
                 "wave.csv: there is no such file; name it with task.path (--set task.path=FILE)");
  const Outcome found = run("evaluate copy --json --set task.path=moved.csv");
  EXPECT_EQ(found.code, 0) << found.err;
  EXPECT_EQ(nlohmann::json::parse(found.out).at("loss"), nlohmann::json::parse(evaluated.out).at("loss"));
  std::filesystem::remove(path("copy/task/interface.json"));
  expect_refusal(run("predict copy in.csv"), "what the model reads and predicts");
}

TEST_F(Runs, TunedSeriesIsTrainedOnAllButTheTestPart) {
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

TEST_F(Runs, AKilledTuneGoesOnToTheSameEnd) {
  config_file(longer, "whole");
  config_file(longer, "parts");
  const std::string arguments = " --grid optimizer.rate=0.01,0.001 --set train.iterations=400";
  const Outcome whole = run("tune --quiet --json whole.toml" + arguments);
  ASSERT_EQ(whole.code, 0) << whole.err;
  const pid_t child =
      start({"tune", "--quiet", "parts.toml", "--grid", "optimizer.rate=0.01,0.001", "--set", "train.iterations=400"});
  wait_for_file("runs/parts-tune/optimizer.rate=0.001/checkpoints/last.safetensors");  // in the second trial
  kill(child, SIGKILL);
  wait_for(child);
  const Outcome parts = run("tune --quiet --json parts.toml" + arguments);
  ASSERT_EQ(parts.code, 0) << parts.err;
  const nlohmann::json a = nlohmann::json::parse(whole.out), b = nlohmann::json::parse(parts.out);
  EXPECT_EQ(a.at("best"), b.at("best"));
  EXPECT_EQ(a.at("test_loss"), b.at("test_loss"));
  EXPECT_NE(b.at("trained_on").get<std::string>().find("nothing was held out"), std::string::npos);
  for (const char* trial : {"optimizer.rate=0.01", "optimizer.rate=0.001"})
    EXPECT_EQ(metrics_without_times(path(std::string("runs/whole-tune/") + trial)),
              metrics_without_times(path(std::string("runs/parts-tune/") + trial)));
}

}  // namespace
}  // namespace throughtime
