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
  // A terminal that goes may say so twice, and who wrote nohup wants to go on without it.
  action.sa_flags = SA_RESTART;
  sigaction(SIGHUP, nullptr, &old_hang_up_);
  if (old_hang_up_.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);
  // Nobody may be listening any more: that ends what is told, not what is learned. It stays so, since what is told
  // after the run does not end the next one.
  std::signal(SIGPIPE, SIG_IGN);
}

InterruptWatch::~InterruptWatch() {
  sigaction(SIGINT, &old_interrupt_, nullptr);
  sigaction(SIGTERM, &old_terminate_, nullptr);
  sigaction(SIGHUP, &old_hang_up_, nullptr);
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
