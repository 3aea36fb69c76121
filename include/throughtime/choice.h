#pragma once

#include <array>
#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace throughtime {

// A choice is an enum, declared with its names once, in the order of its values:
//
//   enum class FpttForm { lambda, gradient, ogd };
//   constexpr auto names_of(FpttForm) { return choice_names("lambda", "gradient", "ogd"); }
//
// What files, errors and help call its values comes from there.

template <std::convertible_to<std::string_view>... Text>
constexpr std::array<std::string_view, sizeof...(Text)> choice_names(Text... names) {
  return {std::string_view(names)...};
}

/// The names of another choice behind one more.
template <std::size_t Count>
constexpr std::array<std::string_view, Count + 1> choice_names_behind(
    std::string_view first, const std::array<std::string_view, Count>& others) {
  std::array<std::string_view, Count + 1> names = {first};
  for (std::size_t i = 0; i < Count; ++i) names[i + 1] = others[i];
  return names;
}

template <class Enum>
concept Choice = std::is_enum_v<Enum> && requires(Enum value) {
  { names_of(value)[0] } -> std::convertible_to<std::string_view>;
};

template <Choice Enum>
constexpr std::string_view name_of(Enum value) {
  return names_of(value).at(static_cast<std::size_t>(value));
}

/// The names of all values, in their order.
template <Choice Enum>
std::vector<std::string> all_names() {
  const auto names = names_of(Enum{});
  return {names.begin(), names.end()};
}

/// Which of the names is meant; throws InvalidInput with the nearest one where none is:
/// `[fptt] unknown form 'lamda'; did you mean 'lambda'? known: lambda, gradient, ogd`.
std::size_t find_name(const std::vector<std::string>& names, std::string_view name, std::string_view speaker,
                      std::string_view what);

/// The value of that name; refuses unknown ones.
template <Choice Enum>
Enum choice_of(std::string_view name, std::string_view speaker, std::string_view what) {
  return static_cast<Enum>(find_name(all_names<Enum>(), name, speaker, what));
}

}  // namespace throughtime
