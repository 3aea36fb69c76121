#include <gtest/gtest.h>

#include <cmath>

#include "support/engine_run.h"
#include "support/errors.h"

// apply_update (scale, clip, decay, all-reduce) and the vector operations.
namespace throughtime::testing {
namespace {

class Vectors : public ::testing::Test {
 protected:
  Buffer buffer(const std::vector<double>& values) {
    const Buffer made = engine->allocate(values.size());
    engine->write(made, values);
    return made;
  }

  Model model{stack_of("lstm", {2})};
  std::unique_ptr<Engine> engine = make_engine(model, EngineRun::reference());
};

class Update : public Vectors {
 protected:
  /// Weights after one plain SGD step of rate 1 from zero: minus the gradient that the optimizer saw.
  std::vector<double> seen_gradient(const std::vector<double>& gradient, double scale, Clip clip) {
    const Buffer weights = engine->allocate(gradient.size());
    const auto optimizer = engine->make_optimizer({.name = "sgd"}, weights);
    norm = engine->allocate(1);
    engine->apply_update({.target = weights,
                          .gradient = buffer(gradient),
                          .optimizer = *optimizer,
                          .rate = 1.0,
                          .gradient_scale = scale,
                          .clip = clip,
                          .norm = norm});
    std::vector<double> seen = engine->read(weights);
    for (double& x : seen) x = -x;
    return seen;
  }
  static void expect_near(const std::vector<double>& got, const std::vector<double>& wanted) {
    ASSERT_EQ(got.size(), wanted.size());
    for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], wanted[i], 1e-12) << i;
  }

  Buffer norm;
};

TEST_F(Update, ScalesTheGradient) {
  expect_near(seen_gradient({3, -4}, 0.5, {}), {1.5, -2});
  EXPECT_NEAR(engine->read(norm)[0], 2.5, 1e-12);
}

TEST_F(Update, ClampsAfterScaling) {
  expect_near(seen_gradient({3, -4, 0.2}, 0.5, {.value = 1.7, .norm = 0}), {1.5, -1.7, 0.1});
}

TEST_F(Update, ClipsTheNormOfTheScaledGradient) {
  const double factor = 1.0 / (2.5 + 1e-6);
  expect_near(seen_gradient({3, -4}, 0.5, {.value = 0, .norm = 1}), {1.5 * factor, -2 * factor});
  EXPECT_NEAR(engine->read(norm)[0], 2.5, 1e-12) << "the norm is that before clipping";
  expect_near(seen_gradient({3, -4}, 0.5, {.value = 0, .norm = 4}), {1.5, -2});
}

TEST_F(Update, ClampsFirstAndThenClipsTheNorm) {
  const double factor = 1.0 / (std::hypot(1.5, 1.7) + 1e-6);
  expect_near(seen_gradient({3, -4}, 0.5, {.value = 1.7, .norm = 1}), {1.5 * factor, -1.7 * factor});
  EXPECT_NEAR(engine->read(norm)[0], 2.5, 1e-12);
  expect_near(seen_gradient({3, -4}, -0.5, {.value = 1.7, .norm = 1}), {-1.5 * factor, 1.7 * factor});
}

TEST_F(Update, DecaysWeightsAfterClipping) {
  const Buffer weights = buffer({2.0});
  const auto optimizer = engine->make_optimizer({.name = "sgd", .weight_decay = 0.25}, weights);
  engine->apply_update({.target = weights,
                        .gradient = buffer({100.0}),
                        .optimizer = *optimizer,
                        .rate = 0.1,
                        .clip = {.value = 1, .norm = 0}});
  EXPECT_NEAR(engine->read(weights)[0], 2.0 - 0.1 * (1.0 + 0.25 * 2.0), 1e-12);
}

TEST_F(Update, CountsItsStepsAndStartsAgain) {
  const Buffer weights = buffer({1.0, 2.0}), gradient = buffer({0.3, -0.7});
  const auto optimizer = engine->make_optimizer({.name = "adam"}, weights);
  const UpdateCall call{.target = weights, .gradient = gradient, .optimizer = *optimizer, .rate = 0.01};
  engine->apply_update(call);
  const std::vector<double> once = engine->read(weights);
  EXPECT_NEAR(once[0], 0.99, 1e-6) << "the first step of Adam is the rate";
  EXPECT_EQ(optimizer->step, 1);
  engine->apply_update(call);
  EXPECT_EQ(optimizer->step, 2);
  optimizer->reset();
  EXPECT_EQ(optimizer->step, 0);
  for (const Buffer moment : optimizer->moments)
    for (const double x : engine->read(moment)) EXPECT_EQ(x, 0);
  engine->write(weights, std::vector<double>{1.0, 2.0});
  engine->apply_update(call);
  EXPECT_EQ(engine->read(weights), once);
}

TEST_F(Update, RefusesWhatDoesNotFit) {
  const Buffer weights = engine->allocate(3);
  const auto optimizer = engine->make_optimizer({.name = "momentum"}, weights);
  const auto with = [&](UpdateCall call) { engine->apply_update(call); };
  EXPECT_REFUSED(with({.target = weights, .gradient = buffer({1, 2}), .optimizer = *optimizer}),
                 "[apply_update] gradient must have 3 numbers, got 2");
  EXPECT_REFUSED(with({.target = buffer({1}), .gradient = buffer({2}), .optimizer = *optimizer}), "moment");
  EXPECT_REFUSED(with({.target = weights, .gradient = weights, .optimizer = *optimizer, .rate = NAN}), "rate");
  EXPECT_REFUSED(
      with({.target = weights, .gradient = weights, .optimizer = *optimizer, .clip = {.value = -1, .norm = 0}}),
      "clip");
  EXPECT_REFUSED(engine->make_optimizer({.name = "adma"}, weights), "adam");
}

TEST_F(Vectors, AreCopiedFilledScaledAndAdded) {
  const Buffer x = buffer({1, 2, 3}), y = engine->allocate(3), sum = engine->allocate(1);
  EXPECT_EQ(engine->read(y), (std::vector<double>{0, 0, 0}));
  engine->copy(x, y);
  engine->scale(y, -2);
  engine->axpy(0.5, x, y);
  EXPECT_EQ(engine->read(y), (std::vector<double>{-1.5, -3, -4.5}));
  engine->dot(x, y, sum);
  EXPECT_EQ(engine->read(sum)[0], -21);
  engine->fill(y, 4);
  EXPECT_EQ(engine->read(y), (std::vector<double>{4, 4, 4}));
  EXPECT_REFUSED(engine->axpy(1, x, sum), "[axpy] y must have 3 numbers, got 1");
  EXPECT_REFUSED(engine->dot(x, y, x), "[dot] result");
  EXPECT_REFUSED(engine->fill({}, 1), "no buffer");
  EXPECT_REFUSED(engine->fill({99, 3}, 1), "no buffer with id 99");
}

TEST_F(Vectors, AreGatheredAndScatteredByRow) {
  const Buffer table = buffer({0, 1, 10, 11, 20, 21}), rows = engine->allocate(6);
  const std::vector<std::int64_t> indices = {2, 0, 2}, outside = {0, 3, 1};
  engine->gather_rows(table, 2, indices, rows);
  EXPECT_EQ(engine->read(rows), (std::vector<double>{20, 21, 0, 1, 20, 21}));
  engine->scatter_add_rows(rows, 2, indices, table);
  EXPECT_EQ(engine->read(table), (std::vector<double>{0, 2, 10, 11, 60, 63}));
  EXPECT_REFUSED(engine->gather_rows(table, 2, outside, rows), "row index 3 is outside the table of 3 rows");
  EXPECT_REFUSED(engine->gather_rows(table, 4, indices, rows), "multiple of the width");
  EXPECT_REFUSED(engine->scatter_add_rows(buffer({1, 2}), 2, indices, table), "rows must have at least 6 numbers");
}

}  // namespace
}  // namespace throughtime::testing
