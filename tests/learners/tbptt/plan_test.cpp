#include "learners/tbptt/plan.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "support/errors.h"

// The plan of windows against its definition, step by step, at all small sizes.
namespace throughtime {
namespace {

struct Setting {
  Lengths lengths;
  Chunks chunks;
  int steps;    // T
  int history;  // known steps before them

  WindowPlan plan() const { return {lengths, chunks, steps, history}; }
  int chunk_of(int step) const { return chunks.steps > 0 ? step / chunks.steps * chunks.steps : 0; }
  std::string text() const {
    return fmt::format("steps {} losses {} stride {} ahead {}, chunk {}, T {} after {}", lengths.steps, lengths.losses,
                       lengths.stride, lengths.ahead, chunks.steps, steps, history);
  }
};

void for_each_setting(const std::function<void(const Setting&)>& visit) {
  for (const int cells : {1, 2, 3, 5, 9})
    for (int losses = 1; losses <= std::min(cells, 3); ++losses)
      for (const int stride : {1, 2, 3, 8})
        for (const int ahead : {0, 1, 3})
          for (const int chunk : {0, 1, 2, 3, 5})
            for (const int steps : {1, 2, 3, 4, 7})
              for (const int history : {0, 1, 4, 20})
                visit({{cells, losses, stride, ahead}, {chunk, false}, steps, history});
}

std::vector<TruncatedWindow> windows_of(const Setting& setting) {
  std::vector<TruncatedWindow> windows;
  for (int begin = 0; begin < setting.steps; begin = windows.back().end)
    windows.push_back(setting.plan().window(begin));
  return windows;
}

TEST(WindowPlan, WindowsEndAStrideApartAndAtTheEndsOfChunksAndStretches) {
  for_each_setting([](const Setting& setting) {
    SCOPED_TRACE(setting.text());
    std::vector<int> wanted, got;
    int moved = 0;
    for (int step = 0; step < setting.steps; ++step) {
      ++moved;
      const bool last = step + 1 == setting.steps || setting.chunk_of(step + 1) > setting.chunk_of(step);
      if (moved < setting.lengths.stride && !last) continue;
      wanted.push_back(step + 1);
      moved = 0;
    }
    for (const TruncatedWindow& window : windows_of(setting)) got.push_back(window.end);
    EXPECT_EQ(got, wanted);
  });
}

TEST(WindowPlan, CellsLossesAndStepsAheadAreThoseOfTheDefinition) {
  for_each_setting([](const Setting& setting) {
    SCOPED_TRACE(setting.text());
    int begin = 0;
    for (const TruncatedWindow& window : windows_of(setting)) {
      const int moved = window.end - begin;
      const bool whole = moved == setting.lengths.stride;
      for (int step = -setting.history; step < setting.steps; ++step) {
        const int lag = window.end - 1 - step;  // of this step's cell behind the window's last
        const bool looked_at = setting.chunks.steps == 0 || step >= setting.chunk_of(window.end - 1);
        const bool cell = lag >= 0 && lag < setting.lengths.steps && looked_at;
        EXPECT_EQ(cell, step >= window.first && step < window.end) << step;
        // A loss belongs to the stretch of its step, and a short last window has no more of them than it moved by.
        const bool loss = cell && step >= 0 && lag < setting.lengths.losses && (whole || lag < moved);
        EXPECT_EQ(loss, step >= window.first_loss && step < window.end) << step;
        const bool ahead = lag < 0 && -lag <= setting.lengths.ahead;
        EXPECT_EQ(ahead, step >= window.end && step < window.end + window.ahead) << step;
      }
      EXPECT_EQ(window.losses, whole ? setting.lengths.losses : std::min(setting.lengths.losses, moved));
      EXPECT_GE(window.first, -setting.history);
      EXPECT_LE(window.end + window.ahead, setting.steps);
      begin = window.end;
    }
  });
}

TEST(WindowPlan, EveryStepCarriesOneLossWhereLossesAreTheStride) {
  for_each_setting([](const Setting& setting) {
    if (setting.lengths.losses != setting.lengths.stride) return;
    std::vector<int> losses(static_cast<std::size_t>(setting.steps), 0);
    for (const TruncatedWindow& window : windows_of(setting))
      for (int step = window.first_loss; step < window.end; ++step) ++losses[step];
    EXPECT_EQ(losses, std::vector<int>(losses.size(), 1)) << setting.text();
  });
}

TEST(WindowPlan, KeepsTheStateThatTheNextWindowOfTheStretchBeginsWith) {
  for_each_setting([](const Setting& setting) {
    SCOPED_TRACE(setting.text());
    const std::vector<TruncatedWindow> windows = windows_of(setting);
    for (std::size_t i = 0; i + 1 < windows.size(); ++i) {
      const Starts starts = setting.plan().starts_after(windows[i]);
      ASSERT_EQ(starts.all().size(), 1u);
      // Windows that do not touch leave a gap behind the end of the earlier one.
      EXPECT_EQ(starts.all()[0].position, std::min(windows[i].end, windows[i + 1].first));
      EXPECT_EQ(starts.all()[0].taken, starts.all()[0].position);
      EXPECT_GE(starts.all()[0].position, windows[i].first);
    }
  });
}

TEST(WindowPlan, KeepsStatesForANextStretchOfAnyLength) {
  for_each_setting([](const Setting& setting) {
    SCOPED_TRACE(setting.text());
    const TruncatedWindow last = windows_of(setting).back();
    const Starts starts = setting.plan().starts_after(last);
    EXPECT_EQ(starts.all()[0].position, setting.plan().earliest_start());
    for (const Start& start : starts.all()) {
      EXPECT_GE(start.position, last.first);
      EXPECT_LE(start.position, last.end);
    }
    if (starts.all().size() == 2) {
      EXPECT_LT(starts.all()[0].position, starts.all()[1].position);
    }
    for (const int next : {1, 2, 3, 5, 12}) {
      const Setting after{setting.lengths, setting.chunks, next, setting.history + setting.steps};
      const TruncatedWindow window = after.plan().window(0);
      const int first = window.first + setting.steps;  // in steps of this stretch
      EXPECT_LE(starts.all()[0].position, first) << next;
      if (next == 1) {
        EXPECT_EQ(starts.all()[0].position, std::min(first, setting.steps));
      }
      if (window.end < setting.lengths.stride) continue;  // shorter than a stride: a gap may have to be run
      EXPECT_EQ(starts.all().back().position, std::min(first, setting.steps)) << next;
    }
  });
}

TEST(WindowPlan, AWindowAsLongAsTheStretchIsTheStretch) {
  for (int steps = 1; steps < 6; ++steps) {
    const Setting plain{preset_lengths(TbpttPreset::plain, steps), {}, steps, 0};
    const std::vector<TruncatedWindow> windows = windows_of(plain);
    ASSERT_EQ(windows.size(), 1u);
    EXPECT_EQ(windows[0].first, 0);
    EXPECT_EQ(windows[0].first_loss, 0);
    EXPECT_EQ(windows[0].end, steps);
  }
}

TEST(WindowPlan, OneStepWindowsStandSideBySide) {
  const Setting one{preset_lengths(TbpttPreset::plain, 1), {}, 4, 7};
  int step = 0;
  for (const TruncatedWindow& window : windows_of(one)) {
    EXPECT_EQ(window.first, step);
    EXPECT_EQ(window.first_loss, step);
    EXPECT_EQ(window.end, ++step);
  }
  EXPECT_EQ(step, 4);
}

TEST(WindowPlan, LongStridesAndChunksDoNotOverflow) {
  const int most = 2'000'000'000;
  const Setting setting{{1, 1, most, 0}, {}, most, 0};
  EXPECT_EQ(setting.plan().window(0).end, most);
  EXPECT_EQ(setting.plan().starts_after(setting.plan().window(0)).all().back().position, most);
  const Setting chunked{{1, 1, most, 0}, {most - 5, false}, most, 0};
  EXPECT_EQ(chunked.plan().window(most - 5).end, most);
}

/// The released code begins the second window of a chunk with the state after the first one, and a chunk with a state
/// K - 1 steps before it.
TEST(WindowPlan, TakesTheStaleStatesOfTheReleasedCode) {
  const Setting setting{preset_lengths(TbpttPreset::ref, 3), {12, true}, 20, 0};
  std::vector<int> positions, taken;
  for (const TruncatedWindow& window : windows_of(setting)) {
    const Starts starts = setting.plan().starts_after(window);
    ASSERT_EQ(starts.all().size(), 1u);
    positions.push_back(starts.all()[0].position);
    taken.push_back(starts.all()[0].taken);
  }
  EXPECT_EQ(positions, std::vector<int>({1, 4, 7, 12, 13, 15, 20}));
  EXPECT_EQ(taken, std::vector<int>({3, 4, 7, 10, 15, 15, 18}));
}

TEST(Presets, HaveTheirLengths) {
  const auto lengths = [](TbpttPreset preset) {
    const Lengths got = preset_lengths(preset, 4);
    return std::vector<int>{got.steps, got.losses, got.stride, got.ahead};
  };
  EXPECT_EQ(lengths(TbpttPreset::paper), std::vector<int>({9, 4, 4, 0}));
  EXPECT_EQ(lengths(TbpttPreset::ref), std::vector<int>({7, 4, 4, 0}));
  EXPECT_EQ(lengths(TbpttPreset::plain), std::vector<int>({4, 4, 4, 0}));
  EXPECT_EQ(lengths(TbpttPreset::original), std::vector<int>({4, 1, 1, 0}));
  EXPECT_EQ(lengths(TbpttPreset::double_tf), std::vector<int>({7, 7, 7, 0}));
  EXPECT_EQ(lengths(TbpttPreset::buffer), std::vector<int>({4, 4, 4, 3}));
  EXPECT_REFUSED(preset_lengths(TbpttPreset::custom, 4), "[tbptt] the preset 'custom' has no truncation");
}

TEST(Presets, ScaleTheRateByTheirTruncation) {
  EXPECT_EQ(rate_factor(RateScaling::none, 9), 1);
  EXPECT_EQ(rate_factor(RateScaling::sqrt, 9), 3);
  EXPECT_EQ(rate_factor(RateScaling::linear, 9), 9);
}

TEST(Chunks, AreRefusedWhereTheyCannotBe) {
  EXPECT_EQ(testing::refusal_of([] { check_chunks("tbptt", {5, true}); }), "");
  EXPECT_REFUSED(check_chunks("tbptt", {-1, false}), "[tbptt] chunk must be 0 (off) or positive, got -1");
  EXPECT_REFUSED(check_chunks("tbptt", {0, true}), "[tbptt] ref_stream is about chunks");
}

}  // namespace
}  // namespace throughtime
