#include "optimizer/plan/gather.h"

#include <algorithm>

#include "optimizer/plan/gather_mechanism.h"
#include "optimizer/plan/perturbed.h"

namespace stripline::plan {
namespace {

// One put, until it is visible; of ranks that share a NIC each takes its turn.
double put_s(const GatherRequest& request, const CompiledPath& path, uint64_t bytes,
             const Ends& ends) {
  const cost::LinkCosts& put = path.vis.link(Direction::put);
  const cost::MessageCosts message =
      detail::at_ends(put.at(bytes), put.at(bytes, ends.corner), ends);
  const auto size = static_cast<double>(bytes);
  const uint32_t others = std::max(request.surroundings.nic_ranks, 1U) - 1;
  return message.one_way(size) + others * message.gap(size);
}

}  // namespace

double predict_gather(const GatherRequest& request, const CompiledPath& path, GatherMethod method,
                      const Ends& ends) noexcept {
  const bool packs = method == GatherMethod::pack;
  const uint64_t bytes = packs ? request.bytes() : request.all_span_bytes();
  // What is copied at a time: elements one by one if those of several arrays come side by side.
  uint64_t pieces = packs ? request.runs : 1;
  if (request.vectors > 1) pieces = bytes / request.element_bytes;
  const double copied_s =
      path.vis.pack().pack(static_cast<double>(pieces), static_cast<double>(bytes),
                           request.all_span_bytes(), ends.of(Source::regions));
  if (request.by_stores) return copied_s;
  const bool as_it_lies = !packs && request.vectors == 1;
  return (as_it_lies ? 0 : copied_s) + put_s(request, path, bytes, ends);
}

GatherDecision plan_gather(const GatherRequest& request, const CompiledPath* path) noexcept {
  NoRecord record;
  return choose<GatherMechanism>(request, GatherMechanism::known(request, path), record);
}

GatherDecision plan_gather(const GatherRequest& request, const CompiledPath* path,
                           GatherRecord& record) {
  return choose<GatherMechanism>(request, GatherMechanism::known(request, path), record);
}

}  // namespace stripline::plan
