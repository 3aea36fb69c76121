#pragma once

#include "engine/cuda/kernels/heads.h"

namespace throughtime::cuda {

// The mixture of softmaxes (heads/mixture_of_softmaxes-inl.h has its formulas) in pieces that wait for nobody: of one
// row, of one expert of a row, of one output. y[0] are the logits of pi, y[1] what tanh is taken of. mixture.cpp puts
// them together.

/// y[0] of each row becomes log pi.
struct WeighExperts {
  HeadBranches rows;
};
/// x and y[1] become the tanh of y[1].
struct SpreadExperts {
  HeadBranches rows;
};
/// x holds dL/dx: y[1] becomes dL/dy[1].
struct CollectExperts {
  HeadBranches rows;
};
/// The numbers of each expert of each row, from its logits.
struct MeasureExperts {
  HeadBranches rows;
};
/// `mixed` of each output: log p where the row has a distribution, p where its label is to be compared with all.
struct MixExperts {
  BranchesLoss call;
};
/// The predictions p.
struct MixPredictions {
  BranchesPredict call;
};
/// The loss of each row, and whether it is right. Of one with a label also what its experts need on the way back.
struct SettleRow {
  BranchesLoss call;
};
/// The same for each expert of a row with a distribution: G, the sum of r times the expert's posterior.
struct SettleExpert {
  BranchesLoss call;
};
/// z of each expert becomes weight * dloss/dz.
struct PullBackExperts {
  BranchesLoss call;
};

void issue(const Context&, const WeighExperts&);
void issue(const Context&, const SpreadExperts&);
void issue(const Context&, const CollectExperts&);
void issue(const Context&, const MeasureExperts&);
void issue(const Context&, const MixExperts&);
void issue(const Context&, const MixPredictions&);
void issue(const Context&, const SettleRow&);
void issue(const Context&, const SettleExpert&);
void issue(const Context&, const PullBackExperts&);

/// Experts of all rows.
inline std::size_t rows_of_experts(const HeadBranches& rows) {
  return static_cast<std::size_t>(rows.entries) * static_cast<std::size_t>(rows.branches);
}

}  // namespace throughtime::cuda
