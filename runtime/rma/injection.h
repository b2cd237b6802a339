// What an injection_context does: its own queue where there is one, else the rank's, in turns with
// the other threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <stripline/atomic.h>
#include <stripline/context.h>

#include "runtime/fabric/fabric.h"
#include "runtime/rma/call.h"
#include "runtime/rma/context_life.h"
#include "runtime/rma/context_state.h"
#include "runtime/rma/implicit_operations.h"
#include "runtime/rma/injection_queue.h"

namespace stripline::detail {

class Injection {
 public:
  /// Without a `queue`, `why_shared` says why.
  Injection(Context& context, std::unique_ptr<rma::InjectionQueue> queue, std::string why_shared);
  /// Completes what is in flight, unless the Context has gone, or this is a child process.
  ~Injection();
  Injection(const Injection&) = delete;
  Injection& operator=(const Injection&) = delete;

  const std::string& why_shared() const { return why_shared_; }
  /// Null: there is none.
  const rma::InjectionQueue* queue() const { return queue_.get(); }

  void get(const rma::Call& call, global_ptr<const std::byte> source, std::byte* destination,
           size_t bytes);
  void put(const rma::Call& call, const std::byte* source, global_ptr<std::byte> destination,
           size_t bytes);
  void atomic(const rma::Call& call, const AtomicDomain& domain,
              const fabric::AtomicRequest& request, global_ptr<std::byte> variable, void* previous);
  void fence(CallSite site);

 private:
  void check(const rma::Call& call) const;
  bool try_fence_shared();

  Context& context_;
  ContextState& state_;
  const std::shared_ptr<ContextLife> life_;
  /// Debug mode or a trace: each operation is made by a call of the Context.
  const bool observed_;
  std::unique_ptr<rma::InjectionQueue> queue_;
  const std::string why_shared_;
  rma::ImplicitOperations shared_;  // by the rank's queue
  bool uses_shared_ = false;        // some of those may be in flight
};

}  // namespace stripline::detail
