#pragma once

#include <memory>
#include <string>
#include <vector>

#include "learners/fpp/buffer_probe.h"
#include "learners/fpp/online_step.h"
#include "learners/fpp/schedule.h"
#include "learners/fpp/state_cells.h"
#include "learners/fpp/trajectory_draws.h"
#include "learners/fpp/transitions.h"
#include "throughtime/learner.h"
#include "throughtime/random.h"

namespace throughtime {

/// Fixed Point Propagation. The states s_t of the last N transitions are variables beside W; an update draws the end i
/// of a trajectory, makes the T-step prediction shat_i from the stored s_{i-T}, and descends
///   L_i = l(shat_i; y_i) + lambda/2 |s_i - shat_i|^2
/// in W, s_{i-T} and s_i. With e = dl/dshat_i - lambda (s_i - shat_i) entering at the end of one backward pass,
///   d/dW = (dshat_i/dW)^T e,   d/ds_{i-T} = (dshat_i/ds_{i-T})^T e,   d/ds_i = lambda (s_i - shat_i).
/// Without a penalty and with eta_s = 0 it is truncated back-propagation from a buffer of stored states; where only the
/// newest transition is drawn, the sliding one.
class Fpp final : public Learner {
 public:
  /// The settings must be checked already. `name`: who speaks. `start`: the first state of a trajectory.
  Fpp(std::string name, const FppConfig& config, SlidingStart start, Trainee& trainee, const StretchShape& shape);

  std::string_view name() const override { return name_; }
  std::size_t activation_bytes() const override { return tape_->activation_bytes() + online_.activation_bytes(); }
  void learn(const Window& stretch, const RateFunction& rate) override;
  std::vector<Diagnostic> diagnostics() const override;
  void archive(Archive& archive) override;

 private:
  /// One sampled trajectory per row and what came of it.
  struct Trajectory : TrajectoryDraws::Rows {
    Buffer gradient;         // [P]
    Buffer start, end;       // [R, S]: s_{i-T}, s_i
    Buffer prediction;       // [R, S]: shat_i, then lambda (shat_i - s_i)
    Buffer start_cotangent;  // [R, S]: d/ds_{i-T}
    bool penalised = false;  // there is a penalty
  };

  void make(Trajectory& trajectory);
  void observe(const Window& stretch, int step);
  void train(const RateFunction& rate);
  void differentiate(double lambda, Trajectory& trajectory);
  void predict(Trajectory& trajectory);
  void shift_starts(Trajectory& trajectory);
  void keep_last_states(const Trajectory& trajectory);
  void make_penalty(double lambda, Trajectory& trajectory);
  void apply(Trajectory& trajectory, bool last, const RateFunction& rate);
  void move_states(Trajectory& trajectory);

  std::string name_;
  FppConfig config_;
  FppSchedule schedule_;
  Random random_;
  Transitions transitions_;
  int width_;  // S
  int rows_;   // R, trajectories of an update
  StateCells cells_;
  TrajectoryDraws draws_;
  OnlineStep online_;
  std::unique_ptr<Tape> tape_;
  Buffer compact_;                        // [R, S]
  Buffer last_;                           // [R, S]: the last state of each row's window before, for the shifted start
  std::vector<std::int64_t> last_ends_;   // [R]: where that window ended; -1: there was none
  std::vector<std::int64_t> going_on_;    // rows whose window before belongs to the same sequence
  std::vector<Trajectory> trajectories_;  // one, or M that are differentiated at common values
  std::unique_ptr<BufferProbe> probe_;    // of a fixed buffer
  std::int64_t step_ = 0;                 // online steps done
};

}  // namespace throughtime
