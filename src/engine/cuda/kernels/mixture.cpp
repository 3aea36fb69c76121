#include "engine/cuda/kernels/mixture.h"

namespace throughtime::cuda {
namespace {

void spread(const Context& context, const HeadBranches& rows) {
  issue(context, WeighExperts{rows});
  issue(context, SpreadExperts{rows});
}

void collect(const Context& context, const HeadBranches& rows) { issue(context, CollectExperts{rows}); }

void predict(const Context& context, const BranchesPredict& call) {
  issue(context, MeasureExperts{call.rows});
  issue(context, MixPredictions{call});
}

void loss(const Context& context, const BranchesLoss& call) {
  issue(context, MeasureExperts{call.rows});
  if (call.loss.values || call.loss.correct) issue(context, MixExperts{call});
  issue(context, SettleRow{call});
  if (!call.loss.d_z) return;
  if (call.loss.values) issue(context, SettleExpert{call});
  issue(context, PullBackExperts{call});
}

}  // namespace

extern const DeviceBranches mixture_of_softmaxes_branches = {spread, loss, predict, collect};

}  // namespace throughtime::cuda
