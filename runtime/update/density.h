// Where updates go, as far as some of them tell: counts in bins of whole cache lines. A look is at
// a few calls one after the other; between looks lie ever more calls, as long as nothing changes.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "optimizer/plan/shared_update.h"

namespace stripline::update {

class Density {
 public:
  Density(uint64_t cells, uint64_t line_cells)
      : cells_(cells),
        bin_cells_(whole_lines((cells + kMostBins - 1) / kMostBins, line_cells)),
        counts_((cells + bin_cells_ - 1) / bin_cells_) {}

  /// A call that updates `updates` cells from `index` on. True: the look is over.
  bool add(uint64_t index, uint64_t updates) {
    look_[in_look_++] = {static_cast<uint32_t>(index / bin_cells_), updates};
    return in_look_ == kLook;
  }
  /// Ends the look. What is old counts less and less; nothing at all once many updates go where
  /// none went before.
  void end_look() {
    in_look_ = 0;
    size_t strange = 0;
    for (const Call& call : look_) strange += counts_[call.bin] == 0 ? 1 : 0;
    const bool drifted = calls_ > 2 * kLook && strange > kLook / 4;
    if (drifted || calls_ > kMostCalls) {
      const uint64_t divisor = drifted ? kMostCalls : 2;
      for (uint32_t& count : counts_) count = static_cast<uint32_t>(count / divisor);
      calls_ /= divisor;
      updates_ /= divisor;
    }
    if (drifted) gap_ = kFirstGap;
    for (const Call& call : look_) {
      ++counts_[call.bin];
      updates_ += call.updates;
    }
    calls_ += kLook;
  }
  /// Calls before the next look: ever more as long as nothing changes.
  uint64_t next_gap(bool changed) {
    const uint64_t gap = gap_;
    gap_ = changed ? std::min(gap_, kGapAfterChange) : std::min(2 * gap_, kLongestGap);
    return gap;
  }

  /// Bins in which nothing was seen count half an update: they are not known to be empty.
  plan::UpdateDensity of(std::vector<uint32_t>& counts) const {
    counts.resize(counts_.size());
    std::transform(counts_.begin(), counts_.end(), counts.begin(),
                   [](uint32_t count) { return 2 * count + 1; });
    return {counts, bin_cells_, cells_};
  }
  double updates_per_call() const {
    return calls_ == 0 ? 1 : static_cast<double>(updates_) / static_cast<double>(calls_);
  }

 private:
  static uint64_t whole_lines(uint64_t cells, uint64_t line_cells) {
    return std::max<uint64_t>(1, (cells + line_cells - 1) / line_cells) * line_cells;
  }

  // A look and what follows from it are to take less than a thousandth of what lies between.
  static constexpr uint64_t kMostBins = 256;
  static constexpr uint64_t kLook = 128;
  static constexpr uint64_t kMostCalls = 2048;
  static constexpr uint64_t kFirstGap = 512;
  static constexpr uint64_t kGapAfterChange = 1 << 14;
  static constexpr uint64_t kLongestGap = 1 << 20;

  struct Call {
    uint32_t bin = 0;
    uint64_t updates = 0;
  };

  uint64_t cells_;
  uint64_t bin_cells_;
  std::array<Call, kLook> look_;
  std::vector<uint32_t> counts_;
  uint64_t calls_ = 0;
  uint64_t updates_ = 0;
  uint64_t in_look_ = 0;
  uint64_t gap_ = kFirstGap;
};

}  // namespace stripline::update
