#include "runtime/rma/vis_plans.h"

#include <array>
#include <bit>

#include "base/random.h"

namespace stripline::rma {

uint64_t hash_of(const VisKey& key) {
  const plan::VisRequest& request = key.request;
  Hash hash(key.path);
  hash.add(request.regions ^ std::rotl(request.region_bytes, 20) ^
           std::rotl(request.extent_bytes, 40));
  hash.add(request.local_regions ^ std::rotl(static_cast<uint64_t>(request.compute), 40) ^
           std::rotl(static_cast<uint64_t>(request.direction), 48) ^
           std::rotl(uint64_t{request.message_header_bytes}, 52));
  hash.add(std::bit_cast<uint64_t>(request.surroundings.service_delay_s));
  return hash.value();
}

VisSite& VisPlans::site(const plan::VisRequest& request, model::Path path) {
  return sites_.find_or_make({path, request}, [&](VisSite& site) {
    const plan::VisPlan tuned = plan::plan_vis(request, costs(path));
    const plan::VisPlan simple = plan::baseline_of_vis(request);
    const bool same = tuned.method == simple.method && tuned.window == simple.window &&
                      tuned.chunk_bytes == simple.chunk_bytes;
    site.decide(same ? decide::kBaseline : decide::Arm{1}, tuned);
    site.plan(decide::kBaseline, [&](decide::Arm, double) { return simple; });
    if (same) return;
    // What the other method takes by a model that may be wrong about it is not to keep iterations
    // from trying it.
    site.race().expect_times(std::array{0.0, tuned.predicted_s});
  });
}

}  // namespace stripline::rma
