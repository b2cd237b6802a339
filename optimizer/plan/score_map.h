// Decisions that are forced, by their kind and size, as the score maps of UCC say it:
//
//   allreduce:0-4K:ring;update:*:buffers;loop:64K-:baseline
//
// so that a run can be measured with a method, and that a table of decisions can be written down. A
// rule is a kind of decision (kinds.h), or one of its variants ("allreduce", or "collective.gather"
// where another kind has the name); the sizes for which it holds, both ends included; and a method,
// "baseline", or a number where the kind has one; "ring" of an allreduce is
// reduce_scatter_allgather. Of several rules that hold the last one counts. A request that does not
// allow the method is decided on as without the rule. Rules that were never applied can be named.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stripline::plan {

/// What every kind of decision may be forced to be.
inline constexpr std::string_view kForcedBaseline = "baseline";

/// A value, of one rank: asking it notes which rules are applied. Not thread-safe.
class ScoreMap {
 public:
  /// Adds a rule. Errors: invalid_argument, with what is wrong and what there is.
  Status add(std::string_view rule);

  bool empty() const { return rules_.empty(); }
  /// What is forced for a request of this size, if that allows it: "baseline", or a method for
  /// which `allows(method)` is true. Empty: nothing. The caller carries out what it gets. Allocates
  /// nothing; O(rules).
  template <typename Allows>
  std::string_view forced(std::string_view kind, uint64_t size, std::string_view variant,
                          const Allows& allows) const {
    for (auto rule = rules_.rbegin(); rule != rules_.rend(); ++rule) {
      if (rule->kind != kind || size < rule->from || rule->to < size ||
          (!rule->variant.empty() && rule->variant != variant)) {
        continue;
      }
      if (rule->method != kForcedBaseline && !allows(std::string_view(rule->method))) return {};
      rule->applied = true;
      return rule->method;
    }
    return {};
  }
  /// The same for a request that allows all methods.
  std::string_view forced(std::string_view kind, uint64_t size,
                          std::string_view variant = {}) const {
    return forced(kind, size, variant, [](std::string_view) { return true; });
  }

  /// A rule, as it was added, and whether a request has been decided on by it.
  struct Use {
    std::string rule;
    bool applied = false;
  };
  std::vector<Use> uses() const;

 private:
  struct Rule {
    std::string text;
    std::string kind;
    std::string variant;  // empty: all
    uint64_t from = 0;
    uint64_t to = 0;
    std::string method;
    mutable bool applied = false;
  };
  std::vector<Rule> rules_;
};

/// The method of an enumeration whose names these are; none for another word.
template <typename Method>
std::optional<Method> method_named(std::string_view name, std::span<const std::string_view> names) {
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Method>(found - names.begin());
}

/// A number that is forced; none for a word.
std::optional<uint64_t> number_forced(std::string_view method);

}  // namespace stripline::plan
