// micro.pack: what it costs the processor to gather regions into a message, and to scatter them.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include "runtime/vis/copy_rows.h"
#include "suites/grids.h"
#include "suites/micro/micro.h"
#include "suites/micro/transfer.h"
#include "suites/pattern.h"
#include "suites/repeat.h"

namespace stripline::suites {
namespace {

using experiment::SampleSeries;

// As large as a message: it stays in a cache.
constexpr size_t kMessageBytes = size_t{32} << 10;
// A repetition copies so much or more: long enough that reading the clock does not count.
constexpr size_t kBytesPerRepetition = size_t{512} << 10;

// Regions of equal size at equal distances, and a message that they are copied to or from, one
// message after the other.
class Regions {
 public:
  Regions(size_t region_bytes, size_t span_bytes, size_t stride)
      : bytes_(region_bytes),
        distance_(region_bytes * stride),
        count_(std::max<size_t>(1, span_bytes / distance_)),
        per_message_(std::clamp<size_t>(kMessageBytes / region_bytes, 1, count_)),
        memory_(count_ * distance_),
        message_(per_message_ * region_bytes) {
    fill_pattern(memory_, 1);
    fill_pattern(message_, 2);
  }

  size_t count() const { return count_; }
  size_t data_bytes() const { return count_ * bytes_; }

  // All regions; calls `after(first, regions)` when this many were packed from the first one on.
  template <typename After>
  void pack(const After& after) {
    for (size_t first = 0; first < count_; first += per_message_) {
      const size_t regions = std::min(per_message_, count_ - first);
      vis::copy_rows(message_.data(), in_message(), memory_.data() + first * distance_, in_memory(),
                     regions, bytes_);
      after(first, regions);
    }
  }
  template <typename After>
  void unpack(const After& after) {
    for (size_t first = 0; first < count_; first += per_message_) {
      const size_t regions = std::min(per_message_, count_ - first);
      vis::copy_rows(memory_.data() + first * distance_, in_memory(), message_.data(), in_message(),
                     regions, bytes_);
      after(first, regions);
    }
  }

  // True if regions and message agree, and what lies between the regions is untouched.
  bool agree(size_t first, size_t regions) const {
    for (size_t i = 0; i < regions; ++i) {
      if (std::memcmp(memory_.data() + (first + i) * distance_, message_.data() + i * bytes_,
                      bytes_) != 0) {
        return false;
      }
    }
    return true;
  }
  bool gaps_untouched() const {
    std::vector<std::byte> fresh(memory_.size());
    fill_pattern(fresh, 1);
    for (size_t i = 0; i < count_; ++i) {
      const size_t gap = i * distance_ + bytes_;
      if (std::memcmp(memory_.data() + gap, fresh.data() + gap, distance_ - bytes_) != 0) {
        return false;
      }
    }
    return true;
  }

 private:
  int64_t in_message() const { return static_cast<int64_t>(bytes_); }
  int64_t in_memory() const { return static_cast<int64_t>(distance_); }

  size_t bytes_;
  size_t distance_;
  size_t count_;
  size_t per_message_;
  std::vector<std::byte> memory_;
  std::vector<std::byte> message_;
};

Result<SampleSeries> run_pack(Session& session, const experiment::Point& point,
                              const experiment::StopRule& rule) {
  const size_t region_bytes = size_param(point, factor::kRegionBytes);
  const size_t span_bytes = size_param(point, factor::kSpanBytes);
  if (region_bytes > span_bytes) {
    return Error(ErrorCode::invalid_argument,
                 "span_bytes must be at least region_bytes: it holds one region or more");
  }
  Context& ctx = session.context();
  SampleSeries series;
  if (ctx.rank_me() == 0) {
    Regions regions(region_bytes, span_bytes, size_param(point, factor::kStride));
    const bool packing = point.variant == "pack";
    const size_t sweeps = std::max<size_t>(1, kBytesPerRepetition / regions.data_bytes());
    const auto copied = static_cast<double>(sweeps * regions.count());
    // The compiler must take each message for used.
    const auto used = [](size_t, size_t) { asm volatile("" ::: "memory"); };
    repeat_alone(
        session, rule,
        [&] {
          const double start_s = ctx.now_s();
          for (size_t i = 0; i < sweeps; ++i) {
            if (packing) {
              regions.pack(used);
            } else {
              regions.unpack(used);
            }
          }
          count_copy(ctx.work(), sweeps * regions.count(), region_bytes);
          return (ctx.now_s() - start_s) / copied;
        },
        series);
    series.verified = true;
    const auto check = [&](size_t first, size_t count) {
      series.verified = series.verified && regions.agree(first, count);
    };
    if (packing) {
      regions.pack(check);
    } else {
      regions.unpack(check);
    }
    series.verified = series.verified && regions.gaps_untouched();
  }
  ctx.barrier();
  return series;
}

}  // namespace

Benchmark pack_benchmark() {
  return declare(
      {.known = micro::kPack,
       .run = run_pack,
       .title = "Gathering regions into messages, and scattering them",
       .description = "Rank 0 copies regions of `region_bytes`, `stride` times that apart, into a "
                      "buffer of the size of a message, one message after the other (pack), or "
                      "from it (unpack), without any communication, by the loop that transfers "
                      "pack with. The regions with the gaps between them span `span_bytes`, and "
                      "are gone through again and again: small spans stay in a cache.",
       .factors = {integer_factor(factor::kRegionBytes, "B", "Size of a region.",
                                  {8, 64, 512, 4096}, 1, 1 << 20),
                   integer_factor(factor::kSpanBytes, "B",
                                  "Memory that the regions and the gaps between them take.",
                                  {16 << 10, 256 << 10, 2 << 20, 8 << 20}, 1, double{1 << 30}),
                   integer_factor(factor::kStride, "1",
                                  "Distance of two regions in units of their size.", {2}, 1,
                                  1 << 10)},
       .metric = {"time_per_region", "s", true},
       .min_ranks = 1,
       .verification = "Every region is compared with its place in the message, and what lies "
                       "between regions with what was there.",
       .feeds = {"pack.pack", "pack.unpack"}});
}

}  // namespace stripline::suites
