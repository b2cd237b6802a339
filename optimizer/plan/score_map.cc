#include "optimizer/plan/score_map.h"

#include <limits>

#include "base/cut_text.h"
#include "base/number_text.h"
#include "base/quantity.h"
#include "optimizer/model/collective.h"
#include "optimizer/plan/kinds.h"

namespace stripline::plan {
namespace {

constexpr uint64_t kAnySize = std::numeric_limits<uint64_t>::max();

struct Meant {
  const Words* kind = nullptr;
  std::string_view variant;
};

// "update", "collective.gather", "allreduce".
Meant meant_by(std::string_view name) {
  const std::string_view kind = name.substr(0, name.find('.'));
  const std::string_view variant =
      kind.size() < name.size() ? name.substr(kind.size() + 1) : std::string_view();
  const auto of = [](const Words& words, std::string_view one) {
    return std::ranges::find(words.variants, one) != words.variants.end();
  };
  for (const Words* const words : all_kinds()) {
    if (words->command == kind && (variant.empty() || of(*words, variant))) return {words, variant};
  }
  for (const Words* const words : all_kinds()) {
    if (of(*words, name)) return {words, name};
  }
  return {};
}

// Both ends of "*", "4K", "4K-" or "0-4K".
bool read_range(std::string_view text, uint64_t& from, uint64_t& to) {
  from = 0;
  to = kAnySize;
  if (text == "*") return true;
  const size_t dash = text.find('-');
  const auto first = parse_bytes(text.substr(0, dash), "");
  if (!first.ok()) return false;
  from = *first;
  if (dash == std::string_view::npos) to = from;
  if (dash == std::string_view::npos || dash + 1 == text.size()) return true;
  const auto last = parse_bytes(text.substr(dash + 1), "");
  if (!last.ok() || *last < from) return false;
  to = *last;
  return true;
}

bool has_method(const Words& kind, std::string_view method) {
  if (method == kForcedBaseline || (kind.number != nullptr && number_forced(method))) return true;
  return std::ranges::find(kind.methods, method) != kind.methods.end();
}

// What users of other libraries call the allreduce whose blocks go around a ring.
std::string_view method_of(const Meant& meant, std::string_view name) {
  using Algorithm = model::CollectiveAlgorithm;
  const bool around = meant.variant == to_string(model::CollectiveOperation::allreduce) &&
                      name == to_string(Algorithm::ring);
  return around ? to_string(Algorithm::reduce_scatter_allgather) : name;
}

// Not every operation has every algorithm of the list.
bool lacks(const Meant& meant, std::string_view method) {
  const auto operation = model::collective_operation_from(meant.variant);
  const auto algorithm = model::collective_algorithm_from(method);
  return operation && algorithm && !model::has_algorithm(*operation, *algorithm);
}

Error refused(std::string_view rule, const std::string& why) {
  return {ErrorCode::invalid_argument,
          "the rule " + quoted_text(rule) + " " + why +
              "; a rule is KIND:SIZES:METHOD, as 'update:*:buffers' or 'allreduce:0-4K:ring', and "
              "'stripline explain --list' shows kinds and methods"};
}

}  // namespace

Status ScoreMap::add(std::string_view rule) {
  const size_t first = rule.find(':');
  const size_t second = first == std::string_view::npos ? first : rule.find(':', first + 1);
  if (second == std::string_view::npos) return refused(rule, "does not have three parts");
  const std::string_view sizes = rule.substr(first + 1, second - first - 1);
  const Meant meant = meant_by(rule.substr(0, first));
  const std::string_view method = method_of(meant, rule.substr(second + 1));
  if (meant.kind == nullptr) return refused(rule, "is about a kind of decision that is not known");
  Rule made{.text = std::string(rule),
            .kind = meant.kind->command,
            .variant = std::string(meant.variant),
            .method = std::string(method)};
  if (!read_range(sizes, made.from, made.to)) return refused(rule, "has no valid range of sizes");
  if (meant.kind->sized_by == nullptr) {
    return refused(rule, "is about what " + std::string(meant.kind->settings) + " sets");
  }
  if (!has_method(*meant.kind, method)) {
    return refused(rule, "has a method that decisions of this kind do not have");
  }
  if (lacks(meant, method)) {
    std::string why = "has an algorithm that the operation does not have; it has";
    for (const auto one : model::algorithms_of(*model::collective_operation_from(meant.variant))) {
      why += " " + std::string(to_string(one));
    }
    return refused(rule, why);
  }
  rules_.push_back(std::move(made));
  return {};
}

std::vector<ScoreMap::Use> ScoreMap::uses() const {
  std::vector<Use> uses;
  for (const Rule& rule : rules_) uses.push_back({rule.text, rule.applied});
  return uses;
}

std::optional<uint64_t> number_forced(std::string_view method) {
  return number_from_text<uint64_t>(method);
}

}  // namespace stripline::plan
