#include "optimizer/model/sections/collective.h"

#include <string>

#include "base/quantity.h"
#include "optimizer/model/section.h"

namespace stripline::model {
namespace {

constexpr size_t kMaxRules = 1024;

// The enumerators from `first` to the last.
template <typename Enum>
std::vector<Enum> enumerators(size_t first, size_t count) {
  std::vector<Enum> all;
  for (size_t i = first; i < count; ++i) all.push_back(static_cast<Enum>(i));
  return all;
}

Status check_rule(const std::string& where, const CollectiveRule& rule) {
  if (!has_algorithm(rule.operation, rule.algorithm)) {
    return wrong(where + ".algorithm", std::string(to_string(rule.operation)) +
                                           " has no algorithm " +
                                           std::string(to_string(rule.algorithm)));
  }
  if (rule.min_ranks > rule.max_ranks) {
    return wrong(where + ".max_ranks", "must be at least min_ranks");
  }
  if (rule.from_bytes > rule.bytes || rule.bytes >= rule.to_bytes) {
    return wrong(where, "needs from_bytes <= bytes < to_bytes");
  }
  return {};
}

bool hold_together(const CollectiveRule& a, const CollectiveRule& b) {
  return a.operation == b.operation && a.min_ranks <= b.max_ranks && b.min_ranks <= a.max_ranks &&
         a.from_bytes < b.to_bytes && b.from_bytes < a.to_bytes;
}

Status check_overlaps(const std::string& where, const CollectiveModel& collective) {
  for (size_t i = 0; i < collective.rules.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (hold_together(collective.rules[j], collective.rules[i])) {
        return wrong(where + ".rules[" + std::to_string(i) + "]",
                     "overlaps rule " + std::to_string(j) + " of the same operation");
      }
    }
  }
  return {};
}

Form<CollectiveRule> rule_form() {
  using R = CollectiveRule;
  return object<R>(
      "collective_rule",
      {required("operation", &R::operation,
                one_of(enumerators<CollectiveOperation>(0, kCollectiveOperations))),
       // A rule is what the automatic choice goes by.
       required("algorithm", &R::algorithm,
                one_of(enumerators<CollectiveAlgorithm>(1, kCollectiveAlgorithms))),
       required("min_ranks", &R::min_ranks, ranks()), required("max_ranks", &R::max_ranks, ranks()),
       required("from_bytes", &R::from_bytes, bytes()), required("to_bytes", &R::to_bytes, bytes()),
       required("bytes", &R::bytes, bytes(), "the size that was measured"),
       required("time_s", &R::time_s, seconds()),
       optional("gain", &R::gain, gain(), "by how much less than the time of the default")},
      check_rule);
}

std::string collective_text(const TunedModel& model) {
  if (!model.collective) return {};
  Table table(
      {{"operation"}, {"ranks"}, {"size"}, {"algorithm"}, {"time"}, {"less than the default"}});
  for (const CollectiveRule& rule : model.collective->rules) {
    const std::string ranks =
        rule.min_ranks == rule.max_ranks
            ? std::to_string(rule.min_ranks)
            : std::to_string(rule.min_ranks) + " to " + std::to_string(rule.max_ranks);
    table.add({std::string(to_string(rule.operation)), ranks, bytes_text(rule.bytes),
               std::string(to_string(rule.algorithm)), time_text(rule.time_s.value),
               rule.gain ? share_text(rule.gain->value) : "-"});
  }
  return titled("collectives", table);
}

void add_collective_example(TunedModel& model) {
  model.collective = CollectiveModel{{{.operation = CollectiveOperation::broadcast,
                                       .algorithm = CollectiveAlgorithm::binomial,
                                       .min_ranks = 2,
                                       .max_ranks = 4,
                                       .from_bytes = 0,
                                       .to_bytes = 2048,
                                       .bytes = 512,
                                       .time_s = example_parameter(9e-6),
                                       .gain = std::nullopt},
                                      {.operation = CollectiveOperation::broadcast,
                                       .algorithm = CollectiveAlgorithm::scatter_allgather,
                                       .min_ranks = 2,
                                       .max_ranks = 4,
                                       .from_bytes = 2048,
                                       .to_bytes = kMaxBytes,
                                       .bytes = 16384,
                                       .time_s = example_parameter(30e-6),
                                       .gain = example_parameter(0.25)}}};
}

}  // namespace

Section collective_section() {
  const auto form = object<CollectiveModel>(
      nullptr,
      {required("rules", &CollectiveModel::rules, list(rule_form(), 0, kMaxRules),
                "Which algorithm a collective operation takes")},
      check_overlaps);
  return {optional("collective", &TunedModel::collective, form), collective_text,
          add_collective_example, "collective operations"};
}

}  // namespace stripline::model
