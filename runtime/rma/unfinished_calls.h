// Calls of the program that have returned as if they were complete, and are not (runtime/bulk): who
// completes them before anything could show the difference. Operations (operations.h) ask. In most
// programs there is no one to ask, which costs a comparison.
#pragma once

#include <cstddef>
#include <cstdint>

#include <stripline/call_site.h>
#include <stripline/global_ptr.h>

#include "runtime/rma/access_log.h"

namespace stripline::rma {

class UnfinishedCalls {
 public:
  UnfinishedCalls() = default;
  UnfinishedCalls(const UnfinishedCalls&) = delete;
  UnfinishedCalls& operator=(const UnfinishedCalls&) = delete;

  /// An operation of this rank is about to access this range, or, without bytes, memory of the rank
  /// that is not named.
  virtual void before(Access access, rank_t target, uint64_t offset, size_t bytes) = 0;
  /// Something follows by which other ranks may learn of what this one did: all are completed.
  virtual void complete() = 0;
  /// This rank has arrived at a barrier of all ranks. What takes time here delays no other rank.
  virtual void arrived() = 0;
  /// That barrier, which the program called here, is over.
  virtual void synchronised(CallSite site) = 0;

 protected:
  ~UnfinishedCalls() = default;
};

}  // namespace stripline::rma
