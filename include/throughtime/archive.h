#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "throughtime/engine.h"

namespace throughtime {

/// Visits the state of a run. A class lists what it must keep once, in a function `archive(Archive&)`; one archive
/// saves what it is shown, another puts saved values in its place. Names are unique within a scope.
class Archive {
 public:
  virtual ~Archive() = default;

  /// The numbers of an engine's buffer, bit for bit.
  virtual void buffer(std::string_view name, Engine& engine, Buffer buffer) = 0;
  /// The trained vector, block by block under the names of the model's layout (no scope).
  virtual void parameters(Engine& engine, Buffer parameters) = 0;
  /// Lists whose length may differ from one moment to the next.
  virtual void integers(std::string_view name, std::vector<std::int64_t>& values) = 0;
  virtual void numbers(std::string_view name, std::vector<double>& values) = 0;

  /// One value of an integral type, or a list of them; lists of an enum's values are lists of their numbers.
  template <std::integral T>
  void integer(std::string_view name, T& value) {
    std::vector<std::int64_t> list = {static_cast<std::int64_t>(value)};
    integers(name, list);
    require_length(name, list.size(), 1);
    value = narrowed<T>(name, list.front());
  }
  template <class T>
  requires std::integral<T> || std::is_enum_v<T>
  void integer_list(std::string_view name, std::vector<T>& values) {
    std::vector<std::int64_t> list;
    for (const T value : values) list.push_back(static_cast<std::int64_t>(value));
    integers(name, list);
    values.clear();
    for (const std::int64_t value : list) values.push_back(narrowed<T>(name, value));
  }
  void number(std::string_view name, double& value) {
    std::vector<double> list = {value};
    numbers(name, list);
    require_length(name, list.size(), 1);
    value = list.front();
  }

  /// Names shown while it lives are `name.` longer.
  class Scope {
   public:
    Scope(Archive& archive, std::string_view name) : archive_(archive), length_(archive.scope_.size()) {
      archive.scope_.append(name).push_back('.');
    }
    ~Scope() { archive_.scope_.resize(length_); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Archive& archive_;
    std::size_t length_;
  };

 protected:
  std::string scoped(std::string_view name) const { return scope_ + std::string(name); }
  /// Refuses a list of another length.
  void require_length(std::string_view name, std::size_t length, std::size_t wanted) const;

 private:
  template <class T>
  T narrowed(std::string_view name, std::int64_t value) const {
    if (static_cast<std::int64_t>(static_cast<T>(value)) != value) refuse_value(name, value);
    return static_cast<T>(value);
  }
  [[noreturn]] void refuse_value(std::string_view name, std::int64_t value) const;

  std::string scope_;
};

}  // namespace throughtime
