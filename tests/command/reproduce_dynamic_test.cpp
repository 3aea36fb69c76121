// Claims about models that go on learning while they are tested ([result.dynamic]).
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "command/command_run.h"

namespace throughtime {
namespace {

using nlohmann::json;
using testing::Outcome;
using testing::text_of;
using testing::write_text;

/// Two arms that a claim compares dynamically, and one that nobody asks about.
class ReproduceDynamic : public testing::CommandTest {
 protected:
  void SetUp() override {
    std::string known, other;
    for (int i = 0; i < 60; ++i) known += i % 7 % 2 != 0 ? "the cat saw a dog\n" : "a dog saw the cat\n";
    for (int i = 0; i < 12; ++i) other += "dog dog cat saw saw the a\n";
    std::filesystem::create_directories(path("experiments/paper"));
    for (const char* part : {"train", "valid", "test"})
      write_text(path("experiments/paper/" + std::string(part) + ".txt"), part == std::string("train") ? known : other);
    write_text(path("experiments/paper/words.toml"),
               "[task]\nname = 'text'\n[task.text]\nlength = 7\ncorpus = 'files'\nfiles = ['train.txt', 'valid.txt', "
               "'test.txt']\n[model]\nhidden = 6\nembedding = 4\n[train]\niterations = 30\nbatch = 4\n"
               "evaluate_every = 10\n[run]\nthreads = 1\n"
               "[result]\ntitle = 'Words'\npaper = 'Nobody'\nmetric = 'perplexity'\nmeasure = 'dynamic'\n"
               "quick_seeds = 1\n[result.dynamic]\nrates = [0, 0.01]\ndecays = [0.001]\ncolumns = 4\n"
               "[[result.claim]]\nsays = 'one is lower'\n"
               "[[result.claim.rule]]\nkind = 'less'\narms = ['one']\nthan = ['two']\ntrend = true\n"
               "[[result.claim]]\nsays = 'three learns'\nmetric = 'best.test_perplexity'\nmeasure = 'result'\n"
               "[[result.claim.rule]]\nkind = 'below'\narms = ['three']\nhigh = 1000\n"
               "[[arm]]\nname = 'one'\n[[arm]]\nname = 'two'\noptimizer.rate = 0\n[[arm]]\nname = 'three'\n"
               "train.batch = 3\n");
  }
  static constexpr const char* command = "reproduce paper/words --engine reference --quiet --directory d --jobs 1";
  std::filesystem::path of(const std::string& arm) const { return path("d/" + arm + "/seed-1"); }
  json dynamic(const std::string& arm) const { return json::parse(text_of(of(arm) / "dynamic.json")); }
};

TEST_F(ReproduceDynamic, EvaluatesEachRunOfAClaimOnceAndKeepsItsNumbers) {
  const Outcome outcome = run(command);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json values = json::parse(text_of(path("d/values.json")));
  for (const std::string arm : {"one", "two"}) {
    const json line = dynamic(arm);
    ASSERT_EQ(line.at("trials").size(), 2u);
    EXPECT_EQ(line.at("dynamic").at("rate"), 0.01) << "the words of validation and test are others";
    EXPECT_LT(line.at("perplexity"), line.at("static").at("perplexity"));
    EXPECT_EQ(line.at("best"), true);
    EXPECT_NE(values.dump().find(line.at("perplexity").dump()), std::string::npos) << values.dump();
    EXPECT_FALSE(std::filesystem::exists(of(arm) / "checkpoints/last.safetensors")) << "nobody asked to keep them";
  }
  EXPECT_FALSE(std::filesystem::exists(of("three") / "dynamic.json"));
  EXPECT_NE(outcome.out.find("perplexity, dynamic"), std::string::npos) << outcome.out;
  const auto written = std::filesystem::last_write_time(of("one") / "dynamic.json");
  ASSERT_EQ(run(command).code, 0);
  EXPECT_EQ(std::filesystem::last_write_time(of("one") / "dynamic.json"), written);
}

TEST_F(ReproduceDynamic, GoesOnWhereAFinishedRunWasNotEvaluatedYet) {
  ASSERT_EQ(run(std::string(command) + " --checkpoints").code, 0);
  const json before = dynamic("one");
  const auto trained = std::filesystem::last_write_time(of("one") / "result.json");
  std::filesystem::remove(of("one") / "dynamic.json");
  ASSERT_EQ(run(command).code, 0);
  EXPECT_EQ(dynamic("one"), before);
  EXPECT_EQ(std::filesystem::last_write_time(of("one") / "result.json"), trained);

  std::filesystem::remove(of("one") / "dynamic.json");  // its weights are gone by now
  const Outcome lost = run(command);
  EXPECT_EQ(lost.code, 1) << lost.out;
  EXPECT_NE(run("reproduce paper/words --engine reference --directory d --jobs 1").err.find("its weights are gone"),
            std::string::npos);
}

TEST_F(ReproduceDynamic, ANewRunInTheDirectoryHasNoNumbersOfTheOldOne) {
  ASSERT_EQ(run(std::string(command) + " --checkpoints").code, 0);
  ASSERT_EQ(run("train --quiet --resume d/one/seed-1 --set train.iterations=35").code, 0);
  EXPECT_FALSE(std::filesystem::exists(of("one") / "dynamic.json"));
}

TEST_F(ReproduceDynamic, RefusesWhatCannotBeMeant) {
  const std::string file = text_of(path("experiments/paper/words.toml"));
  write_text(path("experiments/paper/words.toml"), file + "[result.dynamic2]\n");
  expect_refusal(run(command), "unknown key of [result]");
  std::string wrong = file;
  wrong.replace(wrong.find("rates ="), 7, "ratse =");
  write_text(path("experiments/paper/words.toml"), wrong);
  expect_refusal(run(command), "did you mean 'rates'?");
}

}  // namespace
}  // namespace throughtime
