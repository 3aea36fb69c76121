#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace throughtime {

/// Jobs beside one another, each by a worker of its own.
class Workers {
 public:
  struct Ended {
    std::size_t job = 0;
    std::string how;  // what ended its worker; empty: it went through
  };

  virtual ~Workers() = default;
  virtual void start(std::size_t job, std::function<void()> life) = 0;
  /// Asks all of them to end; a life that looks for a stop itself needs no asking.
  virtual void stop() = 0;
  /// Takes leave of those that have ended since the last look.
  virtual std::vector<Ended> bury() = 0;
  virtual std::size_t count() const = 0;
};

/// A process each: what happens to one cannot harm the others.
std::unique_ptr<Workers> make_processes();
/// A thread each: they share a device, which does not survive a fork, and compute on it side by side.
std::unique_ptr<Workers> make_threads();

}  // namespace throughtime
