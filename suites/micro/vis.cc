// micro.vis: transfers of many regions by each method, with computation meanwhile (Iancu et al.,
// section 3, Figure 4).
#include <algorithm>
#include <string>
#include <vector>

#include "optimizer/plan/score_map.h"
#include "suites/compute_bodies.h"
#include "suites/grids.h"
#include "suites/kernels/counted_work.h"
#include "suites/micro/closed_form.h"
#include "suites/micro/micro.h"
#include "suites/micro/transfer.h"
#include "suites/micro/vis_transfer.h"
#include "suites/repeat.h"

namespace stripline::suites {
namespace {

using experiment::SampleSeries;

// How often each element is gone through.
constexpr size_t kLightSweeps = 1;
constexpr size_t kHeavySweeps = 16;

VisMethod method_of(const std::string& variant) {
  return plan::method_named<VisMethod>(variant, plan::kVisMethodNames).value_or(VisMethod::best);
}

// What the ranks do during the transfer: sums over as much data as it moves.
class Computation : public CountedWork {
 public:
  Computation(const std::string& compute, size_t bytes)
      : sweeps_(compute == "heavy"   ? kHeavySweeps
                : compute == "light" ? kLightSweeps
                                     : 0),
        data_(std::max<size_t>(1, bytes / sizeof(double))) {
    for (size_t i = 0; i < data_.size(); ++i) data_[i] = cyclic_element(i);
  }
  bool any() const { return sweeps_ > 0; }
  void run() {
    for (size_t i = 0; i < sweeps_; ++i) sum_ += reduce(data_.data(), data_.size());
    did(sweeps_ * data_.size(), 1, sizeof(double));
    runs_ += sweeps_;
    asm volatile("" : : "g"(&sum_) : "memory");
  }
  bool correct() const { return sum_ == static_cast<double>(runs_ * cyclic_sum(data_.size())); }

 private:
  size_t sweeps_;
  size_t runs_ = 0;
  double sum_ = 0;
  std::vector<double> data_;
};

Result<SampleSeries> run_vis(Session& session, const experiment::Point& point,
                             const experiment::StopRule& rule) {
  Context& ctx = session.context();
  const bool transfers = point.variant != "compute";
  const std::string compute = experiment::text_param(point, factor::kClass).value_or("");
  const auto direction = experiment::text_param(point, factor::kDirection) == "put"
                             ? plan::Direction::put
                             : plan::Direction::get;
  VisOptions options;
  options.method = method_of(point.variant);
  options.self_check = false;
  options.bounding_box = true;
  for (const VisCompute of_class :
       {VisCompute::communication_only, VisCompute::light, VisCompute::heavy}) {
    if (compute == plan::to_string(static_cast<plan::ComputeClass>(of_class))) {
      options.compute = of_class;
    }
  }
  if (!transfers && options.compute == VisCompute::communication_only) {
    return Error(ErrorCode::invalid_argument, "variant compute takes a class that computes");
  }
  options.chunk_bytes = size_param(point, factor::kChunkBytes);
  options.window = static_cast<uint32_t>(size_param(point, factor::kWindow));
  if (options.method == VisMethod::native_iov &&
      size_param(point, factor::kIovLimit) != vis_iov_limit(session)) {
    return Error(ErrorCode::invalid_argument, "operations of this network take " +
                                                  std::to_string(vis_iov_limit(session)) +
                                                  " regions, which iov_limit must say");
  }
  STRIPLINE_ASSIGN_OR_RETURN(auto area, VisTransfer::create(session, point, direction));
  if (transfers) STRIPLINE_RETURN_IF_ERROR(area.check_method(options));

  SampleSeries series;
  Computation work(compute, area.data_bytes());
  work.count_work(ctx.work());
  const auto initiate = [&] {
    const double start_s = ctx.now_s();
    if (transfers) {
      const future transfer = area.start(options);
      work.run();
      transfer.wait();
    } else {
      work.run();
    }
    return ctx.now_s() - start_s;
  };
  if (work.any()) {
    // The target does as much as the initiator, at the same time.
    repeat_together(
        session, rule,
        [&] {
          ctx.barrier();
          if (ctx.rank_me() == 0) return initiate();
          if (ctx.rank_me() == 1) work.run();
          return 0.0;
        },
        series);
  } else {
    if (ctx.rank_me() == 0) repeat_alone(session, rule, initiate, series);
    ctx.barrier();
  }
  const bool arrived = !transfers || area.verify(options);
  series.verified = arrived && work.correct();
  return series;
}

}  // namespace

Benchmark vis_benchmark() {
  return declare(
      {.known = micro::kVis,
       .run = run_vis,
       .title = "Transfers of many regions, by method",
       .description =
           "Rank 0 gets from, or puts to, rank 1 regions of equal size and distance, which it "
           "holds without gaps, by one strided call carried out by one method (the variants). In "
           "the classes light and heavy both ranks compute while the transfer is in progress, "
           "without entering the library: they sum up as much data as it moves, once or 16 times; "
           "compute is that alone. A sample is the time until both are done.",
       .factors =
           joined(vis_shape_factors(
                      {int64_t{8}, int64_t{64}, int64_t{512}, int64_t{4096}},
                      {int64_t{2 << 10}, int64_t{16 << 10}, int64_t{64 << 10}, int64_t{256 << 10}},
                      {int64_t{2}, int64_t{16}}),
                  {name_factor(factor::kDirection, "Whether rank 0 gets or puts.", {"get", "put"}),
                   name_factor(factor::kClass, "What the ranks do meanwhile.",
                               {"communication_only", "light", "heavy"}),
                   integer_factor(factor::kChunkBytes, "B", "Size of packed messages.",
                                  {int64_t{plan::kLandingSlotBytes}}, 64, 1 << 20),
                   integer_factor(factor::kWindow, "1",
                                  "Operations or messages in flight; 0: as without a model.", {0},
                                  0, 1 << 20),
                   integer_factor(factor::kIovLimit, "1",
                                  "Regions that one operation of the network takes, as it "
                                  "says itself; for native_iov.",
                                  {4}, 1, 1 << 10)}),
       .metric = {"time", "s", true},
       .verification = "A byte pattern is transferred into spoiled memory and compared, with the "
                       "gaps of a put; the sums are compared with their closed form.",
       .feeds = {"vis.get", "vis.put"}});
}

}  // namespace stripline::suites
