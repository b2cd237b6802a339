// The calls of <stripline/bulk.h>.
#include <cstddef>

#include <stripline/bulk.h>

#include "runtime/bulk/engine.h"

namespace stripline {

using bulk::BulkEngine;

bulk_region::bulk_region(Context& context, const BulkOptions& options, CallSite site)
    : context_(context) {
  const auto inside = context.state().exclusive();
  BulkEngine::of(context).enter_region(options, site);
}

bulk_region::~bulk_region() {
  if (!context_.state().job.in_child()) BulkEngine::of(context_).leave_region();
}

bulk_region::burst::burst(Context& context, CallSite site) : context_(context) {
  BulkEngine::of(context).begin_burst(site);
}

bulk_region::burst::~burst() {
  if (!context_.state().job.in_child()) BulkEngine::of(context_).end_burst();
}

void detail::bulk_put(Context& context, const std::byte* source, global_ptr<std::byte> destination,
                      size_t bytes, CallSite site) {
  BulkEngine::of(context).put({"memput", site}, source, destination, bytes);
}

void detail::bulk_get(Context& context, std::byte* destination, global_ptr<const std::byte> source,
                      size_t bytes, CallSite site) {
  BulkEngine::of(context).get({"memget", site}, destination, source, bytes);
}

void detail::bulk_copy(Context& context, global_ptr<std::byte> destination,
                       global_ptr<const std::byte> source, size_t bytes, CallSite site) {
  BulkEngine& engine = BulkEngine::of(context);
  const rma::Call call("memcpy", site);
  const rma::Memory& memory = context.state().memory;
  memory.check(call, source.where(), source.offset(), bytes);
  memory.check(call, destination.where(), destination.offset(), bytes);
  if (bytes == 0) return;
  if (const std::byte* const from = memory.reachable(source.where()); from != nullptr) {
    return engine.put(call, from + source.offset(), destination, bytes);
  }
  if (std::byte* const to = memory.reachable(destination.where()); to != nullptr) {
    return engine.get(call, to + destination.offset(), source, bytes);
  }
  engine.copy_between(call, destination, source, bytes);
}

}  // namespace stripline
