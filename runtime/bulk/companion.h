// A mechanism whose puts the bulk engine carries out (BulkEngine::defer()), and which holds back
// some of what the program has called: it is asked before the engine itself is
// (rma/unfinished_calls.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <stripline/call_site.h>
#include <stripline/global_ptr.h>

#include "runtime/rma/access_log.h"

namespace stripline::bulk {

/// While it lives, operations that an engine starts do not ask it, unless it is `asked` all the
/// same.
class Own {
 public:
  explicit Own(bool& own, bool asked = false)
      : own_(own), before_(std::exchange(own, own || !asked)) {}
  ~Own() { own_ = before_; }
  Own(const Own&) = delete;
  Own& operator=(const Own&) = delete;

 private:
  bool& own_;
  const bool before_;
};

class Companion {
 public:
  Companion() = default;
  Companion(const Companion&) = delete;
  Companion& operator=(const Companion&) = delete;

  /// As rma::UnfinishedCalls, or, with no access and no bytes, as its complete().
  virtual void before(rma::Access access, rank_t target, uint64_t offset, size_t bytes) = 0;
  /// As rma::UnfinishedCalls.
  virtual void arrived() {}
  virtual void synchronised(CallSite site) { static_cast<void>(site); }

 protected:
  ~Companion() = default;
};

}  // namespace stripline::bulk
