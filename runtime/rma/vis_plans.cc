#include "runtime/rma/vis_plans.h"

#include <bit>

namespace stripline::rma {
namespace {

// The path that ranks talk over, as campaigns name it.
constexpr const char* kPath = "inter-node";

uint64_t hash_of(const plan::VisRequest& request) {
  constexpr uint64_t kMultiplier = 0x9e3779b97f4a7c15;
  uint64_t hash = 0;
  const auto mix = [&hash](uint64_t value) { hash = (std::rotl(hash, 23) ^ value) * kMultiplier; };
  mix(request.regions ^ std::rotl(request.region_bytes, 20) ^ std::rotl(request.extent_bytes, 40));
  mix(request.local_regions ^ std::rotl(static_cast<uint64_t>(request.compute), 40) ^
      std::rotl(static_cast<uint64_t>(request.direction), 48) ^
      std::rotl(uint64_t{request.message_header_bytes}, 52));
  return hash >> 32;
}

}  // namespace

VisPlans::VisPlans(const model::TunedModel* model)
    : entries_(std::make_unique<std::array<Entry, kPlaces>>()) {
  if (model == nullptr || model->network.empty()) return;
  const auto named = model->network.find(kPath);
  const auto path = named != model->network.end() ? named : model->network.begin();
  const auto measured = model->vis.find(path->first);
  costs_.emplace(path->second, model->pack,
                 measured != model->vis.end() ? &measured->second : nullptr);
}

plan::VisPlan VisPlans::best(const plan::VisRequest& request) {
  Entry& entry = (*entries_)[hash_of(request) % kPlaces];
  if (!entry.known || !(entry.request == request)) {
    entry = {true, request, plan::plan_vis(request, costs())};
  }
  return entry.plan;
}

plan::VisPlan VisPlans::forced(const plan::VisRequest& request, plan::VisMethod method,
                               uint64_t chunk_bytes, uint32_t window) const {
  return plan::force_vis(request, costs(), method, chunk_bytes, window);
}

}  // namespace stripline::rma
