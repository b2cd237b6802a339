// kernel.permutation: moves every element of an array to a place of its own, wherever that is.
#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include <stripline/shared_array.h>
#include <stripline/team.h>
#include <stripline/update.h>

#include "base/random.h"
#include "suites/grids.h"
#include "suites/kernels/engine.h"
#include "suites/kernels/kernels.h"
#include "suites/kernels/measure_kernel.h"
#include "suites/kernels/owner_buckets.h"

namespace stripline::suites {
namespace {

using experiment::SampleSeries;
using Array = shared_array<uint64_t, block_cyclic<>>;

constexpr const char* kNaive = "naive";
constexpr const char* kByHand = "by_hand";
constexpr const char* kTuned = "tuned";
constexpr const char* kElementsFactor = "elements_per_rank";

// Waiting for each element takes a round trip each.
constexpr size_t kNaiveElements = 1000;

// A permutation of any number of elements that each rank computes by itself where it needs it:
// four rounds of Feistel on the next even power of two, again while the result is too large.
class Permutation {
 public:
  explicit Permutation(uint64_t elements) : elements_(elements) {
    while ((uint64_t{1} << (2 * half_bits_)) < elements) ++half_bits_;
  }
  uint64_t operator()(uint64_t element) const {
    do element = encrypt(element);
    while (element >= elements_);
    return element;
  }

 private:
  uint64_t encrypt(uint64_t element) const {
    const uint64_t mask = (uint64_t{1} << half_bits_) - 1;
    uint64_t left = element >> half_bits_;
    uint64_t right = element & mask;
    for (uint64_t round = 0; round < 4; ++round) {
      const uint64_t next = left ^ (hash_of(round, right) & mask);
      left = right;
      right = next;
    }
    return left << half_bits_ | right;
  }

  uint64_t elements_;
  uint32_t half_bits_ = 1;
};

struct Moved {
  uint64_t to;
  uint64_t value;
};

Result<SampleSeries> run_permutation(Session& session, const experiment::Point& point,
                                     const experiment::StopRule& rule) {
  Context& ctx = session.context();
  const std::string& variant = point.variant;
  const size_t own = size_param(point, kElementsFactor);
  const uint64_t elements = own * ctx.rank_n();
  STRIPLINE_ASSIGN_OR_RETURN(Array array,
                             Array::create(ctx, elements, blocked(elements, ctx.rank_n())));
  const uint64_t first = own * ctx.rank_me();
  const size_t moves = variant == kNaive ? std::min(own, kNaiveElements) : own;
  const Permutation permutation(elements);
  std::vector<Moved> moved(moves);
  for (size_t i = 0; i < moves; ++i) moved[i].to = permutation(first + i);

  SampleSeries series;
  {
    const team world = team::world(ctx);
    UpdateEpoch<uint64_t, op_replace> epoch(ctx);
    OwnerBuckets<Moved> buckets(ctx);
    KernelParts parts;
    parts.prepare = [&](uint64_t salt) {
      std::ranges::fill(array.local_span(), uint64_t{0});
      for (size_t i = 0; i < moves; ++i) moved[i].value = mix64(first + i + salt);
    };
    parts.run = [&] {
      if (variant == kTuned) {
        const auto cells = epoch.into(array);
        for (const Moved& one : moved) cells.update(one.to, one.value);
        epoch.end();
        return;
      }
      if (variant == kByHand) {
        const std::span<uint64_t> mine = array.local_span();
        const auto owner_of = [&](const Moved& one) { return array.affinity(one.to); };
        for (const Moved& one : buckets.send(moved, owner_of)) mine[one.to - first] = one.value;
      } else {
        for (const Moved& one : moved) array.write(one.to, one.value);
      }
      ctx.barrier();
    };
    // Each place has a weight of its own; sums wrap.
    parts.verify = [&](uint64_t /*salt*/) {
      uint64_t difference = 0;
      const std::span<const uint64_t> mine = array.local_span();
      for (size_t i = 0; i < mine.size(); ++i) difference += mine[i] * (mix64(first + i) | 1U);
      for (const Moved& one : moved) difference -= one.value * (mix64(one.to) | 1U);
      return world.allreduce(difference, op_add{}) == 0;
    };
    parts.scale = 1 / static_cast<double>(moves);
    series = measure_kernel(session, rule, parts);
  }
  array.destroy();
  if (!series.verified) series.note = kWrongResult;
  return series;
}

}  // namespace

Benchmark permutation_benchmark() {
  return declare(
      {.known = kernels::kPermutation,
       .run = run_permutation,
       .title = "A permutation of an array over all ranks",
       .description =
           "Every rank moves its elements to where a random permutation says, in another array, in "
           "blocks (bale's permutations). naive writes them one by one, at most 1000 a rank; "
           "by_hand sorts places and values by owner and exchanges them with all_to_all_v; tuned "
           "is UpdateEpoch with op_replace. No two ranks write one element, so that locks and "
           "atomic operations would add nothing.",
       .factors = {integer_factor(kElementsFactor, "1", "Elements of a rank.", {1 << 20, 1000}, 1,
                                  1e9)},
       .metric = {"time_per_element", "s", true},
       .min_ranks = 1,
       .verification = "The sum of all elements, each weighted by its place, is compared with that "
                       "of what was moved in every repetition."});
}

}  // namespace stripline::suites
