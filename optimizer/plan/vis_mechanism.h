// The planner of vis.h as the frame of decisions sees it (mechanism.h).
#pragma once

#include "optimizer/plan/mechanism.h"
#include "optimizer/plan/vis.h"
#include "optimizer/plan/vis_costs.h"

namespace stripline::plan {

/// How a call says where its regions are.
enum class RegionShape : uint8_t { strided, indexed };
inline constexpr std::array<std::string_view, 2> kRegionShapeNames = {"strided", "indexed"};
constexpr std::span<const std::string_view> names_of(RegionShape) { return kRegionShapeNames; }
inline std::string_view to_string(RegionShape shape) {
  return kRegionShapeNames[static_cast<size_t>(shape)];
}

/// A transfer as a command line says it: the regions' extent, and the headers of their messages,
/// are as their shape says. Other settings of the job are the defaults.
struct AskedVis : VisRequest {
  uint64_t stride_bytes = kAnyBytes;  ///< from region to region, the mean for lists; not said
  RegionShape shape = RegionShape::strided;
  uint32_t dimensions = 1;  ///< of a shape, beside that within a region
  bool operator==(const AskedVis&) const = default;
};

struct VisMechanism {
  using Request = VisRequest;
  using Asked = AskedVis;
  using Plan = VisPlan;
  using Candidate = VisAlternative;
  using Record = VisRecord;
  using Model = CompiledPath;
  using Costs = VisCosts;
  static constexpr Words kWords = {
      .command = "call",
      .help = "A put or get of many regions (<stripline/vis.h>)",
      .example = "--regions 1024 --region-bytes 8 --stride 8KiB",
      .no_model = "the model does not hold what it takes",
      .scope = {.until = Scope::Until::call},
      .sized_by = "bytes that are moved",
      .methods = methods_of(kVisMethodNames, kVisMethods),
      .table = {{"region-bytes", "8,16,32,64,128,256,512,1KiB,2KiB,4KiB,8KiB,16KiB,32KiB"},
                {"regions", "2,4,8,16,32,64,128,256,512,1024,2048,4096,8192"},
                {{{"direction", "get,put"}, {"class", "communication_only,light,heavy"}}}}};

  static AskedVis usual();
  static std::span<const Field<AskedVis>> fields();
  static Result<VisRequest> request_of(const AskedVis& asked);
  static AskedVis asked_of(const VisRequest& request);
  static const VisCosts* costs_of(const CompiledPath& path) { return &path.vis; }

  static Plan plan(const Request& request, const VisCosts* costs, Record& record) {
    return plan_vis(request, costs, record);
  }
  static Plan unfold(const Request&, const Candidate& alternative);
  static void show(const Request& request, const Plan& plan, Row& row);
  static std::string brief(const Plan& plan, std::string_view why);
  static void add_to(Explanation::Alternative& alternative, const Request& request,
                     const VisCosts& costs, const Candidate& candidate);
  static void add_to(Explained<VisMechanism>& explained, const Request& request,
                     const VisCosts* costs);
};

}  // namespace stripline::plan
