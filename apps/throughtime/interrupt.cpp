#include "interrupt.h"

namespace throughtime {
namespace {

volatile std::sig_atomic_t received = 0;

volatile std::sig_atomic_t requested = 0;

extern "C" void remember(int signal) { received = signal; }
extern "C" void request(int) { requested = 1; }

}  // namespace

InterruptWatch::InterruptWatch() {
  struct sigaction action = {};
  action.sa_handler = remember;
  action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, &old_interrupt_);
  sigaction(SIGTERM, &action, &old_terminate_);
}

InterruptWatch::~InterruptWatch() {
  sigaction(SIGINT, &old_interrupt_, nullptr);
  sigaction(SIGTERM, &old_terminate_, nullptr);
}

int InterruptWatch::signal() { return received; }

CheckpointWatch::CheckpointWatch() {
  struct sigaction action = {};
  action.sa_handler = request;
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &action, &old_);
}

CheckpointWatch::~CheckpointWatch() { sigaction(SIGUSR1, &old_, nullptr); }

bool CheckpointWatch::take_request() {
  if (requested == 0) return false;
  requested = 0;
  return true;
}

}  // namespace throughtime
