#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/errors.h"
#include "throughtime/optimizer.h"

namespace throughtime {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// One vector and its moments in double, as an engine would hold them.
struct Trained {
  Trained(const OptimizerConfig& config, std::vector<double> weights)
      : type(find_optimizer(config.name)), config(config), weights(std::move(weights)) {
    for (int k = 0; k < type.moments; ++k) moments.emplace_back(this->weights.size(), type.first_moment);
  }
  void step(double rate, const std::vector<double>& gradient, double factor = 1, double clip_value = 0) {
    std::vector<double*> pointers;
    for (auto& moment : moments) pointers.push_back(moment.data());
    type.reference(type.coefficients(config, ++steps, rate), weights.size(), factor, clip_value, gradient.data(),
                   weights.data(), pointers.data());
  }
  const OptimizerType& type;
  OptimizerConfig config;
  std::vector<double> weights;
  std::vector<std::vector<double>> moments;
  std::int64_t steps = 0;
};

Trained single(const std::string& name, double weight = 1.0) { return Trained({.name = name}, {weight}); }

TEST(Sgd, StepsAgainstTheGradient) {
  Trained one = single("sgd");
  one.step(0.1, {2.0});
  EXPECT_DOUBLE_EQ(one.weights[0], 0.8);
}

TEST(Momentum, IsTheHeavyBall) {
  Trained one = single("momentum");
  one.step(0.1, {1.0});  // v = 1
  EXPECT_DOUBLE_EQ(one.weights[0], 0.9);
  one.step(0.1, {1.0});  // v = 1.9
  EXPECT_DOUBLE_EQ(one.weights[0], 0.9 - 0.19);
  one.step(0.2, {0.0});  // v = 1.71: the rate multiplies v, it is not kept in it
  EXPECT_DOUBLE_EQ(one.weights[0], 0.71 - 0.342);
}

TEST(Adam, FirstStepMovesByTheRateWhateverTheGradient) {
  for (const double gradient : {1e-3, 1.0, 1e3}) {
    Trained one = single("adam");
    one.step(0.1, {gradient});
    EXPECT_NEAR(one.weights[0], 1 - 0.1 * gradient / (gradient + 1e-8), 1e-15);
  }
}

TEST(Adam, EpsilonStandsOutsideTheRoot) {
  Trained one({.name = "adam", .epsilon = 0.5}, {1.0});
  one.step(0.1, {0.25});
  EXPECT_NEAR(one.weights[0], 1 - 0.1 * 0.25 / (0.25 + 0.5), 1e-15);
}

TEST(RmsProp, StartsFromZeroAndTakesEpsilonOutside) {
  Trained one({.name = "rmsprop", .decay = 0.75, .epsilon = 0.5}, {1.0});
  one.step(0.1, {2.0});  // mean square 0.25 * 4 = 1
  EXPECT_NEAR(one.weights[0], 1 - 0.1 * 2 / (1 + 0.5), 1e-15);
}

TEST(RmsPropTf1, StartsFromOneAndTakesEpsilonInside) {
  Trained one({.name = "rmsprop_tf1", .decay = 0.75, .epsilon = 0.25}, {1.0});
  one.step(0.1, {2.0});  // mean square 0.75 + 0.25 * 4 = 1.75
  EXPECT_NEAR(one.weights[0], 1 - 0.1 * 2 / std::sqrt(2.0), 1e-15);
}

TEST(Adagrad, FirstStepIsTheSignAndLaterOnesShrink) {
  Trained one({.name = "adagrad", .epsilon = 1e-5}, {1.0});
  one.step(0.1, {3.0});
  EXPECT_NEAR(one.weights[0], 1 - 0.1 * 3 / (3 + 1e-5), 1e-15);
  const double before = one.weights[0];
  one.step(0.1, {4.0});  // sum of squares 25
  EXPECT_NEAR(one.weights[0], before - 0.1 * 4 / (5 + 1e-5), 1e-15);
}

TEST(Adadelta, FirstChangeIsTheRootOfEpsilonOverTheMeanSquare) {
  Trained one = single("adadelta");
  one.step(1.0, {2.0});
  EXPECT_NEAR(one.weights[0], 1 - 2 * std::sqrt(1e-6 / (0.1 * 4 + 1e-6)), 1e-15);
}

TEST(Asgd, AveragesTheIteratesAfterTheFirst) {
  Trained one = single("asgd", 0.0);
  for (const double gradient : {-1.0, -1.0, -2.0, -4.0}) one.step(1.0, {gradient});  // W = 1, 2, 4, 8
  EXPECT_DOUBLE_EQ(one.weights[0], 8.0);
  EXPECT_DOUBLE_EQ(one.moments[0][0], (2.0 + 4.0 + 8.0) / 3);
}

TEST(Asgd, FollowsTheWeightsUntilTheAverageBegins) {
  Trained one({.name = "asgd", .average_from = 3}, {0.0});
  for (int step = 1; step <= 4; ++step) {
    one.step(1.0, {-1.0});
    EXPECT_DOUBLE_EQ(one.moments[0][0], step);
  }
  one.step(1.0, {-1.0});
  EXPECT_DOUBLE_EQ(one.moments[0][0], 4.5);
}

TEST(Clip, ClampsThenScalesThenDecays) {
  Trained one({.name = "sgd", .weight_decay = 0.5}, {2.0, 2.0, 2.0});
  one.step(1.0, {10.0, -10.0, 1.0}, 0.25, 4.0);
  EXPECT_DOUBLE_EQ(one.weights[0], 2 - (4 * 0.25 + 0.5 * 2));
  EXPECT_DOUBLE_EQ(one.weights[1], 2 - (-4 * 0.25 + 0.5 * 2));
  EXPECT_DOUBLE_EQ(one.weights[2], 2 - (1 * 0.25 + 0.5 * 2));
}

TEST(Clip, KeepsAGradientThatIsNoNumber) {
  for (const double bound : {0.0, 1.0}) {
    Trained one = single("sgd");
    one.step(1.0, {nan}, 1, bound);
    EXPECT_TRUE(std::isnan(one.weights[0])) << bound;
  }
}

struct Golden {
  std::string name;
  std::vector<double> weights;
  std::vector<std::vector<double>> moments;
};

// Six steps from W = (1, -0.5, 0.25, 0), rate 0.1, weight decay 0.01, gradient n = (0.5 (-1)^n, 0.1 n, -0.3, 2 / n).
// torch.optim 1.13 in float64: SGD, SGD(momentum=0.9), Adam, RMSprop, Adagrad, Adadelta, ASGD(lambd=0, alpha=0, t0=0),
// all else at its defaults. rmsprop_tf1 is not in torch: the three lines of its definition in torch tensors.
const std::vector<Golden>& goldens() {
  static const std::vector<Golden> rows = {
      {"sgd", {0.9938652796651938, -0.7066578397975669, 0.4280543445539285, -0.4882628475344332}, {}},
      {"momentum",
       {1.0923232090165143, -0.9853414477986598, 0.7786621168700874, -1.8124698326753335},
       {{0.17322084002134547, 1.7537303412035028, -1.385468072409076, 3.385202722951332}}},
      {"adam",
       {1.1277293647044724, -1.0818076938239425, 0.849747081801725, -0.5130128474190787},
       {{0.017490275090648037, 0.1746757267320262, -0.13808214394767532, 0.34094152797543914},
        {0.0014985008083685215, 0.0008747450733303134, 0.0005208550853136738, 0.005926465396694491}}},
      {"rmsprop",
       {1.333214578965574, -5.232844082884536, 3.8220412042995275, -2.2269404799335457},
       {{0.014843444432948215, 0.0076532930725391095, 0.0045678239296599345, 0.05627599247871245}}},
      {"rmsprop_tf1",
       {0.9870678795028078, -0.7512181119296912, 0.46039339012858754, -0.44662910700876296},
       {{0.6490122279151205, 0.6105380796888783, 0.5726511680438421, 0.9101196903586822}}},
      {"adagrad",
       {1.0359510268826964, -0.9743359363790602, 0.6131630331357862, -0.22412866558226668},
       {{1.5026755783210415, 0.8772497465562328, 0.5245239873337336, 5.956952170990273}}},
      {"adadelta",
       {0.999957983255932, -0.5031660581102035, 0.2519843730962599, -0.0009735717358184013},
       {{0.11743403455620162, 0.07945898144204279, 0.04146785432227718, 0.37996447481833656},
        {5.262946402420623e-06, 1.5231955179182411e-05, 5.1737492486473805e-06, 1.3077102512059321e-06}}},
      {"asgd",
       {0.9938652796651938, -0.7066578397975669, 0.4280543445539285, -0.4882628475344332},
       {{1.0159171228942485, -0.6078636084461152, 0.36879195812509163, -0.40508306262026}}},
  };
  return rows;
}

TEST(Optimizers, FollowTheTracesOfPyTorch) {
  ASSERT_EQ(goldens().size(), all_optimizers().size());
  for (const Golden& golden : goldens()) {
    Trained trained({.name = golden.name, .weight_decay = 0.01}, {1.0, -0.5, 0.25, 0.0});
    for (int n = 1; n <= 6; ++n) trained.step(0.1, {n % 2 ? -0.5 : 0.5, 0.1 * n, -0.3, 2.0 / n});
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_NEAR(trained.weights[i], golden.weights[i], 1e-12) << golden.name;
      for (std::size_t k = 0; k < golden.moments.size(); ++k)
        EXPECT_NEAR(trained.moments[k][i], golden.moments[k][i], 1e-12) << golden.name;
    }
    EXPECT_EQ(trained.moments.size(), golden.moments.size()) << golden.name;
  }
}

TEST(Optimizers, ARateOfZeroLeavesTheWeights) {
  for (const OptimizerType* type : all_optimizers()) {
    Trained one = single(type->name, 0.7);
    for (int n = 0; n < 3; ++n) one.step(0.0, {1.5});
    EXPECT_EQ(one.weights[0], 0.7) << type->name;
  }
}

TEST(Optimizers, AZeroGradientFromTheStartLeavesTheWeights) {
  for (const OptimizerType* type : all_optimizers()) {
    Trained one = single(type->name, 0.7);
    one.step(0.1, {0.0});
    EXPECT_EQ(one.weights[0], 0.7) << type->name;
  }
}

TEST(Optimizers, ReadTheFieldsThatTheyName) {
  const std::pair<const char*, void (*)(OptimizerConfig&)> fields[] = {
      {"momentum", [](OptimizerConfig& config) { config.momentum = 0.25; }},
      {"beta1", [](OptimizerConfig& config) { config.beta1 = 0.25; }},
      {"beta2", [](OptimizerConfig& config) { config.beta2 = 0.25; }},
      {"decay", [](OptimizerConfig& config) { config.decay = 0.25; }},
      {"epsilon", [](OptimizerConfig& config) { config.epsilon = 0.25; }},
      {"average_from", [](OptimizerConfig& config) { config.average_from = 3; }},
  };
  for (const OptimizerType* type : all_optimizers()) {
    std::vector<std::string> read;
    const auto numbers = [&](const OptimizerConfig& config) {
      const UpdateCoefficients k = type->coefficients(config, 7, 0.1);
      return std::vector<double>{k.rate, k.a, k.b, k.c, k.d, k.e, k.weight_decay};
    };
    for (const auto& [name, change] : fields) {
      OptimizerConfig changed{.name = type->name};
      change(changed);
      if (numbers(changed) != numbers({.name = type->name})) read.push_back(name);
    }
    EXPECT_EQ(type->reads, read) << type->name;
    EXPECT_EQ(numbers({.name = type->name, .weight_decay = 0.5}).back(), 0.5) << type->name;
  }
}

TEST(OptimizerNames, AreRefusedWithTheNearestKnownOne) {
  EXPECT_REFUSED(find_optimizer("adm"), "adam");
  EXPECT_REFUSED(find_optimizer(""), "[optimizer]");
}

TEST(OptimizerConfig, RefusesSettingsThatCannotWork) {
  EXPECT_EQ(testing::refusal_of([] { validate(OptimizerConfig{}); }), "");
  EXPECT_REFUSED(validate(OptimizerConfig{.name = "addam"}), "adam");
  EXPECT_REFUSED(validate(OptimizerConfig{.name = "anchored"}), "asgd");  // a rule of evaluations alone
  EXPECT_REFUSED(validate(OptimizerConfig{.momentum = 1.0}), "momentum");
  EXPECT_REFUSED(validate(OptimizerConfig{.beta1 = -0.1}), "beta1");
  EXPECT_REFUSED(validate(OptimizerConfig{.beta2 = nan}), "beta2");
  EXPECT_REFUSED(validate(OptimizerConfig{.decay = 1.5}), "decay");
  EXPECT_REFUSED(validate(OptimizerConfig{.epsilon = 0.0}), "epsilon");
  EXPECT_REFUSED(validate(OptimizerConfig{.weight_decay = -1e-3}), "weight_decay");
  EXPECT_REFUSED(validate(OptimizerConfig{.average_from = -1}), "average_from");
}

}  // namespace
}  // namespace throughtime
