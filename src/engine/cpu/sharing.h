#pragma once

#include <optional>

#include "engine/cpu/tape.h"
#include "engine/cpu/threads/crew.h"
#include "throughtime/model.h"

namespace throughtime::cpu {

/// How a crew shares the steps of a slice. Rows go through all steps of a chunk without a look at each other. The units
/// of a layer read each other's states, so whoever shares them waits for the others at every step.
enum class Sharing { nothing, rows, units };

/// Takes decisions away from the models below, so that tests can share what nobody would, with more threads than cores.
/// Of engines and calls from now on; nothing shared in it changes a result.
struct SharingTrial {
  int cores = 0;                                // 0: as many as there are
  bool always = false;                          // whatever it costs
  std::optional<Sharing> steps = std::nullopt;  // of a slice; where it is not possible, nothing is shared
};
void try_sharing(const SharingTrial& trial);

/// Cores that this process may use.
int cores_here();

/// What takes the least time by a rough model, for `size` threads and `steps` steps of a slice, or of one of its
/// layers. `numbers`: weights that a row is multiplied by in a step. `parts`: into how many the units can be cut; 0:
/// not at all.
Sharing choose_sharing(int size, int rows, double numbers, int steps, int parts);

/// Parts that so many rows can be cut into: one row alone would be summed in another order than several.
inline int row_parts(int rows) { return rows / 2; }
inline Rows rows_of(Part part, const Slice& slice) {
  const auto [begin, end] = part.of(slice.rows);
  return {begin, end, part.index};
}

/// Weights that a row is multiplied by in a step of a layer, or of all of them.
double weights_of(const Layer& layer);
double weights_of(const Model& model);

/// Whether a window is worth more than one thread for each of its slices.
Crowd crowd_for(const Model& model, int steps, int rows);
/// In how many parts such work may be cut: one where handing it over costs more than it takes.
int parts_worth(const Crew& crew, double products);

/// C = A B as in multiply_panels, by all of the crew.
void share_panels(Crew& crew, const ProductKernels& products, int rows, const float* a, std::size_t a_stride,
                  const ForwardPanels& panels, const float* bias, float* c, std::size_t c_stride);
void share_panels(Crew& crew, const ProductKernels& products, int rows, const float* a, std::size_t a_stride,
                  const BackwardPanels& panels, float* c, std::size_t c_stride, bool accumulate);

}  // namespace throughtime::cpu
