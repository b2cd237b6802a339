// Versions of other people's runtimes, and which of them somebody has tried.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace stripline::targets {

/// "4.1.4": up to three numbers; what follows ("rc1", "a2") does not count.
struct Version {
  std::array<uint32_t, 3> numbers{};
  auto operator<=>(const Version&) const = default;
};

/// Reads the beginning of a text. Nullopt where it does not begin with two numbers and a dot, or
/// one of them has more than six digits.
std::optional<Version> parse_version(std::string_view text);
std::string to_string(const Version& version);

/// The first version after `marker` in what a program has printed; blanks, tabs and one of "=:v"
/// may lie between. Nullopt without one.
std::optional<Version> find_version(std::string_view output, std::string_view marker);

/// Fine where `tried` has the version, or `accept_untried`. Errors: failed_precondition, which
/// names the target, its version and those that were tried.
Status check_version(std::string_view target, const Version& version,
                     std::span<const std::string_view> tried, bool accept_untried);

}  // namespace stripline::targets
