// micro.update_item: what one update costs the processors, apart from its message.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "base/random.h"
#include "optimizer/plan/update.h"
#include "suites/grids.h"
#include "suites/micro/micro.h"
#include "suites/micro/transfer.h"
#include "suites/repeat.h"

namespace stripline::suites {
namespace {

using experiment::SampleSeries;

// Items of a repetition: enough that reading the clock does not count.
constexpr size_t kPerRepetition = size_t{1} << 16;
constexpr size_t kPairBytes = sizeof(uint32_t) + sizeof(uint64_t);
constexpr size_t kBufferBytes = 8192;
constexpr size_t kPerBuffer = kBufferBytes / kPairBytes;
constexpr uint32_t kManyCells = uint32_t{1} << 31;

// Makes updates at random, which add 1.
class Updates {
 public:
  virtual ~Updates() = default;
  virtual void make(size_t count) = 0;
  virtual uint64_t sum() const = 0;  // of what all of them have added
};

// Written to the end of one of many buffers, in which they may find another one of their cell: most
// of them if there are few `cells`, none of them if there are many. Full buffers count as sent.
class Buffered final : public Updates {
 public:
  Buffered(size_t span_bytes, bool merges, uint32_t cells)
      : merges_(merges),
        cells_(cells),
        buffers_(std::max<size_t>(1, span_bytes / kBufferBytes)),
        lanes_(buffers_) {
    for (Lane& lane : lanes_) {
      lane.cells.resize(kPerBuffer);
      lane.values.resize(kPerBuffer);
      if (merges) lane.positions.resize(kPositions);
    }
  }

  void make(size_t count) override {
    for (size_t i = 0; i < count; ++i) {
      const uint64_t random = random_.next();
      Lane& lane = lanes_[(random >> 32U) * buffers_ >> 32U];
      // From the lower half, without a division.
      const auto cell = static_cast<uint32_t>((random & UINT32_MAX) * cells_ >> 32U);
      if (merges_) {
        uint16_t& position = lane.positions[cell % kPositions];
        if (position < lane.count && lane.cells[position] == cell) {
          ++lane.values[position];
          continue;
        }
        position = static_cast<uint16_t>(lane.count);
      }
      lane.cells[lane.count] = cell;
      lane.values[lane.count] = 1;
      if (++lane.count < kPerBuffer) continue;
      sent_ = std::accumulate(lane.values.begin(), lane.values.end(), sent_);
      lane.count = 0;
    }
  }

  uint64_t sum() const override {
    uint64_t sum = sent_;
    for (const Lane& lane : lanes_) {
      const auto end = lane.values.begin() + static_cast<std::ptrdiff_t>(lane.count);
      sum = std::accumulate(lane.values.begin(), end, sum);
    }
    return sum;
  }

 private:
  static constexpr size_t kPositions = 1024;
  struct Lane {
    std::vector<uint32_t> cells;
    std::vector<uint64_t> values;
    std::vector<uint16_t> positions;  // by cell, where it was last
    size_t count = 0;
  };

  bool merges_;
  uint32_t cells_;
  uint64_t buffers_;
  std::vector<Lane> lanes_;
  uint64_t sent_ = 0;
  SplitMix64 random_{1};
};

// From messages to their cells.
class Applied final : public Updates {
 public:
  explicit Applied(size_t span_bytes)
      : cells_(std::max<size_t>(1, span_bytes / sizeof(uint64_t))),
        addresses_(kPerBuffer),
        values_(kPerBuffer, 1) {}

  void make(size_t count) override {
    for (size_t done = 0; done < count; done += kPerBuffer) {
      const size_t updates = std::min(kPerBuffer, count - done);
      for (size_t i = 0; i < updates; ++i) {
        addresses_[i] = static_cast<uint32_t>((random_.next() >> 32U) * cells_.size() >> 32U);
      }
      for (size_t i = 0; i < updates; ++i) cells_[addresses_[i]] += values_[i];
    }
  }

  uint64_t sum() const override {
    return std::accumulate(cells_.begin(), cells_.end(), uint64_t{0});
  }

 private:
  std::vector<uint64_t> cells_;
  std::vector<uint32_t> addresses_;
  std::vector<uint64_t> values_;
  SplitMix64 random_{1};
};

// What an update reads and writes, as epochs declare it (runtime/update/epoch.cc): a cell and a
// value; merged, its position in the buffer, and the value that is there, too; not found, that
// position, and its own in its place; carried out, its cell once more to check it, and what the
// cell holds.
double declared_bytes(const std::string& variant) {
  constexpr size_t kCell = sizeof(uint32_t);
  constexpr size_t kValue = sizeof(uint64_t);
  if (variant == variant::kAppend) return kPairBytes;
  if (variant == variant::kMerge) return sizeof(uint16_t) + kPairBytes + 2 * kValue;
  if (variant == variant::kMiss) return 2 * sizeof(uint16_t) + kPairBytes;
  return kPairBytes + kCell + 2 * kValue;
}

std::unique_ptr<Updates> updates_of(const std::string& variant, size_t span_bytes) {
  if (variant == variant::kApply) return std::make_unique<Applied>(span_bytes);
  // Few enough cells that a buffer meets most of them again, or far more than it has room for.
  const bool misses = variant == variant::kMiss;
  return std::make_unique<Buffered>(span_bytes, misses || variant == variant::kMerge,
                                    misses ? kManyCells : uint32_t{kPerBuffer});
}

Result<SampleSeries> run_update_item(Session& session, const experiment::Point& point,
                                     const experiment::StopRule& rule) {
  Context& ctx = session.context();
  SampleSeries series;
  if (ctx.rank_me() == 0) {
    const auto updates = updates_of(point.variant, size_param(point, factor::kSpanBytes));
    uint64_t made = 0;
    const double each_bytes = declared_bytes(point.variant);
    repeat_alone(
        session, rule,
        [&] {
          const double start_s = ctx.now_s();
          updates->make(kPerRepetition);
          if (Work* const work = ctx.work()) work->compute(0, kPerRepetition * each_bytes);
          made += kPerRepetition;
          return (ctx.now_s() - start_s) / static_cast<double>(kPerRepetition);
        },
        series);
    series.verified = updates->sum() == made;
  }
  ctx.barrier();
  return series;
}

}  // namespace

Benchmark update_item_benchmark() {
  return declare(
      {.known = micro::kUpdateItem,
       .run = run_update_item,
       .title = "Updates, apart from their messages",
       .description =
           "Rank 0 makes updates of eight bytes, without any communication: writes them to the end "
           "of one of many buffers at random, which take `span_bytes` together (append); the same, "
           "where most of them meet another one of their cell in the buffer, and are merged with "
           "it (merge); carries out those of one message after the other, on cells at random "
           "among `span_bytes` (apply); and looks for another one of their cell in the buffer "
           "where there is none (miss). A sample is the mean time of an update, with that of "
           "finding its cell at random.",
       .factors = {integer_factor(factor::kSpanBytes, "B", "Memory that the updates go to.",
                                  {16 << 10, 256 << 10, 2 << 20, 16 << 20}, 8, double{1 << 30})},
       .metric = {"time_per_update", "s", true},
       .min_ranks = 1,
       .verification = "What has been added to all cells is compared with the number of updates.",
       .feeds = {"update.items"}});
}

}  // namespace stripline::suites
