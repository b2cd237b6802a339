// How programs copy that are written plainly: one blocking memput() or memget() after the other,
// between barriers, without flags. Three variants of a kernel go together, by which bulk regions
// are judged (<stripline/bulk.h>; Chen, Optimizing PGAS Programs for Cluster Architectures, 2007,
// section 7.3): that program, the same with its copies made nonblocking by hand, and that program
// in a bulk region.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include <stripline/bulk.h>
#include <stripline/context.h>

#include "suites/kernels/strategies.h"

namespace stripline::suites {

/// The names of the variants; the third one is kBulkVariant.
inline constexpr const char* kPlainVariant = "plain";
inline constexpr const char* kPlainHandVariant = "plain_hand";

enum class PlainCopies { blocking, hand, bulk };

/// Nothing for a variant that is none of them.
inline std::optional<PlainCopies> plain_copies_of(std::string_view variant) {
  if (variant == kPlainVariant) return PlainCopies::blocking;
  if (variant == kPlainHandVariant) return PlainCopies::hand;
  if (variant == kBulkVariant) return PlainCopies::bulk;
  return std::nullopt;
}

/// The notes of their series.
inline const char* plain_note(PlainCopies copies) {
  switch (copies) {
    case PlainCopies::blocking:
      return "blocking copies between barriers";
    case PlainCopies::hand:
      return "copies between barriers, nonblocking by hand";
    case PlainCopies::bulk:
      return "blocking copies between barriers, in a bulk region";
  }
  return "";
}

/// The copies of a rank between two barriers. The context must outlive it.
class CopyCalls {
 public:
  CopyCalls(Context& context, bool by_hand) : context_(&context), by_hand_(by_hand) {}

  /// `source` may change when it returns, or by hand after finish().
  template <typename T>
  void put(global_ptr<T> destination, const T* source, size_t count) {
    if (by_hand_) {
      in_flight_.push_back(context_->rput(source, destination, count));
    } else {
      memput(*context_, destination, source, count);
    }
  }
  /// What is fetched is there when it returns, or by hand after finish().
  template <typename T>
  void get(T* destination, global_ptr<T> source, size_t count) {
    if (by_hand_) {
      in_flight_.push_back(context_->rget(source, destination, count));
    } else {
      memget(*context_, destination, source, count);
    }
  }
  void finish() {
    wait_all(in_flight_);
    in_flight_.clear();
  }

 private:
  Context* context_;
  bool by_hand_;
  std::vector<future> in_flight_;
};

}  // namespace stripline::suites
