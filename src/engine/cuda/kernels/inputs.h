#pragma once

#include <cstddef>
#include <cstdint>

namespace throughtime::cuda {

struct Context;

// Everything here is a plain struct of numbers and device pointers, and a function that issues its kernels. Numbers
// that change from call to call (keys, rates, factors) come by pointer, so that equal calls have equal bytes.

/// Raw inputs [N, width] of N = L * B places, width = token part + reals. A place at padding has token -1.
struct GatherInputs {
  int places = 0;      // N, place l * B + b
  int vocabulary = 0;  // 0: no tokens
  int embedding = 0;   // width of the table; 0: one-hot
  int reals = 0;
  const float* table = nullptr;          // [vocabulary, embedding]
  const std::int32_t* tokens = nullptr;  // [N]; -1: padding
  const float* values = nullptr;         // [N, reals]; zeros at padding
  float* x = nullptr;                    // out [N, token part + reals]
};
void issue(const Context&, const GatherInputs&);

/// What a mask is indexed by, in the call's numbers.
struct MaskNumbers {
  std::uint64_t key = 0;
  std::int64_t step = 0;  // of the window's first step; 0 with one mask per sequence
  std::int64_t row = 0;   // of the window's first row
};

/// values [N, width] *= the mask that engine/dropout.h writes, the same Philox words. Entry i is place p = places[i]
/// (or i where places is null): step p / B, row p % B.
struct ApplyMask {
  int entries = 0, width = 0, batch = 0;
  int stride = 0;  // numbers from one entry to the next; 0: width
  std::uint32_t purpose = 0;
  int layer = 0;
  double share = 0;
  int per_sequence = 0;  // 1: the step does not count
  int first_step = 0;    // of `values` in the window
  const MaskNumbers* numbers = nullptr;
  const std::int32_t* places = nullptr;
  float* values = nullptr;
};
void issue(const Context&, const ApplyMask&);

/// What every row of an embedding is multiplied by, the same for all places of a key (engine/dropout.h).
struct TokenMask {
  std::uint32_t purpose = 0;
  int layer = 0;
  double share = 0;
  const MaskNumbers* numbers = nullptr;  // null: there is no mask
};

/// values [N, width] *= the mask of their tokens. Padding is zeros already.
struct MaskTokens : TokenMask {
  int entries = 0, width = 0;
  int stride = 0;  // numbers from one entry to the next
  const std::int32_t* tokens = nullptr;
  float* values = nullptr;
};
void issue(const Context&, const MaskTokens&);

/// to [count] = base + mask * from, where the mask is that of a recurrent block (engine/dropout.h): the same for all
/// rows and steps of a key.
struct DropWeights {
  std::size_t count = 0;
  std::uint32_t purpose = 0;
  int layer = 0;
  double share = 0;
  const MaskNumbers* numbers = nullptr;
  const float* from = nullptr;
  const float* base = nullptr;  // null: zeros
  float* to = nullptr;
};
void issue(const Context&, const DropWeights&);

/// table[token] += the sum over its entries of rows[entry], times the token's mask where there is one, in the order
/// given: a stable sort by token that the host has made. Segment s has entries order[begin[s]] ... order[begin[s + 1] -
/// 1]. `segments` is at most `entries`.
struct AddSortedRows {
  int entries = 0, width = 0;
  int stride = 0;                          // numbers from one row to the next
  const std::int32_t* segments = nullptr;  // [1]: how many there are
  const std::int32_t* target = nullptr;    // [entries]: row of the table, of each segment
  const std::int32_t* begin = nullptr;     // [entries + 1]
  const std::int32_t* order = nullptr;     // [entries]
  const float* rows = nullptr;             // [entries, stride], the first `width` of each
  float* table = nullptr;                  // [?, width]
  TokenMask mask = {};
};
void issue(const Context&, const AddSortedRows&);

/// h [N, H] of the state before each step, zero where the row is reset there: what multiplies d_gates.
struct ZeroResets {
  int places = 0, hidden = 0;
  const std::uint8_t* flags = nullptr;  // StepFlag [N]
  const float* from = nullptr;
  float* to = nullptr;
};
void issue(const Context&, const ZeroResets&);

/// States [B, S] <-> planes [k][B][H] of one layer: tensor k of row b at rows[b * S + k * H + u].
struct MoveStates {
  int batch = 0, hidden = 0, tensors = 0, state_size = 0;
  int to_planes = 0;  // 1: rows -> planes (rows null: zeros); 0: planes -> rows
  const float* from = nullptr;
  float* to = nullptr;
  std::size_t plane = 0;  // from one tensor's plane to the next
};
void issue(const Context&, const MoveStates&);

/// columns [width] += the sum of rows [N, width] in a fixed order: a bias' gradient, or that of two which get the same.
/// `partial` has room for 64 * width numbers.
struct SumRows {
  int rows = 0, width = 0;
  int stride = 0;  // numbers from one row to the next; 0: width
  const float* from = nullptr;
  float* partial = nullptr;
  float* to = nullptr;
  float* second = nullptr;  // or null
};
void issue(const Context&, const SumRows&);

/// to [n] (+)= sum of `parts` vectors, each n further: split products, in order.
struct SumParts {
  std::size_t count = 0;
  int parts = 0, add = 0;
  const float* from = nullptr;
  float* to = nullptr;
};
void issue(const Context&, const SumParts&);

/// rows [N, width] = bias (null: zeros) in every row, so that a product can add to it.
struct SpreadBias {
  std::size_t rows = 0;
  int width = 0;
  int stride = 0;  // numbers from one row to the next; 0: width
  const float* bias = nullptr;
  const float* second = nullptr;  // another one on top, or null
  float* to = nullptr;
};
void issue(const Context&, const SpreadBias&);

/// norms [entries] = |rows [entries, width]|, in double.
struct RowNorms {
  int entries = 0, width = 0;
  const float* rows = nullptr;
  float* norms = nullptr;
};
void issue(const Context&, const RowNorms&);

}  // namespace throughtime::cuda
