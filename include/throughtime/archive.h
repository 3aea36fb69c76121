#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "throughtime/engine.h"
#include "throughtime/range.h"

namespace throughtime {

/// What a count can be: every such number is a double too, and one more never overflows.
inline Range any_count() { return between(0, 9007199254740992.0); }
/// The same of an `int`, and a place that may lie before the first one.
inline Range small_count(double least = 0) { return between(least, 1e9); }
inline Range any_position() { return between(-any_count().high, any_count().high); }
/// The number of a StepFlag.
inline Range any_flag() { return between(0, static_cast<double>(StepFlag::hold)); }

/// How long a list of a run's state can be: of one length, or of any between two.
struct ListLength {
  ListLength(std::size_t length) : least(length), most(length) {}
  ListLength(std::size_t from, std::size_t to) : least(from), most(to) {}
  std::size_t least, most;
};

/// Visits the state of a run. A class lists what it must keep once, in a function `archive(Archive&)`; one archive
/// saves what it is shown, another puts saved values in its place. Names are unique within a scope.
///
/// A saved value may come from anybody's file, so a field says with its name what it can be, and a value or a list that
/// cannot be is refused before its owner sees it: an integer is a count and a number is finite, unless told otherwise.
/// List a field after those that its range or its length depends on.
class Archive {
 public:
  virtual ~Archive() = default;

  /// The numbers of an engine's buffer, bit for bit; finite ones, as those of `parameters`.
  virtual void buffer(std::string_view name, Engine& engine, Buffer buffer) = 0;
  /// The trained vector, block by block under the names of the model's layout (no scope).
  virtual void parameters(Engine& engine, Buffer parameters) = 0;

  template <std::integral T>
  void integer(std::string_view name, T& value, const Range& range = any_count()) {
    std::vector<T> list = {value};
    integer_list(name, list, 1, range);
    value = list.front();
  }
  void flag(std::string_view name, bool& value) { integer(name, value, between(0, 1)); }
  /// Lists of an enum's values are lists of their numbers.
  template <class T>
  requires std::integral<T> || std::is_enum_v<T>
  void integer_list(std::string_view name, std::vector<T>& values, const ListLength& length,
                    const Range& range = any_count()) {
    std::vector<std::int64_t> list;
    list.reserve(values.size());
    for (const T value : values) list.push_back(static_cast<std::int64_t>(value));
    integers(name, list);
    require_length(name, list.size(), length);
    const Range possible = within<T>(range);
    for (const std::int64_t value : list)
      if (!possible.holds(static_cast<double>(value))) refuse_value(name, value, possible);
    values.clear();
    for (const std::int64_t value : list) values.push_back(static_cast<T>(value));
  }

  template <std::floating_point T>
  void number(std::string_view name, T& value, const Range& range = {}) {
    std::vector<T> list = {value};
    number_list(name, list, 1, range);
    value = list.front();
  }
  template <std::floating_point T>
  void number_list(std::string_view name, std::vector<T>& values, const ListLength& length, const Range& range = {}) {
    std::vector<double> list(values.begin(), values.end());
    numbers(name, list);
    require_length(name, list.size(), length);
    for (const double value : list)
      if (!range.holds(value) || !fits_into<T>(value)) refuse_value(name, value, range);
    values.assign(list.begin(), list.end());
  }
  /// Results that may be missing (NaN) or infinite: they are shown, and decide nothing.
  void any_number(std::string_view name, double& value) {
    std::vector<double> list = {value};
    any_number_list(name, list, 1);
    value = list.front();
  }
  void any_number_list(std::string_view name, std::vector<double>& values, const ListLength& length) {
    numbers(name, values);
    require_length(name, values.size(), length);
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

  /// Refuses what the fields of this scope say together, although each of them can be.
  void refuse_together(std::string_view what) const;

 protected:
  /// Saves a list, or puts the saved one in its place, whatever it holds.
  virtual void integers(std::string_view name, std::vector<std::int64_t>& values) = 0;
  virtual void numbers(std::string_view name, std::vector<double>& values) = 0;

  /// Throws for a field that cannot be. The one that saves does it too: what is written can be read.
  virtual void reject(const std::string& what) const;

  std::string scoped(std::string_view name) const { return scope_ + std::string(name); }
  void require_length(std::string_view name, std::size_t length, const ListLength& wanted) const;
  /// Refuses values that the engine cannot hold as finite numbers.
  void require_finite(std::string_view name, std::span<const double> values, const Engine& engine) const;

 private:
  /// The part of a range that a type can hold.
  template <class T>
  static Range within(Range range) {
    using Number = typename std::conditional_t<std::is_enum_v<T>, std::underlying_type<T>, std::type_identity<T>>::type;
    range.low = std::max(range.low, static_cast<double>(std::numeric_limits<Number>::lowest()));
    range.high = std::min(range.high, static_cast<double>(std::numeric_limits<Number>::max()));
    return range;
  }
  template <class T>
  static bool fits_into(double value) {
    return value >= static_cast<double>(std::numeric_limits<T>::lowest()) &&
           value <= static_cast<double>(std::numeric_limits<T>::max());
  }
  void refuse_value(std::string_view name, std::int64_t value, const Range& range) const;
  void refuse_value(std::string_view name, double value, const Range& range) const;

  std::string scope_;
};

}  // namespace throughtime
