// Says if a Context can be called: not after it has gone, and not in a child process that fork()
// has made of a rank. A child has a copy of all that belongs to the rank: its connections, its
// place in the job, the channel to the launcher. What it did with them, its parent would have done.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <sys/types.h>
#include <unistd.h>
#include <vector>

#include <stripline/global_ptr.h>

#include "runtime/rma/call.h"

namespace stripline::detail {

/// The life of one Context; outlives it where somebody keeps it.
class ContextLife {
 public:
  /// In the process of the rank, of a job of this many.
  explicit ContextLife(rank_t ranks);
  ~ContextLife();
  ContextLife(const ContextLife&) = delete;
  ContextLife& operator=(const ContextLife&) = delete;

  /// True in processes that were forked from the one which made this.
  bool in_child() const { return wiped_ ? memory_->mark == 0 : ::getpid() != process_; }
  /// The process that made this.
  pid_t process() const { return process_; }
  /// A pointer that children find to be null (where the kernel wipes memory for them: Linux 4.14
  /// and newer), so that who compares it with something needs no other question.
  const void*& only_here() { return memory_->only_here; }
  /// The same for each rank: where its segment is, for calls that ask for nothing else before they
  /// load or store. Null at first.
  std::span<std::byte*> segments_only_here() const { return segments_; }

  /// The Context has left its job.
  void end() { left_ = true; }
  /// Nothing of the Context may be used: what it has made, and what outlives it, ends silently.
  bool is_over() const { return left_ || in_child(); }
  /// Ends the process if the Context has gone: `call` is one of what has outlived it.
  void check(const rma::Call& call) const {
    if (left_) [[unlikely]]
      fail(call);
  }

 private:
  [[noreturn]] static void fail(const rma::Call& call);

  struct Memory {
    uint64_t mark = 1;
    const void* only_here = nullptr;
  };

  const pid_t process_;
  bool left_ = false;
  bool wiped_ = false;
  const size_t bytes_;  // of the pages
  // Where there are no pages.
  Memory own_;
  std::vector<std::byte*> own_segments_;
  // In pages that children get without what is in them.
  Memory* memory_ = &own_;
  std::span<std::byte*> segments_;
};

}  // namespace stripline::detail
