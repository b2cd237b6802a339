// Names of enumerations whose values are counted from 0 on: a table in the order of the values.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace stripline {

/// The name of a value; empty where the table ends before it.
template <typename Enum, size_t kCount>
constexpr std::string_view enum_name(const std::array<std::string_view, kCount>& names,
                                     Enum value) {
  const auto place = static_cast<size_t>(value);
  return place < kCount ? names[place] : std::string_view();
}

/// The value of this name; nullopt: there is none.
template <typename Enum, size_t kCount>
constexpr std::optional<Enum> enum_named(const std::array<std::string_view, kCount>& names,
                                         std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Enum>(found - names.begin());
}

}  // namespace stripline
