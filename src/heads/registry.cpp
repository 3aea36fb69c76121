#include "core/registry.h"

#include "throughtime/head.h"

namespace throughtime {

HeadType softmax_head();
HeadType regression_head();
HeadType bernoulli_head();
HeadType point_process_head();
HeadType quantile_head();
HeadType gaussian_head();
HeadType mixture_of_softmaxes_head();

namespace {

Registry<HeadType>& heads() {
  static Registry<HeadType> registry("head", {
                                                 softmax_head(),
                                                 regression_head(),
                                                 bernoulli_head(),
                                                 point_process_head(),
                                                 quantile_head(),
                                                 gaussian_head(),
                                                 mixture_of_softmaxes_head(),
                                             });
  return registry;
}

template <class Real>
bool complete(const HeadType& head, const HeadKernels<Real>& kernels) {
  return head.layers ? kernels.layered.complete() : kernels.loss && kernels.predict;
}

}  // namespace

const HeadType& find_head(const std::string& name) { return heads().find(name); }
std::vector<const HeadType*> all_heads() { return heads().all(); }
void register_head(HeadType head) {
  if (!complete(head, head.reference)) refuse("head", "'{}': the reference kernels are incomplete", head.name);
  if (!head.fast || !complete(head, head.fast())) refuse("head", "'{}': the fast kernels are incomplete", head.name);
  heads().add(std::move(head));
}

}  // namespace throughtime
