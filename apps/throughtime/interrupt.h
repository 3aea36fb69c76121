#pragma once

#include <csignal>
#include <string>

#include "throughtime/error.h"

namespace throughtime {

/// While it lives, the first SIGINT, SIGTERM or SIGHUP is remembered instead of ending the process; a second SIGINT or
/// SIGTERM ends it. From its beginning on, writing to a closed pipe is an error and no signal.
class InterruptWatch {
 public:
  InterruptWatch();
  ~InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

  /// The signal that came, 0 where none did.
  static int signal();

 private:
  struct sigaction old_interrupt_ = {}, old_terminate_ = {}, old_hang_up_ = {};
};

/// While it lives, SIGUSR1 asks for a checkpoint.
class CheckpointWatch {
 public:
  CheckpointWatch();
  ~CheckpointWatch();
  CheckpointWatch(const CheckpointWatch&) = delete;
  CheckpointWatch& operator=(const CheckpointWatch&) = delete;

  /// Whether one came since the last look.
  static bool take_request();

 private:
  struct sigaction old_ = {};
};

/// Text on stderr. Where that is closed nobody hears it, and what runs goes on (fmt::print would throw).
void tell(const std::string& text);

/// A run that was stopped by a signal and can be resumed.
class Interrupted : public Error {
 public:
  Interrupted(const std::string& message, int signal) : Error(message), signal_(signal) {}
  /// What a shell reports for a process that the signal ended: 129 for SIGHUP, 130 for SIGINT, 143 for SIGTERM.
  int exit_code() const { return 128 + signal_; }

 private:
  int signal_;
};

}  // namespace throughtime
