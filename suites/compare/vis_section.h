// Strided transfers, by every method, beside a loop of blocking operations and beside packing by
// hand.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <stripline/context.h>

#include "suites/compare/hand_packed.h"

namespace stripline::suites::compare {

/// One method of moving the pieces.
struct VisTimes {
  std::string name;
  std::vector<double> seconds;  ///< of one transfer, by round
};

/// One transfer by all methods, in rounds that run each of them once, in turning order.
struct VisCell {
  bool is_put = false;
  Pieces pieces;
  std::vector<VisTimes> methods;
  size_t chosen = 0;  ///< of `methods`: as rput_strided and rget_strided do it by themselves
  size_t rival = 0;   ///< the better of loop and hand
  bool verified = true;
};

class VisSection {
 public:
  /// Data of one transfer, and what lies between the first and the last piece: density 50 %.
  static constexpr size_t kPayload = size_t{64} << 10;
  static constexpr size_t kSpan = 2 * kPayload;

  /// Collective.
  VisSection(Context& context, global_ptr<std::byte> array);

  /// On rank 0, while rank 1 makes progress.
  std::vector<VisCell> run(int rounds);

 private:
  VisCell measure(bool is_put, size_t piece_bytes, int rounds);

  Context& context_;
  global_ptr<std::byte> array_;
  HandPacked hand_;
  std::vector<std::byte> source_;
  std::vector<std::byte> sink_;
};

}  // namespace stripline::suites::compare
