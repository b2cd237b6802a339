// What a program's calls repeat: the shortest sequence that was made several times in succession,
// which is its iteration, or an inner one, and a call in it that marks its beginning. Depends on
// the calls and nothing else, so that ranks that make the same calls find the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace stripline::decide {

class CallRhythm {
 public:
  /// The longest iteration that is found, in calls.
  static constexpr uint32_t kLongest = 512;

  /// A call that marks iterations.
  struct Anchor {
    uint64_t id = 0;
    uint32_t times = 1;  ///< that it is made in an iteration
    uint32_t calls = 0;  ///< that an iteration has
  };

  /// `repeats`: an iteration is one that was made this often after it was made first; at least 1.
  explicit CallRhythm(uint32_t repeats) : repeats_(repeats), ids_(kLongest), runs_(kLongest + 1) {}

  /// One more call, by a number that tells calls apart. Takes time in proportion to kLongest.
  void add(uint64_t id);

  /// Calls that were added.
  uint64_t calls() const { return calls_; }

  /// True if the calls of late are an iteration that repeats, and how many calls it has; else 0.
  bool found() const { return period_ != 0; }
  uint32_t period() const { return period_; }
  /// The call of what was found that is made least often in an iteration; of several such, the one
  /// that comes next. The next call begins an iteration.
  Anchor anchor() const;
  /// True if a call is part of the iteration that was found.
  bool contains(uint64_t id) const;

 private:
  uint64_t before(uint64_t calls) const { return ids_[(calls_ - calls) % kLongest]; }

  uint32_t repeats_;
  uint64_t calls_ = 0;
  uint32_t period_ = 0;
  std::vector<uint64_t> ids_;   // a ring
  std::vector<uint32_t> runs_;  // by distance: calls in succession that equal the one before
};

}  // namespace stripline::decide
