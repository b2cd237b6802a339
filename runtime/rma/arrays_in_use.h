// Arrays that something which is in flight reads or writes, until the program waits for it:
// gathers, exchanges of halos. Who frees an array asks here.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/rma/call.h"

namespace stripline::rma {

class ArraysInUse {
 public:
  struct Use {
    const void* user;  ///< what is in flight
    Call call;         ///< that has begun it
    const std::byte* first;
    uint64_t bytes;
  };

  void add(const Use& use) { uses_.push_back(use); }
  /// All of what is in flight has been waited for.
  void remove(const void* user) {
    std::erase_if(uses_, [user](const Use& use) { return use.user == user; });
  }
  /// One that uses some of this memory; null: none does.
  const Use* find(const std::byte* first, uint64_t bytes) const {
    const auto at = reinterpret_cast<uintptr_t>(first);
    const auto found = std::ranges::find_if(uses_, [&](const Use& use) {
      const auto begin = reinterpret_cast<uintptr_t>(use.first);
      return begin < at + bytes && at < begin + use.bytes;
    });
    return found == uses_.end() ? nullptr : &*found;
  }

 private:
  std::vector<Use> uses_;  // few at a time
};

}  // namespace stripline::rma
