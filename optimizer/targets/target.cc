#include "optimizer/targets/target.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "base/cut_text.h"
#include "base/number_text.h"
#include "base/quantity.h"

namespace stripline::targets {
namespace {

uint64_t saturated_product(uint64_t a, uint64_t b) {
  uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<uint64_t>::max() : product;
}

uint64_t saturated_sum(uint64_t a, uint64_t b) {
  uint64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<uint64_t>::max() : sum;
}

}  // namespace

std::string_view to_string(Path path) {
  switch (path) {
    case Path::any:
      return "any";
    case Path::shared_memory:
      return "shm";
    case Path::tcp:
      return "tcp";
  }
  return "any";
}

Scope scope_of(const Target& target, Collective collective) {
  if (!target.choice_by_ranks) return Scope::collective;
  const bool by_size = target.choice_by_size != nullptr && target.choice_by_size(collective) &&
                       !ranks_may_see_other_sizes(collective);
  return by_size ? Scope::cell : Scope::ranks;
}

std::vector<std::string_view> words_of(std::string_view list) {
  std::vector<std::string_view> words;
  for (size_t at = 0; at < list.size();) {
    const size_t end = std::min(list.find(' ', at), list.size());
    words.push_back(list.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

bool acts_on(const Knob& knob, Path path) {
  return knob.path == path || knob.path == Path::any || path == Path::any;
}

std::vector<Setting> probes_on(const Target& target, Path path) {
  std::vector<Setting> probes;
  for (const std::string_view text : words_of(target.probe_settings)) {
    const size_t equals = text.find('=');
    const Knob* const knob = find_knob(target, text.substr(0, equals));
    if (knob == nullptr || equals == std::string_view::npos || !acts_on(*knob, path)) continue;
    probes.push_back({std::string(knob->name), std::string(text.substr(equals + 1))});
  }
  return probes;
}

void put_setting(std::vector<Setting>& settings, const Setting& setting) {
  const auto found = std::ranges::find(settings, setting.name, &Setting::name);
  if (found != settings.end()) {
    found->value = setting.value;
  } else {
    settings.push_back(setting);
  }
}

const Knob* find_knob(const Target& target, std::string_view name) {
  const auto found = std::ranges::find(target.knobs, name, &Knob::name);
  return found == target.knobs.end() ? nullptr : &*found;
}

Status check_value(const Knob& knob, std::string_view value) {
  const auto refuse = [&](const std::string& takes) {
    return Error(ErrorCode::invalid_argument,
                 std::string(knob.name) + " takes " + takes + ", not " + quoted_text(value));
  };
  // What the target itself sets needs no place in the range: "inf", "auto", -1.
  if (value == knob.default_value && !value.empty()) return {};
  switch (knob.kind) {
    case KnobKind::count:
    case KnobKind::bytes: {
      const auto number = number_from_text<uint64_t>(value);
      if (number && *number >= knob.least && *number <= knob.most) return {};
      return refuse("a whole number from " + std::to_string(knob.least) + " to " +
                    std::to_string(knob.most));
    }
    case KnobKind::flag:
    case KnobKind::choice:
      if (const auto words = words_of(knob.values);
          std::ranges::find(words, value) != words.end()) {
        return {};
      }
      return refuse("one of '" + std::string(knob.values) + "'");
    case KnobKind::text: {
      const bool printable_ascii =
          std::ranges::all_of(value, [](char c) { return c >= ' ' && c <= '~'; });
      if (printable_ascii && !value.empty()) return {};
      return refuse("printable characters of ASCII on one line");
    }
  }
  return refuse("another kind of value");
}

uint64_t memory_of(const Knob& knob, std::string_view value, uint64_t ranks) {
  const auto number = number_from_text<uint64_t>(value);
  const uint64_t usual = number_from_text<uint64_t>(knob.default_value).value_or(0);
  if (!number || *number <= usual) return 0;
  return saturated_product(saturated_product(*number - usual, knob.memory_per_peer), ranks);
}

Status check_memory(const Target& target, std::span<const Setting> settings, uint64_t ranks,
                    uint64_t most_bytes) {
  uint64_t total = 0;
  uint64_t largest = 0;
  std::string_view largest_name;
  for (const Setting& setting : settings) {
    const Knob* const knob = find_knob(target, setting.name);
    if (knob == nullptr) continue;
    const uint64_t bytes = memory_of(*knob, setting.value, ranks);
    total = saturated_sum(total, bytes);
    if (bytes > largest) {
      largest = bytes;
      largest_name = knob->name;
    }
  }
  if (total <= most_bytes) return {};
  return Error(ErrorCode::resource_exhausted,
               "these settings take about " + bytes_text(total) +
                   " of memory more than the defaults on each of " + std::to_string(ranks) +
                   " ranks, " + bytes_text(largest) + " of it for " + std::string(largest_name) +
                   "; the limit is " + bytes_text(most_bytes) +
                   ": take a smaller value, or raise the limit");
}

}  // namespace stripline::targets
