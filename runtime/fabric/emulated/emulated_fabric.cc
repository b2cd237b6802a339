#include "runtime/fabric/emulated/emulated_fabric.h"

#include "base/cut_text.h"
#include "runtime/fabric/emulated/compute_trace.h"
#include "runtime/fabric/emulated/profile.h"
#include "runtime/fabric/emulated/real_engine.h"
#include "runtime/fabric/emulated/shared_region.h"
#include "runtime/fabric/emulated/virtual_engine.h"

namespace stripline::fabric {

Result<std::unique_ptr<Fabric>> open_emulated_fabric(const OpenOptions& options) {
  if (options.clock != "real" && options.clock != "virtual") {
    return Error(ErrorCode::invalid_argument,
                 "unknown clock " + quoted_text(options.clock) + "; it is real or virtual");
  }
  if (options.progress != Progress::in_calls) {
    return Error(ErrorCode::invalid_argument,
                 "fabric " + quoted_text(options.fabric) +
                     " has progress inside of calls only: an emulated rank is one thread, and its "
                     "profile says itself which operations wait for their target; unset "
                     "STRIPLINE_PROGRESS");
  }
  STRIPLINE_ASSIGN_OR_RETURN(ProfileRequest request, resolve_profile(options.fabric));
  const bool on_virtual_clock = options.clock == "virtual";
  if (!on_virtual_clock) STRIPLINE_RETURN_IF_ERROR(check_reproducible(request, options.ranks));
  ComputeTrace trace(options.rank, options.ranks);
  const std::string trace_file = compute_trace_path(request.trace_path, options.rank);
  if (request.compute == ComputeMode::record) {
    STRIPLINE_RETURN_IF_ERROR(prepare_compute_trace(trace_file));
  } else if (request.compute == ComputeMode::replay) {
    STRIPLINE_ASSIGN_OR_RETURN(trace, read_compute_trace(trace_file, options.rank, options.ranks));
  }
  const Profile& profile = request.profile;
  const uint32_t nodes = (options.ranks + profile.ranks_per_node - 1) / profile.ranks_per_node;
  const uint32_t links = profile.tree.links(nodes);
  const SharedRegion::Shape shape{
      .job_id = options.job_id,
      .ranks = options.ranks,
      .nodes = nodes,
      .links = links,
      .buffers = profile.tree.packets().buffer_bytes == 0 ? 0 : nodes + links,
      .ring_slots = profile.injection_limit,
      .max_message_bytes = profile.max_message_bytes,
      .segment_bytes = options.segment_bytes};
  STRIPLINE_ASSIGN_OR_RETURN(SharedRegion region,
                             SharedRegion::open(shape, options.rank, options.crew));
  std::unique_ptr<Fabric> fabric =
      on_virtual_clock
          ? make_virtual_engine(std::move(request), options, std::move(region), std::move(trace))
          : make_real_engine(std::move(request), options, std::move(region));
  return fabric;
}

}  // namespace stripline::fabric
