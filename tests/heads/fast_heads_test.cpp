// The float kernels of every head against their double twins, for every instruction set of this machine.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>

#include "support/numeric.h"
#include "support/targets.h"
#include "throughtime/head.h"
#include "throughtime/index.h"
#include "throughtime/random.h"

namespace throughtime {
namespace {

using testing::distance;
using testing::for_each_instruction_set;
using testing::norm;
using testing::relative_error;
using testing::to_double;

const std::vector<double> levels = {0.1, 0.5, 0.9};

constexpr float untouched = -12345.0f;

/// Floats at a chosen distance from an aligned address, between guards that must stay as they are. They lie at the end
/// of their allocation, so that a sanitizer sees every read behind them.
class Misaligned {
 public:
  Misaligned(std::size_t count, std::size_t offset) : storage_(16 + offset + count, untouched), offset_(16 + offset) {}
  float* data() { return storage_.data() + offset_; }
  std::span<float> span() { return std::span(storage_).subspan(offset_); }
  bool guard_is_intact() const {
    for (std::size_t i = 0; i < offset_; ++i)
      if (storage_[i] != untouched) return false;
    return true;
  }

 private:
  std::vector<float> storage_;
  std::size_t offset_;
};

struct Case {
  std::size_t outputs = 1;
  std::size_t offset = 0;
  double scale = 1;
  std::optional<std::int32_t> label = {};
  bool in_place = false;
};

/// Runs one row through both twins and compares the loss, the gradient and the prediction.
void expect_twins_agree(const HeadType& head, const Case& row) {
  SCOPED_TRACE(head.name + " outputs " + std::to_string(row.outputs) + " offset " + std::to_string(row.offset) +
               " scale " + std::to_string(row.scale));
  const Random random(row.outputs, Purpose::sampling);
  const int outputs = static_cast<int>(row.outputs);
  Misaligned z(row.outputs, row.offset), y(row.outputs, row.offset + 1), d_z(row.outputs, row.offset + 2);
  for (std::size_t i = 0; i < row.outputs; ++i) {
    z.data()[i] = static_cast<float>(row.scale * random.normal(0, 0, i));
    y.data()[i] = static_cast<float>(random.uniform(0, 1, i) / static_cast<double>(row.outputs));
  }
  const auto wide_z = to_double(z.span()), wide_y = to_double(y.span());
  std::vector<double> wanted(row.outputs);
  const std::int32_t label = row.label.value_or(-1);
  const double wanted_loss =
      head.reference.loss(outputs, wide_z.data(), {label, wide_y.data(), levels}, 0.5, wanted.data());

  const HeadKernels<float> fast = head.fast();
  // Twins differ by float roundings of probabilities, however little is left of those in a loss or gradient near zero.
  const double slack = 2e-7;
  const double loss_slack = 1e-6 * std::abs(wanted_loss) + slack;
  EXPECT_NEAR(fast.loss(outputs, z.data(), {label, y.data(), levels}, 0.5f, nullptr), wanted_loss, loss_slack);
  Misaligned& gradient = row.in_place ? z : d_z;
  const double loss = fast.loss(outputs, z.data(), {label, y.data(), levels}, 0.5f, gradient.data());
  EXPECT_NEAR(loss, wanted_loss, loss_slack);
  EXPECT_LT(distance(to_double(gradient.span()), wanted), 1e-6 * norm(wanted) + slack);
  EXPECT_TRUE(z.guard_is_intact() && y.guard_is_intact() && d_z.guard_is_intact());

  std::vector<double> prediction = wide_z;
  head.reference.predict(outputs, prediction.data());
  for (std::size_t i = 0; i < row.outputs; ++i) z.data()[i] = static_cast<float>(wide_z[i]);
  fast.predict(outputs, z.data());
  EXPECT_LT(relative_error(to_double(z.span()), prediction), 1e-6);
  EXPECT_TRUE(z.guard_is_intact());
}

void sweep(const HeadType& head, const Case& pattern) {
  if (head.layers) return;  // mixture_of_softmaxes_test.cpp
  Case row = pattern;
  const auto beside = static_cast<std::size_t>(head.beside);
  const auto each = static_cast<std::size_t>(head.outputs_per_target(levels.size()));
  for (row.outputs = each + beside; row.outputs <= 70; row.outputs += each) {
    for (row.offset = 0; row.offset < 5; ++row.offset) {
      const std::size_t classes = row.outputs - beside;
      row.in_place = row.offset % 2 == 1;
      row.label.reset();
      if (head.target != TargetKind::label_and_interval) expect_twins_agree(head, row);
      if (!takes_label(head.target)) continue;
      row.label = static_cast<std::int32_t>(classes * row.offset / 5);
      expect_twins_agree(head, row);
      row.label = static_cast<std::int32_t>(classes) - 1;
      expect_twins_agree(head, row);
    }
  }
}

TEST(FastHeads, AgreeWithTheirTwinsForEveryLengthAlignmentAndInstructionSet) {
  for_each_instruction_set([](const char* name) {
    SCOPED_TRACE(name);
    for (const HeadType* head : all_heads()) sweep(*head, {.scale = 1.5});
  });
}

TEST(FastHeads, AgreeForSmallAndLargeOutputs) {
  for_each_instruction_set([](const char* name) {
    SCOPED_TRACE(name);
    for (const HeadType* head : all_heads())
      for (const double scale : {1e-4, 30.0, 1e4, 1e9}) {
        // An intensity of exp(1e4) is no number, in either twin.
        if (head->target == TargetKind::label_and_interval && scale > 1) continue;
        sweep(*head, {.scale = scale});
      }
  });
}

TEST(FastHeads, StayAccurateForAVocabularyOfThousands) {
  for_each_instruction_set([](const char* name) {
    SCOPED_TRACE(name);
    for (const HeadType* head : all_heads())
      for (const std::size_t outputs : {1000u, 10007u}) {
        if (head->layers) continue;
        const auto each = static_cast<std::size_t>(head->outputs_per_target(levels.size()));
        Case row{.outputs = outputs / each * each, .scale = 2};
        if (head->target == TargetKind::label_and_interval) row.label = 999 - head->beside;
        expect_twins_agree(*head, row);
      }
    expect_twins_agree(find_head("softmax"), {.outputs = 50021, .scale = 2, .label = 50020});
  });
}

TEST(FastHeads, ANumberThatIsNoneStaysVisible) {
  for_each_instruction_set([](const char* name) {
    SCOPED_TRACE(name);
    for (const HeadType* head : all_heads()) {
      if (head->layers) continue;
      const int outputs = head->band == HeadBand::none ? 37 : 36;
      for (std::size_t broken = 0; broken < elements(outputs); ++broken) {
        std::vector<float> z(37, 0.5f), y(37, 0.25f);
        z[broken] = std::numeric_limits<float>::quiet_NaN();
        const std::int32_t label = !takes_label(head->target) ? -1 : broken == 3 ? 4 : 3;
        EXPECT_TRUE(std::isnan(head->fast().loss(outputs, z.data(), {label, y.data(), levels}, 1.0f, nullptr)))
            << head->name << broken;
      }
    }
  });
}

TEST(FastHeads, BernoulliKeepsTheLastBitsOfSmallLosses) {
  for_each_instruction_set([](const char* name) {
    SCOPED_TRACE(name);
    const float right = 1;
    for (float z = 0; z < 80; z += 0.17f) {
      const double wanted = std::log1p(std::exp(-static_cast<double>(z)));
      EXPECT_NEAR(find_head("bernoulli").fast().loss(1, &z, {-1, &right}, 1.0f, nullptr), wanted, 3e-7 * wanted) << z;
    }
  });
}

}  // namespace
}  // namespace throughtime
