// kernel.phases: blocking copies between barriers, behind or before some computing: what a bulk
// region decides about (<stripline/bulk.h>).
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <stripline/bulk.h>

#include "base/random.h"
#include "suites/grids.h"
#include "suites/kernels/kernels.h"
#include "suites/kernels/measure_kernel.h"
#include "suites/kernels/plain_copies.h"
#include "suites/kernels/symmetric_memory.h"

namespace stripline::suites {
namespace {

constexpr const char* kCopiesFactor = "copies";
constexpr size_t kPhasesOfRun = 8;

uint64_t word_of(rank_t rank, size_t number, uint64_t salt) { return hash_of(salt, rank, number); }

// Copies from the next rank before it is computed with them, or to it after that.
class Phases {
 public:
  Phases(Context& context, const SymmetricMemory<uint64_t>& memory, const experiment::Point& point,
         size_t words)
      : context_(context),
        memory_(memory),
        copies_(size_param(point, kCopiesFactor)),
        words_(words),
        compute_s_(1e-6 * static_cast<double>(size_param(point, factor::kComputeUs))),
        gets_(experiment::text_param(point, factor::kDirection) == variant::kGet),
        by_hand_(point.variant == kPlainHandVariant),
        private_(copies_ * words) {}

  void prepare(uint64_t salt) {
    uint64_t* const from = gets_ ? memory_.here() : private_.data();
    uint64_t* const to = gets_ ? private_.data() : memory_.here();
    for (size_t i = 0; i < private_.size(); ++i) from[i] = word_of(context_.rank_me(), i, salt);
    std::fill_n(to, private_.size(), uint64_t{0});
  }
  void run() {
    CopyCalls calls(context_, by_hand_);
    for (size_t phase = 0; phase < kPhasesOfRun; ++phase) {
      context_.barrier();
      if (gets_ && !by_hand_) context_.compute_for(compute_s_);
      copy(calls);
      if (!gets_ || by_hand_) context_.compute_for(compute_s_);
      calls.finish();
    }
    context_.barrier();
  }
  bool verify(uint64_t salt) const {
    const rank_t ranks = context_.rank_n();
    const rank_t from = (context_.rank_me() + (gets_ ? 1 : ranks - 1)) % ranks;
    const uint64_t* const to = gets_ ? private_.data() : memory_.here();
    for (size_t i = 0; i < private_.size(); ++i) {
      if (to[i] != word_of(from, i, salt)) return false;
    }
    return true;
  }

 private:
  void copy(CopyCalls& calls) {
    const global_ptr<uint64_t> there = memory_.on((context_.rank_me() + 1) % context_.rank_n());
    for (size_t i = 0; i < copies_; ++i) {
      uint64_t* const here = private_.data() + i * words_;
      const global_ptr<uint64_t> at = there + static_cast<std::ptrdiff_t>(i * words_);
      if (gets_) {
        calls.get(here, at, words_);
      } else {
        calls.put(at, here, words_);
      }
    }
  }

  Context& context_;
  const SymmetricMemory<uint64_t>& memory_;
  const size_t copies_;
  const size_t words_;
  const double compute_s_;
  const bool gets_;
  const bool by_hand_;
  std::vector<uint64_t> private_;
};

Result<experiment::SampleSeries> run_phases(Session& session, const experiment::Point& point,
                                            const experiment::StopRule& rule) {
  Context& ctx = session.context();
  const size_t words = std::max<size_t>(size_param(point, factor::kBytes) / sizeof(uint64_t), 1);
  STRIPLINE_ASSIGN_OR_RETURN(const auto memory, SymmetricMemory<uint64_t>::create(
                                                    ctx, size_param(point, kCopiesFactor) * words));
  Phases phases(ctx, memory, point, words);
  std::optional<bulk_region> region;
  if (point.variant == kBulkVariant) region.emplace(ctx);
  if (point.variant == variant::kDeferred) {
    region.emplace(ctx, BulkOptions{.use_model = false, .self_check = false});
  }
  KernelParts parts;
  parts.prepare = [&](uint64_t salt) { phases.prepare(salt); };
  parts.run = [&] { phases.run(); };
  parts.verify = [&](uint64_t salt) { return phases.verify(salt); };
  parts.scale = 1 / static_cast<double>(kPhasesOfRun);
  experiment::SampleSeries series = measure_kernel(session, rule, parts);
  if (!series.verified) series.note = "verification failed: a copy is wrong";
  return series;
}

}  // namespace

Benchmark phases_benchmark() {
  return declare(
      {.known = kernels::kPhases,
       .run = run_phases,
       .title = "Blocking copies between barriers",
       .description =
           "Every rank computes for some time and then copies from the next rank, or copies to it "
           "and then computes, eight times with a barrier before each: by blocking calls (plain), "
           "by nonblocking ones that are in flight while it computes (plain_hand), by blocking "
           "calls in a bulk region, as it decides (bulk), and in one that never waits for them "
           "(deferred). A sample is the time of all divided by eight.",
       .factors = {integer_factor(kCopiesFactor, "1", "Copies of a phase.", {16}, 1, 4096),
                   integer_factor(factor::kBytes, "B", "Size of a copy, in whole words.", {4096}, 8,
                                  1 << 20),
                   name_factor(factor::kDirection, "From the next rank, or to it.",
                               {variant::kGet, variant::kPut}),
                   integer_factor(factor::kComputeUs, "us", "Computing of a phase.", {0, 100}, 0,
                                  1'000'000)},
       .metric = {"time_per_phase", "s", true},
       .verification = "All words are compared in every repetition."});
}

}  // namespace stripline::suites
