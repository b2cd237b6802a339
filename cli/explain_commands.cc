#include "cli/explain_commands.h"

#include <algorithm>
#include <string>

#include "base/exit_codes.h"
#include "base/json.h"
#include "cli/console.h"
#include "cli/find_model.h"
#include "optimizer/model/paths.h"
#include "optimizer/plan/compiled_model.h"
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

template <typename Explanation>
int show(const Global& global, const std::string& about, const Explanation& explanation) {
  if (global.json) {
    print(plan::to_json(explanation).dump() + "\n");
  } else {
    print(about + "\n" + plan::to_text(explanation));
  }
  return kExitOk;
}

// The path that a command is about, and its name and the model's for people.
struct Known {
  plan::CompiledPath path;
  std::string about;
};
template <typename Request>
Result<Known> look_up(const Global& global, const Explain<Request>& command) {
  STRIPLINE_ASSIGN_OR_RETURN(const model::TunedModel model, find_model(global, command.source));
  STRIPLINE_ASSIGN_OR_RETURN(const NamedPath* const path, path_of(model, command.path));
  return Known{plan::CompiledPath(model, *path), model.name + ", path " + path->first};
}

}  // namespace

int run(const Global& global, const ExplainLoop& command) {
  const auto known = look_up(global, command);
  if (!known.ok()) return print_error(known.error());
  const plan::StripRequest& request = command.request;
  if (request.total_bytes == 0) {
    return print_error(
        Error(ErrorCode::invalid_argument,
              "--bytes 0 leaves nothing to transfer; write the loop's remote data, e.g. 1MiB"));
  }
  if (request.element_bytes == 0 || request.total_bytes % request.element_bytes != 0) {
    return print_error(
        Error(ErrorCode::invalid_argument, "--bytes " + std::to_string(request.total_bytes) +
                                               " is no multiple of the element, " +
                                               std::to_string(request.element_bytes) + " bytes"));
  }
  if (request.peers > request.blocks) {
    return print_error(
        Error(ErrorCode::invalid_argument, "--peers " + std::to_string(request.peers) +
                                               " have a block each at least; --blocks says " +
                                               std::to_string(request.blocks)));
  }
  return show(global, known->about, plan::explain(request, &known->path.strip));
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
  const plan::CompiledModel compiled(*model);
  for (size_t i = 0; i < model::kPaths; ++i) {
    const auto path = static_cast<model::Path>(i);
    plan::NestLink& link = nest->request.links.at(plan::link_by(path));
    link.strip = compiled.strip(path);
    link.vis = compiled.vis(path);
  }
  return show(global, model->name, plan::explain(nest->request));
}

int run(const Global& global, const ExplainCall& command) {
  const auto known = look_up(global, command);
  if (!known.ok()) return print_error(known.error());
  plan::VisRequest request = command.request;
  const uint64_t stride =
      command.stride_bytes == 0 ? 2 * request.region_bytes : command.stride_bytes;
  if (request.region_bytes > kMostExtent || request.extent_bytes > kMostExtent ||
      request.regions > kMostExtent / std::max(stride, request.region_bytes)) {
    return print_error(Error(ErrorCode::invalid_argument,
                             "the regions span more than 16 TiB, which is the most that a segment "
                             "has; take fewer --regions, or a smaller --region-bytes, --stride "
                             "or --extent"));
  }
  if (request.extent_bytes > 0 && request.extent_bytes < request.region_bytes) {
    return print_error(Error(ErrorCode::invalid_argument,
                             "--extent " + std::to_string(request.extent_bytes) +
                                 " does not hold one region; it is at least --region-bytes, " +
                                 std::to_string(request.region_bytes)));
  }
  if (stride < request.region_bytes) {
    return print_error(Error(ErrorCode::invalid_argument,
                             "--stride " + std::to_string(stride) +
                                 " makes regions overlap; it is at least --region-bytes, " +
                                 std::to_string(request.region_bytes)));
  }
  if (request.signalled && request.direction == plan::Direction::get) {
    return print_error(Error(ErrorCode::invalid_argument,
                             "gets raise no flag; --signal goes with --direction put"));
  }
  if (request.extent_bytes == 0) {
    request.extent_bytes = (request.regions - 1) * stride + request.region_bytes;
  }
  if (command.kind == "strided") {
    request.message_header_bytes =
        plan::kStridedHeaderBytes + command.dimensions * plan::kDimensionHeaderBytes;
  } else {
    request.message_header_bytes = plan::kListHeaderBytes;
    request.region_header_bytes = plan::kListRegionHeaderBytes;
  }
  if (request.signalled) request.message_header_bytes += plan::kSignalHeaderBytes;
  return show(global, known->about, plan::explain(request, &known->path.vis));
}

int run(const Global& global, const ExplainSweep& command) {
  const auto known = look_up(global, command);
  if (!known.ok()) return print_error(known.error());
  const plan::WavefrontRequest& request = command.request;
  if (request.lines > kMostExtent / std::max<uint64_t>(request.line_bytes, 1)) {
    return print_error(Error(ErrorCode::invalid_argument,
                             "a stage leaves more than 16 TiB, which is the most that a segment "
                             "has; take fewer --lines, or smaller --line-bytes"));
  }
  return show(global, known->about, plan::explain(request, &known->path.strip));
}

}  // namespace stripline::cli
