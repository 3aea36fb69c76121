#include "engine/cpu/sharing.h"

#if defined(__linux__)
#include <sched.h>
#endif

#include <algorithm>
#include <thread>

#include "engine/cpu/passes.h"
#include "throughtime/index.h"

namespace throughtime::cpu {

namespace {

// Of one core, roughly: products a nanosecond, bytes of weights that come from its caches, and what it costs to hand
// work to others and to wait for them, in nanoseconds.
constexpr double kProducts = 110, kBytes = 140, kHandOver = 600, kChunkHandOver = 1500;

constexpr double kLeastWork = 4e6;       // products of a slice over a window that are worth waking a thread
constexpr double kLeastChunkWork = 4e5;  // and of a chunk
constexpr double kLeastShare = 6e4;      // and of a part of a single product

SharingTrial trial;

/// Those that the scheduler may give to this process.
int allowed_cores() {
#if defined(__linux__)
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0) return std::max(1, CPU_COUNT(&allowed));
#endif
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

/// Nanoseconds of a step of `rows` rows: of its products, or until the weights have come.
double step_time(double rows, double numbers) {
  return std::max(rows * numbers / kProducts, numbers * sizeof(float) / kBytes);
}

/// Whether work on so many rows and columns is cut by its columns: then each part of the weights is read once.
bool cuts_columns(int parts, int rows, int columns) {
  const int wide = columns / kPanel, high = rows / 8;
  return wide >= parts || wide >= high;
}

}  // namespace

void try_sharing(const SharingTrial& chosen) { trial = chosen; }

int cores_here() { return trial.cores > 0 ? trial.cores : allowed_cores(); }

Sharing choose_sharing(int size, int rows, double numbers, int steps, int parts) {
  if (size == 1) return Sharing::nothing;
  if (trial.steps) {
    const int possible = *trial.steps == Sharing::rows ? row_parts(rows) : parts;
    return possible > 1 ? *trial.steps : Sharing::nothing;
  }
  Sharing best = Sharing::nothing;
  double least = step_time(rows, numbers) * 0.97;  // for the same, nobody is asked
  const int by_rows = std::min(size, row_parts(rows)), by_units = std::min(size, parts);
  if (by_rows > 1) {
    const double time = step_time((rows + by_rows - 1) / by_rows, numbers) + kChunkHandOver / steps;
    if (time < least) least = time, best = Sharing::rows;
  }
  if (by_units > 1) {
    const int share = (parts + by_units - 1) / by_units;
    const double time = step_time(rows, numbers * share / parts) + kHandOver;
    if (time < least) best = Sharing::units;
  }
  return best;
}

double weights_of(const Layer& layer) {
  const CellShape& shape = layer.cell->shape;
  return static_cast<double>(layer.hidden) * (shape.input_rows * layer.inputs + shape.recurrent_rows * layer.hidden);
}

double weights_of(const Model& model) {
  double sum = 0;
  for (const Layer& layer : model.layers()) sum += weights_of(layer);
  return sum;
}

Crowd crowd_for(const Model& model, int steps, int rows) {
  const double numbers = weights_of(model) + static_cast<double>(model.linear_outputs()) * model.last_width();
  if (trial.always) return Crowd::every_seat;
  const bool worth =
      numbers * rows * steps >= kLeastWork && numbers * std::min(kChunkRows, rows * steps) >= kLeastChunkWork;
  return worth ? Crowd::at_hand : Crowd::nobody;
}

int parts_worth(const Crew& crew, double products) {
  return trial.always ? crew.size() : std::clamp(static_cast<int>(products / kLeastShare), 1, crew.size());
}

void share_panels(Crew& crew, const ProductKernels& products, int rows, const float* a, std::size_t a_stride,
                  const ForwardPanels& panels, const float* bias, float* c, std::size_t c_stride) {
  const int size = parts_worth(crew, static_cast<double>(rows) * panels.depth() * static_cast<double>(panels.width()));
  if (cuts_columns(size, rows, static_cast<int>(panels.width())))
    return crew.share(std::min(size, panels.panels()), [&](Part part) {
      const auto [first, last] = part.of(panels.panels());
      multiply_panels(products, rows, a, a_stride, panels, bias, c, c_stride, first, last);
    });
  crew.share(std::min(size, row_parts(rows)), [&](Part part) {
    const auto [begin, end] = part.of(rows);
    multiply_panels(products, end - begin, a + begin * a_stride, a_stride, panels, bias, c + begin * c_stride,
                    c_stride);
  });
}

void share_panels(Crew& crew, const ProductKernels& products, int rows, const float* a, std::size_t a_stride,
                  const BackwardPanels& panels, float* c, std::size_t c_stride, bool accumulate) {
  const int columns = panels.all_columns();
  const int size = parts_worth(crew, static_cast<double>(rows) * panels.depth() * columns);
  if (cuts_columns(size, rows, columns) || row_parts(rows) < 2)
    return crew.share(std::min(size, columns / kPad), [&](Part part) {
      const auto [begin, end] = part.of(columns, kPad);
      multiply_columns(products, rows, a, a_stride, panels, c, c_stride, accumulate, begin, end);
    });
  crew.share(std::min(size, row_parts(rows)), [&](Part part) {
    const auto [begin, end] = part.of(rows);
    multiply_panels(products, end - begin, a + begin * a_stride, a_stride, panels, c + begin * c_stride, c_stride,
                    accumulate);
  });
}

}  // namespace throughtime::cpu
