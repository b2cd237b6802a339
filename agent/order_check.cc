#include "agent/order_check.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/host_memory.h"
#include "base/job_memory.h"
#include "base/json.h"
#include "base/network_name.h"
#include "base/quantity.h"
#include "optimizer/experiment/json.h"

namespace stripline::agent {
namespace {

// What servers send is below a tenth of these.
constexpr size_t kMaxModelBytes = size_t{4} << 20;
constexpr size_t kMaxJobIdBytes = 64;
// As long as the longest campaign.
constexpr double kMaxDeadlineS = 86400;

// It names files in /dev/shm.
bool is_job_id(const std::string& id) {
  return !id.empty() && id.size() <= kMaxJobIdBytes && std::ranges::all_of(id, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

Status check_form(const Assignment& order, const experiment::Assignment& work) {
  if (!is_job_id(order.job_id)) {
    return Error(ErrorCode::data_loss, "'" + order.job_id + "' is not the name of a job");
  }
  if (work.model_json.size() > kMaxModelBytes) {
    return Error(ErrorCode::data_loss, "its model has " + bytes_text(work.model_json.size()));
  }
  if (!(work.deadline_s > 0 && work.deadline_s <= kMaxDeadlineS)) {
    return Error(ErrorCode::data_loss,
                 "its deadline is not within " + exact_seconds_text(kMaxDeadlineS));
  }
  return {};
}

Status check_points(const experiment::Assignment& work, const Description& offered) {
  std::map<std::string, const experiment::Experiment*> declarations;
  for (const auto& declaration : offered.experiments) {
    declarations[declaration.name] = &declaration;
  }
  for (experiment::Point point : work.points) {
    const auto found = declarations.find(point.experiment);
    if (found == declarations.end()) {
      return Error(ErrorCode::failed_precondition,
                   "it offers no experiment '" + point.experiment + "'");
    }
    if (const auto problem = complete_point(*found->second, point)) {
      return Error(ErrorCode::failed_precondition, *problem);
    }
  }
  return {};
}

Status check_room(uint64_t ranks, const experiment::Assignment& work, const Description& offered,
                  const Room& room) {
  if (offered.max_ranks > 0 && ranks > offered.max_ranks) {
    return Error(ErrorCode::resource_exhausted,
                 "it has room for " + count_text(offered.max_ranks, "rank") + ", not for " +
                     std::to_string(ranks) + "; ask for fewer ranks or for more nodes");
  }
  if (!offered.memory) return {};
  const RankMemory& memory = *offered.memory;
  JobMemory job{.ranks = ranks, .segment_bytes = memory.segment_bytes};
  const auto known = memory.runtime_bytes.find(network_name(work.fabric));
  job.runtime_bytes = (known == memory.runtime_bytes.end() ? 0 : known->second) +
                      memory.peer_bytes * (work.ranks - 1);
  STRIPLINE_RETURN_IF_ERROR(check_job_memory(job, room.memory));
  if (!work.fabric.starts_with("emulated:")) return {};
  const JobMemory segments{.ranks = ranks, .segment_bytes = memory.segment_bytes};
  if (total_bytes(segments) <= room.shared_bytes.value_or(0)) return {};
  return Error(ErrorCode::resource_exhausted, count_text(ranks, "segment") + " of " +
                                                  bytes_text(memory.segment_bytes) +
                                                  " do not fit into /dev/shm, which has " +
                                                  bytes_text(room.shared_bytes.value_or(0)) +
                                                  " free; " + std::string(kEnlargeSharedMemory));
}

Status check_against(const Assignment& order, const Description& offered, const Room& room) {
  STRIPLINE_ASSIGN_OR_RETURN(const Json json, parse_json(*order.assignment_json, "the order"));
  STRIPLINE_ASSIGN_OR_RETURN(const auto work, experiment::assignment_from_json(json));
  STRIPLINE_RETURN_IF_ERROR(check_form(order, work));
  if (std::ranges::find(offered.fabrics, network_name(work.fabric)) == offered.fabrics.end() ||
      !has_options_of_campaigns_only(work.fabric)) {
    return Error(ErrorCode::failed_precondition, "it offers no fabric '" + work.fabric + "'");
  }
  const std::set<uint32_t> ranks(order.ranks.begin(), order.ranks.end());
  if (ranks.empty() || ranks.size() != order.ranks.size() || *ranks.rbegin() >= work.ranks) {
    return Error(ErrorCode::data_loss,
                 "the order gives it " + count_text(order.ranks.size(), "rank") + " of " +
                     std::to_string(work.ranks) + ", some of them twice or none of the job's");
  }
  STRIPLINE_RETURN_IF_ERROR(check_room(ranks.size(), work, offered, room));
  return check_points(work, offered);
}

}  // namespace

Room Room::read() { return {MemoryLimits::read(), shared_memory_free_bytes()}; }

Status check_order(const Assignment& order, const std::string& node, const Description& offered,
                   const Room& room) {
  const Status checked = check_against(order, offered, room);
  if (checked.ok()) return {};
  return checked.error().with_context("nodes/" + node + " refuses the order");
}

}  // namespace stripline::agent
