#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "command/command_run.h"

namespace throughtime {
namespace {

using testing::Outcome;
using testing::write_text;

/// A language model with a mixture of softmaxes, from training to what is done with its run.
class MixtureOfSoftmaxes : public testing::CommandTest {
 protected:
  static constexpr const char* mixture = " --set model.head=mixture_of_softmaxes";

  Outcome train(const std::string& options) const {
    std::string text;
    for (int i = 0; i < 150; ++i) text += i % 7 % 2 != 0 ? "the cat saw a dog\n" : "a dog saw the cat\n";
    write_text(path("text.txt"), text);
    config_file(
        "[task]\nname = \"text\"\n[task.text]\nlength = 7\ncorpus = \"files\"\nfiles = [\"text.txt\"]\n[model]\n"
        "hidden = 8\nembedding = 4\n[optimizer]\nrate = 0.02\n[train]\niterations = 150\nbatch = 4\nevaluate_every = "
        "50\n"
        "[run]\nthreads = 1\n",
        "words");
    return run("train --quiet words.toml" + options);
  }
};

TEST_F(MixtureOfSoftmaxes, IsTrainedAndUsedAsAnyOtherHead) {
  const Outcome trained =
      train(std::string(mixture) + " --set model.experts=3 --set model.dropout_latent=0.1 --set model.tied=true");
  ASSERT_EQ(trained.code, 0) << trained.err;
  const Outcome names = run("inspect runs/words");
  for (const char* name : {"head.prior.weight", "[3, 8]", "head.latent.weight", "[12, 8]", "head.latent.bias"})
    EXPECT_NE(names.out.find(name), std::string::npos) << name << "\n" << names.out;
  const Outcome evaluated = run("evaluate runs/words --json");
  ASSERT_EQ(evaluated.code, 0) << evaluated.err;
  EXPECT_LT(nlohmann::json::parse(evaluated.out).at("perplexity").get<double>(), 3);
  const Outcome dynamic = run("evaluate runs/words --dynamic --rate 0.001 --columns 4 --json");
  ASSERT_EQ(dynamic.code, 0) << dynamic.err;
  EXPECT_LT(nlohmann::json::parse(dynamic.out).at("perplexity").get<double>(), 3);
  EXPECT_EQ(run("sample runs/words --prompt 'the cat' --temperature 0 --length 4").out, "the cat saw a dog\n");
  write_text(path("lines.txt"), "the\ncat\n");
  const Outcome predicted = run("predict runs/words --top 1", "lines.txt");
  EXPECT_EQ(predicted.code, 0) << predicted.err;
  EXPECT_NE(predicted.out.find("saw"), std::string::npos) << predicted.out;
  ASSERT_EQ(run("export runs/words --output weights.safetensors").code, 0);
  const Outcome exported = run("inspect weights.safetensors");
  EXPECT_NE(exported.out.find("head.prior.weight"), std::string::npos) << exported.out;
}

TEST_F(MixtureOfSoftmaxes, RefusesInOneLine) {
  expect_refusal(train(std::string(mixture) + " --set model.experts=0"),
                 "model.experts must be between 1 and 1024, got 0");
  expect_refusal(train(std::string(mixture) + " --set model.dropout_latent=1"), "at least 0 and below 1, got 1");
  expect_refusal(train(std::string(mixture) + " --set model.tied=true --set model.latent=5"),
                 "a tied head needs latent of the embedding's width (4), got 5");
  expect_refusal(train(std::string(mixture) + " --set model.head_hidden=5"), "head_hidden must be 0");
  expect_refusal(train(" --set model.experts=3"), "model.experts is an option of the head mixture_of_softmaxes");
  expect_refusal(train(" --set model.head=quantile"), "is for forecasts");
  config_file(testing::tiny);
  expect_refusal(run(std::string("train --quiet tiny.toml") + mixture), "needs labels");
}

}  // namespace
}  // namespace throughtime
