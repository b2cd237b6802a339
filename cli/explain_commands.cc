#include "cli/explain_commands.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>

#include "base/exit_codes.h"
#include "base/json.h"
#include "cli/console.h"
#include "cli/find_model.h"
#include "optimizer/model/paths.h"
#include "optimizer/plan/explain.h"
#include "optimizer/plan/explain_nest.h"
#include "optimizer/plan/explain_vis.h"
#include "optimizer/plan/explain_wavefront.h"
#include "optimizer/plan/nest_json.h"

namespace stripline::cli {
namespace {

// What offsets of global pointers reach.
constexpr uint64_t kMostExtent = uint64_t{1} << 44;

using NamedPath = decltype(model::TunedModel::network)::value_type;

// The path of this name, or the first.
Result<const NamedPath*> path_of(const model::TunedModel& model, const std::string& name) {
  const auto path = name.empty() ? model.network.begin() : model.network.find(name);
  if (path != model.network.end()) return &*path;
  if (model.network.empty()) {
    return Error(ErrorCode::failed_precondition,
                 "model " + model.name +
                     " has no path between ranks: its campaign measured no transfers, and nothing "
                     "can be planned by it; measure with two ranks or more ('stripline campaign "
                     "run')");
  }
  std::string known;
  for (const auto& [other, ignored] : model.network) known += (known.empty() ? "" : ", ") + other;
  return Error(ErrorCode::invalid_argument,
               "model " + model.name + " has no path '" + name + "'; it has: " + known);
}

const model::VisModel* vis_of(const model::TunedModel& model, const std::string& path) {
  const auto vis = model.vis.find(path);
  return vis == model.vis.end() ? nullptr : &vis->second;
}

plan::Direction direction_of(const std::string& name) {
  return name == "put" ? plan::Direction::put : plan::Direction::get;
}

template <typename Explanation>
int show(const Global& global, const std::string& about, const Explanation& explanation) {
  if (global.json) {
    print(plan::to_json(explanation).dump() + "\n");
  } else {
    print(about + "\n" + plan::to_text(explanation));
  }
  return kExitOk;
}

// What the paths of a model cost.
struct PathCosts {
  std::array<std::optional<plan::StripCosts>, model::kPaths> strip;
  std::array<std::optional<plan::VisCosts>, model::kPaths> vis;

  explicit PathCosts(const model::TunedModel& model) {
    for (size_t i = 0; i < model::kPaths; ++i) {
      const auto* const path = model::find_path(model, static_cast<model::Path>(i));
      if (path == nullptr) return;
      strip.at(i).emplace(path->second, model.compute, model.strip,
                          model::service_on(model, path->first));
      vis.at(i).emplace(path->second, model.pack, vis_of(model, path->first));
    }
  }
};

}  // namespace

int run(const Global& global, const ExplainLoop& command) {
  const auto model = find_model(global, command.source);
  if (!model.ok()) return print_error(model.error());
  const auto path = path_of(*model, command.path);
  if (!path.ok()) return print_error(path.error());
  if (command.bytes == 0) {
    return print_error(
        Error(ErrorCode::invalid_argument,
              "--bytes 0 leaves nothing to transfer; write the loop's remote data, e.g. 1MiB"));
  }
  if (command.element_bytes == 0 || command.bytes % command.element_bytes != 0) {
    return print_error(
        Error(ErrorCode::invalid_argument, "--bytes " + std::to_string(command.bytes) +
                                               " is no multiple of the element, " +
                                               std::to_string(command.element_bytes) + " bytes"));
  }
  if (command.peers > command.blocks) {
    return print_error(
        Error(ErrorCode::invalid_argument, "--peers " + std::to_string(command.peers) +
                                               " have a block each at least; --blocks says " +
                                               std::to_string(command.blocks)));
  }
  plan::StripRequest request;
  request.direction = direction_of(command.direction);
  request.total_bytes = command.bytes;
  request.blocks = command.blocks;
  request.peers = command.peers;
  request.uneven = command.uneven;
  request.nic_ranks = command.nic_ranks;
  request.served_between_strips = command.served_between_strips;
  request.load.nodes = command.nodes;
  for (size_t distance = 0; distance < command.distances.size(); ++distance) {
    request.load.at_distance.at(distance) = static_cast<uint16_t>(
        std::min<uint32_t>(command.distances[distance], std::numeric_limits<uint16_t>::max()));
  }
  request.element_bytes = command.element_bytes;
  request.granule_elements = command.granule_elements;
  request.halo_bytes = command.halo_bytes;
  request.placed = command.placed;
  request.max_buffer_bytes = command.buffer_bytes.value_or(std::numeric_limits<uint64_t>::max());
  request.own_bytes = command.own_bytes;
  request.compute_s = command.compute_s.value_or(-1);
  request.loop = {command.local_refs, command.int_ops, command.fp_ops, command.divisions};
  request.sweeps = command.sweeps;
  request.local_bytes = command.local_bytes;
  const plan::StripCosts costs((*path)->second, model->compute, model->strip,
                               model::service_on(*model, (*path)->first));
  return show(global, model->name + ", path " + (*path)->first, plan::explain(request, &costs));
}

int run(const Global& global, const ExplainNest& command) {
  const auto model = find_model(global, command.source);
  if (!model.ok()) return print_error(model.error());
  const bool is_document = command.nest.starts_with('{');
  const std::string what = is_document ? "the nest" : "'" + command.nest + "'";
  const auto json = is_document ? parse_json(command.nest, what) : read_json_file(command.nest);
  if (!json.ok()) return print_error(json.error());
  auto nest = plan::nest_from_json(*json, what);
  if (!nest.ok()) return print_error(nest.error());
  const PathCosts costs(*model);
  for (size_t i = 0; i < model::kPaths; ++i) {
    plan::NestLink& link = nest->request.links.at(plan::link_by(static_cast<model::Path>(i)));
    if (costs.strip.at(i)) link.strip = &*costs.strip.at(i);
    if (costs.vis.at(i)) link.vis = &*costs.vis.at(i);
  }
  return show(global, model->name, plan::explain(nest->request));
}

int run(const Global& global, const ExplainCall& command) {
  const auto model = find_model(global, command.source);
  if (!model.ok()) return print_error(model.error());
  const auto path = path_of(*model, command.path);
  if (!path.ok()) return print_error(path.error());
  const uint64_t stride =
      command.stride_bytes == 0 ? 2 * command.region_bytes : command.stride_bytes;
  if (command.region_bytes > kMostExtent || command.extent_bytes > kMostExtent ||
      command.regions > kMostExtent / std::max(stride, command.region_bytes)) {
    return print_error(Error(ErrorCode::invalid_argument,
                             "the regions span more than 16 TiB, which is the most that a segment "
                             "has; take fewer --regions, or a smaller --region-bytes, --stride "
                             "or --extent"));
  }
  if (command.extent_bytes > 0 && command.extent_bytes < command.region_bytes) {
    return print_error(Error(ErrorCode::invalid_argument,
                             "--extent " + std::to_string(command.extent_bytes) +
                                 " does not hold one region; it is at least --region-bytes, " +
                                 std::to_string(command.region_bytes)));
  }
  if (stride < command.region_bytes) {
    return print_error(Error(ErrorCode::invalid_argument,
                             "--stride " + std::to_string(stride) +
                                 " makes regions overlap; it is at least --region-bytes, " +
                                 std::to_string(command.region_bytes)));
  }
  if (command.signalled && command.direction != "put") {
    return print_error(Error(ErrorCode::invalid_argument,
                             "gets raise no flag; --signal goes with --direction put"));
  }
  plan::VisRequest request;
  request.direction = direction_of(command.direction);
  request.regions = command.regions;
  request.region_bytes = command.region_bytes;
  request.extent_bytes = command.extent_bytes > 0
                             ? command.extent_bytes
                             : (command.regions - 1) * stride + command.region_bytes;
  request.local_regions = command.local_regions;
  request.bounding_box_allowed = command.bounding_box;
  request.iov_limit = command.iov_limit;
  request.max_buffer_bytes = plan::kUsualBoxBytes;
  request.medium_bytes = plan::kLandingSlotBytes;
  request.message_bytes = plan::kUsualMessageBytes;
  request.compute = command.compute_class == "light"   ? plan::ComputeClass::light
                    : command.compute_class == "heavy" ? plan::ComputeClass::heavy
                                                       : plan::ComputeClass::communication_only;
  if (command.kind == "strided") {
    request.message_header_bytes =
        plan::kStridedHeaderBytes + command.dimensions * plan::kDimensionHeaderBytes;
  } else {
    request.message_header_bytes = plan::kListHeaderBytes;
    request.region_header_bytes = plan::kListRegionHeaderBytes;
  }
  if (command.signalled) request.message_header_bytes += plan::kSignalHeaderBytes;
  request.peers = command.peers;
  request.service_delay_s = command.service_delay_s;
  request.needs_target = command.needs_target;
  request.signalled = command.signalled;
  request.flag_with_data = command.flag_with_data;
  const plan::VisCosts costs((*path)->second, model->pack, vis_of(*model, (*path)->first));
  return show(global, model->name + ", path " + (*path)->first, plan::explain(request, &costs));
}

int run(const Global& global, const ExplainSweep& command) {
  const auto model = find_model(global, command.source);
  if (!model.ok()) return print_error(model.error());
  const auto path = path_of(*model, command.path);
  if (!path.ok()) return print_error(path.error());
  if (command.lines > kMostExtent / std::max<uint64_t>(command.line_bytes, 1)) {
    return print_error(Error(ErrorCode::invalid_argument,
                             "a stage leaves more than 16 TiB, which is the most that a segment "
                             "has; take fewer --lines, or smaller --line-bytes"));
  }
  plan::WavefrontRequest request;
  request.lines = command.lines;
  request.line_bytes = command.line_bytes;
  request.compute_s = command.compute_s;
  request.stages = command.stages;
  request.all_busy = command.kind == "multipartition";
  request.nic_ranks = command.nic_ranks;
  request.flag_with_data = command.flag_with_data;
  request.served_between_pieces = command.served_between_pieces;
  const plan::StripCosts costs((*path)->second, model->compute, model->strip,
                               model::service_on(*model, (*path)->first));
  return show(global, model->name + ", path " + (*path)->first, plan::explain(request, &costs));
}

}  // namespace stripline::cli
