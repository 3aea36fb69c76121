// Runs that begin with the weights of another one: train --from and stream --from.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "command/stream_support.h"

namespace throughtime {
namespace {

class From : public Stream {
 protected:
  /// runs/past: what a recording of the wave taught.
  void train_past(const std::string& more = "") {
    write_text(path("past.csv"), series(0, 400));
    const Outcome past =
        run("train --quiet small.toml --set task.series.path=past.csv --set run.directory=runs/past --set "
            "task.series.length=20 --set train.batch=2 --set train.iterations=60 --set train.evaluate_every=20" +
            more);
    ASSERT_EQ(past.code, 0) << past.err;
  }
  /// The weights alone: the bytes of an exported file behind its header.
  std::string weights(const std::string& arguments) const {
    std::filesystem::remove(path("weights.safetensors"));
    const Outcome exported = run("export " + arguments + " -o weights.safetensors");
    EXPECT_EQ(exported.code, 0) << exported.err;
    const std::string file = text_of(path("weights.safetensors"));
    std::uint64_t header = 0;
    std::memcpy(&header, file.data(), sizeof header);
    return file.substr(sizeof header + header);
  }
  std::string log_of(const std::string& run) const { return text_of(path(run + "/log.txt")); }
};

TEST_F(From, TrainingGoesOnFromTheWeightsThatValidationChose) {
  train_past();
  const std::string again =
      "train --quiet small.toml --from runs/past --set task.series.path=past.csv --set task.series.length=20 --set "
      "train.batch=2 --set train.iterations=5";
  ASSERT_EQ(run(again + " --set optimizer.rate=0 --set run.directory=runs/same").code, 0);
  EXPECT_EQ(weights("runs/same"), weights("runs/past --best"));
  EXPECT_NE(log_of("runs/same").find("the first weights are the best ones of runs/past"), std::string::npos);
  const Outcome other = run(again + " --set run.directory=runs/other --set learner.name=bptt");
  EXPECT_EQ(other.code, 0) << other.err;
  EXPECT_NE(weights("runs/other"), weights("runs/past --best"));
  expect_refusal(run(again + " --set model.hidden=5 --set run.directory=runs/wide"), "--from needs the same cells");
  expect_refusal(run("train --resume runs/past --from runs/same"), "--resume takes the configuration of the run");
  expect_refusal(run("train small.toml --from runs/none --set task.series.path=past.csv"), "no such directory");
}

TEST_F(From, AnAnchorOfOneKeepsAStreamAtTheWeightsOfTheRun) {
  train_past();
  const std::string past = weights("runs/past --best");
  ASSERT_EQ(stream("small.toml --from runs/past --set stream.anchor=1", series(0, 120)).code, 0);
  EXPECT_EQ(weights("runs/small"), past);
  EXPECT_NE(log_of("runs/small").find("the first weights are the best ones of runs/past"), std::string::npos);
  ASSERT_EQ(stream("small.toml --from runs/past --force --set run.directory=runs/free", series(0, 120)).code, 0);
  EXPECT_NE(weights("runs/free"), past);
  ASSERT_EQ(stream("small.toml --set stream.anchor=1 --set run.directory=runs/drawn", series(0, 120)).code, 0);
  EXPECT_NE(weights("runs/drawn"), past) << "else the test shows nothing";
}

TEST_F(From, AStreamGoesOnBitForBitWithoutTheOtherRun) {
  train_past();
  const std::string begin = "small.toml --from runs/past --set stream.anchor=0.01 --set run.directory=runs/";
  const Outcome whole = stream(begin + "whole", series(0, 200));
  ASSERT_EQ(whole.code, 0) << whole.err;
  const Outcome first = stream(begin + "parts", series(0, 83));
  std::filesystem::remove_all(path("runs/past"));
  const Outcome second = stream("--resume runs/parts", series(83, 200));
  ASSERT_EQ(second.code, 0) << second.err;
  EXPECT_EQ(first.out + second.out, whole.out);
  EXPECT_EQ(weights("runs/parts"), weights("runs/whole"));
}

/// Nobody could go on with weights that are nowhere but in a process that ended.
TEST_F(From, AStreamKeepsTheWeightsBeforeItsFirstRow) {
  train_past();
  const Outcome broken = stream("small.toml --from runs/past", "other\n1\n");
  EXPECT_EQ(broken.code, 2) << broken.err;
  EXPECT_EQ(weights("runs/small"), weights("runs/past --best"));
}

/// With a rate of 0 a stream is the run's model: what `predict` says of the same rows, but for the scales that move.
TEST_F(From, ScalesAreThoseOfTheRun) {
  train_past();
  const Outcome outcome = stream("small.toml --from runs/past --set optimizer.rate=0", series(400, 420));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(log_of("runs/small").find("the scales of inputs are those of that run, those of targets are those"),
            std::string::npos)
      << log_of("runs/small");
  write_text(path("rows.csv"), series(400, 420));
  const std::vector<std::string> trained = lines_of(run("predict runs/past rows.csv").out);
  const std::vector<std::string> answers = lines_of(outcome.out);
  ASSERT_EQ(answers.size(), 20u);
  ASSERT_GE(trained.size(), 20u);
  for (std::size_t row = 0; row < 20; ++row)
    EXPECT_NEAR(std::stod(answers[row]), std::stod(trained[trained.size() - 20 + row]), 0.01) << row;

  // A stream hands its scales on too; other columns begin anew.
  ASSERT_EQ(stream("small.toml --from runs/small --set run.directory=runs/next", series(420, 440)).code, 0);
  EXPECT_NE(log_of("runs/next").find("the scales of inputs are those of that run"), std::string::npos);
  const Outcome renamed =
      stream("small.toml --from runs/past --set task.series.inputs=x --set run.directory=runs/x", series(0, 40, "x\n"));
  ASSERT_EQ(renamed.code, 0) << renamed.err;
  EXPECT_NE(log_of("runs/x").find("the scales of inputs begin anew, those of targets begin anew"), std::string::npos);
}

TEST_F(From, AStreamRefusesInOneLine) {
  train_past();
  expect_refusal(stream("small.toml --from runs/none", ""), "no such directory");
  expect_refusal(stream("small.toml --from runs/past --set model.hidden=5", ""),
                 "[stream] the weights of runs/past do not fit: it has rnn.weight_ih_l0");
  expect_refusal(stream("small.toml --from runs/past --set model.cell=gru", ""), "--from needs the same cells");
  expect_refusal(stream("--resume runs/past --from runs/past", ""), "--resume takes the configuration of the run");
  EXPECT_FALSE(std::filesystem::exists(path("runs/small/config.toml"))) << "nothing was begun";
  std::filesystem::remove_all(path("runs/past/checkpoints"));
  expect_refusal(stream("small.toml --from runs/past", ""), "has no checkpoint yet");
}

}  // namespace
}  // namespace throughtime
