#include "throughtime/online.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "support/engine_run.h"
#include "support/errors.h"
#include "support/random_problem.h"
#include "throughtime/forwarding_engine.h"

namespace throughtime::testing {
namespace {

/// Keeps what it is shown, and gives it back.
class MemoryArchive final : public Archive {
 public:
  explicit MemoryArchive(bool loads, MemoryArchive* from = nullptr) : loads_(loads), from_(from) {}
  void buffer(std::string_view name, Engine& engine, Buffer buffer) override {
    std::vector<double> values = engine.Engine::read(buffer);
    numbers(std::string("buffer ") + std::string(name), values);
    if (loads_) engine.write(buffer, values);
  }
  void parameters(Engine& engine, Buffer parameters) override { buffer("parameters", engine, parameters); }
  void integers(std::string_view name, std::vector<std::int64_t>& values) override {
    if (loads_)
      values = from_->integers_.at(scoped(name));
    else
      integers_[scoped(name)] = values;
  }
  void numbers(std::string_view name, std::vector<double>& values) override {
    if (loads_)
      values = from_->numbers_.at(scoped(name));
    else
      numbers_[scoped(name)] = values;
  }

 private:
  bool loads_;
  MemoryArchive* from_;
  std::map<std::string, std::vector<std::int64_t>> integers_;
  std::map<std::string, std::vector<double>> numbers_;
};

OnlineConfig tbptt_every_step(int steps = 5, int slots = 1) {
  OnlineConfig config;
  config.learner = {.name = "tbptt", .tbptt = {.preset = TbpttPreset::original, .truncation = steps}};
  config.rate = 0.01;
  config.slots = slots;
  return config;
}

OnlineConfig fptt_windows(int length, int slots = 1) {
  OnlineConfig config = tbptt_every_step(1, slots);
  config.learner = {.name = "fptt", .fptt = {.window_length = length}};
  return config;
}

/// From a buffer of states; sliding: the last T rounds alone.
OnlineConfig fpp_rounds(const std::string& name, int steps, int slots = 1) {
  OnlineConfig config = tbptt_every_step(1, slots);
  config.learner = {.name = name, .fpp = {.steps = steps, .buffer = 20}, .sliding_tbptt = {.steps = steps}};
  return config;
}

/// K between `shortest` and `longest`, an estimate every 20 updates from 4 places of 3 + 12 steps.
OnlineConfig adaptive(int shortest, int longest, int slots = 1, TbpttPreset preset = TbpttPreset::original) {
  OnlineConfig config = tbptt_every_step(1, slots);
  config.learner = {.name = "adaptive_tbptt",
                    .adaptive_tbptt = {.preset = preset,
                                       .truncation = shortest,
                                       .rate_scaling = RateScaling::none,
                                       .estimate = {.delta = 0.3,
                                                    .shortest = shortest,
                                                    .longest = longest,
                                                    .lags = 12,
                                                    .tail = 6,
                                                    .positions = 4,
                                                    .burn_in = 3,
                                                    .every = 20}}};
  return config;
}

float wave(int stream, int t) { return static_cast<float>(std::sin(0.3 * t + stream)); }

/// A model with its engine and an online learner on it.
struct Subject {
  explicit Subject(const OnlineConfig& config, const std::string& engine_name = "cpu", const std::string& cell = "lstm")
      : model(with_head(stack_of(cell, {8}, 1), "regression", 1)),
        engine(make_engine(model, {.name = engine_name, .threads = 1, .communicator = nullptr})),
        learner(*engine, initialise(model, {}, 7), config) {}

  /// One step of a stream in a slot; without a target if not `known`.
  double step(int slot, int stream, int t, bool known = true) {
    const float x = wave(stream, t), y = wave(stream, t + 1);
    return learner.observe(slot, {.reals = {&x, 1}}, known ? StepTarget{.values = {&y, 1}} : StepTarget{})[0];
  }
  std::vector<double> weights() const { return engine->Engine::read(learner.parameters()); }

  Model model;
  std::unique_ptr<Engine> engine;
  OnlineLearner learner;
};

double diagnostic(const OnlineLearner& learner, const std::string& name) {
  for (const Diagnostic& entry : learner.diagnostics())
    if (entry.name == name) return entry.value;
  return NAN;
}

/// The same learner fed with whole stretches of one source: what the online one must equal.
std::vector<double> learned_offline(const OnlineConfig& config, int steps, int stretch) {
  const Model model(with_head(stack_of("lstm", {8}, 1), "regression", 1));
  const auto engine = make_engine(model, {.name = "cpu", .threads = 1, .communicator = nullptr});
  Trainee trainee = make_trainee(*engine, initialise(model, {}, 7), config.optimizer, config.clip);
  const auto learner = make_learner(config.learner, trainee, {.steps = stretch, .batch = 1});
  std::vector<float> x, y;
  for (int t = 0; t < steps; ++t) x.push_back(wave(0, t)), y.push_back(wave(0, t + 1));
  const Source source{.steps = x.size(), .reals = 1, .target_width = 1, .values = x, .target_values = y};
  for (int first = 0; first + stretch <= steps; first += stretch) {
    Window window{.steps = stretch, .batch = 1, .sources = {&source, 1}, .continues = first > 0};
    window.start = {first};
    window.weight.assign(static_cast<std::size_t>(stretch), 1.0f);
    learner->learn(window, [&](std::int64_t) { return config.rate; });
  }
  return engine->Engine::read(trainee.parameters);
}

TEST(OnlineLearner, LearnsWhatTheLearnerItselfLearnsFromTheSameSteps) {
  Subject tbptt(tbptt_every_step());
  for (int t = 0; t < 60; ++t) tbptt.step(0, 0, t);
  EXPECT_EQ(tbptt.weights(), learned_offline(tbptt_every_step(), 60, 1));

  Subject fptt(fptt_windows(7));
  for (int t = 0; t < 60; ++t) fptt.step(0, 0, t);  // four steps wait for the rest of their window
  EXPECT_EQ(fptt.weights(), learned_offline(fptt_windows(7), 60, 7));
  EXPECT_EQ(fptt.learner.updates(), 8);
}

/// Buffers of one and two transitions, T = 1, windows of one step, the shortest look-back.
TEST(OnlineLearner, LearnsTheSameAtTheSmallestSizes) {
  std::vector<OnlineConfig> configs = {tbptt_every_step(1), tbptt_every_step(2), fptt_windows(1),
                                       fpp_rounds("sliding_tbptt", 1)};
  for (const int buffer : {1, 2}) {
    configs.push_back(fpp_rounds("fpp", 1));
    configs.back().learner.fpp.buffer = buffer;
  }
  for (const OnlineConfig& config : configs) {
    Subject online(config);
    for (int t = 0; t < 30; ++t) online.step(0, 0, t);
    EXPECT_EQ(online.weights(), learned_offline(config, 30, 1)) << config.learner.name;
    EXPECT_EQ(online.learner.updates(), 30) << config.learner.name;
  }
}

TEST(OnlineLearner, PredictsBeforeItLearns) {
  Subject subject(tbptt_every_step());
  const float x = 0.5f;
  Subject twin(tbptt_every_step());
  const double before = twin.learner.predict(0, {.reals = {&x, 1}})[0];
  const float y = 3.0f;
  EXPECT_EQ(subject.learner.observe({&x, 1}, {&y, 1})[0], before);
  EXPECT_EQ(subject.learner.updates(), 1);
}

TEST(OnlineLearner, ForecastsAWaveAfterAWhile) {
  for (const OnlineConfig& config : {tbptt_every_step(10), fptt_windows(10)}) {
    Subject subject(config);
    double early = 0, late = 0;
    for (int t = 0; t < 3000; ++t) {
      const double error = subject.step(0, 0, t) - wave(0, t + 1);
      if (t < 200) early += error * error;
      if (t >= 2800) late += error * error;
    }
    EXPECT_LT(late, 0.1 * early) << config.learner.name;
  }
}

TEST(OnlineLearner, MissingTargetsOnlyMoveTheState) {
  Subject subject(tbptt_every_step());
  const std::vector<double> before = subject.weights();
  for (int t = 0; t < 20; ++t) subject.step(0, 0, t, false);
  EXPECT_EQ(subject.weights(), before);
  // The state did move: a stream that starts here answers otherwise.
  Subject fresh(tbptt_every_step());
  EXPECT_NE(subject.step(0, 0, 20), fresh.step(0, 0, 20));
}

/// A silent slot changes nothing for the others: two slots of which one never speaks equal one slot.
TEST(OnlineLearner, SlotsWithoutStepsDoNothing) {
  const auto compare = [](const OnlineConfig& one_slot, const OnlineConfig& two_slots) {
    for (const char* engine : {"cpu", "reference"}) {
      Subject one(one_slot, engine), two(two_slots, engine);
      for (int t = 0; t < 40; ++t) EXPECT_NEAR(one.step(0, 0, t), two.step(1, 0, t), 1e-5) << engine << " " << t;
    }
  };
  compare(tbptt_every_step(5, 1), tbptt_every_step(5, 2));
  compare(fpp_rounds("fpp", 5, 1), fpp_rounds("fpp", 5, 2));
  compare(fpp_rounds("sliding_tbptt", 5, 1), fpp_rounds("sliding_tbptt", 5, 2));
}

TEST(OnlineLearner, WithoutAChoiceOfTruncationTheAdaptiveLearnerIsTheFixedOne) {
  Subject fixed(tbptt_every_step(5, 2)), adapted(adaptive(5, 5, 2));
  for (int t = 0; t < 90; ++t) {
    fixed.step(0, 0, t), adapted.step(0, 0, t);
    if (t % 3 != 1) fixed.step(1, 1, t), adapted.step(1, 1, t);
  }
  EXPECT_EQ(adapted.weights(), fixed.weights());
  EXPECT_TRUE(std::isfinite(diagnostic(adapted.learner, "beta"))) << "estimates were made, and moved nothing else";
}

TEST(OnlineLearner, EstimatesBeginWhenThePastHoldsEnoughPlaces) {
  Subject subject(adaptive(2, 12));
  // 4 places of 15 steps are 18 steps; the estimate is made before the step is learned from.
  for (int t = 0; t < 17; ++t) subject.step(0, 0, t);
  EXPECT_TRUE(std::isnan(diagnostic(subject.learner, "beta")));
  EXPECT_EQ(diagnostic(subject.learner, "truncation"), 2) << "K_0";
  subject.step(0, 0, 17);
  EXPECT_TRUE(std::isfinite(diagnostic(subject.learner, "beta")));
  bool moved = false;
  for (int t = 18; t < 300; ++t) {
    subject.step(0, 0, t);
    moved = moved || diagnostic(subject.learner, "truncation") != 2;
  }
  EXPECT_TRUE(moved);
}

TEST(OnlineLearner, PlacesEndWhereATargetIsKnown) {
  Subject subject(adaptive(2, 12));
  for (int t = 0; t < 100; ++t) subject.step(0, 0, t, false);
  EXPECT_TRUE(std::isnan(diagnostic(subject.learner, "beta")));
  for (int t = 100; t < 105; ++t) subject.step(0, 0, t);
  EXPECT_TRUE(std::isfinite(diagnostic(subject.learner, "beta")));
}

/// A stream that pauses goes on from the state it had, whatever the others did meanwhile.
TEST(OnlineLearner, APauseKeepsTheStreamsState) {
  OnlineConfig config = tbptt_every_step(5, 2);
  config.rate = 0;  // only states matter
  Subject alone(config), mixed(config);
  std::vector<double> wanted, got;
  for (int t = 0; t < 30; ++t) wanted.push_back(alone.step(0, 0, t));
  for (int t = 0, other = 0; t < 30; ++t) {
    for (int i = 0; i < t % 4; ++i) mixed.step(1, 1, other++);
    got.push_back(mixed.step(0, 0, t));
  }
  EXPECT_EQ(got, wanted);
}

TEST(OnlineLearner, TheOrderWithinARoundDoesNotMatter) {
  Subject first(tbptt_every_step(5, 3)), second(tbptt_every_step(5, 3));
  for (int slot : {0, 1, 2}) first.step(slot, slot, 0), second.step(slot, slot, 0);
  first.learner.end_round();
  second.learner.end_round();
  for (int t = 1; t < 20; ++t) {
    for (int slot : {0, 1, 2}) first.step(slot, slot, t);
    for (int slot : {2, 0, 1}) second.step(slot, slot, t);
  }
  EXPECT_EQ(first.weights(), second.weights());
}

TEST(OnlineLearner, AllSlotsAtOnceIsOneRound) {
  Subject at_once(tbptt_every_step(5, 2));
  for (int t = 0; t < 10; ++t) {
    const std::vector<float> x = {wave(0, t), wave(1, t)}, y = {wave(0, t + 1), wave(1, t + 1)};
    EXPECT_EQ(at_once.learner.observe_all(x, y).size(), 2u);
  }
  EXPECT_EQ(at_once.learner.rounds(), 10);
  EXPECT_EQ(at_once.learner.updates(), 10);
}

/// Counts the windows that are unrolled.
class UnrollCounter final : public ForwardingEngine {
 public:
  UnrollCounter(std::unique_ptr<Engine> inner, int& count) : ForwardingEngine(std::move(inner)), count_(count) {}
  void unroll(const UnrollCall& call) override {
    ++count_;
    ForwardingEngine::unroll(call);
  }

 private:
  int& count_;
};

TEST(OnlineLearner, AllSlotsAtOncePredictWhatEachWould) {
  for (const char* engine : {"reference", "cpu"})
    for (const int slots : {1, 2, 5}) {
      OnlineConfig config = tbptt_every_step(5, slots);
      config.rate = 0;  // rounds of one step end sooner, and the weights with them
      Subject at_once(config, engine), one_by_one(config, engine);
      for (int t = 0; t < 10; ++t) {
        std::vector<float> x, y;
        std::vector<double> wanted;
        for (int slot = 0; slot < slots; ++slot) {
          x.push_back(wave(slot, t)), y.push_back(wave(slot, t + 1));
          wanted.push_back(one_by_one.step(slot, slot, t));
        }
        if (t == 4) {  // a slot's state is the same, however its steps come
          for (int slot = 0; slot < slots; ++slot) EXPECT_NEAR(at_once.step(slot, slot, t), wanted[slot], 1e-6);
          continue;
        }
        const std::span<const double> got = at_once.learner.observe_all(x, y);
        ASSERT_EQ(got.size(), wanted.size());
        for (std::size_t slot = 0; slot < got.size(); ++slot) EXPECT_NEAR(got[slot], wanted[slot], 1e-6) << slots;
        if (t == 6) at_once.learner.reset(slots - 1), one_by_one.learner.reset(slots - 1);
      }
    }
}

TEST(OnlineLearner, AllSlotsAtOnceAreOneUnroll) {
  const Model model(with_head(stack_of("gru", {4}, 1), "regression", 1));
  int unrolls = 0;
  UnrollCounter engine(make_engine(model, {}), unrolls);
  OnlineLearner learner(engine, initialise(model, {}, 7), tbptt_every_step(5, 6));
  const std::vector<float> x(6, 0.5f);
  learner.observe_all(x, {});
  const int with_learning = unrolls;
  for (int slot = 0; slot < 6; ++slot) learner.predict(slot, {.reals = {&x[0], 1}});
  EXPECT_EQ(unrolls, with_learning + 6);
  EXPECT_LE(with_learning, 2);  // all predictions, and what is learned from
}

/// The prediction for a row costs one unroll, however often it is looked at and whoever asks for it next.
TEST(OnlineLearner, AnObservedStepThatWasLookedAtIsNotComputedAgain) {
  const Model model(with_head(stack_of("gru", {4}, 1), "regression", 1));
  int unrolls = 0;
  UnrollCounter engine(make_engine(model, {}), unrolls);
  OnlineLearner learner(engine, initialise(model, {}, 7), tbptt_every_step(3));
  const float x[2] = {0.5f, -0.5f}, y = 0.1f;
  const auto count = [&](auto&& work) {
    const int before = unrolls;
    work();
    return unrolls - before;
  };
  const auto look = [&](int which) { learner.look(0, {.reals = {&x[which], 1}}); };
  const auto observe = [&](int which) { learner.observe(0, {.reals = {&x[which], 1}}, {.values = {&y, 1}}); };
  for (int t = 0; t < 5; ++t) observe(0);  // the windows of its updates have their whole length
  const int alone = count([&] { observe(0); });
  EXPECT_EQ(count([&] { look(0), look(0), look(0); }), 1);
  EXPECT_EQ(count([&] { observe(0); }), alone - 1) << "the look's work was taken over";
  EXPECT_EQ(count([&] { look(0), observe(1); }), alone + 1) << "another row was looked at";
  EXPECT_EQ(count([&] { look(1), learner.reset(0), observe(1); }), alone + 1) << "of another state";
  look(0);
  EXPECT_EQ(count([&] { learner.predict(0, {.reals = {&x[0], 1}}); }), 0);
  EXPECT_EQ(count([&] { learner.check(0, {.reals = {&x[0], 1}}, {.values = {&y, 1}}); }), 0);
}

TEST(OnlineLearner, AResetSlotIsLikeNew) {
  OnlineConfig config = tbptt_every_step();
  config.rate = 0;
  Subject used(config), fresh(config);
  for (int t = 0; t < 13; ++t) used.step(0, 1, t);
  used.learner.reset(0);
  for (int t = 0; t < 13; ++t) EXPECT_EQ(used.step(0, 0, t), fresh.step(0, 0, t));
}

/// No gradient flows from a stream into the one before it in its slot: the first loss after a reset sees one step.
TEST(OnlineLearner, LearningDoesNotCrossAReset) {
  Subject used(tbptt_every_step()), fresh(tbptt_every_step());
  for (int t = 0; t < 13; ++t) used.step(0, 1, t, false);  // moves the state, leaves the weights
  used.learner.reset(0);
  for (int t = 0; t < 3; ++t) used.step(0, 0, t), fresh.step(0, 0, t);
  const std::vector<double> a = used.weights(), b = fresh.weights();
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-6);
}

TEST(OnlineLearner, GoesOnFromAnArchiveBitForBit) {
  for (const OnlineConfig& config :
       {tbptt_every_step(5, 2), fptt_windows(7, 2), fpp_rounds("fpp", 4, 2), fpp_rounds("sliding_tbptt", 4, 2),
        adaptive(2, 12, 2), adaptive(2, 12, 2, TbpttPreset::paper)})
    for (const int cut : {1, 17, 40}) {
      Subject whole(config), first(config), second(config);
      const auto drive = [](Subject& subject, int begin, int end) {
        std::vector<double> answers;
        for (int t = begin; t < end; ++t) {
          answers.push_back(subject.step(0, 0, t));
          if (t % 3 != 0) answers.push_back(subject.step(1, 1, t, t % 5 != 0));
          if (t % 11 == 10) subject.learner.reset(1);
        }
        return answers;
      };
      drive(whole, 0, cut);
      drive(first, 0, cut);
      MemoryArchive saved(false);
      first.learner.archive(saved);
      MemoryArchive loaded(true, &saved);
      second.learner.archive(loaded);
      EXPECT_EQ(drive(whole, cut, 60), drive(second, cut, 60));
      EXPECT_EQ(whole.weights(), second.weights());
    }
}

TEST(OnlineLearner, ABadStepIsRefusedAndLeavesEverythingAsItWas) {
  Subject subject(tbptt_every_step()), twin(tbptt_every_step());
  for (int t = 0; t < 5; ++t) subject.step(0, 0, t), twin.step(0, 0, t);
  const float x = 0.1f, bad = NAN;
  EXPECT_THROW(subject.learner.observe({&bad, 1}, {&x, 1}), InvalidInput);
  EXPECT_THROW(subject.learner.observe({&x, 1}, {&bad, 1}), InvalidInput);
  EXPECT_THROW(subject.learner.observe(1, {.reals = {&x, 1}}, {}), InvalidInput);
  const std::vector<float> two = {0.1f, 0.2f};
  EXPECT_THROW(subject.learner.observe(two, {&x, 1}), InvalidInput);
  for (int t = 5; t < 10; ++t) EXPECT_EQ(subject.step(0, 0, t), twin.step(0, 0, t));
}

TEST(OnlineLearner, RefusesWhatHasNoMeaningOnAStream) {
  OnlineConfig config = tbptt_every_step();
  config.learner = {.name = "bptt"};
  EXPECT_THROW(Subject{config}, InvalidInput);
  config.learner = {.name = "fptt", .fptt = {.windows = 4}};
  EXPECT_THROW(Subject{config}, InvalidInput);
  config = tbptt_every_step();
  config.slots = 0;
  EXPECT_THROW(Subject{config}, InvalidInput);
}

/// The weights after some updates of one stream.
std::vector<double> weights_with(double anchor, int steps, double rate = 0.01) {
  OnlineConfig config = tbptt_every_step();
  config.rate = rate;
  config.anchor = anchor;
  const Model model(with_head(stack_of("lstm", {4}, 2), "regression", 1));
  const auto engine = make_engine(model, EngineRun::reference());
  OnlineLearner online(*engine, initialise(model, {}, 1), config);
  for (int t = 0; t < steps; ++t) {
    const float step[2] = {0.1f * static_cast<float>(t % 7), 0.5f}, target[1] = {0.3f};
    online.observe(step, target);
  }
  return engine->Engine::read(online.parameters());
}

TEST(OnlineAnchor, GoesBackAShareOfTheWayAfterEachUpdate) {
  const std::vector<double> first = weights_with(0, 0), moved = weights_with(0, 1), back = weights_with(0.25, 1);
  ASSERT_NE(first, moved);
  for (std::size_t i = 0; i < first.size(); ++i)
    EXPECT_NEAR(back[i], first[i] + 0.75 * (moved[i] - first[i]), 1e-15) << i;
  const std::vector<double> held = weights_with(1, 20);
  for (std::size_t i = 0; i < first.size(); ++i) EXPECT_NEAR(held[i], first[i], 1e-15) << i;
  EXPECT_NE(weights_with(0.25, 20), weights_with(0, 20));
  EXPECT_REFUSED(weights_with(1.5, 1), "anchor must be between 0 and 1");
}

TEST(OnlineAnchor, IsKeptByACheckpoint) {
  const Model model(with_head(stack_of("lstm", {4}, 2), "regression", 1));
  OnlineConfig config = tbptt_every_step();
  config.anchor = 0.1;
  const auto feed = [](OnlineLearner& online, int first, int end) {
    for (int t = first; t < end; ++t) {
      const float step[2] = {0.1f * static_cast<float>(t % 7), 0.5f}, target[1] = {0.3f};
      online.observe(step, target);
    }
  };
  const auto engine = make_engine(model, EngineRun::reference()), other = make_engine(model, EngineRun::reference());
  OnlineLearner whole(*engine, initialise(model, {}, 1), config);
  feed(whole, 0, 20);
  MemoryArchive saved(false), loaded(true, &saved);
  whole.archive(saved);
  OnlineLearner resumed(*other, initialise(model, {}, 2), config);  // began elsewhere
  resumed.archive(loaded);
  feed(whole, 20, 40);
  feed(resumed, 20, 40);
  EXPECT_EQ(engine->Engine::read(whole.parameters()), other->Engine::read(resumed.parameters()));
}

/// A mask that stayed would leave some embeddings as they were for ever.
TEST(OnlineLearner, DrawsNewMasksForEachStretch) {
  constexpr int vocabulary = 8, width = 2;
  ModelConfig spec = stack_of("rnn_tanh", {3});
  spec.input = {.vocabulary = vocabulary, .tokens = TokenInput::embedding, .embedding = width};
  spec.head = {.name = "softmax", .outputs = vocabulary};
  spec.dropout.embedding = 0.5;
  const Model model(spec);
  const std::vector<double> first = initialise(model, {}, 1);
  for (const std::uint64_t seed : {1, 2}) {
    const auto engine = make_engine(model, {.name = "reference"});
    OnlineConfig config = tbptt_every_step(1);
    config.optimizer.name = "sgd";
    config.seed = seed;
    OnlineLearner learner(*engine, first, config);
    for (int row = 0; row < 80; ++row) learner.learn(0, {.token = row % vocabulary}, {.label = (row + 1) % vocabulary});
    const std::vector<double> now = engine->Engine::read(learner.parameters());
    const ParameterBlock& embedding = model.parameters().block(model.embedding);
    for (std::size_t i = embedding.offset; i < embedding.offset + embedding.size(); ++i)
      EXPECT_NE(now[i], first[i]) << "token " << (i - embedding.offset) / width;
  }
}

TEST(OnlineLearner, RefusesAnAverageThatWaitsForValidations) {
  const Model model(stack_of("rnn_tanh", {2}));
  const auto engine = make_engine(model, {.name = "reference"});
  OnlineConfig config = tbptt_every_step(1);
  config.optimizer.average = Averaging::non_monotone;
  EXPECT_REFUSED(OnlineLearner(*engine, initialise(model, {}, 1), config), "which a stream does not have");
}

}  // namespace
}  // namespace throughtime::testing
