#include "optimizer/targets/rules.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <utility>

namespace stripline::targets {
namespace {

// Where the upper one of two choices begins.
uint64_t meeting_point(uint64_t below, uint64_t above) {
  const double mean = std::sqrt(static_cast<double>(below) * static_cast<double>(above));
  return std::clamp(static_cast<uint64_t>(std::llround(mean)), below + 1, above);
}

RankRules rules_by_size(uint32_t ranks, const std::map<uint64_t, Candidate>& by_size) {
  RankRules rules{.ranks = ranks};
  const Candidate* before = nullptr;
  uint64_t size_before = 0;
  for (const auto& [bytes, candidate] : by_size) {
    if (candidate.id != 0) {
      SizeRange* const open = before != nullptr && before->id != 0 ? &rules.ranges.back() : nullptr;
      if (open != nullptr && same(open->candidate, candidate)) {
        open->last = bytes;
      } else if (open != nullptr) {
        const uint64_t begins = meeting_point(size_before, bytes);
        open->last = begins - 1;
        rules.ranges.push_back({begins, bytes, candidate});
      } else {
        rules.ranges.push_back({bytes, bytes, candidate});
      }
    }
    before = &candidate;
    size_before = bytes;
  }
  return rules;
}

// The smallest size that is measured: no call of less has an element.
constexpr uint64_t kLeastBytes = 8;
constexpr uint32_t kLeastPredicting = 3;

const RankRules* rules_of(const CollectiveRules& rules, uint32_t ranks) {
  const auto found = std::ranges::find(rules.by_ranks, ranks, &RankRules::ranks);
  return found == rules.by_ranks.end() ? nullptr : &*found;
}

// What two numbers of ranks have in common and another one may have.
RankRules common_rules(Collective collective, const RankRules& below, const RankRules& above,
                       uint32_t ranks, const Safety& safety) {
  RankRules rules{.ranks = ranks};
  for (const SizeRange& one : below.ranges) {
    for (const SizeRange& other : above.ranges) {
      if (!same(one.candidate, other.candidate)) continue;
      const SizeRange both{std::max(one.first, other.first), std::min(one.last, other.last),
                           one.candidate};
      if (both.first > both.last) continue;
      const Cell smallest{collective, ranks, ranks, std::max(both.first, kLeastBytes)};
      if (refusal(both.candidate, smallest, safety).empty()) rules.ranges.push_back(both);
    }
  }
  return rules;
}

RankRules rules_for_all_sizes(uint32_t ranks, const std::map<uint64_t, Candidate>& by_size) {
  RankRules rules{.ranks = ranks};
  const Candidate& first = by_size.begin()->second;
  const bool everywhere =
      std::ranges::all_of(by_size, [&](const auto& entry) { return same(entry.second, first); });
  if (everywhere && first.id != 0) {
    rules.ranges.push_back({0, std::numeric_limits<uint64_t>::max(), first});
  }
  return rules;
}

}  // namespace

CollectiveRules closed_rules(Collective collective, std::span<const Choice> choices, bool by_size) {
  std::map<uint32_t, std::map<uint64_t, Candidate>> table;
  for (const Choice& choice : choices) {
    table[choice.cell.ranks].try_emplace(choice.cell.bytes, choice.candidate);
  }
  CollectiveRules rules{.collective = collective};
  rules.one_node =
      std::ranges::all_of(choices, [](const Choice& one) { return is_one_node(one.cell); });
  const bool distinguishes = by_size && !ranks_may_see_other_sizes(collective);
  for (const auto& [ranks, sizes] : table) {
    RankRules of_ranks =
        distinguishes ? rules_by_size(ranks, sizes) : rules_for_all_sizes(ranks, sizes);
    if (!of_ranks.ranges.empty()) rules.by_ranks.push_back(std::move(of_ranks));
  }
  return rules;
}

std::vector<uint32_t> predictable_ranks(std::span<const uint32_t> measured, uint32_t processors) {
  std::vector<uint32_t> ranks;
  for (size_t i = 0; i + 1 < measured.size(); ++i) {
    const uint32_t below = measured[i];
    const uint32_t above = measured[i + 1];
    const bool same_regime = (below <= processors) == (above <= processors);
    if (below < kLeastPredicting || above > 2 * uint64_t{below} || !same_regime) continue;
    for (uint32_t between = below + 1; between < above; ++between) ranks.push_back(between);
  }
  return ranks;
}

CollectiveRules with_predictions(const CollectiveRules& rules, std::span<const uint32_t> measured,
                                 uint32_t processors, const Safety& safety) {
  CollectiveRules all = rules;
  for (const uint32_t ranks : predictable_ranks(measured, processors)) {
    const auto above = std::ranges::upper_bound(measured, ranks);
    const RankRules* const upper = rules_of(rules, *above);
    const RankRules* const lower = rules_of(rules, *std::prev(above));
    if (lower == nullptr || upper == nullptr) continue;
    RankRules predicted = common_rules(rules.collective, *lower, *upper, ranks, safety);
    if (!predicted.ranges.empty()) all.by_ranks.push_back(std::move(predicted));
  }
  std::ranges::sort(all.by_ranks, {}, &RankRules::ranks);
  return all;
}

const Candidate* chosen_by(const CollectiveRules& rules, uint32_t ranks, uint64_t bytes) {
  for (const RankRules& of_ranks : rules.by_ranks) {
    if (of_ranks.ranks != ranks) continue;
    for (const SizeRange& range : of_ranks.ranges) {
      if (bytes >= range.first && bytes <= range.last) return &range.candidate;
    }
  }
  return nullptr;
}

}  // namespace stripline::targets
