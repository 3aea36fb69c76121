#include "c/c_support.h"

namespace throughtime {
namespace {

using namespace testing;  // ours

TEST(CStream, LooksWithoutMovingAndObserveIsThePair) {
  const Sine sine(100);
  const std::int64_t looked = new_model(), observed = new_model();
  for (int row = 0; row < 100; ++row) {
    double first = 0, second = 1, third = 2;
    const int looks = 1 + row % 3;
    for (int look = 0; look < looks; ++look) {
      ASSERT_EQ(tt_stream_predict(looked, 0, &sine.inputs[row], -1, &first), TT_OK) << last_error();
      const float other = 0.5f;
      double ignored = 0;
      if (row % 2 == 1) {
        ASSERT_EQ(tt_stream_predict(looked, 0, &other, -1, &ignored), TT_OK);
      }
    }
    ASSERT_EQ(tt_stream_observe(looked, 0, &sine.inputs[row], -1, &sine.targets[row], -1, &second), TT_OK);
    ASSERT_EQ(tt_stream_observe(observed, 0, &sine.inputs[row], -1, &sine.targets[row], -1, &third), TT_OK);
    EXPECT_EQ(first, second) << row;
    EXPECT_EQ(second, third) << row;
  }
  std::int64_t updates = 0, bytes = 0;
  ASSERT_EQ(tt_stream_facts(looked, &updates, &bytes), TT_OK);
  EXPECT_GT(updates, 90);
  EXPECT_GT(bytes, 0);
  tt_free(looked);
  tt_free(observed);
}

TEST(CStream, ManyRowsAreRowByRow) {
  const Sine sine(50);
  const std::int64_t one = new_model(), many = new_model();
  std::vector<double> a(50), b(50);
  for (int row = 0; row < 50; ++row)
    ASSERT_EQ(tt_stream_observe(one, 0, &sine.inputs[row], -1, &sine.targets[row], -1, &a[row]), TT_OK);
  ASSERT_EQ(tt_stream_observe_many(many, 0, 50, sine.inputs.data(), nullptr, sine.targets.data(), nullptr, b.data()),
            TT_OK);
  EXPECT_EQ(a, b);
  EXPECT_EQ(tt_stream_observe_many(many, 0, -1, sine.inputs.data(), nullptr, nullptr, nullptr, nullptr), TT_INVALID);
  EXPECT_EQ(tt_stream_observe(many, 1, sine.inputs.data(), -1, nullptr, -1, nullptr), TT_INVALID);
  EXPECT_EQ(last_error(), "[online] there is no slot 1; they are numbered from 0 to 0");
  tt_free(one);
  tt_free(many);
}

/// Also scales, and the rows before a bad one.
TEST(CStream, ARefusedRowChangesNothing) {
  const Sine sine(20);
  const std::int64_t model = new_model();
  ASSERT_EQ(tt_scales_begin(model), TT_OK);
  ASSERT_EQ(tt_stream_observe_many(model, 0, 10, sine.inputs.data(), nullptr, sine.targets.data(), nullptr, nullptr),
            TT_OK);
  const auto state = [&] {
    double means[2], deviations[2], next = 0;
    EXPECT_EQ(tt_scales_get(model, means, deviations, 2), TT_OK);
    EXPECT_EQ(tt_stream_predict(model, 0, &sine.inputs[10], -1, &next), TT_OK);
    return std::vector<double>{means[0], means[1], deviations[0], deviations[1], next};
  };
  const std::vector<double> before = state();
  const float wild = 100, nothing = NAN;
  EXPECT_EQ(tt_stream_learn(model, 5, &wild, -1, &wild, -1), TT_INVALID);
  EXPECT_EQ(last_error(), "[online] there is no slot 5; they are numbered from 0 to 0");
  EXPECT_EQ(tt_stream_learn(model, 0, &wild, -1, &nothing, -1), TT_INVALID);
  EXPECT_EQ(tt_stream_observe(model, -1, &wild, -1, &wild, -1, nullptr), TT_INVALID);
  std::vector<float> rows(sine.inputs.begin(), sine.inputs.begin() + 10);
  rows.back() = NAN;
  EXPECT_EQ(tt_stream_observe_many(model, 0, 10, rows.data(), nullptr, rows.data(), nullptr, nullptr), TT_INVALID);
  EXPECT_EQ(state(), before);
  tt_free(model);
  const std::int64_t labels = new_model(small_options, 1, 3);
  for (const std::int32_t label : {3, -2, INT32_MIN})
    EXPECT_EQ(tt_stream_observe(labels, 0, sine.inputs.data(), -1, nullptr, label, nullptr), TT_INVALID) << label;
  tt_free(labels);
}

TEST(CStream, AForecastGoesOnFromItsOwnAnswers) {
  const Sine sine(50);
  const std::int64_t model = new_model();
  ASSERT_EQ(tt_stream_observe_many(model, 0, 50, sine.inputs.data(), nullptr, sine.targets.data(), nullptr, nullptr),
            TT_OK);
  float rows[3] = {sine.targets[49], 0, 0};
  double forecast[3], next = 0;
  ASSERT_EQ(tt_stream_forecast(model, 0, 3, rows, forecast), TT_OK) << last_error();
  ASSERT_EQ(tt_stream_predict(model, 0, rows, -1, &next), TT_OK);
  EXPECT_EQ(next, forecast[0]);
  for (int step = 0; step < 3; ++step) {  // by hand: the state moves, nothing is learned
    float row = step == 0 ? rows[0] : static_cast<float>(forecast[step - 1]);
    ASSERT_EQ(tt_stream_advance(model, 0, &row, -1, &next), TT_OK);
    EXPECT_EQ(next, forecast[step]) << step;
  }
  EXPECT_EQ(tt_stream_forecast(model, 0, 0, rows, forecast), TT_INVALID);
  tt_free(model);
}

TEST(CStream, ThatDivergesIsARunThatFails) {
  const Sine sine(100);
  const std::string wild = std::string(small_options) + "[optimizer]\nname = \"sgd\"\nrate = 1e30\n";
  for (const bool scaled : {false, true}) {
    const std::int64_t model = new_model(wild.c_str());
    if (scaled) {
      ASSERT_EQ(tt_scales_begin(model), TT_OK);
    }
    double prediction = 0;
    EXPECT_EQ(tt_stream_observe_many(model, 0, 100, sine.inputs.data(), nullptr, sine.targets.data(), nullptr, nullptr),
              TT_FAILED);
    EXPECT_EQ(last_error().find("[online] the prediction is "), 0u) << last_error();
    EXPECT_EQ(tt_stream_predict(model, 0, sine.inputs.data(), -1, &prediction), TT_FAILED);
    EXPECT_EQ(tt_stream_advance(model, 0, sine.inputs.data(), -1, &prediction), TT_FAILED);
    std::vector<double> predictions(sine.inputs.size());
    const std::int64_t data = new_recording(sine);
    EXPECT_EQ(tt_model_predict(model, data, 0, predictions.data(), 100), TT_FAILED);
    EXPECT_EQ(last_error().find("[predict] prediction 0 is "), 0u) << last_error();
    tt_free(data);
    EXPECT_EQ(tt_stream_observe(model, 0, sine.inputs.data(), -1, sine.targets.data(), -1, nullptr), TT_FAILED);
    tt_free(model);
  }
}

TEST(CStream, RefusesAMethodThatNeedsTheEnd) {
  const std::int64_t model = new_model("[model]\nhidden = 4\n[learner]\nname = \"bptt\"\n");
  const float row = 0;
  EXPECT_EQ(tt_stream_observe(model, 0, &row, -1, &row, -1, nullptr), TT_INVALID);
  EXPECT_NE(last_error().find("bptt"), std::string::npos) << last_error();
  tt_free(model);
}

TEST(CScales, ShowARowAsTheModelSeesItAndTakeItBack) {
  const std::int64_t model = new_model();
  const float inputs[4] = {1, 2, 3, 4}, targets[2] = {-1, 1};
  ASSERT_EQ(tt_scales_begin(model), TT_OK);
  ASSERT_EQ(tt_scales_add(model, 4, inputs, nullptr), TT_OK);
  ASSERT_EQ(tt_scales_add(model, 2, nullptr, targets), TT_OK);
  EXPECT_EQ(tt_scales_add(model, 2, nullptr, nullptr), TT_INVALID);
  EXPECT_EQ(last_error(), "[c] inputs and targets must not both be NULL");
  double means[2], deviations[2];
  ASSERT_EQ(tt_scales_get(model, means, deviations, 2), TT_OK);
  EXPECT_NEAR(means[0], 2.5, 0.01);
  EXPECT_NEAR(means[1], 0, 0.01);
  float scaled[4], of_target = 0;
  ASSERT_EQ(tt_scales_apply(model, 4, 0, inputs, scaled), TT_OK);
  for (int i = 0; i < 4; ++i) EXPECT_FLOAT_EQ(scaled[i], static_cast<float>((inputs[i] - means[0]) / deviations[0]));
  ASSERT_EQ(tt_scales_apply(model, 1, 1, targets, &of_target), TT_OK);
  double back = of_target;
  ASSERT_EQ(tt_scales_undo(model, 1, &back), TT_OK);
  EXPECT_NEAR(back, targets[0], 1e-6);
  EXPECT_EQ(tt_scales_apply(model, -1, 0, inputs, scaled), TT_INVALID);
  const float nothing[2] = {1, NAN};
  EXPECT_EQ(tt_scales_add(model, 2, nothing, nullptr), TT_INVALID);
  EXPECT_EQ(tt_scales_add(model, 2, inputs, nothing), TT_INVALID);
  EXPECT_EQ(last_error(), "[c] inputs and targets must be finite numbers");
  double same[2];
  ASSERT_EQ(tt_scales_get(model, same, deviations, 2), TT_OK);
  EXPECT_EQ(std::vector<double>(same, same + 2), std::vector<double>(means, means + 2));
  EXPECT_EQ(tt_scales_undo(model, -1, &back), TT_INVALID);
  tt_free(model);
}

}  // namespace
}  // namespace throughtime
