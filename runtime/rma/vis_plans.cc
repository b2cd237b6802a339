#include "runtime/rma/vis_plans.h"

#include <bit>

namespace stripline::rma {
namespace {

uint64_t hash_of(const plan::VisRequest& request) {
  constexpr uint64_t kMultiplier = 0x9e3779b97f4a7c15;
  uint64_t hash = 0;
  const auto mix = [&hash](uint64_t value) { hash = (std::rotl(hash, 23) ^ value) * kMultiplier; };
  mix(request.regions ^ std::rotl(request.region_bytes, 20) ^ std::rotl(request.extent_bytes, 40));
  mix(request.local_regions ^ std::rotl(static_cast<uint64_t>(request.compute), 40) ^
      std::rotl(static_cast<uint64_t>(request.direction), 48) ^
      std::rotl(uint64_t{request.message_header_bytes}, 52));
  mix(std::bit_cast<uint64_t>(request.surroundings.service_delay_s));
  return hash >> 32;
}

}  // namespace

VisPlans::VisPlans(const plan::CompiledModel& compiled)
    : compiled_(compiled), entries_(std::make_unique<std::array<Entry, kPlaces>>()) {}

const VisPlans::Plans& VisPlans::plans(const plan::VisRequest& request, model::Path path) {
  Entry& entry = (*entries_)[(hash_of(request) + static_cast<uint64_t>(path)) % kPlaces];
  if (!entry.known || entry.path != path || !(entry.request == request)) {
    entry = {true, path, request, {}};
    Plans& plans = entry.plans;
    plans.tuned = plan::plan_vis(request, costs(path));
    plans.simple = plan::plan_vis(request, nullptr);
    plans.same = plans.tuned.method == plans.simple.method &&
                 plans.tuned.window == plans.simple.window &&
                 plans.tuned.chunk_bytes == plans.simple.chunk_bytes;
  }
  return entry.plans;
}

}  // namespace stripline::rma
