// micro.load: streams between many nodes at once.
#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "optimizer/model/sections/service_levels.h"
#include "runtime/fabric/network_place.h"
#include "suites/grids.h"
#include "suites/micro/micro.h"
#include "suites/micro/pairs.h"
#include "suites/micro/transfer.h"
#include "suites/nodes.h"
#include "suites/pattern.h"
#include "suites/repeat.h"

namespace stripline::suites {
namespace {

using experiment::SampleSeries;

// Enough for a stream in which the path of the first operation does not matter much.
constexpr size_t kOperations = 16;

Result<std::vector<uint32_t>> partners(const Nodes& nodes, const experiment::Point& point) {
  const auto count = static_cast<uint32_t>(size_param(point, factor::kNodes));
  const auto distance = static_cast<uint32_t>(size_param(point, factor::kDistance));
  const auto scale =
      *model::distance_scale_from(experiment::text_param(point, factor::kScale).value_or(""));
  if (count > nodes.rank.size()) {
    return Error(ErrorCode::invalid_argument,
                 "the ranks are on " + std::to_string(nodes.rank.size()) + " nodes, not " +
                     std::to_string(count) + "; start ranks on more nodes");
  }
  if (!fabric::distance(nodes.place[0], nodes.place[0], scale)) {
    return Error(ErrorCode::invalid_argument,
                 "the switches of these nodes are not known; set STRIPLINE_SWITCHES on each, or "
                 "STRIPLINE_SWITCHES_FILE to what stripline-switches has written, or use "
                 "scale=numbers");
  }
  const auto partner = pair_at_distance(count, distance, [&](uint32_t a, uint32_t b) {
    return fabric::distance(nodes.place[a], nodes.place[b], scale)
        .value_or(std::numeric_limits<uint32_t>::max());
  });
  if (partner) return *partner;
  return Error(ErrorCode::invalid_argument, "not each of the first " + std::to_string(count) +
                                                " nodes has one of its own at distance " +
                                                std::to_string(distance));
}

// Slots of this rank's part, and of private memory; one for each operation.
class Streams {
 public:
  Streams(Context& context, Operation operation, size_t bytes, global_ptr<std::byte> array,
          std::optional<rank_t> partner)
      : context_(context),
        operation_(operation),
        bytes_(bytes),
        array_(array),
        partner_(partner),
        private_(bytes * kOperations),
        in_flight_(kOperations) {}

  void run() {
    if (!partner_) return;
    const auto theirs = context_.on_rank(array_, *partner_);
    for (size_t i = 0; i < kOperations; ++i) {
      const auto there = theirs + static_cast<std::ptrdiff_t>(i * bytes_);
      std::byte* const here = private_.data() + i * bytes_;
      in_flight_[i] = operation_ == Operation::get ? context_.rget(there, here, bytes_)
                                                   : context_.rput(here, there, bytes_);
    }
    for (const future& one : in_flight_) one.wait();
  }

  // Runs once more with data that depend on who sends them, and compares.
  bool verify(rank_t source) {
    const bool get = operation_ == Operation::get;
    const std::span<std::byte> shared(context_.local(array_), private_.size());
    fill_pattern(get ? shared : std::span(private_), context_.rank_me());
    std::ranges::fill(get ? std::span(private_) : shared, std::byte{0});
    context_.barrier();
    run();
    context_.barrier();
    const bool good =
        !partner_ || !first_mismatch(get ? std::span(private_) : shared, get ? *partner_ : source);
    return context_.reduce_all(uint64_t{good}, Context::ReduceOp::min) == 1;
  }

 private:
  Context& context_;
  Operation operation_;
  size_t bytes_;
  global_ptr<std::byte> array_;
  std::optional<rank_t> partner_;
  std::vector<std::byte> private_;
  std::vector<future> in_flight_;
};

Result<SampleSeries> run_load(Session& session, const experiment::Point& point,
                              const experiment::StopRule& rule) {
  Context& ctx = session.context();
  const Nodes nodes = nodes_of(ctx);
  STRIPLINE_ASSIGN_OR_RETURN(const std::vector<uint32_t> partner, partners(nodes, point));
  std::optional<rank_t> mine;
  rank_t source = 0;  // who communicates with this rank
  for (size_t node = 0; node < partner.size(); ++node) {
    if (nodes.rank[node] == ctx.rank_me()) mine = nodes.rank[partner[node]];
    if (nodes.rank[partner[node]] == ctx.rank_me()) source = nodes.rank[node];
  }
  const bool best = experiment::text_param(point, factor::kServed) == "best";
  const size_t bytes = bytes_of(point);
  STRIPLINE_ASSIGN_OR_RETURN(const auto array,
                             ctx.new_symmetric_array<std::byte>(bytes * kOperations));
  SampleSeries series;
  {
    Streams streams(ctx, operation_of(point), bytes, array, mine);
    repeat_together(
        session, rule,
        [&] {
          ctx.barrier();
          const double start_s = ctx.now_s();
          streams.run();
          const double seconds = (ctx.now_s() - start_s) / kOperations;
          if (!best) return mine ? seconds : 0;
          const double any = mine ? seconds : std::numeric_limits<double>::max();
          return ctx.reduce_all(any, Context::ReduceOp::min);
        },
        series);
    series.verified = streams.verify(source);
  }
  ctx.barrier();
  ctx.delete_symmetric_array(array);
  return series;
}

}  // namespace

Benchmark load_benchmark() {
  return declare(
      {.known = micro::kLoad,
       .run = run_load,
       .title = "Streams between many nodes at once",
       .description =
           "The first rank of each of the first `nodes` nodes gets from that of another one at "
           "this distance, or puts to it, 16 operations at a time, all at once: what bandwidth the "
           "network leaves to each. One sample is the time per operation of the node that is "
           "served worst, or best. Two nodes have the network to themselves.",
       .factors = {integer_factor(factor::kBytes, "B", "Payload of one operation.", {8192, 262144},
                                  1, double{1 << 22}),
                   integer_factor(factor::kNodes, "1", "Nodes that communicate.",
                                  {2, 4, 8, 16, 32, 64}, 2, kMostRanks),
                   integer_factor(factor::kDistance, "1", "Between the nodes of a pair.", {0, 1, 2},
                                  0, model::kDistances - 1),
                   {factor::kScale,
                    "",
                    "What distances are: levels of switches beyond the first between two nodes, "
                    "where they are known (STRIPLINE_SWITCHES, STRIPLINE_SWITCHES_FILE, Slurm), or "
                    "the highest bit in which the nodes' numbers differ.",
                    {std::string("switches"), std::string("numbers")},
                    {},
                    {}},
                   {factor::kServed,
                    "",
                    "Whose time is taken.",
                    {std::string("worst"), std::string("best")},
                    {},
                    {}}},
       .metric = {"time_per_operation", "s", true},
       .min_ranks = 4,
       .verification = "The streams run once more with data that tell who sent them.",
       .feeds = {"service_levels.get", "service_levels.put"}});
}

}  // namespace stripline::suites
