#include "optimizer/plan/list_time.h"

#include <algorithm>

#include "optimizer/plan/perturbed.h"

namespace stripline::plan::detail {

VisPlan list_plan(const ListGet& list, const CompiledPath& path,
                  const Surroundings& surroundings) noexcept {
  VisRequest many;
  many.direction = Direction::get;
  many.regions = static_cast<uint64_t>(list.elements);
  many.region_bytes = list.element_bytes;
  many.extent_bytes = std::max(list.span_bytes, many.regions * many.region_bytes);
  many.max_buffer_bytes = kUsualBoxBytes;
  many.medium_bytes = kLandingSlotBytes;
  many.message_bytes = kUsualMessageBytes;
  many.message_header_bytes = kListHeaderBytes;
  many.region_header_bytes = kListRegionHeaderBytes;
  many.peers = static_cast<uint32_t>(list.owners);
  many.surroundings = surroundings;
  if (list.tuned) return plan_vis(many, &path.vis);
  const VisPlan untuned = baseline_of_vis(many);
  return force_vis(many, &path.vis, untuned.method, untuned.chunk_bytes, untuned.window);
}

double list_get_s(const ListGet& list, const CompiledPath& path, const Surroundings& surroundings,
                  const Ends& ends) noexcept {
  const VisPlan plan = list_plan(list, path, surroundings);
  // As far as that may be wrong.
  double factor = 1;
  const cost::Corner corner = ends.of(Source::regions);
  if (corner == cost::Corner::low) factor = 1 / kUnmeasuredFactor;
  if (corner == cost::Corner::high) factor = kUnmeasuredFactor;
  // The transfers of other owners are in flight at the same time, and take this rank what issuing,
  // the NIC and unpacking take.
  const auto bytes = static_cast<uint64_t>(list.elements * static_cast<double>(list.element_bytes));
  const cost::LinkCosts& get = path.vis.link(Direction::get);
  const cost::MessageCosts message = at_ends(get.at(bytes), get.at(bytes, ends.corner), ends);
  const double nic_ranks = std::max(surroundings.nic_ranks, 1U);
  const auto size = static_cast<double>(bytes);
  const double each = std::max(message.o(size) + message.r(size), nic_ranks * message.gap(size)) +
                      path.vis.pack().unpack(list.elements, size, bytes, corner);
  return plan.predicted_s * factor + (list.owners - 1) * each;
}

}  // namespace stripline::plan::detail
