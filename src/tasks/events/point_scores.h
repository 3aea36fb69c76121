#pragma once

#include <cstdint>

#include "throughtime/task.h"

namespace throughtime {

/// The metrics of a point process, from predictions [probabilities of the marks, a, w] and the events that came.
class PointScores {
 public:
  static bool knows(Metric metric);

  /// `longest`: the longest interval of the evaluated events, where the published metrics are asked for; else 0.
  PointScores(int marks, double longest) : marks_(marks), longest_(longest) {}

  /// One event, at step `step` of its column; all rows of a step before the next one.
  void add(std::int64_t step, double weight, double loss, const double* predictions, std::int32_t mark,
           double interval);
  /// Of the events so far, at least one.
  double score(Metric metric) const;

 private:
  /// Sums over events.
  struct Sums {
    double weight = 0, loss = 0, squares = 0, wrong = 0;
  };
  void add_published(std::int64_t step, double weight, double loss, const double* predictions, bool wrong,
                     double interval);

  int marks_;
  double longest_;
  Sums all_;
  Sums later_;                                       // from step 20 on, with the published mean
  double chunks_loss_ = 0;                           // of whole chunks of 100 steps
  double chunk_loss_ = 0;                            // of the chunk that is not yet whole
  std::int64_t step_ = -1;                           // the latest
  double last_a_ = 0, last_w_ = 0, last_mean_ = -1;  // of the published mean: a baseline predicts one only
};

}  // namespace throughtime
