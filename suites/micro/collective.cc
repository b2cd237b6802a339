// micro.collective_OPERATION: the time of one collective operation by each of its algorithms.
#include "optimizer/model/collective.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <stripline/team.h>

#include "suites/grids.h"
#include "suites/micro/micro.h"
#include "suites/micro/transfer.h"
#include "suites/repeat.h"

namespace stripline::suites {
namespace {

using experiment::SampleSeries;
using model::CollectiveOperation;

constexpr size_t kLargestVector = size_t{1} << 30;
constexpr rank_t kRoot = 0;

// One operation on all ranks, its data in private memory. Values are small whole numbers, so that
// sums of doubles are exact in any order.
class CollectiveCall {
 public:
  CollectiveCall(Context& context, CollectiveOperation operation, collective_algorithm algorithm,
                 size_t elements)
      : all_(team::world(context)),
        operation_(operation),
        algorithm_(algorithm),
        count_(elements),
        in_(elements * blocks(operation == CollectiveOperation::all_to_all ||
                              operation == CollectiveOperation::all_to_allv ||
                              operation == CollectiveOperation::reduce_scatter)),
        out_(elements * blocks((operation >= CollectiveOperation::gather &&
                                operation <= CollectiveOperation::all_to_allv) ||
                               operation == CollectiveOperation::allgatherv)),
        counts_(all_.rank_n(), elements),
        offsets_(all_.rank_n()) {
    for (size_t rank = 0; rank < offsets_.size(); ++rank) offsets_[rank] = rank * elements;
    fill();
  }

  void perform() {
    switch (operation_) {
      case CollectiveOperation::broadcast:
        return all_.broadcast(in_, kRoot, algorithm_);
      case CollectiveOperation::reduce:
        return all_.reduce(in_, out_, op_add{}, kRoot, algorithm_);
      case CollectiveOperation::allreduce:
        return all_.allreduce(in_, out_, op_add{}, algorithm_);
      case CollectiveOperation::gather:
        return all_.gather(in_, out_, kRoot, algorithm_);
      case CollectiveOperation::allgather:
        return all_.allgather(in_, out_, algorithm_);
      case CollectiveOperation::all_to_all:
        return all_.all_to_all(in_, out_, algorithm_);
      case CollectiveOperation::all_to_allv:
        return all_.all_to_all_v(in_, counts_, offsets_, out_, counts_, offsets_, algorithm_);
      case CollectiveOperation::scan:
        return all_.inclusive_scan(in_, out_, op_add{}, algorithm_);
      case CollectiveOperation::allgatherv:
        return all_.allgather_v(in_, out_, counts_, offsets_, algorithm_);
      case CollectiveOperation::reduce_scatter:
        return all_.reduce_scatter(in_, out_, op_add{}, algorithm_);
    }
  }

  // Performs it once and looks at every element of this rank's result.
  bool result_is_right() {
    fill();
    perform();
    const std::vector<double>& result = operation_ == CollectiveOperation::broadcast ? in_ : out_;
    const bool of_root =
        operation_ == CollectiveOperation::reduce || operation_ == CollectiveOperation::gather;
    if (of_root && all_.rank_me() != kRoot) return true;
    for (size_t i = 0; i < result.size(); ++i) {
      if (result[i] != expected(i)) return false;
    }
    return true;
  }

 private:
  size_t blocks(bool one_per_rank) const { return one_per_rank ? all_.rank_n() : 1; }

  static double value(rank_t rank, size_t i) {
    return static_cast<double>(i % 1021) + 7.0 * (rank % 1000);
  }

  void fill() {
    for (size_t i = 0; i < in_.size(); ++i) in_[i] = value(all_.rank_me(), i);
    std::fill(out_.begin(), out_.end(), -1);
  }

  double expected(size_t i) const {
    switch (operation_) {
      case CollectiveOperation::broadcast:
        return value(kRoot, i);
      case CollectiveOperation::gather:
      case CollectiveOperation::allgather:
      case CollectiveOperation::allgatherv:
        return value(static_cast<rank_t>(i / count_), i % count_);
      case CollectiveOperation::all_to_all:
      case CollectiveOperation::all_to_allv:
        return value(static_cast<rank_t>(i / count_), all_.rank_me() * count_ + i % count_);
      case CollectiveOperation::reduce:
      case CollectiveOperation::allreduce:
      case CollectiveOperation::scan:
      case CollectiveOperation::reduce_scatter:
        break;
    }
    const rank_t last =
        operation_ == CollectiveOperation::scan ? all_.rank_me() : all_.rank_n() - 1;
    // Each rank has its own block of what is scattered.
    if (operation_ == CollectiveOperation::reduce_scatter) i += all_.rank_me() * count_;
    double sum = 0;
    for (rank_t rank = 0; rank <= last; ++rank) sum += value(rank, i);
    return sum;
  }

  team all_;
  CollectiveOperation operation_;
  collective_algorithm algorithm_;
  size_t count_;
  std::vector<double> in_;
  std::vector<double> out_;
  std::vector<size_t> counts_;
  std::vector<size_t> offsets_;
};

Result<SampleSeries> run_collective(Session& session, const experiment::Point& point,
                                    const experiment::StopRule& rule) {
  Context& ctx = session.context();
  const auto operation = *model::collective_operation_from(
      std::string_view(point.experiment).substr(experiment::kCollectivePrefix.size()));
  const auto algorithm = *model::collective_algorithm_from(point.variant);
  const size_t elements = std::max<size_t>(1, bytes_of(point) / sizeof(double));
  if (elements > kLargestVector / sizeof(double) / ctx.rank_n()) {
    return Error(ErrorCode::resource_exhausted,
                 "blocks of " + std::to_string(elements * sizeof(double)) + " bytes of " +
                     std::to_string(ctx.rank_n()) + " ranks exceed 1 GiB; measure smaller ones");
  }
  CollectiveCall call(ctx, operation, algorithm, elements);
  SampleSeries series;
  repeat_together(
      session, rule,
      [&] {
        ctx.barrier();
        const double start_s = ctx.now_s();
        call.perform();
        return ctx.now_s() - start_s;
      },
      series);
  const uint64_t right = call.result_is_right() ? 1 : 0;
  series.verified = ctx.reduce_all(right, Context::ReduceOp::min) == 1;
  return series;
}

}  // namespace

std::vector<Benchmark> collective_benchmarks() {
  std::vector<Benchmark> all;
  for (size_t i = 0; i < model::kCollectiveOperations; ++i) {
    const auto operation = static_cast<CollectiveOperation>(i);
    const std::string name(model::to_string(operation));
    Benchmark benchmark;
    benchmark.run = run_collective;
    experiment::Experiment& e = benchmark.declaration;
    e.name = std::string(experiment::kCollectivePrefix) + name;
    e.title = "Collective operation: " + name;
    e.description =
        "All ranks leave a barrier and perform one " + name +
        " on doubles in private memory (root: rank 0; reductions and scans: sums) by the algorithm "
        "that the variant names. One sample is the time of the rank that took longest.";
    e.factors = {integer_factor(factor::kBytes, "B",
                                "Length of a rank's vector, or of its block for one other rank.",
                                {8, 1024, 8192, 65536, 524288}, 8, double{1 << 26})};
    for (const auto algorithm : model::algorithms_of(operation)) {
      e.variants.emplace_back(model::to_string(algorithm));
    }
    e.metric = {"time", "s", true};
    e.min_ranks = 2;
    e.max_ranks = kMostRanks;
    e.verification =
        "After the repetitions, one more result is compared element by element on "
        "every rank.";
    e.feeds = {"collective." + name};
    all.push_back(std::move(benchmark));
  }
  return all;
}

}  // namespace stripline::suites
