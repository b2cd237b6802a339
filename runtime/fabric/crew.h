// Ranks of a job that are fibers of one thread: one of them runs until it lets another one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/result.h"

namespace stripline::fabric {

/// One for all ranks of such a job; used by the rank that runs.
class Crew {
 public:
  virtual ~Crew() = default;

  /// Lets `rank` run, where it stopped. Returns when this rank is let run again, which may be
  /// before what it waits for has happened. Somebody else is chosen if `rank` is this one, or has
  /// ended.
  virtual void resume(uint32_t rank) = 0;

  /// Lets the others run, one after the other.
  virtual void yield() = 0;

  /// Memory that all of them share, which every one asks for with the same size: zeroed, and taken
  /// up page by page as it is used. Errors: resource_exhausted; invalid_argument for another size.
  virtual Result<std::shared_ptr<std::byte>> shared_memory(size_t bytes) = 0;
};

}  // namespace stripline::fabric
