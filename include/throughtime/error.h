#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace throughtime {

/// Everything that the library throws derives from this type; `what()` is one clear line.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The caller asked for something that cannot be: a wrong shape, an unknown name, a bad value.
class InvalidInput : public Error {
 public:
  using Error::Error;
};

/// A run that began well went wrong: a loss that is no number, a file that could not be written.
class RunFailure : public Error {
 public:
  using Error::Error;
};

/// The device that computes failed or went away: everything that runs on it ends, and goes on from its last checkpoint.
class DeviceFailure : public RunFailure {
 public:
  using RunFailure::RunFailure;
};

/// Throws InvalidInput with the text `[speaker] message`.
template <class... Args>
[[noreturn]] void refuse(std::string_view speaker, fmt::format_string<Args...> message, Args&&... args) {
  throw InvalidInput(fmt::format("[{}] {}", speaker, fmt::format(message, std::forward<Args>(args)...)));
}

/// Throws RunFailure with the text `[speaker] message`.
template <class... Args>
[[noreturn]] void fail(std::string_view speaker, fmt::format_string<Args...> message, Args&&... args) {
  throw RunFailure(fmt::format("[{}] {}", speaker, fmt::format(message, std::forward<Args>(args)...)));
}

/// Throws InvalidInput unless `value` lies in [low, high].
template <class Number>
void require_range(std::string_view speaker, std::string_view what, Number value, Number low, Number high) {
  if (!(value >= low && value <= high)) refuse(speaker, "{} must be between {} and {}, got {}", what, low, high, value);
}

}  // namespace throughtime
