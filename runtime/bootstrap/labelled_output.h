// What ranks print, line by line, each with the rank's number in front: of many ranks that print at
// once, whole lines reach the launcher's output.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/result.h"
#include "base/subprocess.h"

namespace stripline::bootstrap {

/// A thread that reads pipes, and writes their lines to descriptors of this process. A pipe's end
/// ends its last line, too. Lines longer than kLongestLine are divided. Where no one takes what is
/// written any more (EPIPE), it closes the pipe, so that the rank learns of it as without labels.
/// A reader that is slow makes ranks wait.
class LabelledOutput {
 public:
  static constexpr size_t kLongestLine = size_t{1} << 20;

  /// Labels are as wide as those of `ranks` ranks need. Errors: resource_exhausted.
  static Result<LabelledOutput> start(uint32_t ranks);

  LabelledOutput(LabelledOutput&&) noexcept;
  LabelledOutput& operator=(LabelledOutput&&) = delete;
  LabelledOutput(const LabelledOutput&) = delete;
  LabelledOutput& operator=(const LabelledOutput&) = delete;
  /// Writes what is in the pipes, does not wait for more, and gives up when nothing is taken for
  /// 5 s.
  ~LabelledOutput();

  /// A new pipe: what is written to the descriptor comes out of `to`, which stays open for longer
  /// than this object, behind the label of `rank`. One thread at a time. Errors:
  /// resource_exhausted.
  Result<UniqueFd> pipe_of(uint32_t rank, int to);

 private:
  class Relay;
  explicit LabelledOutput(std::unique_ptr<Relay> relay);
  std::unique_ptr<Relay> relay_;
};

}  // namespace stripline::bootstrap
