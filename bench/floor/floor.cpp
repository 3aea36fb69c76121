#include "bench/floor.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <thread>
#include <vector>

#include "bench/floor/multiply.h"
#include "bench/products.h"
#include "throughtime/index.h"

namespace throughtime::bench {
namespace {

constexpr int slice_rows = 32;  // rows of the batch that go through time together

/// Shape of a product over `rows` rows.
ProductShape shape_of(const Product& product, int rows) {
  if (product.form == Product::Form::map) return {rows, product.outer, product.inner, false};
  return {product.outer, product.inner, rows, true};
}

/// Cuts `total` into parts of at most `part`: size -> how many.
std::map<int, long> cut(long total, int part) {
  std::map<int, long> pieces;
  if (total >= part) pieces[part] = total / part;
  if (total % part > 0) pieces[static_cast<int>(total % part)] = 1;
  return pieces;
}

/// `count` runs of one multiplication with its operands.
struct Job {
  const Multiplication* multiplication = nullptr;
  long count = 0;
  Operand a, c, own_b;
  const float* b = nullptr;
};

class LibraryFloor : public Floor {
 public:
  LibraryFloor(const Case& chosen, int threads) {
    const int workers = workers_of(chosen, threads);
    jobs_.resize(elements(workers));
    for (const Product& product : products_of(chosen)) {
      double seconds = 0;
      for (int worker = 0; worker < workers; ++worker) {
        const int rows = rows_of(chosen.batch, worker, workers);
        for (const auto& [size, count] : pieces_of(product, rows)) {
          add_job(product, worker, size, count);
          seconds += count * last_added_->seconds;
        }
      }
      const auto& [m, n, k, add] = last_added_->shape;
      description_ += fmt::format("{:<18} {:>5} x {:>5} x {:>5}  {:<34} {:>6.1f} GFLOP/s\n", product.role, m, n, k,
                                  last_added_->library, product.operations(chosen.batch) / seconds * 1e-9);
    }
  }

  void run() override {
    std::vector<std::jthread> others;
    for (std::size_t worker = 1; worker < jobs_.size(); ++worker)
      others.emplace_back([this, worker] { work(jobs_[worker]); });
    work(jobs_[0]);
  }

  std::string description() const override { return description_; }

 private:
  /// A worker is worth its start only with work of some tenths of a millisecond.
  static int workers_of(const Case& chosen, int threads) {
    constexpr double least_operations = 5e7;
    double operations = 0;
    for (const Product& product : products_of(chosen)) operations += product.operations(chosen.batch);
    const int worthwhile = static_cast<int>(std::clamp(operations / least_operations, 1.0, double{1 << 20}));
    return std::min({threads, chosen.batch, worthwhile});
  }

  static int rows_of(int batch, int worker, int workers) {
    return batch * (worker + 1) / workers - batch * worker / workers;
  }

  static void work(const std::vector<Job>& jobs) {
    stay_on_this_thread();
    for (const Job& job : jobs)
      for (long i = 0; i < job.count; ++i) job.multiplication->run(job.a.get(), job.b, job.c.get());
  }

  /// How `rows` rows of the batch over all steps are cut: slices where a step waits for the one before, else groups
  /// of rows with the best rate.
  static std::map<int, long> pieces_of(const Product& product, int rows) {
    if (product.together == 1) {
      std::map<int, long> pieces = cut(rows, slice_rows);
      for (auto& [size, count] : pieces) count *= product.steps;
      return pieces;
    }
    const long most = static_cast<long>(rows) * product.together;
    int best = static_cast<int>(std::min(most, 64L));
    for (int group : {128, 256, 512})
      if (group <= most && seconds_per_row(product, group) < seconds_per_row(product, best)) best = group;
    return cut(static_cast<long>(rows) * product.steps, best);
  }

  static double seconds_per_row(const Product& product, int rows) {
    return fastest_multiplication(shape_of(product, rows)).seconds / rows;
  }

  void add_job(const Product& product, int worker, int rows, long count) {
    Job job;
    job.multiplication = last_added_ = &fastest_multiplication(shape_of(product, rows));
    job.count = count;
    const ProductShape& shape = job.multiplication->shape;
    job.a = make_operand(elements(shape.m, shape.k));
    job.c = make_operand(elements(shape.m, shape.n));
    const std::size_t b_size = elements(shape.k, shape.n);
    if (product.form == Product::Form::map) {  // weights: all workers read the same
      Operand& weights = weights_[product.role];
      if (!weights) weights = make_operand(b_size);
      job.b = weights.get();
    } else {
      job.own_b = make_operand(b_size);
      job.b = job.own_b.get();
    }
    jobs_[worker].push_back(std::move(job));
  }

  std::map<std::string, Operand> weights_;
  std::vector<std::vector<Job>> jobs_;  // per worker
  const Multiplication* last_added_ = nullptr;
  std::string description_;
};

}  // namespace

std::unique_ptr<Floor> make_floor(const Case& chosen, int threads) {
  if (chosen.kind == Kind::fpp) return nullptr;  // its products are too small for a library's call
  return std::make_unique<LibraryFloor>(chosen, threads);
}

}  // namespace throughtime::bench
