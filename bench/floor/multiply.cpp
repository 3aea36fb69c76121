#include "bench/floor/multiply.h"

#include <libxsmm.h>
#include <omp.h>
#include <oneapi/dnnl/dnnl.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <vector>

#include "throughtime/error.h"
#include "throughtime/index.h"

namespace throughtime::bench {
namespace {

using Run = std::function<void(const float*, const float*, float*)>;

/// LIBXSMM's column-major kernel for row-major C [m, n]: the operands change places. Null where it has none.
libxsmm_smmfunction xsmm_kernel(int m, int n, int k, int stride_b, int stride_c, bool add) {
  const libxsmm_blasint lda = stride_b, ldb = k, ldc = stride_c;
  const float alpha = 1, beta = add ? 1.0f : 0.0f;
  const int flags = LIBXSMM_GEMM_FLAG_NONE, prefetch = LIBXSMM_PREFETCH_NONE;
  return libxsmm_smmdispatch(n, m, k, &lda, &ldb, &ldc, &alpha, &beta, &flags, &prefetch);
}

Run xsmm_whole(const ProductShape& shape) {
  const libxsmm_smmfunction kernel = xsmm_kernel(shape.m, shape.n, shape.k, shape.n, shape.n, shape.add);
  if (kernel == nullptr) return nullptr;
  return [kernel](const float* a, const float* b, float* c) { kernel(b, a, c); };
}

/// B packed as [n / 64][k][64]: four registers of columns stay in place over all of k.
Run xsmm_panels(const ProductShape& shape) {
  constexpr int width = 64;
  if (shape.n % width != 0 || shape.n == width) return nullptr;
  const libxsmm_smmfunction kernel = xsmm_kernel(shape.m, width, shape.k, width, shape.n, shape.add);
  if (kernel == nullptr) return nullptr;
  const int panels = shape.n / width;
  const std::size_t panel_size = elements(shape.k, width);
  return [=](const float* a, const float* b, float* c) {
    for (int panel = 0; panel < panels; ++panel) kernel(b + panel * panel_size, a, c + panel * width);
  };
}

Run onednn(const ProductShape& shape) {
  return [shape](const float* a, const float* b, float* c) {
    dnnl_sgemm('N', 'N', shape.m, shape.n, shape.k, 1.0f, a, shape.k, b, shape.n, shape.add ? 1.0f : 0.0f, c, shape.n);
  };
}

std::vector<Multiplication> candidates_of(const ProductShape& shape) {
  std::vector<Multiplication> all;
  const auto add = [&all](const ProductShape& tried, const char* library, Run run) {
    if (run) all.push_back({tried, library, std::numeric_limits<double>::infinity(), std::move(run)});
  };
  add(shape, "LIBXSMM", xsmm_whole(shape));
  add(shape, "LIBXSMM, packed panels", xsmm_panels(shape));
  add(shape, "oneDNN", onednn(shape));
  // A narrow product is better turned round: C^T [n, m] = B^T [n, k] x A^T [k, m].
  constexpr int narrow = 16;
  if (shape.n < narrow && shape.n < shape.m) {
    const ProductShape turned = {shape.n, shape.m, shape.k, shape.add};
    for (Multiplication& candidate : candidates_of(turned))
      add(shape, (candidate.library + ", transposed").c_str(),
          [run = std::move(candidate.run)](const float* a, const float* b, float* c) { run(b, a, c); });
  }
  return all;
}

double seconds_of(const Multiplication& candidate, int runs, const float* a, const float* b, float* c) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < runs; ++i) candidate.run(a, b, c);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / runs;
}

Multiplication try_all(const ProductShape& shape) {
  constexpr int rounds = 5;
  constexpr double sample_operations = 1e8;  // about a millisecond
  std::vector<Multiplication> candidates = candidates_of(shape);
  const Operand a = make_operand(elements(shape.m, shape.k));
  const Operand b = make_operand(elements(shape.k, shape.n));
  const Operand c = make_operand(elements(shape.m, shape.n));
  const int runs = static_cast<int>(std::clamp(sample_operations / shape.operations(), 1.0, 10'000.0));
  stay_on_this_thread();
  for (const Multiplication& candidate : candidates) seconds_of(candidate, 1, a.get(), b.get(), c.get());
  for (int round = 0; round < rounds; ++round)
    for (Multiplication& candidate : candidates)
      candidate.seconds = std::min(candidate.seconds, seconds_of(candidate, runs, a.get(), b.get(), c.get()));
  return *std::min_element(candidates.begin(), candidates.end(),
                           [](const auto& left, const auto& right) { return left.seconds < right.seconds; });
}

}  // namespace

const Multiplication& fastest_multiplication(const ProductShape& shape) {
  static std::map<ProductShape, Multiplication> known;
  const auto found = known.find(shape);
  return found != known.end() ? found->second : known.emplace(shape, try_all(shape)).first->second;
}

void stay_on_this_thread() { omp_set_num_threads(1); }

Operand make_operand(std::size_t size) {
  constexpr std::size_t line = 64;
  const std::size_t bytes = (size * sizeof(float) + line - 1) / line * line;
  Operand operand(static_cast<float*>(std::aligned_alloc(line, bytes)));
  if (!operand) fail("bench", "no memory for an operand of {} bytes", bytes);
  for (std::size_t i = 0; i < size; ++i) operand[i] = 1e-3f * static_cast<float>(static_cast<int>(i % 7) - 3);
  return operand;
}

}  // namespace throughtime::bench
