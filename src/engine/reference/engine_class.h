#pragma once

#include "engine/host_engine.h"
#include "engine/reference/tape.h"

namespace throughtime::reference {

class ReferenceEngine final : public HostEngine<double> {
 public:
  using HostEngine::HostEngine;

  std::string_view name() const override { return "reference"; }
  int threads() const override { return 1; }
  std::unique_ptr<Tape> make_tape(const TapeShape& shape) override;

  void unroll(const UnrollCall& call) override;
  void pull_back(const PullBackCall& call) override;
  void apply_update(const UpdateCall& call) override;
};

}  // namespace throughtime::reference
