// When a read whose value is used at once is fetched with its neighbourhood, a block, so that later
// reads need no message. What the program will read next is not known: blocks are paid for by what
// earlier ones have saved, and at first by a small share of the time that reads by themselves take.
// So a program that reads here and there loses that share at most, and one that comes back to where
// it has read has blocks after some reads.
#pragma once

#include <algorithm>
#include <cstdint>

namespace stripline::fine {

/// A value. Seconds are those that its owner has measured.
class ReadAhead {
 public:
  /// The share of the time of reads by themselves that blocks may take in vain.
  static constexpr double kShare = 0.02;
  /// Reads by themselves before the first block.
  static constexpr uint32_t kFirstReads = 4;

  /// A read was fetched by itself.
  void fetched_one(double seconds) {
    one_s_ = ones_ == 0 ? seconds : mean(one_s_, seconds);
    ones_ += ones_ < kFirstReads ? 1 : 0;
    save(kShare * std::min(seconds, kLongest * one_s_));
  }
  /// A read was fetched with its block. One that took far longer than others was interrupted by
  /// something else.
  void fetched_block(double seconds) {
    block_s_ = block_s_ == 0 ? seconds : mean(block_s_, seconds);
    balance_s_ -= std::clamp(seconds - one_s_, 0.0, kLongest * one_s_);
  }
  /// A read was served from a block.
  void served() { save(one_s_); }

  /// True if the next read that has to be fetched is to be fetched with its block.
  bool pays() const { return ones_ == kFirstReads && balance_s_ > 0; }
  /// True if a block that was asked for at `begun_s` is to be fetched again, `now_s`: it is old,
  /// and what is fetched again for that takes but a small share of the time. So a program that
  /// polls several places sees them change.
  bool refreshes(double begun_s, double now_s) {
    const double hold_s = kHolds * block_s_;
    if (now_s - begun_s <= hold_s || now_s < refresh_s_) return false;
    refresh_s_ = now_s + hold_s;
    return true;
  }

 private:
  static constexpr double kLongest = 8;     // times the mean, of one that counts in full
  static constexpr double kSaved = 64;      // reads, whose time may be saved up for blocks
  static constexpr double kHolds = 200;     // times as long as fetching one, between two of them
  static constexpr double kNewest = 0.125;  // share of the newest in a mean

  static double mean(double before, double now) { return before + kNewest * (now - before); }
  void save(double seconds) { balance_s_ = std::min(balance_s_ + seconds, kSaved * one_s_); }

  uint32_t ones_ = 0;
  double one_s_ = 0;
  double block_s_ = 0;
  double balance_s_ = 0;
  double refresh_s_ = 0;  // when another block may be refreshed
};

}  // namespace stripline::fine
