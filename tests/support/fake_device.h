#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "throughtime/error.h"
#include "throughtime/forwarding_engine.h"

namespace throughtime::testing {

/// While it lives there is an engine `fake_device`: the processor's, but it says that it is none, that its memory is
/// bounded, and it can be lost in the midst of a run. Runs on it share it as threads do a GPU.
class FakeDevice {
 public:
  static constexpr const char* name = "fake_device";
  static constexpr const char* lost_text = "[fake_device] the device is lost";

  FakeDevice() {
    [[maybe_unused]] static const bool once = [] {
      register_engine({.name = name, .description = "for tests", .make = make, .on_host = false, .missing = missing});
      return true;
    }();
    state() = {};
    state().here = true;
  }
  ~FakeDevice() { state().here = false; }
  FakeDevice(const FakeDevice&) = delete;
  FakeDevice& operator=(const FakeDevice&) = delete;

  /// It goes with that update, counted over all engines, and stays away.
  void lose_at(std::int64_t update) {
    state().updates = 0;
    state().lost_at = update;
  }
  void repair() { state().lost_at = never; }
  bool lost() const { return state().updates >= state().lost_at; }
  void bound_memory(std::uint64_t bytes) { state().memory = bytes; }

 private:
  static constexpr std::int64_t never = INT64_MAX;
  struct State {
    State& operator=(const State& other) {
      here = other.here.load(), updates = other.updates.load(), lost_at = other.lost_at.load();
      memory = other.memory.load(), held = other.held.load();
      return *this;
    }
    std::atomic<bool> here = false;
    std::atomic<std::int64_t> updates = 0, lost_at = never;
    std::atomic<std::uint64_t> memory = std::uint64_t{1} << 40, held = 0;
  };
  static State& state() {
    static State only;
    return only;
  }

  class FakeEngine final : public ForwardingEngine {
   public:
    using ForwardingEngine::ForwardingEngine;
    using ForwardingEngine::read;
    std::string_view name() const override { return FakeDevice::name; }
    std::uint64_t memory_bytes() const override { return state().memory - state().held; }
    std::uint64_t held_bytes() const override { return state().held; }
    void finish() override { check(); }
    void read(Buffer buffer, std::span<double> values) const override {
      check();
      ForwardingEngine::read(buffer, values);
    }
    Buffer allocate(std::size_t size) override {
      take(size * number_bytes(), "a buffer");
      return ForwardingEngine::allocate(size);
    }
    std::unique_ptr<Tape> make_tape(const TapeShape& shape) override {
      std::unique_ptr<Tape> tape = ForwardingEngine::make_tape(shape);
      take(tape->activation_bytes(), "a tape");
      return tape;
    }
    void apply_update(const UpdateCall& call) override {
      ++state().updates;
      check();
      ForwardingEngine::apply_update(call);
    }

   private:
    static void check() {
      if (state().updates >= state().lost_at) throw DeviceFailure(lost_text);
    }
    static void take(std::uint64_t bytes, const char* what) {
      if (bytes > state().memory - state().held)
        refuse(FakeDevice::name, "{} needs {} bytes, {} are left", what, bytes, state().memory - state().held);
      state().held += bytes;
    }
  };

  static std::unique_ptr<Engine> make(const Model& model, const EngineConfig& config) {
    return std::make_unique<FakeEngine>(make_engine(model, {.name = "cpu", .threads = config.threads}));
  }
  static std::string missing() { return state().here ? "" : "no fake device here"; }
};

}  // namespace throughtime::testing
