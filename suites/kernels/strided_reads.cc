// kernel.strided_reads: few values of another rank at a distance from each other (Chen, Optimizing
// PGAS Programs for Cluster Architectures, 2007, figure 6.5).
#include <vector>

#include <stripline/fine.h>
#include <stripline/vis.h>

#include "base/random.h"
#include "suites/grids.h"
#include "suites/kernels/kernels.h"
#include "suites/kernels/measure_kernel.h"
#include "suites/kernels/symmetric_memory.h"

namespace stripline::suites {
namespace {

constexpr const char* kReadsFactor = "reads";
constexpr size_t kReadRounds = 100;  // of a repetition, as one is short

double value_of(rank_t rank, size_t number, uint64_t salt) {
  return static_cast<double>(hash_of(salt, rank, number) % 1000);
}

class StridedReads {
 public:
  StridedReads(Context& context, global_ptr<double> there, size_t reads, size_t stride)
      : context_(context), there_(there), stride_(stride), values_(reads) {}

  const std::vector<double>& values() const { return values_; }

  void one_by_one() {
    for (size_t i = 0; i < values_.size(); ++i) values_[i] = context_.rget(place(i));
  }
  void pipelined() {
    for (size_t i = 0; i < values_.size(); ++i) {
      gets_.push_back(context_.rget(place(i), &values_[i], 1));
    }
    wait_all(gets_);
    gets_.clear();
  }
  void in_a_box() {
    box_.resize((values_.size() - 1) * stride_ + 1);
    context_.rget(there_, box_.data(), box_.size()).wait();
    for (size_t i = 0; i < values_.size(); ++i) values_[i] = box_[i * stride_];
  }
  void packed() {
    const auto there = static_cast<std::ptrdiff_t>(stride_ * sizeof(double));
    constexpr std::ptrdiff_t kHere = sizeof(double);
    const size_t count = values_.size();
    rget_strided<1>(context_, there_, &there, values_.data(), &kHere, &count,
                    {.method = VisMethod::packed})
        .wait();
  }
  // In one of its own, so that nothing has been read before.
  void in_a_region() {
    fine_region fine(context_);
    std::vector<lazy<double>> values;
    values.reserve(values_.size());
    for (size_t i = 0; i < values_.size(); ++i) values.push_back(fine.read(place(i)));
    for (size_t i = 0; i < values_.size(); ++i) values_[i] = values[i];
  }

 private:
  global_ptr<double> place(size_t number) const {
    return there_ + static_cast<std::ptrdiff_t>(number * stride_);
  }

  Context& context_;
  const global_ptr<double> there_;
  const size_t stride_;
  std::vector<double> values_;
  std::vector<double> box_;
  std::vector<future> gets_;
};

Result<experiment::SampleSeries> run_strided_reads(Session& session, const experiment::Point& point,
                                                   const experiment::StopRule& rule) {
  Context& ctx = session.context();
  const size_t reads = size_param(point, kReadsFactor);
  const size_t stride = size_param(point, factor::kStride);
  const rank_t me = ctx.rank_me();
  const rank_t next = (me + 1) % ctx.rank_n();
  STRIPLINE_ASSIGN_OR_RETURN(const auto memory,
                             SymmetricMemory<double>::create(ctx, (reads - 1) * stride + 1));
  StridedReads kernel(ctx, memory.on(next), reads, stride);
  KernelParts parts;
  parts.prepare = [&](uint64_t salt) {
    for (size_t i = 0; i < reads; ++i) memory.here()[i * stride] = value_of(me, i, salt);
  };
  parts.run = [&] {
    for (size_t round = 0; round < kReadRounds; ++round) {
      if (point.variant == "naive") kernel.one_by_one();
      if (point.variant == "pipelined") kernel.pipelined();
      if (point.variant == "bounding_box") kernel.in_a_box();
      if (point.variant == "packed") kernel.packed();
      if (point.variant == variant::kFineRegion) kernel.in_a_region();
    }
  };
  parts.verify = [&](uint64_t salt) {
    for (size_t i = 0; i < reads; ++i) {
      if (kernel.values()[i] != value_of(next, i, salt)) return false;
    }
    return true;
  };
  parts.scale = 1 / static_cast<double>(kReadRounds);
  experiment::SampleSeries series = measure_kernel(session, rule, parts);
  if (!series.verified) series.note = "verification failed: a value is wrong";
  return series;
}

}  // namespace

Benchmark strided_reads_benchmark() {
  return declare(
      {.known = kernels::kStridedReads,
       .run = run_strided_reads,
       .title = "Few values at a distance from each other",
       .description = "Every rank reads doubles of the next one: one by one (naive), all at once "
                      "(pipelined), all from the first to the last byte (bounding_box), by a "
                      "transfer of many regions (packed), or in a fine_region, as it decides "
                      "(fine_region). A sample is the time of 100 rounds, divided by their number.",
       .factors = {integer_factor(kReadsFactor, "1", "Values.", {2, 8}, 1, 1 << 16),
                   integer_factor(factor::kStride, "1", "Doubles from one value to the next one.",
                                  {1, 8, 32, 64, 128, 256, 512, 2048}, 1, 1 << 16)},
       .metric = {"time_per_round", "s", true},
       .verification = "All values of the last round are compared in every repetition."});
}

}  // namespace stripline::suites
