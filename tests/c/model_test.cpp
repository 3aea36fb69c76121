#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "c/c_support.h"

namespace throughtime {
namespace {

using testing::last_error;
using testing::new_model;
using testing::new_recording;
using testing::Sine;
using testing::small_options;
using testing::small_weights;
using testing::weights_of;

int count_events(void* user, const char* event) {
  auto& events = *static_cast<std::vector<std::string>*>(user);
  if (event != nullptr) events.emplace_back(event);
  return 0;
}

int stop_at_once(void*, const char*) { return 1; }

TEST(CModel, LearnsARecordingAndPredictsIt) {
  const Sine sine(200);
  const std::int64_t model = new_model(), data = new_recording(sine);
  const std::vector<double> before = weights_of(model, small_weights);
  std::vector<std::string> events;
  ASSERT_EQ(tt_model_fit(model, data, nullptr, 0, 0, count_events, &events), TT_OK) << last_error();
  EXPECT_NE(weights_of(model, small_weights), before);
  ASSERT_GE(events.size(), 3u);
  EXPECT_NE(events.front().find("\"start\""), std::string::npos);
  EXPECT_NE(events.front().find("activation_bytes"), std::string::npos);
  EXPECT_NE(events.back().find("\"finished\""), std::string::npos);
  std::vector<double> predictions(200, 99), again(200);
  ASSERT_EQ(tt_model_predict(model, data, 0, predictions.data(), 200), TT_OK) << last_error();
  for (const double each : predictions) EXPECT_LT(std::abs(each), 3);
  ASSERT_EQ(tt_model_predict(model, data, 0, again.data(), 200), TT_OK);
  EXPECT_EQ(predictions, again);
  tt_free(model);
  tt_free(data);
}

TEST(CModel, StopsWhereTheCallbackSaysSoAndKeepsWhatItLearnt) {
  const Sine sine(200);
  const std::int64_t model = new_model(), data = new_recording(sine);
  const std::vector<double> before = weights_of(model, small_weights);
  ASSERT_EQ(tt_model_fit(model, data, nullptr, 0, 0, stop_at_once, nullptr), TT_OK);
  EXPECT_NE(weights_of(model, small_weights), before);
  tt_free(model);
  tt_free(data);
}

int call_again(void* user, const char*) {
  const auto model = *static_cast<std::int64_t*>(user);
  EXPECT_EQ(tt_stream_end(model), TT_HANDLE);
  EXPECT_EQ(last_error(), "[c] this model is at work in another call");
  return 0;
}

TEST(CModel, IsAtWorkInOneCallAtATime) {
  const Sine sine(40);
  std::int64_t model = new_model();
  const std::int64_t data = new_recording(sine);
  EXPECT_EQ(tt_model_fit(model, data, nullptr, 0, 0, call_again, &model), TT_OK);
  tt_free(model);
  tt_free(data);
}

/// The thread that is at work may ask, and so may others; the flag is gone when the work is.
TEST(CModel, ManyThreadsAskForItAndOneHasIt) {
  const Sine sine(40);
  const std::int64_t model = new_model(), data = new_recording(sine);
  std::vector<std::thread> threads;
  std::atomic<int> done = 0;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      while (done < 20) {
        const int status = tt_model_fit(model, data, nullptr, 0, 0, nullptr, nullptr);
        EXPECT_TRUE(status == TT_OK || status == TT_HANDLE) << last_error();
        if (status == TT_OK) ++done;
      }
    });
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(tt_stream_end(model), TT_OK) << last_error();
  tt_free(model);
  tt_free(data);
}

TEST(CModel, SizesThatCannotBeAreRefusedBeforeAnythingIsMade) {
  std::int64_t model = 0;
  const std::int32_t least = INT32_MIN, most = INT32_MAX;
  for (const std::int32_t wrong : {-1, least, most}) {
    EXPECT_EQ(tt_model_new(small_options, wrong, 0, 1, 0, &model), TT_INVALID) << last_error();
    EXPECT_EQ(last_error(), "[model] input.reals must be between 0 and 16777216, got " + std::to_string(wrong));
    EXPECT_EQ(tt_model_new(small_options, 1, wrong, 1, 0, &model), TT_INVALID) << last_error();
    EXPECT_EQ(tt_model_new(small_options, 1, 0, wrong, 0, &model), TT_INVALID) << last_error();
    EXPECT_EQ(last_error(), "[model] head.outputs must be between 1 and 16777216, got " + std::to_string(wrong));
  }
  EXPECT_EQ(tt_model_new(small_options, 0, 0, 1, 0, &model), TT_INVALID);
  EXPECT_EQ(tt_model_new(small_options, 1, 0, 0, 0, &model), TT_INVALID);
}

TEST(CModel, ACopyGoesOnAsTheFirstOneAndLeavesItAlone) {
  const Sine sine(60);
  const std::int64_t model = new_model();
  std::int64_t copy = 0;
  ASSERT_EQ(tt_scales_begin(model), TT_OK);
  ASSERT_EQ(tt_stream_observe_many(model, 0, 30, sine.inputs.data(), nullptr, sine.targets.data(), nullptr, nullptr),
            TT_OK);
  double before = 0, after = 1;
  ASSERT_EQ(tt_stream_predict(model, 0, &sine.inputs[30], -1, &before), TT_OK);
  ASSERT_EQ(tt_model_copy(model, &copy), TT_OK) << last_error();
  EXPECT_EQ(weights_of(copy, small_weights), weights_of(model, small_weights));
  ASSERT_EQ(tt_stream_observe_many(copy, 0, 30, &sine.inputs[30], nullptr, &sine.targets[30], nullptr, nullptr), TT_OK);
  ASSERT_EQ(tt_stream_predict(model, 0, &sine.inputs[30], -1, &after), TT_OK);
  EXPECT_EQ(before, after) << "the stream of the first one stays where it was";
  ASSERT_EQ(tt_stream_reset(model, 0), TT_OK);  // where a copy begins
  ASSERT_EQ(tt_stream_observe_many(model, 0, 30, &sine.inputs[30], nullptr, &sine.targets[30], nullptr, nullptr),
            TT_OK);
  EXPECT_EQ(weights_of(copy, small_weights), weights_of(model, small_weights)) << "scales and moments went along";
  tt_free(model);
  EXPECT_EQ(tt_stream_end(copy), TT_OK);
  tt_free(copy);
}

TEST(CModel, ARunThatFailsLeavesItsStreamAlone) {
  const Sine sine(40);
  const std::int64_t model = new_model(), data = new_recording(sine);
  std::int64_t nothing = 0;
  ASSERT_EQ(tt_stream_observe_many(model, 0, 20, sine.inputs.data(), nullptr, sine.targets.data(), nullptr, nullptr),
            TT_OK);
  double before = 0, after = 1;
  ASSERT_EQ(tt_stream_predict(model, 0, &sine.inputs[20], -1, &before), TT_OK);
  ASSERT_EQ(tt_data_new(1, 0, 1, 0, 0, 1, &nothing), TT_OK);
  EXPECT_EQ(tt_model_fit(model, nothing, nullptr, 1, 0, nullptr, nullptr), TT_INVALID);
  const std::vector<float> wild(40, 1e38f);
  std::int64_t diverging = 0;
  ASSERT_EQ(tt_data_new(1, 0, 1, 0, 0, 1, &diverging), TT_OK);
  ASSERT_EQ(tt_data_add(diverging, 0, 40, wild.data(), nullptr, nullptr, wild.data(), nullptr), TT_OK);
  EXPECT_EQ(tt_model_fit(model, diverging, nullptr, 1, 0, nullptr, nullptr), TT_FAILED) << last_error();
  ASSERT_EQ(tt_stream_predict(model, 0, &sine.inputs[20], -1, &after), TT_OK);
  EXPECT_EQ(before, after);
  EXPECT_EQ(tt_model_fit(model, data, nullptr, 1, 0, nullptr, nullptr), TT_OK) << last_error();
  for (const std::int64_t handle : {model, data, nothing, diverging}) EXPECT_EQ(tt_free(handle), TT_OK);
}

TEST(CModel, ShortSequencesAreDiagnosedWithoutABurnIn) {
  const Sine sine(20);
  const std::int64_t model = new_model();
  std::int64_t data = 0;
  ASSERT_EQ(tt_data_new(1, 0, 1, 0, 0, 0, &data), TT_OK);
  for (int first = 0; first < 10; first += 2)
    ASSERT_EQ(tt_data_add(data, 0, 10, &sine.inputs[first], nullptr, nullptr, &sine.targets[first], nullptr), TT_OK);
  std::vector<char> text(1 << 16);
  std::size_t length = 0;
  const auto diagnose = [&](int positions, int lags, int burn_in) {
    return tt_model_diagnose(model, data, positions, lags, burn_in, text.data(), text.size(), &length);
  };
  EXPECT_EQ(diagnose(2, -1, -1), TT_INVALID);
  EXPECT_NE(last_error().find("lower lags or burn_in"), std::string::npos) << last_error();
  ASSERT_EQ(diagnose(2, 4, 3), TT_OK) << last_error();
  EXPECT_NE(std::string(text.data()).find("\"burn_in\":3"), std::string::npos);
  ASSERT_EQ(diagnose(2, -1, 0), TT_OK) << last_error();
  EXPECT_NE(std::string(text.data()).find("\"lags\":10"), std::string::npos) << text.data();
  EXPECT_EQ(diagnose(2, 4, -2), TT_INVALID);
  EXPECT_EQ(last_error(), "[c] burn_in must be at least 0, or -1 for what the options say, got -2");
  EXPECT_EQ(diagnose(-2, 4, 0), TT_INVALID);
  EXPECT_EQ(diagnose(2, -2, 0), TT_INVALID);
  tt_free(data);
  tt_free(model);
}

TEST(COptions, ThatNothingReadsAreRefusedByName) {
  EXPECT_EQ(tt_options_read(small_options, "model.dropout_input\nstream.anchor\ntrain.report_every\n"), TT_OK);
  EXPECT_EQ(tt_options_read(small_options, ""), TT_OK);
  EXPECT_EQ(tt_options_read(small_options, "stream.anchor\nmodel.step"), TT_INVALID);
  EXPECT_NE(last_error().find("[config] options: model.step is an option of the cell antisymmetric"), std::string::npos)
      << last_error();
  EXPECT_NE(last_error().find("here the cell is lstm"), std::string::npos) << last_error();
  EXPECT_EQ(tt_options_read("[model]\ncell = \"antisymmetric\"\n", "model.step"), TT_OK) << last_error();
  EXPECT_EQ(tt_options_read(small_options, "model.setp"), TT_INVALID);
}

/// Sequences of different lengths give what each gives alone.
TEST(CModel, PredictsRaggedSequencesAsEachAlone) {
  const Sine sine(300);
  const std::int64_t model = new_model();
  const std::vector<int> lengths = {1, 7, 130, 64, 2};
  std::int64_t all = 0;
  ASSERT_EQ(tt_data_new(1, 0, 1, 0, 0, 0, &all), TT_OK);
  std::vector<double> alone, together;
  for (const int length : lengths) {
    std::int64_t one = 0;
    ASSERT_EQ(tt_data_new(1, 0, 1, 0, 0, 0, &one), TT_OK);
    for (const std::int64_t data : {one, all})
      ASSERT_EQ(tt_data_add(data, 0, length, sine.inputs.data() + length, nullptr, nullptr, nullptr, nullptr), TT_OK);
    std::vector<double> part(static_cast<std::size_t>(length));
    ASSERT_EQ(tt_model_predict(model, one, 0, part.data(), length), TT_OK) << last_error();
    alone.insert(alone.end(), part.begin(), part.end());
    tt_free(one);
  }
  together.resize(alone.size());
  ASSERT_EQ(tt_model_predict(model, all, 0, together.data(), static_cast<std::int64_t>(together.size())), TT_OK);
  for (std::size_t i = 0; i < alone.size(); ++i) EXPECT_NEAR(together[i], alone[i], 1e-6) << i;
  EXPECT_EQ(tt_model_predict(model, all, 0, together.data(), 3), TT_INVALID);
  EXPECT_EQ(last_error(), "[c] there are 204 predictions, got room for 3");
  tt_free(all);
  tt_free(model);
}

TEST(CModel, RefusesDataOfAnotherShape) {
  const std::int64_t model = new_model();
  const float two[2] = {0, 0};
  std::int64_t data = 0;
  ASSERT_EQ(tt_data_new(2, 0, 1, 0, 0, 0, &data), TT_OK);
  ASSERT_EQ(tt_data_add(data, 0, 1, two, nullptr, nullptr, two, nullptr), TT_OK);
  EXPECT_EQ(tt_model_fit(model, data, nullptr, 0, 0, nullptr, nullptr), TT_INVALID);
  EXPECT_EQ(last_error(), "[c] the model reads 1 numbers at each step, the data has 2");
  EXPECT_EQ(tt_data_add(data, 3, 1, two, nullptr, nullptr, two, nullptr), TT_INVALID);
  EXPECT_EQ(tt_data_add(data, 0, 0, two, nullptr, nullptr, two, nullptr), TT_INVALID);
  EXPECT_EQ(tt_data_add(data, 0, 1, two, nullptr, nullptr, two, two), TT_INVALID);
  EXPECT_EQ(last_error(), "[c] all sequences of a part have weights, or none of them");
  tt_free(data);
  tt_free(model);
}

TEST(CModel, RefusesNumbersThatAreNone) {
  const std::int64_t model = new_model();
  const float inputs[3] = {0, NAN, 0}, targets[3] = {0, 0, INFINITY};
  std::int64_t data = 0;
  ASSERT_EQ(tt_data_new(1, 0, 1, 0, 0, 0, &data), TT_OK);
  ASSERT_EQ(tt_data_add(data, 0, 3, inputs, nullptr, nullptr, targets, nullptr), TT_OK);
  EXPECT_EQ(tt_model_fit(model, data, nullptr, 0, 0, nullptr, nullptr), TT_INVALID);
  EXPECT_EQ(last_error(),
            "[arrays] sequence 0 of the train part: inputs must be finite numbers, got nan at step 1, column 0");
  double out[3];
  EXPECT_EQ(tt_model_predict(model, data, 0, out, 3), TT_INVALID);
  EXPECT_EQ(tt_stream_observe(model, 0, inputs + 1, -1, targets, -1, nullptr), TT_INVALID);
  EXPECT_EQ(tt_stream_observe(model, 0, inputs, -1, targets + 2, -1, nullptr), TT_INVALID);
  tt_free(data);
  tt_free(model);
}

TEST(CModel, OptionsMustDescribeTheSameWeights) {
  const std::int64_t model = new_model();
  EXPECT_EQ(tt_model_set_options(model, "[model]\nhidden = 5\n"), TT_INVALID);
  EXPECT_EQ(tt_model_set_options(model, "[model]\nhidden = 4\n[optimizer]\nrate = 0.5\n"), TT_OK) << last_error();
  EXPECT_EQ(tt_model_set_options(model, "[optimizer]\nrate = -1\n"), TT_INVALID);
  tt_free(model);
}

TEST(CModel, SavedMidStreamGoesOnBitForBit) {
  const Sine sine(60);
  const std::int64_t model = new_model();
  const std::string path = std::filesystem::temp_directory_path() / ("throughtime-c-" + std::to_string(getpid()));
  ASSERT_EQ(tt_scales_begin(model), TT_OK);
  for (int row = 0; row < 30; ++row)
    ASSERT_EQ(tt_stream_observe(model, 0, &sine.inputs[row], -1, &sine.targets[row], -1, nullptr), TT_OK);
  ASSERT_EQ(tt_model_save(model, path.c_str(), "a note"), TT_OK) << last_error();
  std::int64_t other = 0;
  ASSERT_EQ(tt_model_load(path.c_str(), &other), TT_OK) << last_error();
  char note[16];
  std::size_t length = 0;
  ASSERT_EQ(tt_model_note(other, note, sizeof(note), &length), TT_OK);
  EXPECT_STREQ(note, "a note");
  for (int row = 30; row < 60; ++row) {
    double a = 0, b = 1;
    ASSERT_EQ(tt_stream_observe(model, 0, &sine.inputs[row], -1, &sine.targets[row], -1, &a), TT_OK);
    ASSERT_EQ(tt_stream_observe(other, 0, &sine.inputs[row], -1, &sine.targets[row], -1, &b), TT_OK);
    EXPECT_EQ(a, b) << row;
  }
  EXPECT_EQ(weights_of(model, small_weights), weights_of(other, small_weights));
  std::ofstream(path) << "no model";
  EXPECT_EQ(tt_model_load(path.c_str(), &other), TT_INVALID);
  std::filesystem::remove(path);
  tt_free(model);
  tt_free(other);
}

TEST(CModel, ListsThatDoNotFitTheLayersAreRefused) {
  std::int64_t model = 0;
  for (const char* options : {"[model]\nlayers = 3\ncell = ['lstm', 'gru']\n", "[model]\nlayers = 3\nhidden = [3, 4]\n",
                              "[model]\nhidden = [3, 4]\n", "[model]\nhidden = []\n"}) {
    EXPECT_EQ(tt_model_new(options, 1, 0, 1, 0, &model), TT_INVALID) << options;
    EXPECT_NE(last_error().find("must have one entry, or one for each of the"), std::string::npos) << last_error();
  }
}

}  // namespace
}  // namespace throughtime
