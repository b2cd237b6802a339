#include "optimizer/fit/samples.h"

#include <functional>

namespace stripline::fit {
namespace {

namespace factor = experiment::factor;
namespace micro = experiment::micro;
namespace variant = experiment::variant;

// What is measured of operations on a path. nullptr: it is not.
struct OperationExperiments {
  const experiment::Known* latency;
  const experiment::Known* issue;
  const experiment::Known* flood;
  const experiment::Known* overlap;
  const experiment::Known* serve;
};

constexpr OperationExperiments kOfNetwork = {&micro::kLatency, &micro::kIssue, &micro::kFlood,
                                             &micro::kOverlap, &micro::kServe};
constexpr OperationExperiments kOfNode = {&micro::kNodeLatency, &micro::kNodeIssue,
                                          &micro::kNodeFlood, &micro::kNodeOverlap, nullptr};

// `sorted_of` tells where a row belongs.
void sort_operations(const SampleTable& table, const OperationExperiments& experiments,
                     const std::function<SortedSamples&(const SampleRow&)>& sorted_of) {
  using BySize = std::map<uint64_t, RunMedians>;
  const auto operation_of = [&](const SampleRow& row) -> OperationSamples& {
    OperationSamples& operation = sorted_of(row).operations[row.variant];
    operation.raw_samples += row.raw_samples();
    return operation;
  };
  const auto sort = [&](const experiment::Known* known, BySize OperationSamples::*place) {
    if (known == nullptr) return;
    for (const SampleRow& row : table.rows(*known)) {
      (operation_of(row).*place)[row.number(factor::kBytes)] = row.medians;
    }
  };
  for (const SampleRow& row : table.rows(*experiments.latency)) {
    OperationSamples& operation = operation_of(row);
    operation.latency[row.number(factor::kBytes)] = row.medians;
    operation.latency_scatter[row.number(factor::kBytes)] = row.scatter;
  }
  for (const SampleRow& row : table.rows(*experiments.flood)) {
    OperationSamples& operation = operation_of(row);
    const uint64_t bytes = row.number(factor::kBytes);
    const uint64_t count = row.number(factor::kCount);
    operation.flood[bytes][count] = row.medians;
    operation.flood_scatter[bytes][count] = row.scatter;
  }
  for (const SampleRow& row : table.rows(*experiments.issue)) {
    operation_of(row).issue[row.number(factor::kBytes)][row.number(factor::kBurst)] = row.medians;
  }
  sort(experiments.overlap, &OperationSamples::overlap);
  sort(experiments.serve, &OperationSamples::serve);
}

}  // namespace

SortedSamples sort_samples(const SampleTable& table) {
  SortedSamples sorted;
  sort_operations(table, kOfNetwork, [&](const SampleRow&) -> SortedSamples& { return sorted; });
  for (const SampleRow& row : table.rows(micro::kCompute)) {
    const uint64_t bytes = row.number(factor::kBytes);
    sorted.compute[row.variant][bytes] = row.medians;
    sorted.compute_raw[row.variant][bytes] = row.raw_samples();
  }
  for (const SampleRow& row : table.rows(micro::kStripOverhead)) {
    StripLoopSamples& loops =
        sorted.strip_loops[row.number(factor::kBytes)][row.number(factor::kStrips)];
    (row.variant == variant::kEngine ? loops.engine : loops.by_hand) = row.medians;
  }
  sorted.strip_loops_raw = table.raw_samples(micro::kStripOverhead);
  for (const SampleRow& row : table.rows(micro::kReceive)) {
    ReceiveSamples& receive = sorted.receive[row.number(factor::kBytes)];
    (row.variant == variant::kGet ? receive.get : receive.read)[row.number(factor::kBufferBytes)] =
        row.medians;
    receive.raw_samples += row.raw_samples();
  }
  for (size_t i = 0; i < model::kCollectiveOperations; ++i) {
    const auto operation = static_cast<model::CollectiveOperation>(i);
    const std::string name =
        std::string(experiment::kCollectivePrefix) + std::string(to_string(operation));
    for (const SampleRow& row : table.rows(name)) {
      const auto algorithm = *model::collective_algorithm_from(row.variant);
      CollectiveSamples& samples = sorted.collectives[operation][row.number(factor::kBytes)];
      samples.times[algorithm] = row.medians;
      samples.raw_samples[algorithm] = row.raw_samples();
    }
  }
  return sorted;
}

std::map<std::string, SortedSamples> sort_node_samples(const SampleTable& table) {
  std::map<std::string, SortedSamples> by_path;
  sort_operations(table, kOfNode, [&](const SampleRow& row) -> SortedSamples& {
    return by_path[row.name(factor::kSameNode)];
  });
  return by_path;
}

}  // namespace stripline::fit
