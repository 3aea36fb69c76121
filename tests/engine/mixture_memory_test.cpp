// What a mixture of softmaxes takes of the machine, counted where it is taken.
#include <gtest/gtest.h>

#include "support/bytes_in_use.h"
#include "support/engine_run.h"

namespace throughtime::testing {
namespace {

constexpr int outputs = 2000, experts = 12, batch = 8, longest = 200;
constexpr std::size_t page = 1 << 16;  // for what malloc itself needs

/// The problem of one head, and an engine for it.
struct Lesson {
  Problem problem;
  EngineRun run;

  Lesson(const std::string& head, const std::string& engine)
      : problem(random_problem({.model = model(head), .steps = longest, .batch = batch})),
        run(problem, {.name = engine, .threads = 1, .communicator = nullptr}) {}
  static ModelConfig model(const std::string& head) {
    ModelConfig config = with_head(stack_of("gru", {8}), head, outputs);
    config.head.experts = experts;
    config.head.latent = head == "softmax" ? 0 : 6;
    return config;
  }
  /// Bytes that malloc hands out for a tape; `announced`: what the tape says.
  std::size_t taken_by_tape(int steps, std::size_t* announced = nullptr) {
    const std::size_t before = bytes_in_use();
    const auto tape = run.engine().make_tape({.steps = steps, .batch = batch});
    const std::size_t taken = bytes_in_use() - before;
    if (announced) *announced = tape->bytes();
    return taken;
  }
};

class MixtureMemory : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (bytes_in_use() == 0) GTEST_SKIP() << "the allocator of a sanitizer does not count";
  }
};

TEST_P(MixtureMemory, IsWhatItsTapeAnnounces) {
  Lesson mixture("mixture_of_softmaxes", GetParam());
  for (const int steps : {20, longest}) {
    std::size_t announced = 0;
    const std::size_t taken = mixture.taken_by_tape(steps, &announced);
    EXPECT_LT(taken, announced + announced / 50 + page) << steps;
    EXPECT_GT(taken + page, announced) << steps;
  }
}

TEST_P(MixtureMemory, GrowsWithTheWindowAsThatOfOneSoftmax) {
  Lesson mixture("mixture_of_softmaxes", GetParam()), plain("softmax", GetParam());
  const auto growth = [](Lesson& lesson) { return lesson.taken_by_tape(longest) - lesson.taken_by_tape(20); };
  const std::size_t of_mixture = growth(mixture), of_plain = growth(plain);
  EXPECT_LT(of_mixture, of_plain + of_plain / 50 + page);
  const std::size_t logits = std::size_t{longest - 20} * batch * experts * outputs * sizeof(float);
  EXPECT_LT(of_mixture, logits / 10) << "or nothing would be shown";
}

INSTANTIATE_TEST_SUITE_P(OnTheHost, MixtureMemory, ::testing::Values("reference", "cpu"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace throughtime::testing
