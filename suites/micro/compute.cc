// micro.compute: seconds per element of the primitives that loops are made of.
#include <algorithm>
#include <string>
#include <vector>

#include "suites/compute_bodies.h"
#include "suites/eviction.h"
#include "suites/grids.h"
#include "suites/micro/closed_form.h"
#include "suites/micro/micro.h"
#include "suites/micro/transfer.h"
#include "suites/repeat.h"

namespace stripline::suites {
namespace {

using experiment::SampleSeries;

constexpr int64_t kSmallestFootprint = 4 << 10;
constexpr int64_t kLargestFootprint = 16 << 20;
// A repetition in cache sweeps the footprint until it has touched this many elements: long enough
// that reading the clock does not count.
constexpr size_t kElementsPerRepetition = 65536;

// Keeps the compiler from dropping a computation, or from knowing its input.
void keep(double value) {
  volatile double sink = value;
  (void)sink;
}
double unknown(double value) {
  volatile double source = value;
  return source;
}

class Primitive {
 public:
  virtual ~Primitive() = default;
  virtual size_t elements() const = 0;       // per sweep
  virtual double element_bytes() const = 0;  // that a sweep reads and writes for each
  virtual void sweep() = 0;
  virtual void evict(Evictor& evictor) = 0;
  virtual bool correct(size_t sweeps) = 0;  // after this many sweeps
};

class Reduction final : public Primitive {
 public:
  explicit Reduction(size_t bytes) : a_(std::max<size_t>(1, bytes / sizeof(double))) {
    for (size_t i = 0; i < a_.size(); ++i) a_[i] = cyclic_element(i);
  }
  size_t elements() const override { return a_.size(); }
  double element_bytes() const override { return sizeof(double); }
  void sweep() override {
    const double sum = reduce(a_.data(), a_.size());
    keep(sum);
    total_ += sum;
  }
  void evict(Evictor& evictor) override { evictor.evict(a_.data(), a_.size() * sizeof(double)); }
  bool correct(size_t sweeps) override {
    return total_ == static_cast<double>(sweeps * cyclic_sum(a_.size()));
  }

 private:
  std::vector<double> a_;
  double total_ = 0;
};

class Accumulation final : public Primitive {
 public:
  explicit Accumulation(size_t bytes)
      : a_(std::max<size_t>(1, bytes / (2 * sizeof(double)))), b_(a_.size()) {
    for (size_t i = 0; i < b_.size(); ++i) b_[i] = cyclic_element(i);
  }
  size_t elements() const override { return a_.size(); }
  double element_bytes() const override { return 3 * sizeof(double); }
  void sweep() override {
    accumulate(a_.data(), b_.data(), a_.size());
    keep(a_.front());
  }
  void evict(Evictor& evictor) override {
    evictor.evict(a_.data(), a_.size() * sizeof(double));
    evictor.evict(b_.data(), b_.size() * sizeof(double));
  }
  bool correct(size_t sweeps) override {
    for (size_t i = 0; i < a_.size(); ++i) {
      if (a_[i] != static_cast<double>(sweeps) * cyclic_element(i)) return false;
    }
    return true;
  }

 private:
  std::vector<double> a_;
  std::vector<double> b_;
};

class Chain final : public Primitive {
 public:
  size_t elements() const override { return kElementsPerRepetition; }
  double element_bytes() const override { return 0; }
  void sweep() override {
    value_ = chain(unknown(value_), unknown(1.0), kElementsPerRepetition);
    keep(value_);
  }
  void evict(Evictor&) override {}
  bool correct(size_t sweeps) override {
    return value_ == static_cast<double>(sweeps * kElementsPerRepetition);
  }

 private:
  double value_ = 0;
};

std::unique_ptr<Primitive> make_primitive(const std::string& variant, size_t bytes) {
  if (variant == "alu") return std::make_unique<Chain>();
  if (variant.starts_with("vec")) return std::make_unique<Accumulation>(bytes);
  return std::make_unique<Reduction>(bytes);
}

Result<SampleSeries> run_compute(Session& session, const experiment::Point& point,
                                 const experiment::StopRule& rule) {
  const size_t bytes = bytes_of(point);
  if ((point.variant == "alu") != (bytes == 0)) {
    return Error(ErrorCode::invalid_argument,
                 "variant alu touches no memory and takes bytes=0; the others take a footprint");
  }
  Context& ctx = session.context();
  SampleSeries series;
  if (ctx.rank_me() == 0) {
    const bool cold = point.variant.ends_with("_out");
    const auto primitive = make_primitive(point.variant, bytes);
    Evictor evictor;
    const size_t per_repetition =
        cold ? 1 : std::max<size_t>(1, kElementsPerRepetition / primitive->elements());
    const double elements = static_cast<double>(per_repetition * primitive->elements());
    size_t sweeps = 0;
    repeat_alone(
        session, rule,
        [&] {
          if (cold) primitive->evict(evictor);
          const double start_s = ctx.now_s();
          for (size_t i = 0; i < per_repetition; ++i) primitive->sweep();
          if (Work* const work = ctx.work()) {
            work->compute(elements, cold ? elements * primitive->element_bytes() : 0);
          }
          const double end_s = ctx.now_s();
          sweeps += per_repetition;
          return (end_s - start_s) / elements;
        },
        series);
    series.verified = primitive->correct(sweeps);
    if (!series.verified) series.note = "verification failed: the sum is wrong";
  }
  ctx.barrier();
  return series;
}

}  // namespace

Benchmark compute_benchmark() {
  std::vector<experiment::ParamValue> footprints =
      size_grid(kSmallestFootprint, kLargestFootprint, 1);
  footprints.emplace_back(int64_t{0});
  return declare(
      {.known = micro::kCompute,
       .run = run_compute,
       .title = "Seconds per element of compute primitives",
       .description = "Rank 0 runs one primitive on doubles: red (sum += a[i]), vec (a[i] += "
                      "b[i]), both with their footprint in cache (_in) or evicted before each "
                      "sweep (_out), and alu (a chain of dependent additions without memory, "
                      "bytes=0). The other ranks wait inside the library.",
       .factors = {integer_factor(factor::kBytes, "B",
                                  "Memory that one sweep touches, all arrays together; 0 for alu.",
                                  std::move(footprints), 0, double{1 << 30})},
       .metric = {"time_per_element", "s", true},
       .min_ranks = 1,
       .verification = "The sums are compared with their closed form.",
       .feeds = {"compute.red_in", "compute.red_out", "compute.vec_in", "compute.vec_out",
                 "compute.alu"}});
}

}  // namespace stripline::suites
