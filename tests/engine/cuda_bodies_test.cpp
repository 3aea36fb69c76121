// The bodies of the device's kernels as loops on this host, where there may be no device and no nvcc: the same lines
// that the kernels call. It has to be compiled alone, for formulas mean floats here (no HWY_TARGET_INCLUDE).
#define THROUGHTIME_NUMBERS "engine/cuda/numbers.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <numeric>

#include "engine/cuda/kernels/heads_body.h"
#include "engine/cuda/kernels/inputs_body.h"
#include "engine/cuda/kernels/mixture_body.h"
#include "engine/cuda/kernels/penalties_body.h"
#include "engine/cuda/kernels/update_body.h"
#include "engine/cuda/kernels/vectors_body.h"
#include "engine/dropout.h"
#include "engine/update_loop.h"
#include "optimizers/adadelta-inl.h"
#include "optimizers/adagrad-inl.h"
#include "optimizers/adam-inl.h"
#include "optimizers/anchored-inl.h"
#include "optimizers/asgd-inl.h"
#include "optimizers/momentum-inl.h"
#include "optimizers/rmsprop-inl.h"
#include "optimizers/rmsprop_tf1-inl.h"
#include "optimizers/sgd-inl.h"
#include "support/engine_run.h"
#include "support/numeric.h"
#include "throughtime/head.h"
#include "throughtime/index.h"

namespace throughtime::cuda {
namespace {

using testing::relative_error;
using testing::to_double;
using Floats = std::vector<float>;
using Doubles = std::vector<double>;

Floats normals(std::size_t count, std::uint64_t seed, double scale = 1) {
  const Random random(seed, Purpose::sampling);
  Floats numbers(count);
  for (std::size_t i = 0; i < count; ++i) numbers[i] = static_cast<float>(scale * random.normal(0, 0, i));
  return numbers;
}

template <class Call>
void each_cell(const Call& call, int rows, int width) {
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < width; ++column) write_cell(call, elements(row), column);
}

RC_GTEST_PROP(CudaBodies, DrawTheWordsOfRandom, ()) {
  const auto key = *rc::gen::arbitrary<std::uint64_t>();
  const auto iteration = *rc::gen::arbitrary<std::uint64_t>() >> 16,
             element = *rc::gen::arbitrary<std::uint64_t>() >> 24;
  const auto sequence = *rc::gen::arbitrary<std::uint32_t>();
  const auto purpose = *rc::gen::element(Purpose::dropout_input, Purpose::dropout_output, Purpose::past_places);
  const auto wanted = Random(key, purpose).words(iteration, sequence, element);
  const RandomWords got = random_words(key, static_cast<std::uint32_t>(purpose), iteration, sequence, element);
  RC_ASSERT(std::equal(wanted.begin(), wanted.end(), got.word));
}

RC_GTEST_PROP(CudaBodies, ApplyTheMasksOfTheEngines, ()) {
  const int entries = *rc::gen::inRange(1, 12), width = *rc::gen::inRange(1, 30), batch = *rc::gen::inRange(1, 5);
  const bool per_sequence = *rc::gen::arbitrary<bool>(), chosen = *rc::gen::arbitrary<bool>();
  const MaskNumbers numbers{*rc::gen::arbitrary<std::uint64_t>(), per_sequence ? 0 : 5000000000, 7};
  const DropoutSite site{Purpose::dropout_between, *rc::gen::inRange(0, 4), *rc::gen::inRange(1, 1000) / 1000.0};
  std::vector<std::int32_t> places(elements(entries));
  for (int i = 0; i < entries; ++i) places[elements(i)] = chosen ? 3 * i + 1 : i;
  ApplyMask call{.entries = entries, .width = width, .batch = batch, .stride = chosen ? width + 2 : 0};
  call.purpose = static_cast<std::uint32_t>(site.purpose);
  call.layer = site.layer;
  call.share = site.share;
  call.per_sequence = per_sequence ? 1 : 0;
  call.first_step = 2;
  call.numbers = &numbers;
  call.places = chosen ? places.data() : nullptr;
  const int stride = chosen ? width + 2 : width;
  Floats values(elements(entries, stride), 1.0f);
  call.values = values.data();
  each_cell(make_mask_plan(call), entries, (width + 3) / 4);
  for (int i = 0; i < entries; ++i) {
    const int step = 2 + places[elements(i)] / batch, row = 7 + places[elements(i)] % batch;
    Floats wanted(elements(width));
    write_mask<float>(site, numbers.key, per_sequence ? 0 : elements(numbers.step + step), row, wanted);
    wanted.resize(elements(stride), 1.0f);
    RC_ASSERT(std::equal(wanted.begin(), wanted.end(), values.begin() + i * stride));
  }
}

RC_GTEST_PROP(CudaBodies, DropTheWeightsOfTheEngines, ()) {
  const auto count = *rc::gen::inRange<std::size_t>(1, 40);
  const MaskNumbers numbers{*rc::gen::arbitrary<std::uint64_t>(), 5, 7};  // neither step nor row matters
  DropoutConfig config;
  config.recurrent = *rc::gen::inRange(1, 1000) / 1000.0;
  const DropoutSite site = recurrent_dropout(config, *rc::gen::inRange(0, 4));
  const Floats from = normals(count, 1), base = normals(count, 2);
  Floats mask(count), dropped(count), sum = base;
  write_recurrent_mask(config, site.layer, numbers.key, std::span(mask));
  DropWeights call{.count = count, .purpose = static_cast<std::uint32_t>(site.purpose), .layer = site.layer};
  call.share = site.share;
  call.numbers = &numbers;
  call.from = from.data();
  call.to = dropped.data();
  for (std::size_t quad = 0; quad < (count + 3) / 4; ++quad) write_element(make_mask_plan(call), quad);
  call.base = call.to = sum.data();
  for (std::size_t quad = 0; quad < (count + 3) / 4; ++quad) write_element(make_mask_plan(call), quad);
  for (std::size_t i = 0; i < count; ++i) {
    RC_ASSERT(dropped[i] == mask[i] * from[i]);
    RC_ASSERT(std::abs(sum[i] - (base[i] + mask[i] * from[i])) <= 1e-6f * (1 + std::abs(base[i])));
  }
}

TEST(CudaBodies, MaskTheTokensOfTheEngines) {
  const MaskNumbers numbers{77, 5, 7};  // neither step nor row matters
  const DropoutSite site = embedding_dropout({.embedding = 0.4});
  const std::vector<std::int32_t> tokens = {3, -1, 0, 3, 1000001, 2};
  constexpr int width = 5, stride = 6;
  const Floats given = normals(tokens.size() * stride, 1);
  Floats values = given;
  MaskTokens call{{static_cast<std::uint32_t>(site.purpose), site.layer, site.share, &numbers}};
  call.entries = static_cast<int>(tokens.size());
  call.width = width;
  call.stride = stride;
  call.tokens = tokens.data();
  call.values = values.data();
  each_cell(make_mask_plan(call), call.entries, (width + 3) / 4);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::int32_t token = tokens[i / stride];
    const bool masked = token >= 0 && i % stride < width;
    EXPECT_EQ(values[i], masked ? given[i] * token_factor(site, numbers.key, token) : given[i]) << i;
  }
  const auto plan = make_mask_plan(TokenMask(call));
  for (std::int32_t token = 0; token < 100; ++token)
    EXPECT_EQ(token_factor(plan, token), token_factor(site, numbers.key, token)) << token;
}

TEST(CudaBodies, ArePenaltiesAndWhatTheySendBack) {
  // Four steps of two rows of three units, and the state before them.
  constexpr int steps = 4, batch = 2, hidden = 3;
  const Floats states = normals((steps + 1) * batch * hidden, 1);
  Floats factors = normals(steps * batch, 2), squares(steps * batch, NAN);
  factors[3] = 0;
  for (float& factor : factors) factor = std::abs(factor);
  const auto penalty = [&](const Doubles& at) {
    double sum = 0;
    for (std::size_t i = 0; i < factors.size() * hidden; ++i)
      sum += factors[i / hidden] * (at[i + batch * hidden] - at[i]) * (at[i + batch * hidden] - at[i]);
    return sum;
  };
  RowSquares rows{steps * batch, hidden,        1, factors.data(), states.data() + batch * hidden,
                  states.data(), squares.data()};
  for (std::size_t row = 0; row < squares.size(); ++row) work_on_row(OneLane(), rows, row);
  const Doubles exact = to_double(states);
  EXPECT_NEAR(std::accumulate(squares.begin(), squares.end(), 0.0), penalty(exact), 1e-5);
  rows.factors = nullptr;
  rows.b = nullptr;
  rows.scale = 0.5;
  work_on_row(OneLane(), rows, 0);
  EXPECT_NEAR(squares[0], 0.5 * (std::pow(exact[6], 2) + std::pow(exact[7], 2) + std::pow(exact[8], 2)), 1e-6);

  const Doubles wanted = testing::central_differences(
      [&](std::span<const double> at) {
        return penalty({at.begin(), at.end()});
      },
      exact, 1e-4);
  Floats after(steps * batch * hidden, 1), before(batch * hidden, 1);
  PullDifferences back{steps, batch, hidden, 1, steps - 1, factors.data(), states.data(), after.data()};
  each_cell(back, steps * batch, hidden);
  // What the first step sends to the state before it; there is no step in front of that one, and nobody looks for it.
  back = {1, batch, hidden, 0, 1, factors.data() - batch, states.data() - batch * hidden, before.data()};
  each_cell(back, batch, hidden);
  for (std::size_t i = 0; i < wanted.size(); ++i)
    EXPECT_NEAR(i < before.size() ? before[i] : after[i - before.size()], 1 + wanted[i], 1e-5) << i;

  Floats sum(6, 1);
  each_cell(AddWeighedRows{2, 3, 2, factors.data(), states.data(), sum.data()}, 2, 3);
  for (std::size_t i = 0; i < sum.size(); ++i) EXPECT_NEAR(sum[i], 1 + 2 * factors[i / 3] * states[i], 1e-6);
}

TEST(CudaBodies, GatherTokensAndReals) {
  const Floats table = {1, 2, 3, 4, 5, 6}, reals = {0.1f, 0.2f, 0.3f};
  const std::vector<std::int32_t> tokens = {2, -1, 0};
  Floats x(9, NAN);
  GatherInputs call{3, 3, 2, 1, table.data(), tokens.data(), reals.data(), x.data()};
  each_cell(call, 3, 3);
  EXPECT_EQ(x, (Floats{5, 6, 0.1f, 0, 0, 0.2f, 1, 2, 0.3f}));
  x.assign(12, NAN);
  call = {3, 3, 0, 1, nullptr, tokens.data(), reals.data(), x.data()};
  each_cell(call, 3, 4);
  EXPECT_EQ(x, (Floats{0, 0, 1, 0.1f, 0, 0, 0, 0.2f, 1, 0, 0, 0.3f}));
}

TEST(CudaBodies, MoveStatesBetweenRowsAndPlanes) {
  // Two rows of seven numbers, of which two tensors of three units are the layer's; planes of eight numbers.
  const Floats rows = normals(14, 1);
  Floats planes(16, NAN), back(14, NAN);
  MoveStates call{2, 3, 2, 7, 1, rows.data(), planes.data(), 8};
  each_cell(call, 4, 3);
  for (const std::size_t tensor : {0u, 1u})
    for (const std::size_t b : {0u, 1u})
      for (const std::size_t unit : {0u, 1u, 2u})
        EXPECT_EQ(planes[tensor * 8 + b * 3 + unit], rows[b * 7 + tensor * 3 + unit]);
  call.to_planes = 0;
  call.from = planes.data();
  call.to = back.data();
  each_cell(call, 4, 3);
  for (const std::size_t i : {0u, 5u, 7u, 12u}) EXPECT_EQ(back[i], rows[i]);
  EXPECT_TRUE(std::isnan(back[6]) && std::isnan(back[13])) << "what is not the layer's stays";
  call = {2, 3, 2, 7, 1, nullptr, planes.data(), 8};
  each_cell(call, 4, 3);
  EXPECT_EQ(planes[0], 0.0f);
}

TEST(CudaBodies, MoveRowsAndPlacesThereAndBack) {
  const Floats table = {1, 2, 3, 4, 5, 6};
  const std::vector<std::int64_t> indices = {2, 0, 2};
  const std::vector<std::uint8_t> keep = {0, 1, 1};
  Floats rows(6, NAN), scattered = table;
  each_cell(MoveRows{3, 2, 0, indices.data(), nullptr, table.data(), rows.data()}, 3, 2);
  EXPECT_EQ(rows, (Floats{5, 6, 1, 2, 5, 6}));
  rows = {10, 11, 20, 21, 30, 31};
  each_cell(MoveRows{3, 2, 1, indices.data(), keep.data(), rows.data(), scattered.data()}, 3, 2);
  EXPECT_EQ(scattered, (Floats{20, 21, 3, 4, 30, 31}));
  const std::vector<std::int32_t> places = {1, 2};
  Floats entries(4, NAN), all = table;
  each_cell(MovePlaces{2, 2, 0, places.data(), table.data(), entries.data()}, 2, 2);
  EXPECT_EQ(entries, (Floats{3, 4, 5, 6}));
  entries = {7, 8, 9, 10};
  each_cell(MovePlaces{2, 2, 1, places.data(), entries.data(), all.data()}, 2, 2);
  EXPECT_EQ(all, (Floats{1, 2, 7, 8, 9, 10}));
}

TEST(CudaBodies, SpreadSumAndZero) {
  const Floats bias = {1, 2}, second = {10, 20}, parts = {1, 2, 3, 4, 5, 6};
  Floats rows(6, -1.0f), sum = {100, 200}, h(4, NAN);
  each_cell(SpreadBias{2, 2, 3, bias.data(), second.data(), rows.data()}, 2, 2);
  EXPECT_EQ(rows, (Floats{11, 22, -1, 11, 22, -1}));
  for (const std::size_t i : {0u, 1u}) write_element(SumParts{2, 3, 1, parts.data(), sum.data()}, i);
  EXPECT_EQ(sum, (Floats{109, 212}));
  const std::uint8_t flags[] = {static_cast<std::uint8_t>(StepFlag::reset), static_cast<std::uint8_t>(StepFlag::hold)};
  each_cell(ZeroResets{2, 2, flags, parts.data(), h.data()}, 2, 2);
  EXPECT_EQ(h, (Floats{0, 0, 3, 4}));
  float norm = NAN;
  const Floats sides = {3, 4};
  work_on_row(OneLane(), RowNorms{1, 2, sides.data(), &norm}, 0);
  EXPECT_EQ(norm, 5.0f);
}

TEST(CudaBodies, AreTheVectorOperations) {
  const float factor = 3;
  const Floats x = {1, 2};
  Floats y = {10, 20};
  const auto apply = [&](const auto& call) {
    for (const std::size_t i : {0u, 1u}) write_element(stream_of(call), i);
    return y;
  };
  EXPECT_EQ(apply(Axpy{2, &factor, x.data(), y.data()}), (Floats{13, 26}));
  EXPECT_EQ(apply(Scale{2, &factor, y.data()}), (Floats{39, 78}));
  EXPECT_EQ(apply(Copy{2, x.data(), y.data()}), x);
  EXPECT_EQ(apply(Fill{2, &factor, y.data()}), (Floats{3, 3}));
  EXPECT_EQ(apply(Fill{2, nullptr, y.data()}), (Floats{0, 0}));
}

/// Rows of a head with their targets; of every second row the label is the largest output.
struct HeadCase {
  int rows = 5, outputs = 1, target_width = 0;
  bool labelled = false;
  Floats z, values, weights;
  std::vector<std::int32_t> labels;
  Floats constants = {-0.4f};
  Doubles levels = {0.05, 0.5, 0.8};

  HeadCase(const HeadType& type, int classes, bool distribution) : outputs(classes + type.beside) {
    labelled = takes_label(type.target) && !distribution;
    outputs *= type.outputs_per_target(levels.size());
    target_width = type.target == TargetKind::label_and_interval ? 1 : labelled ? 0 : classes;
    z = normals(elements(rows, outputs), elements(classes), 2);
    weights = normals(elements(rows), 3);
    for (const float y : normals(elements(rows, target_width), 4)) values.push_back(std::min(1.0f, std::abs(y)));
    for (int row = 0; row < rows; ++row) {
      const auto begin = z.begin() + row * outputs;
      const auto largest = std::max_element(begin, begin + classes) - begin;
      labels.push_back(!labelled ? -1 : row % 2 ? 0 : static_cast<std::int32_t>(largest));
    }
  }
};

/// Every row in `HeadKernels<double>`; the last constants are already in z.
void expect_reference_rows(const HeadType& type, const HeadCase& given, const Floats& d_z, const Floats& losses,
                           const Floats& correct, const Floats& predictions) {
  for (int row = 0; row < given.rows; ++row) {
    const auto at = elements(row, given.outputs);
    Doubles z(given.z.begin() + at, given.z.begin() + at + given.outputs), d(z.size());
    if (type.constants > 0) z.back() = given.constants[0];
    const auto first = given.values.begin() + row * given.target_width;
    const Doubles values(first, first + given.target_width);
    const RowTarget<double> target{given.labels[elements(row)], values.empty() ? nullptr : values.data(), given.levels};
    const double weight = given.weights[elements(row)];
    const bool right = std::max_element(z.begin(), z.end()) - z.begin() == target.label;
    EXPECT_EQ(correct[elements(row)], right ? given.weights[elements(row)] : 0.0f);
    const double loss = type.reference.loss(given.outputs, z.data(), target, weight, d.data());
    EXPECT_NEAR(losses[elements(row)], loss, 2e-6 * (1 + std::abs(loss)));
    const auto part = [&](const Floats& all) { return Doubles(all.begin() + at, all.begin() + at + given.outputs); };
    EXPECT_LT(relative_error(part(d_z), d), 3e-6);
    type.reference.predict(given.outputs, z.data());
    EXPECT_LT(relative_error(part(predictions), z), 3e-6);
  }
}

template <class Head>
void expect_reference_head(const char* name, int classes, bool distribution, bool staged) {
  const HeadType& type = find_head(name);
  const HeadCase given(type, classes, distribution);
  SCOPED_TRACE(std::string(name) + ", outputs: " + std::to_string(given.outputs));
  Floats d_z = given.z, predictions = given.z, losses(elements(given.rows), NAN), correct = losses;
  Floats stage(elements(given.outputs));
  HeadLoss loss{.entries = given.rows, .outputs = given.outputs, .constants = type.constants};
  loss.target_stride = given.target_width;
  if (given.labelled) loss.labels = given.labels.data();
  if (given.target_width > 0) loss.values = given.values.data();
  loss.weights = given.weights.data();
  loss.constant_values = given.constants.data();
  loss.levels = static_cast<int>(given.levels.size());
  loss.level_values = given.levels.data();
  loss.z = d_z.data();
  loss.d_z = 1;
  loss.losses = losses.data();
  loss.correct = correct.data();
  const HeadPredict predict{given.rows, given.outputs, type.constants, given.constants.data(), predictions.data()};
  for (int row = 0; row < given.rows; ++row) {
    Head::loss(OneLane(), loss, elements(row), staged ? stage.data() : nullptr);
    Head::predict(OneLane(), predict, elements(row), staged ? stage.data() : nullptr);
  }
  expect_reference_rows(type, given, d_z, losses, correct, predictions);
}

TEST(CudaBodies, AreTheReferenceHeads) {
  for (const int classes : {1, 2, 10, 33, 700})
    for (const bool staged : {false, true}) {
      expect_reference_head<DeviceSoftmax<false>>("softmax", classes, false, staged);
      expect_reference_head<DeviceSoftmax<true>>("softmax", classes, true, staged);
      expect_reference_head<DevicePointProcess>("point_process", classes, false, staged);
      expect_reference_head<DeviceSeparable<SquaredError>>("regression", classes, false, staged);
      expect_reference_head<DeviceSeparable<NegativeLogLikelihood>>("bernoulli", classes, false, staged);
      expect_reference_head<DeviceGaussian>("gaussian", classes, false, staged);
      expect_reference_head<DeviceQuantile>("quantile", classes, false, staged);
    }
}

TEST(CudaBodies, TakeOutputsThatAreExcludedAndTheFirstOfEquals) {
  const std::int32_t labels[] = {2, 3};
  const float weights[] = {1, 1}, excluded = -std::numeric_limits<float>::infinity();
  Floats z = {1, excluded, 2, 2, 1, excluded, 2, 2}, losses(2), correct(2);
  HeadLoss call{.entries = 2, .outputs = 4, .labels = labels, .weights = weights, .z = z.data(), .d_z = 1};
  call.losses = losses.data();
  call.correct = correct.data();
  for (const std::size_t row : {0u, 1u}) DeviceSoftmax<false>::loss(OneLane(), call, row, nullptr);
  for (const float loss : losses) EXPECT_NEAR(loss, std::log(2 + std::exp(-1.0)), 1e-6);
  EXPECT_EQ(correct, (Floats{1, 0}));
  EXPECT_EQ(z[1], 0.0f);
}

/// Rows of a mixture of softmaxes, labels and distributions among each other, as the kernels compute them
/// (mixture.cpp), and as LayeredKernels<double> do.
struct MixtureCase {
  HeadLayers layers;
  int rows = 4, outputs = 1;
  Floats prior, latent, z, values, weights;
  std::vector<std::int32_t> labels;

  MixtureCase(int experts, int outputs, double epsilon) : outputs(outputs) {
    layers.branches = experts;
    layers.width = 3;
    layers.epsilon = epsilon;
    prior = normals(elements(rows, experts), 1);
    latent = normals(elements(rows, experts, layers.width), 2);
    z = normals(elements(rows, experts, outputs), 3, 3);
    weights = normals(elements(rows), 4);
    for (const float y : normals(elements(rows, outputs), 5)) values.push_back(std::abs(y));
    values[0] = 0;
    for (int row = 0; row < rows; ++row) labels.push_back(row % 2 ? row % outputs : -1);
  }
};

/// What both leave of one case.
struct MixtureNumbers {
  Doubles x, z, prior, collected, losses, correct, predictions;
};

MixtureNumbers by_bodies(const MixtureCase& given) {
  const int rows = given.rows, experts = given.layers.branches, width = given.layers.width, outputs = given.outputs;
  Floats prior = given.prior, latent = given.latent, z = given.z, x(latent.size());
  Floats mixed(elements(rows, outputs)), predictions(mixed.size()), losses(elements(rows)), correct(elements(rows));
  Doubles numbers(elements(rows, experts, branch_numbers));
  std::vector<std::int32_t> places(elements(rows));
  std::iota(places.begin(), places.end(), 0);
  HeadBranches branches{rows, outputs, experts, width, given.layers.epsilon, {prior.data(), latent.data()}};
  branches.x = x.data();
  branches.z = z.data();
  branches.numbers = numbers.data();
  branches.mixed = mixed.data();
  HeadLoss loss{.entries = rows, .outputs = experts * outputs};
  loss.target_stride = outputs;
  loss.labels = given.labels.data();
  loss.values = given.values.data();
  loss.weights = given.weights.data();
  loss.z = z.data();
  loss.d_z = 1;
  loss.losses = losses.data();
  loss.correct = correct.data();
  const auto each_row = [](const auto& call, int count) {
    for (int row = 0; row < count; ++row) work_on_row(OneLane(), call, elements(row));
  };
  each_row(WeighExperts{branches}, rows);
  each_cell(SpreadExperts{branches}, rows, experts * width);
  each_row(MeasureExperts{branches}, rows * experts);
  each_cell(MixPredictions{{branches, places.data(), predictions.data()}}, rows, outputs);
  const BranchesLoss call{branches, loss};
  each_cell(MixExperts{call}, rows, outputs);
  each_row(SettleRow{call}, rows);
  each_row(SettleExpert{call}, rows * experts);
  each_cell(PullBackExperts{call}, rows * experts, outputs);
  MixtureNumbers got{to_double(x),      to_double(z),       to_double(prior),      {},
                     to_double(losses), to_double(correct), to_double(predictions)};
  each_cell(CollectExperts{branches}, rows, experts * width);  // as if dL/dx were x
  got.collected = to_double(latent);
  return got;
}

MixtureNumbers by_reference(const MixtureCase& given) {
  const auto& kernels = find_head("mixture_of_softmaxes").reference.layered;
  const std::size_t experts = elements(given.layers.branches), outputs = elements(given.outputs);
  MixtureNumbers wanted;
  for (std::size_t i = 0; i < elements(given.rows); ++i) {
    const auto part = [&](const Floats& all) {
      const std::size_t width = all.size() / elements(given.rows);
      return Doubles(all.begin() + static_cast<std::ptrdiff_t>(i * width),
                     all.begin() + static_cast<std::ptrdiff_t>((i + 1) * width));
    };
    Doubles prior = part(given.prior), latent = part(given.latent), z = part(given.z), q = part(given.values);
    Doubles x(latent.size()), scratch(experts * LayeredKernels<double>::scratch_per_branch), p(outputs);
    const LayeredRow<double> row{
        &given.layers, given.outputs, {prior.data(), latent.data()}, x.data(), elements(given.layers.width), z.data(),
        outputs,       scratch.data()};
    kernels.spread(row);
    kernels.predict(row, p.data());
    std::int32_t likeliest = -1;
    const std::int32_t label = given.labels[i];
    const double weight = given.weights[i];
    wanted.losses.push_back(kernels.loss(row, {label, q.data()}, weight, true, label < 0 ? nullptr : &likeliest));
    wanted.correct.push_back(label >= 0 && likeliest == label ? weight : 0);
    const auto join = [](Doubles& all, const Doubles& more) { all.insert(all.end(), more.begin(), more.end()); };
    join(wanted.x, x);
    join(wanted.z, z);
    join(wanted.prior, prior);
    join(wanted.predictions, p);
    kernels.collect(row);
    join(wanted.collected, latent);
  }
  return wanted;
}

TEST(CudaBodies, AreTheReferenceMixture) {
  for (const int experts : {1, 2, 5, 40})
    for (const int outputs : {1, 2, 7, 300})
      for (const double epsilon : {0.0, 1e-3}) {
        SCOPED_TRACE(::testing::PrintToString(std::tuple(experts, outputs, epsilon)));
        const MixtureCase given(experts, outputs, epsilon);
        const MixtureNumbers got = by_bodies(given), wanted = by_reference(given);
        EXPECT_LT(relative_error(got.x, wanted.x), 1e-6);
        EXPECT_LT(relative_error(got.collected, wanted.collected), 1e-6);
        EXPECT_LT(relative_error(got.predictions, wanted.predictions), 1e-6);
        EXPECT_EQ(got.correct, wanted.correct);
        // One output is always right, and one expert always chosen: losses and what is sent back vanish.
        const auto expect_near = [](const Doubles& a, const Doubles& b) {
          for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 3e-6 * (1 + std::abs(b[i])));
        };
        expect_near(got.losses, wanted.losses);
        expect_near(got.z, wanted.z);
        expect_near(got.prior, wanted.prior);
        if (outputs > 1) {
          EXPECT_LT(relative_error(got.z, wanted.z), 5e-6);
        }
      }
}

struct UpdateCase {
  Clip clip;
  bool regularised = false, settle = false;
  double weight_decay = 0;
};

/// Five updates by the kernels' bodies and by the reference engine.
template <class Rule>
void expect_reference_updates(const char* name, const UpdateCase& given) {
  SCOPED_TRACE(name);
  constexpr std::size_t count = 37;
  Floats weights = normals(count, 1, 0.3), average = normals(count, 2, 0.3), multiplier = normals(count, 3, 0.1);
  const Model model{testing::stack_of("lstm", {2})};
  const auto engine = make_engine(model, testing::EngineRun::reference());
  const auto buffer = [&](const Floats& values) {
    const Buffer made = engine->allocate(values.size());
    engine->write(made, to_double(values));
    return made;
  };
  const Buffer target = buffer(weights), gradient = engine->allocate(count), norm = engine->allocate(1);
  DynamicRegulariser terms{.average = buffer(average), .multiplier = buffer(multiplier), .alpha = 0.5, .penalty = 0.8};
  terms.settle = given.settle;
  terms.diagnostics = engine->allocate(3);
  const OptimizerConfig config{.name = name, .weight_decay = given.weight_decay};
  const OptimizerType& type = find_optimizer(name);
  const auto optimizer = engine->make_optimizer(config, target);
  Floats moments[2];
  for (Floats& moment : moments) moment.assign(count, static_cast<float>(type.first_moment));
  for (int step = 1; step <= 5; ++step) {
    Floats g = normals(count, 10 + elements(step));
    engine->write(gradient, to_double(g));
    const double scale = step % 2 ? 0.25 : -0.5;
    engine->apply_update({.target = target,
                          .gradient = gradient,
                          .optimizer = *optimizer,
                          .rate = 0.02,
                          .gradient_scale = scale,
                          .clip = given.clip,
                          .norm = norm,
                          .regulariser = given.regularised ? &terms : nullptr});
    const UpdateNumbers numbers{type.coefficients(config, step, 0.02),
                                scale,
                                given.clip.value,
                                given.clip.norm,
                                0.4,
                                terms.alpha,
                                terms.averaging};
    Update call{.count = count, .regularised = given.regularised, .settle = given.regularised && given.settle};
    call.numbers = &numbers;
    call.weights = weights.data();
    call.gradient = g.data();
    for (const int m : {0, 1}) call.moments[m] = moments[m].data();
    call.average = average.data();
    call.multiplier = multiplier.data();
    Squares squares;
    const double distance = run_update<Rule>(call, squares);
    EXPECT_NEAR(gradient_norm(call, numbers, squares), engine->read(norm)[0], 1e-5);
    if (!call.settle) continue;
    const Doubles diagnostics = {std::sqrt(squares.loss), std::sqrt(squares.regulariser), std::sqrt(distance)};
    EXPECT_LT(relative_error(diagnostics, engine->read(terms.diagnostics)), 1e-6);
  }
  EXPECT_LT(relative_error(to_double(weights), engine->read(target)), 1e-6);
  for (std::size_t m = 0; m < optimizer->moments.size(); ++m)
    EXPECT_LT(relative_error(to_double(moments[m]), engine->read(optimizer->moments[m])), 3e-6);
  EXPECT_LT(relative_error(to_double(average), engine->read(terms.average)), 1e-6);
  EXPECT_LT(relative_error(to_double(multiplier), engine->read(terms.multiplier)), 3e-6);
}

TEST(CudaBodies, AreTheReferenceUpdates) {
  const std::map<std::string, void (*)(const char*, const UpdateCase&)> rules = {
      {"sgd", expect_reference_updates<Sgd>},           {"momentum", expect_reference_updates<Momentum>},
      {"adam", expect_reference_updates<Adam>},         {"rmsprop", expect_reference_updates<RmsProp>},
      {"adagrad", expect_reference_updates<Adagrad>},   {"rmsprop_tf1", expect_reference_updates<RmsPropTf1>},
      {"asgd", expect_reference_updates<Asgd>},         {"adadelta", expect_reference_updates<Adadelta>},
      {"anchored", expect_reference_updates<Anchored>},
  };
  std::vector<const OptimizerType*> types = all_optimizers();
  types.push_back(&find_optimizer("anchored"));
  for (const OptimizerType* type : types) {
    ASSERT_TRUE(rules.contains(type->name)) << type->name << " has no device kernels";
    for (const double value : {0.0, 0.2})
      for (const double norm : {0.0, 0.5, 100.0})
        for (const int terms : {0, 1, 2})
          rules.at(type->name)(type->name.c_str(), {{value, norm}, terms > 0, terms > 1, value / 10});
  }
}

}  // namespace
}  // namespace throughtime::cuda
