#include "optimizer/targets/version.h"

#include <algorithm>
#include <charconv>

namespace stripline::targets {
namespace {

constexpr std::ptrdiff_t kMostDigits = 6;

}  // namespace

std::optional<Version> parse_version(std::string_view text) {
  Version version;
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  size_t read = 0;
  for (; read < version.numbers.size(); ++read) {
    const char* const digits = at;
    if (at == end || *at < '0' || *at > '9') break;
    const auto [next, error] = std::from_chars(at, end, version.numbers[read]);
    if (error != std::errc() || next - digits > kMostDigits) return std::nullopt;
    at = next;
    if (at == end || *at != '.') {
      ++read;
      break;
    }
    ++at;
  }
  if (read < 2) return std::nullopt;
  return version;
}

std::string to_string(const Version& version) {
  return std::to_string(version.numbers[0]) + "." + std::to_string(version.numbers[1]) + "." +
         std::to_string(version.numbers[2]);
}

std::optional<Version> find_version(std::string_view output, std::string_view marker) {
  for (size_t at = output.find(marker); at != std::string_view::npos;
       at = output.find(marker, at + 1)) {
    std::string_view rest = output.substr(at + marker.size());
    const auto skip = [&rest](std::string_view which) {
      rest.remove_prefix(std::min(rest.find_first_not_of(which), rest.size()));
    };
    skip(" \t");
    if (!rest.empty() && std::string_view("=:v").find(rest.front()) != std::string_view::npos) {
      rest.remove_prefix(1);
    }
    skip(" \t");
    if (const auto version = parse_version(rest)) return version;
  }
  return std::nullopt;
}

Status check_version(std::string_view target, const Version& version,
                     std::span<const std::string_view> tried, bool accept_untried) {
  const bool known = std::ranges::any_of(
      tried, [&](std::string_view text) { return parse_version(text) == version; });
  if (known || accept_untried) return {};
  std::string list;
  for (const std::string_view text : tried) list.append(list.empty() ? "" : ", ").append(text);
  return Error(ErrorCode::failed_precondition,
               std::string(target) + " " + to_string(version) +
                   " has not been tried (tried: " + (list.empty() ? "none" : list) +
                   "): its files and algorithms may mean other things; give --accept-untried to "
                   "tune it all the same");
}

}  // namespace stripline::targets
