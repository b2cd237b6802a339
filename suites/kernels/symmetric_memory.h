// A symmetric array that belongs to an object.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>

#include <stripline/context.h>

#include "base/result.h"

namespace stripline::suites {

/// Moves, does not copy. The context must outlive it.
template <typename T>
class SymmetricMemory {
 public:
  /// Collective: `count` elements on every rank, zero when it returns anywhere. Errors as
  /// Context::new_symmetric_array().
  static Result<SymmetricMemory> create(Context& context, size_t count) {
    STRIPLINE_ASSIGN_OR_RETURN(auto array, context.new_symmetric_array<T>(count));
    std::fill_n(context.local(array), count, T{});
    context.barrier();
    return SymmetricMemory(context, array);
  }
  /// Collective: waits until no rank puts there any more.
  ~SymmetricMemory() {
    if (context_ == nullptr) return;
    context_->barrier();
    context_->delete_symmetric_array(array_);
  }
  SymmetricMemory(SymmetricMemory&& other) noexcept
      : context_(std::exchange(other.context_, nullptr)), array_(other.array_) {}
  SymmetricMemory& operator=(SymmetricMemory&&) = delete;

  T* here() const { return context_->local(array_); }
  global_ptr<T> on(rank_t rank) const { return context_->on_rank(array_, rank); }

 private:
  SymmetricMemory(Context& context, global_ptr<T> array) : context_(&context), array_(array) {}

  Context* context_;
  global_ptr<T> array_;
};

}  // namespace stripline::suites
