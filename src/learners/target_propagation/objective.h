#pragma once

#include <memory>

#include "learners/target_propagation/blocks.h"

namespace throughtime {

/// Where L is evaluated. Tables are [N + 1, R, S] (Blocks).
struct ObjectivePoint {
  Buffer parameters;  // theta
  Buffer inputs;      // the states that enter the blocks
  Buffer held_to;     // where the springs pull their ends: the same table, unless a sweep made one of its own
  Buffer duals = {};  // u_j in row j; none: zero
  double lambda = 0;
};

/// What to write and to add to; none: not wanted.
struct ObjectiveGradients {
  Buffer theta = {};        // [P]: dL/dtheta
  Buffer states = {};       // table: dL/dH
  Buffer last_state = {};   // [R, S]: E_N(h_N), after the last block
  Buffer loss_sum = {};     // [1] += sum_j l_j
  Buffer correct_sum = {};  // [1] += right predictions
  Buffer penalties = {};    // [2] += penalties on outputs
};

/// The blocked loss of target propagation. Block j starts from h_j and ends in E_j(h_j); between blocks are springs,
///   L = sum_j l_j(h_j) + lambda/2 sum_j |r_j|^2,   r_j = h_{j+1} - E_j(h_j) + u_j
///   dL/dh_j   = grad l_j(h_j) - lambda J_j^T r_j + lambda r_{j-1}
///   dL/dtheta = sum_j dl_j/dtheta - lambda (dE_j/dtheta)^T r_j
/// One unroll and one pull-back of all blocks at once, with -lambda r_j entering at the end of block j, give both.
class BlockObjective {
 public:
  /// `state_only`: gradients of H alone will be asked for, and have a tape that does less.
  BlockObjective(Engine& engine, Blocks& blocks, int losses, bool state_only);

  /// Of the stretch that `blocks` has begun, shard by shard; sums over shards are in their order.
  void differentiate(const ObjectivePoint& point, const ObjectiveGradients& wanted);
  /// Writes h_{j+1} - E_j(h_j), and u_j if there are duals, into row j of the table; zero where there is no spring.
  void residuals(const ObjectivePoint& point, Buffer table);
  /// Writes E_j of the zero state to where h_{j+1} is, for all blocks.
  void ends_from_zero(Buffer parameters, Buffer table);

  std::size_t activation_bytes() const;
  /// Buffer [1] with sum_j |h_{j+1} - E_j(h_j)|^2 of the last evaluation.
  Buffer spring_square() const { return spring_square_; }
  int springs() const { return springs_; }

 private:
  void unroll(const BlockShard& shard, const ObjectivePoint& point, Tape& tape, bool counted,
              const ObjectiveGradients& wanted);
  void stretch_springs(const BlockShard& shard, const ObjectivePoint& point);
  void pull_back(const BlockShard& shard, const ObjectivePoint& point, Tape& tape, bool first,
                 const ObjectiveGradients& wanted);
  void clear_sums();
  void keep_last_state(const BlockShard& shard, Buffer state);

  Engine& engine_;
  Blocks& blocks_;
  int width_;                                         // S
  std::unique_ptr<Tape> tape_, state_tape_, silent_;  // gradients of all; of H; nothing but states
  Buffer starts_, ends_;                              // [shard rows, S]: h_j, E_j(h_j)
  Buffer residual_;                                   // [shard rows, S]: r_j
  Buffer cotangent_;                     // [shard rows, S]: -lambda r_j, then dL/dh_j without the spring before it
  Buffer scratch_, zeros_;               // [shard rows, S]
  Buffer square_, spring_square_;        // [1]
  std::vector<std::int64_t> last_rows_;  // of the last block, in its shard
  int springs_ = 0;
};

}  // namespace throughtime
