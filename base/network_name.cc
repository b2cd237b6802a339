#include "base/network_name.h"

#include <algorithm>
#include <array>

namespace stripline {
namespace {

constexpr std::string_view kEmulated = "emulated:";
constexpr std::array<std::string_view, 4> kOfRuns = {
    "compute=", "jitter=", "lose=", "host_delays="};

bool is_of_runs(std::string_view option) {
  return std::ranges::any_of(kOfRuns,
                             [&](std::string_view key) { return option.starts_with(key); });
}

// Calls visit(option) for each of the options that follow the name of an emulated fabric, and
// returns the name without them.
template <typename Visit>
std::string_view split(std::string_view fabric, const Visit& visit) {
  if (!fabric.starts_with(kEmulated)) return fabric;
  const size_t end = std::min(fabric.find(','), fabric.size());
  for (size_t at = end; at < fabric.size();) {
    const size_t next = std::min(fabric.find(',', at + 1), fabric.size());
    visit(fabric.substr(at + 1, next - at - 1));
    at = next;
  }
  return fabric.substr(0, end);
}

}  // namespace

std::string network_name(std::string_view fabric) {
  std::string kept;
  const std::string_view profile = split(fabric, [&](std::string_view option) {
    if (!option.empty() && !is_of_runs(option)) kept.append(",").append(option);
  });
  return std::string(profile) + kept;
}

bool has_options_of_campaigns_only(std::string_view fabric) {
  bool harmless = true;
  split(fabric, [&](std::string_view option) {
    const bool of_files =
        option.starts_with("compute=record:") || option.starts_with("compute=replay:");
    const bool measures = option.starts_with("compute=") || option.starts_with("jitter=");
    harmless = harmless && (!is_of_runs(option) || (measures && !of_files));
  });
  return harmless;
}

}  // namespace stripline
