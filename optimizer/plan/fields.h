// The members of a request as a table, which everything walks that reads or shows requests: the
// command line, JSON documents, the commands that `--trace` writes. A new member is one line of
// its planner's table.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace stripline::plan {

/// What a member's value is, outside of the program.
enum class Unit : uint8_t { number, bytes, seconds, flag, choice, numbers };

/// Seconds that are not known are negative; bytes without a limit are the largest number.
using FieldValue = std::variant<bool, uint64_t, double, std::string_view, std::vector<uint64_t>>;

/// What people and documents know of a member.
struct FieldText {
  const char* name = nullptr;    ///< in JSON: "halo_bytes"
  const char* option = nullptr;  ///< on the command line: "--halo"
  const char* help = nullptr;    ///< of the option
  Unit unit = Unit::number;
  uint64_t least = 0;  ///< of numbers and bytes
  uint64_t most = std::numeric_limits<uint32_t>::max();
  bool required = false;  ///< on the command line; and always shown
  std::span<const std::string_view> choices{};
};

template <typename Request>
struct Field {
  FieldText text;
  FieldValue (*get)(const Request&) = nullptr;
  /// The value is of the same kind as get() returns, within the limits.
  void (*set)(Request&, const FieldValue&) = nullptr;
};

namespace detail {

template <auto First, auto... Rest, typename Object>
constexpr auto& follow(Object& object) {
  if constexpr (sizeof...(Rest) == 0) {
    return object.*First;
  } else {
    return follow<Rest...>(object.*First);
  }
}

template <typename Member>
FieldValue value_of(const Member& member) {
  if constexpr (std::is_same_v<Member, bool> || std::is_same_v<Member, double>) {
    return member;
  } else if constexpr (std::is_integral_v<Member>) {
    return uint64_t{member};
  } else if constexpr (std::is_enum_v<Member>) {
    return to_string(member);
  } else {
    return std::vector<uint64_t>(member.begin(), member.end());
  }
}

template <typename Member>
void set_value(Member& member, const FieldValue& value) {
  if constexpr (std::is_same_v<Member, bool> || std::is_same_v<Member, double>) {
    member = std::get<Member>(value);
  } else if constexpr (std::is_integral_v<Member>) {
    member = static_cast<Member>(std::get<uint64_t>(value));
  } else if constexpr (std::is_enum_v<Member>) {
    // Enumerators count from 0, and the last one's number is less than that.
    for (uint8_t i = 0; i < 16; ++i) {
      if (to_string(static_cast<Member>(i)) != std::get<std::string_view>(value)) continue;
      member = static_cast<Member>(i);
      return;
    }
  } else {
    const auto& values = std::get<std::vector<uint64_t>>(value);
    member = {};
    for (size_t i = 0; i < std::min(values.size(), member.size()); ++i) {
      using Element = typename Member::value_type;
      member[i] =
          static_cast<Element>(std::min<uint64_t>(values[i], std::numeric_limits<Element>::max()));
    }
  }
}

}  // namespace detail

/// The field of a member, or of a member of a member.
template <typename Request, auto... Path>
constexpr Field<Request> field(const FieldText& text) {
  return {text,
          [](const Request& request) { return detail::value_of(detail::follow<Path...>(request)); },
          [](Request& request, const FieldValue& value) {
            detail::set_value(detail::follow<Path...>(request), value);
          }};
}

/// "--halo 16", "--uneven"; numbers as JSON writes them, for which they are given: empty without a
/// value, for a flag that is not set and seconds that are not known.
std::string option_text(const FieldText& text, const FieldValue& value);

}  // namespace stripline::plan
