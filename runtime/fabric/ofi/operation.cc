#include "runtime/fabric/ofi/operation.h"

#include <rdma/fabric.h>

namespace stripline::fabric::ofi {

static_assert(sizeof(fi_context2) <= sizeof(Operation::provider_space));
static_assert(offsetof(Operation, provider_space) == 0);

Result<BufferPool> BufferPool::create(Endpoint& endpoint, size_t count, size_t buffer_bytes) {
  constexpr size_t kCacheLine = 64;
  BufferPool pool;
  pool.buffer_bytes_ = (buffer_bytes + kCacheLine - 1) / kCacheLine * kCacheLine;
  pool.memory_.resize(count * pool.buffer_bytes_);
  pool.free_.reserve(count);
  for (size_t i = count; i-- > 0;) {
    pool.free_.push_back(pool.memory_.data() + i * pool.buffer_bytes_);
  }
  if (count > 0 && endpoint.limits().local_registration) {
    STRIPLINE_ASSIGN_OR_RETURN(pool.registration_, endpoint.register_memory(pool.memory_, false));
  }
  return pool;
}

}  // namespace stripline::fabric::ofi
