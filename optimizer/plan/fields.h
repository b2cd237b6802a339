// The members of a request as a table, which everything walks that reads or shows requests: the
// command line, JSON documents, the commands that `--trace` writes. A new member is one line of
// its planner's table.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace stripline::plan {

/// What a member's value is, outside of the program.
enum class Unit : uint8_t { number, bytes, seconds, flag, choice, numbers, text };

/// Seconds that are not known are negative; bytes without a limit are the largest number. Words
/// live as long as what they were taken from.
using FieldValue = std::variant<bool, uint64_t, double, std::string_view, std::vector<uint64_t>>;

/// What people and documents know of a member.
struct FieldText {
  const char* name = nullptr;    ///< in JSON: "halo_bytes"
  const char* option = nullptr;  ///< on the command line: "--halo"; without dashes by its place
  /// What people read of it, with the punctuation before it, and {} for the value: ", halo {}".
  /// Null: ", ", and the option without its dashes.
  const char* phrase = nullptr;
  const char* help = nullptr;  ///< of the option
  Unit unit = Unit::number;
  uint64_t least = 0;  ///< of numbers and bytes
  uint64_t most = std::numeric_limits<uint32_t>::max();
  bool always = false;    ///< people read it also where it is as usual
  bool required = false;  ///< on the command line; and people always read it
  std::span<const std::string_view> choices{};
};

template <typename Request>
struct Field {
  FieldText text;
  FieldValue (*get)(const Request&) = nullptr;
  /// The value is of the same kind as get() returns, within the limits.
  void (*set)(Request&, const FieldValue&) = nullptr;

  constexpr Field from(uint64_t least) const {
    Field changed = *this;
    changed.text.least = least;
    return changed;
  }
  constexpr Field within(uint64_t least, uint64_t most) const {
    Field changed = from(least);
    changed.text.most = most;
    return changed;
  }
  constexpr Field always() const {
    Field changed = *this;
    changed.text.always = true;
    return changed;
  }
  constexpr Field required() const {
    Field changed = *this;
    changed.text.required = true;
    return changed;
  }
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
  } else if constexpr (std::is_same_v<Member, std::string>) {
    return std::string_view(member);
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
    const auto names = names_of(Member{});
    member = static_cast<Member>(std::ranges::find(names, std::get<std::string_view>(value)) -
                                 names.begin());
  } else if constexpr (std::is_same_v<Member, std::string>) {
    member = std::get<std::string_view>(value);
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

template <typename Member>
constexpr Unit unit_of() {
  if (std::is_same_v<Member, bool>) return Unit::flag;
  if (std::is_same_v<Member, double>) return Unit::seconds;
  if (std::is_integral_v<Member>) return Unit::number;
  if (std::is_enum_v<Member>) return Unit::choice;
  return std::is_same_v<Member, std::string> ? Unit::text : Unit::numbers;
}

}  // namespace detail

/// The field of a member, or of a member of a member. Its type says what the value is outside; an
/// enumeration has to_string() and names_of(). `phrase` may be null.
template <typename Request, auto... Path>
constexpr Field<Request> field(const char* name, const char* option, const char* phrase,
                               const char* help) {
  using Member = std::remove_cvref_t<decltype(detail::follow<Path...>(std::declval<Request&>()))>;
  Field<Request> made{
      {.name = name, .option = option, .phrase = phrase, .help = help},
      [](const Request& request) { return detail::value_of(detail::follow<Path...>(request)); },
      [](Request& request, const FieldValue& value) {
        detail::set_value(detail::follow<Path...>(request), value);
      }};
  made.text.unit = detail::unit_of<Member>();
  if constexpr (std::is_enum_v<Member>) made.text.choices = names_of(Member{});
  return made;
}

/// The same of a number of bytes, without limits.
template <typename Request, auto... Path>
constexpr Field<Request> bytes(const char* name, const char* option, const char* phrase,
                               const char* help) {
  Field<Request> made = field<Request, Path...>(name, option, phrase, help);
  made.text.unit = Unit::bytes;
  made.text.most = std::numeric_limits<uint64_t>::max();
  return made;
}

/// "--halo 16", "--uneven", "'two words'", as a shell reads it; numbers as JSON writes them, for
/// which they are given: empty without a value, for a flag that is not set and seconds that are not
/// known.
std::string option_text(const FieldText& text, const FieldValue& value);

/// What people read of a member: its phrase. Empty where it is as usual, unless it is always read.
std::string phrase_of(const FieldText& text, const FieldValue& value, const FieldValue& usual);

}  // namespace stripline::plan
