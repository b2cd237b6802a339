// micro.exchange: what serving another rank takes of one's own time.
#include <vector>

#include "suites/grids.h"
#include "suites/micro/micro.h"
#include "suites/micro/transfer.h"
#include "suites/repeat.h"

namespace stripline::suites {
namespace {

using experiment::SampleSeries;

Result<SampleSeries> run(Session& session, const experiment::Point& point,
                         const experiment::StopRule& rule) {
  const size_t count = size_param(point, "count");
  const bool both = size_param(point, "initiators") == 2;
  STRIPLINE_ASSIGN_OR_RETURN(
      TransferArea area, TransferArea::create(session, operation_of(point), bytes_of(point), count,
                                              both ? Initiators::both : Initiators::rank_0));
  Context& ctx = session.context();
  SampleSeries series;
  std::vector<future> in_flight(area.initiates() ? count : 0);
  repeat_together(
      session, rule,
      [&] {
        ctx.barrier();
        const double start_s = ctx.now_s();
        for (size_t i = 0; i < in_flight.size(); ++i) in_flight[i] = area.issue(i);
        for (const future& one : in_flight) one.wait();
        const double seconds = ctx.now_s() - start_s;
        return area.initiates() ? seconds / static_cast<double>(count) : 0;
      },
      series);
  ctx.barrier();
  series.verified = area.verify(count);
  if (!series.verified) series.note = kWrongData;
  return series;
}

}  // namespace

Benchmark exchange_benchmark() {
  Benchmark benchmark;
  benchmark.run = run;
  experiment::Experiment& e = benchmark.declaration;
  e.name = "micro.exchange";
  e.title = "Time of operations both ways";
  e.description =
      "Rank 0 issues `count` nonblocking operations to rank 1 and waits for all of them, while "
      "rank 1 waits inside the library, or does the same to rank 0. By how much an operation takes "
      "longer then is what serving the other rank costs, s(S); nothing where a NIC serves. A "
      "sample is the time per operation, of the rank that takes longer.";
  e.factors = {
      bytes_factor(),
      integer_factor("initiators", "1", "Rank 0 only, or both.", {int64_t{1}, int64_t{2}}, 1, 2),
      integer_factor("count", "1", "Operations of an initiator.", {int64_t{4}}, 1, 4096)};
  e.factors.front().values = size_grid(8, int64_t{4} << 20, 1);
  e.variants = {"get", "put"};
  e.metric = {"time_per_operation", "s", true};
  e.min_ranks = 2;
  e.max_ranks = kMostRanks;
  e.verification = "The operations are made into spoiled memory and every slot compared.";
  e.feeds = {"network.get.s", "network.put.s"};
  return benchmark;
}

}  // namespace stripline::suites
