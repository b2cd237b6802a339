// The calls of <stripline/fine.h>.
#include <stripline/fine.h>

#include "runtime/fine/engine.h"

namespace stripline::detail {

using fine::FineEngine;

FineEntry enter_fine(Context& context, const FineOptions& options, CallSite site) {
  return FineEngine::of(context).enter(options, site);
}

void leave_fine(Context& context, uint32_t region) {
  if (!context.state().job.in_child()) FineEngine::of(context).leave(region);
}

void learn_fine(Context& context) { context.state().operations.acquire(); }

void issue_fine(Context& context) { FineEngine::of(context).issue(); }

FineRead start_fine_read(Context& context, global_ptr<const std::byte> source, size_t bytes,
                         CallSite site) {
  return FineEngine::of(context).read({"fine_region::read", site}, source, bytes);
}

void take_fine_read(FineRead& read, std::byte* value, size_t bytes, CallSite site) {
  FineEngine::of(*read.context).take(read, value, bytes, site);
}

void read_fine_now(Context& context, global_ptr<const std::byte> source, std::byte* value,
                   size_t bytes, CallSite site) {
  FineEngine::of(context).read_now({"fine_region::value", site}, source, value, bytes);
}

void drop_fine_read(const FineRead& read) { FineEngine::of(*read.context).drop(read); }

void fine_write(Context& context, const std::byte* source, global_ptr<std::byte> destination,
                size_t bytes, CallSite site) {
  FineEngine::of(context).write({"fine_region::write", site}, source, destination, bytes);
}

}  // namespace stripline::detail
