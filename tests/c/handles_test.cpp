#include <thread>

#include "c/c_support.h"

namespace throughtime {
namespace {

using testing::last_error;
using testing::new_model;
using testing::new_recording;
using testing::Sine;
using testing::small_options;

/// Every function that takes the handle of a model, with arguments that would be right.
std::vector<std::pair<std::string, int>> calls_with_model(std::int64_t model, std::int64_t data) {
  char text[8];
  std::size_t length = 0;
  double numbers[512] = {};
  const float row[1] = {0};
  float scaled[1];
  std::int64_t a = 0, b = 0;
  return {{"free", model > 0 ? TT_HANDLE : tt_free(model)},
          {"set_options", tt_model_set_options(model, small_options)},
          {"describe", tt_model_describe(model, text, sizeof(text), &length)},
          {"get_parameters", tt_model_get_parameters(model, numbers, testing::small_weights)},
          {"set_parameters", tt_model_set_parameters(model, numbers, testing::small_weights)},
          {"fit", tt_model_fit(model, data, nullptr, 0, 0, nullptr, nullptr)},
          {"predict", tt_model_predict(model, data, 0, numbers, 20)},
          {"copy", tt_model_copy(model, &a)},
          {"diagnose", tt_model_diagnose(model, data, 1, 1, -1, text, sizeof(text), &length)},
          {"save", tt_model_save(model, "/nowhere/model", "")},
          {"note", tt_model_note(model, text, sizeof(text), &length)},
          {"stream_predict", tt_stream_predict(model, 0, row, -1, numbers)},
          {"observe", tt_stream_observe(model, 0, row, -1, row, -1, numbers)},
          {"observe_many", tt_stream_observe_many(model, 0, 1, row, nullptr, row, nullptr, numbers)},
          {"advance", tt_stream_advance(model, 0, row, -1, numbers)},
          {"learn", tt_stream_learn(model, 0, row, -1, row, -1)},
          {"forecast", tt_stream_forecast(model, 0, 1, row, numbers)},
          {"reset", tt_stream_reset(model, 0)},
          {"end", tt_stream_end(model)},
          {"facts", tt_stream_facts(model, &a, &b)},
          {"scales_begin", tt_scales_begin(model)},
          {"scales_add", tt_scales_add(model, 1, row, row)},
          {"scales_get", tt_scales_get(model, numbers, numbers, 2)},
          {"scales_apply", tt_scales_apply(model, 1, 0, row, scaled)},
          {"scales_undo", tt_scales_undo(model, 1, numbers)}};
}

TEST(Handles, DeadOnesAreErrorsOfEveryCall) {
  const Sine sine(20);
  const std::int64_t model = new_model(), data = new_recording(sine);
  ASSERT_EQ(tt_free(model), TT_OK);
  for (const std::int64_t dead : {model, data, std::int64_t{0}, std::int64_t{-1}, INT64_MAX})
    for (const auto& [name, status] : calls_with_model(dead, data))
      if (name != "free" || dead <= 0) {
        EXPECT_EQ(status, TT_HANDLE) << name << " with " << dead;
      }
  EXPECT_EQ(tt_free(model), TT_HANDLE);
  EXPECT_EQ(last_error(), "[c] there is no handle " + std::to_string(model));
  EXPECT_EQ(tt_free(data), TT_OK);
  EXPECT_EQ(tt_data_add(data, 0, 1, sine.inputs.data(), nullptr, nullptr, sine.targets.data(), nullptr), TT_HANDLE);
}

/// The same for engines and windows.
std::vector<std::pair<std::string, int>> calls_with_engine(std::int64_t engine, std::int64_t window) {
  double numbers[testing::small_weights] = {};
  std::int32_t buffer = 0;
  return {{"buffer", tt_engine_buffer(engine, 1, &buffer)},
          {"write", tt_engine_write(engine, 0, numbers, testing::small_weights)},
          {"read", tt_engine_read(engine, 0, numbers, testing::small_weights)},
          {"unroll", tt_engine_unroll(engine, window, 1, -1, -1, -1, -1, -1)},
          {"pull_back", tt_engine_pull_back(engine, 1, 0, -1, -1)},
          {"update", tt_engine_update(engine, 1, 0.1, 1)}};
}

TEST(Handles, DeadOnesAreErrorsOfEngines) {
  const Sine sine(20);
  const std::int64_t model = new_model(), data = new_recording(sine);
  std::int64_t engine = 0, window = 0;
  const std::int32_t sequence = 0;
  const std::int64_t start = 0;
  ASSERT_EQ(tt_engine_new(model, &engine), TT_OK) << last_error();
  ASSERT_EQ(tt_window_new(data, 5, 1, &sequence, &start, nullptr, nullptr, &window), TT_OK) << last_error();
  for (const auto& [name, status] : calls_with_engine(engine, window)) EXPECT_EQ(status, TT_OK) << name << last_error();
  EXPECT_EQ(tt_engine_unroll(engine, model, 1, -1, -1, -1, -1, -1), TT_HANDLE);
  EXPECT_EQ(tt_engine_new(model, nullptr), TT_INVALID);
  EXPECT_EQ(tt_engine_buffer(engine, 1, nullptr), TT_INVALID);
  EXPECT_EQ(tt_engine_buffer(engine, 0, nullptr), TT_INVALID);
  EXPECT_EQ(tt_engine_read(engine, 0, nullptr, testing::small_weights), TT_INVALID);
  EXPECT_EQ(tt_engine_write(engine, 0, nullptr, testing::small_weights), TT_INVALID);
  EXPECT_EQ(tt_engine_read(engine, 99, nullptr, 1), TT_INVALID);
  EXPECT_EQ(tt_engine_update(engine, -1, 0.1, 1), TT_INVALID);
  EXPECT_EQ(tt_window_new(data, 5, 1, nullptr, &start, nullptr, nullptr, &window), TT_INVALID);
  EXPECT_EQ(tt_window_new(data, 5, 1, &sequence, nullptr, nullptr, nullptr, &window), TT_INVALID);
  EXPECT_EQ(tt_window_new(data, 5, 1, &sequence, &start, nullptr, nullptr, nullptr), TT_INVALID);
  EXPECT_EQ(tt_window_new(data, 21, 1, &sequence, &start, nullptr, nullptr, &window), TT_INVALID);
  tt_free(engine);
  for (const auto& [name, status] : calls_with_engine(engine, window)) EXPECT_EQ(status, TT_HANDLE) << name;
  EXPECT_EQ(tt_engine_new(engine, &engine), TT_HANDLE);
  EXPECT_EQ(tt_window_new(engine, 5, 1, &sequence, &start, nullptr, nullptr, &window), TT_HANDLE);
  for (const std::int64_t handle : {window, model, data}) EXPECT_EQ(tt_free(handle), TT_OK);
}

TEST(Handles, DeadDataAndWindowsAreErrors) {
  const Sine sine(20);
  const std::int64_t model = new_model(), data = new_recording(sine);
  double numbers[20] = {};
  char text[8];
  std::size_t length = 0;
  const std::int32_t sequence = 0;
  const std::int64_t start = 0;
  std::int64_t engine = 0, window = 0, other = 0;
  ASSERT_EQ(tt_engine_new(model, &engine), TT_OK) << last_error();
  ASSERT_EQ(tt_window_new(data, 5, 1, &sequence, &start, nullptr, nullptr, &window), TT_OK) << last_error();
  ASSERT_EQ(tt_free(data), TT_OK);
  EXPECT_EQ(tt_model_fit(model, data, nullptr, 0, 0, nullptr, nullptr), TT_HANDLE);
  EXPECT_EQ(tt_model_predict(model, data, 0, numbers, 20), TT_HANDLE);
  EXPECT_EQ(tt_model_diagnose(model, data, 1, 1, -1, text, sizeof(text), &length), TT_HANDLE);
  EXPECT_EQ(tt_window_new(data, 5, 1, &sequence, &start, nullptr, nullptr, &other), TT_HANDLE);
  EXPECT_EQ(tt_data_add(data, 0, 1, sine.inputs.data(), nullptr, nullptr, nullptr, nullptr), TT_HANDLE);
  // A window knows its data, and an engine the window that it unrolled, while the caller's arrays are there.
  ASSERT_EQ(tt_engine_unroll(engine, window, 1, -1, -1, -1, -1, -1), TT_OK) << last_error();
  ASSERT_EQ(tt_free(window), TT_OK);
  EXPECT_EQ(tt_engine_unroll(engine, window, 1, -1, -1, -1, -1, -1), TT_HANDLE);
  EXPECT_EQ(tt_engine_pull_back(engine, 1, 0, -1, -1), TT_OK) << last_error();
  EXPECT_EQ(tt_free(model), TT_OK);
  EXPECT_EQ(tt_engine_update(engine, 1, 0.1, 1), TT_OK) << "an engine has a model of its own";
  EXPECT_EQ(tt_free(engine), TT_OK);
}

TEST(Handles, OfAnotherKindAreErrors) {
  const Sine sine(20);
  const std::int64_t model = new_model(), data = new_recording(sine);
  EXPECT_EQ(tt_stream_end(data), TT_HANDLE);
  EXPECT_EQ(last_error(), "[c] handle " + std::to_string(data) + " is no model");
  EXPECT_EQ(tt_model_fit(model, model, nullptr, 0, 0, nullptr, nullptr), TT_HANDLE);
  EXPECT_EQ(tt_free(model), TT_OK);
  EXPECT_EQ(tt_free(data), TT_OK);
}

TEST(Nulls, AreRefusedByEveryCall) {
  const Sine sine(20);
  const std::int64_t model = new_model(), data = new_recording(sine);
  std::int64_t handle = 0;
  double number = 0;
  const float row[1] = {0};
  EXPECT_EQ(tt_options(nullptr, 10, nullptr), TT_INVALID);
  EXPECT_EQ(tt_data_new(1, 0, 1, 0, 0, 0, nullptr), TT_INVALID);
  EXPECT_EQ(tt_data_add(data, 0, 1, nullptr, nullptr, nullptr, nullptr, nullptr), TT_INVALID);
  EXPECT_EQ(last_error(), "[c] inputs must not be NULL");
  EXPECT_EQ(tt_model_new(nullptr, 1, 0, 1, 0, &handle), TT_INVALID);
  EXPECT_EQ(tt_model_new("", 1, 0, 1, 0, nullptr), TT_INVALID);
  EXPECT_EQ(tt_model_set_options(model, nullptr), TT_INVALID);
  EXPECT_EQ(tt_model_describe(model, nullptr, 10, nullptr), TT_INVALID);
  EXPECT_EQ(tt_model_get_parameters(model, nullptr, testing::small_weights), TT_INVALID);
  EXPECT_EQ(tt_model_set_parameters(model, nullptr, testing::small_weights), TT_INVALID);
  EXPECT_EQ(tt_model_predict(model, data, 0, nullptr, 20), TT_INVALID);
  EXPECT_EQ(tt_model_diagnose(model, data, 1, 1, -1, nullptr, 0, nullptr), TT_INVALID);
  EXPECT_EQ(tt_model_copy(model, nullptr), TT_INVALID);
  EXPECT_EQ(tt_options_read(nullptr, "model.step"), TT_INVALID);
  EXPECT_EQ(tt_options_read("", nullptr), TT_INVALID);
  EXPECT_EQ(tt_model_save(model, nullptr, nullptr), TT_INVALID);
  EXPECT_EQ(tt_model_load(nullptr, &handle), TT_INVALID);
  EXPECT_EQ(tt_model_load("/nowhere", nullptr), TT_INVALID);
  EXPECT_EQ(tt_model_note(model, nullptr, 0, nullptr), TT_INVALID);
  EXPECT_EQ(tt_stream_predict(model, 0, nullptr, -1, &number), TT_INVALID);
  EXPECT_EQ(tt_stream_predict(model, 0, row, -1, nullptr), TT_INVALID);
  EXPECT_EQ(tt_stream_observe(model, 0, nullptr, -1, row, -1, nullptr), TT_INVALID);
  EXPECT_EQ(tt_stream_observe_many(model, 0, 1, nullptr, nullptr, nullptr, nullptr, nullptr), TT_INVALID);
  EXPECT_EQ(tt_stream_advance(model, 0, nullptr, -1, &number), TT_INVALID);
  EXPECT_EQ(tt_stream_learn(model, 0, nullptr, -1, nullptr, -1), TT_INVALID);
  EXPECT_EQ(tt_stream_forecast(model, 0, 1, nullptr, &number), TT_INVALID);
  EXPECT_EQ(tt_stream_forecast(model, 0, 1, row, nullptr), TT_INVALID);
  EXPECT_EQ(tt_stream_facts(model, nullptr, nullptr), TT_INVALID);
  EXPECT_EQ(tt_scales_begin(model), TT_OK);
  EXPECT_EQ(tt_scales_add(model, 1, nullptr, nullptr), TT_INVALID);
  EXPECT_EQ(tt_scales_get(model, nullptr, nullptr, 2), TT_INVALID);
  EXPECT_EQ(tt_scales_apply(model, 1, 0, nullptr, nullptr), TT_INVALID);
  EXPECT_EQ(tt_scales_apply(model, 1, 0, row, nullptr), TT_INVALID);
  EXPECT_EQ(tt_scales_undo(model, 1, nullptr), TT_INVALID);
  EXPECT_EQ(tt_train(nullptr, nullptr, nullptr, nullptr, nullptr, 0, nullptr), TT_INVALID);
  std::size_t length = 0;
  EXPECT_EQ(tt_train(nullptr, nullptr, nullptr, nullptr, nullptr, 0, &length), TT_INVALID);
  EXPECT_EQ(last_error(), "[c] path must not be NULL");
  EXPECT_EQ(tt_evaluate("/nowhere", nullptr, nullptr, 0, nullptr), TT_INVALID);
  EXPECT_EQ(tt_evaluate(nullptr, nullptr, nullptr, 0, &length), TT_INVALID);
  EXPECT_EQ(last_error(), "[c] run must not be NULL");
  tt_free(model);
  tt_free(data);
}

TEST(Errors, AreKeptByThread) {
  EXPECT_EQ(tt_free(-5), TT_HANDLE);
  std::thread other([] {
    EXPECT_EQ(last_error(), "");
    std::int64_t model = 0;
    EXPECT_EQ(tt_model_new("[modle]\n", 1, 0, 1, 0, &model), TT_INVALID);
    EXPECT_NE(last_error().find("modle"), std::string::npos) << last_error();
  });
  other.join();
  EXPECT_EQ(last_error(), "[c] there is no handle -5");
}

TEST(Text, SaysHowMuchRoomItNeeds) {
  std::size_t length = 0;
  ASSERT_EQ(tt_options(nullptr, 0, &length), TT_OK);
  std::vector<char> room(length + 1, 'x');
  std::size_t again = 0;
  ASSERT_EQ(tt_options(room.data(), length, &again), TT_OK);
  EXPECT_EQ(room[0], 'x') << "too small by the 0 at its end";
  ASSERT_EQ(tt_options(room.data(), room.size(), &again), TT_OK);
  EXPECT_EQ(again, length);
  EXPECT_EQ(std::string(room.data()).size(), length);
  EXPECT_EQ(room[0], '[');
}

}  // namespace
}  // namespace throughtime
