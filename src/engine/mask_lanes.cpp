#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/mask_lanes.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include <algorithm>

#include "engine/mask_lanes.h"

HWY_BEFORE_NAMESPACE();
namespace throughtime::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

std::size_t write_lanes(const MaskDraw&, std::span<float>) { return 0; }

#else

using Wide = hn::ScalableTag<std::uint64_t>;
using Words = hn::Repartition<std::uint32_t, Wide>;
using Floats = hn::Repartition<float, Wide>;
using WideVector = hn::Vec<Wide>;

/// A word of as many counters as there are wide lanes, in the low half of each. The high half is of no account: the
/// products do not read it.
HWY_INLINE WideVector product(WideVector word, std::uint32_t factor) {
  return hn::MulEven(hn::BitCast(Words(), word), hn::Set(Words(), factor));
}
HWY_INLINE WideVector high(WideVector product) { return hn::ShiftRight<32>(product); }

/// Ten rounds of Philox 4x32 on each lane.
HWY_INLINE void rounds(std::array<std::uint32_t, 2> key, WideVector& a, WideVector& b, WideVector& c, WideVector& d) {
  const Wide wide;
  for (int round = 0; round < 10; ++round) {
    const WideVector first = product(a, 0xD2511F53u), second = product(c, 0xCD9E8D57u);
    a = hn::Xor(hn::Xor(high(second), b), hn::Set(wide, key[0]));
    c = hn::Xor(hn::Xor(high(first), d), hn::Set(wide, key[1]));
    b = second;
    d = first;
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
}

/// Two words of each counter side by side, low half first.
HWY_INLINE WideVector pair(WideVector low, WideVector high_word) {
  return hn::Or(hn::And(low, hn::Set(Wide(), 0xffffffffu)), hn::ShiftLeft<32>(high_word));
}

/// The numbers of the mask for a register of words.
HWY_INLINE void write_numbers(const MaskDraw& draw, const std::uint64_t* words, float* mask) {
  const auto last = static_cast<std::uint32_t>(draw.threshold - 1);  // the largest word that drops
  const auto kept = hn::Gt(hn::BitCast(Words(), hn::Load(Wide(), words)), hn::Set(Words(), last));
  hn::StoreU(hn::IfThenElseZero(hn::RebindMask(Floats(), kept), hn::Set(Floats(), draw.survivor)), Floats(), mask);
}

std::size_t write_lanes(const MaskDraw& draw, std::span<float> mask) {
  constexpr std::size_t together = 2;  // registers of counters side by side: one alone would wait for its products
  constexpr std::size_t lanes = hn::MaxLanes(Wide());
  const Wide wide;
  HWY_ALIGN std::uint64_t words[together][2 * lanes];
  std::size_t done = 0;
  if (draw.threshold == 0) {
    std::fill(mask.begin(), mask.end(), draw.survivor);
    return mask.size();
  }
  for (std::uint64_t block = 0; done + 4 * together * lanes <= mask.size(); block += together * lanes) {
    for (std::size_t k = 0; k < together; ++k) {
      WideVector a = hn::Iota(wide, draw.counter[0] + block + k * lanes), b = hn::Set(wide, draw.counter[1]);
      WideVector c = hn::Set(wide, draw.counter[2]), d = hn::Set(wide, draw.counter[3]);
      rounds(draw.key, a, b, c, d);
      hn::StoreInterleaved2(pair(a, b), pair(c, d), wide, words[k]);
    }
    for (std::size_t k = 0; k < together; ++k)
      for (std::size_t half = 0; half < 2; ++half, done += 2 * lanes)
        write_numbers(draw, words[k] + half * lanes, mask.data() + done);
  }
  return done;
}

#endif

}  // namespace throughtime::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace throughtime {

HWY_EXPORT(write_lanes);

std::size_t write_mask_lanes(const MaskDraw& draw, std::span<float> mask) {
  return HWY_DYNAMIC_DISPATCH(write_lanes)(draw, mask);
}

}  // namespace throughtime
#endif
