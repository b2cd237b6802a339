#include "optimizer/model/sections/vis.h"

#include <string>
#include <tuple>

#include "base/quantity.h"
#include "optimizer/model/section.h"

namespace stripline::model {
namespace {

constexpr uint64_t kMaxWindow = uint64_t{1} << 20;

// What was not measured is not written.
Form<VisMethodResiduals> class_form() {
  const auto cells =
      curve(object<VisResidual>("vis_residual",
                                {required("region_bytes", &VisResidual::region_bytes, bytes(1)),
                                 required("regions", &VisResidual::regions, bytes(1)),
                                 required("ratio", &VisResidual::ratio, ratio())}),
            {[](const VisResidual& a, const VisResidual& b) {
               return std::tie(a.region_bytes, a.regions) < std::tie(b.region_bytes, b.regions);
             },
             "cells must ascend by region_bytes, then by regions"});
  const auto residuals =
      object<VisResiduals>("vis_residuals", {unless_empty("compact", &VisResiduals::compact, cells),
                                             unless_empty("spread", &VisResiduals::spread, cells)});
  std::vector<Member<VisMethodResiduals>> methods;
  for (const auto& [name, place] : kResidualsOfMethod) {
    methods.push_back(unless_empty(name, place, residuals));
  }
  return object<VisMethodResiduals>("vis_class", methods);
}

Form<VisDirection> direction_form() {
  using D = VisDirection;
  std::vector<Member<D>> members = {
      optional("chunk_bytes", &D::chunk_bytes, bytes(1)),
      optional("window", &D::window, number<uint32_t>(1, kMaxWindow)),
      optional("pipelined_window", &D::pipelined_window, number<uint32_t>(1, kMaxWindow)),
      optional("iov_piece_s", &D::iov_piece_s, seconds()),
      optional("light_delay_s", &D::light_delay_s, seconds()),
      optional("heavy_delay_s", &D::heavy_delay_s, seconds())};
  for (const auto& [name, place] : kResidualsOfClass) {
    members.push_back(unless_empty(name, place, class_form()));
  }
  return object<D>("vis_direction", members);
}

size_t cells_of(const VisDirection& vis) {
  size_t cells = 0;
  for (const auto& [name, of_class] : kResidualsOfClass) {
    for (const auto& [method, residuals] : kResidualsOfMethod) {
      const VisResiduals& tables = vis.*of_class.*residuals;
      cells += tables.compact.size() + tables.spread.size();
    }
  }
  return cells;
}

std::string direction_text(const std::string& title, const VisDirection& vis) {
  std::string text = "\n" + title + "\n";
  if (vis.chunk_bytes || vis.window) {
    text += "  packed in messages of " + (vis.chunk_bytes ? bytes_text(*vis.chunk_bytes) : "-") +
            ", " + (vis.window ? std::to_string(*vis.window) : "-") + " in flight\n";
  }
  if (vis.pipelined_window) {
    text += "  single operations: " + std::to_string(*vis.pipelined_window) + " in flight\n";
  }
  text += "  measured against the cost model in " + std::to_string(cells_of(vis)) + " cells\n";
  ParameterTable table("");
  table.add("", "region of a native operation", vis.iov_piece_s, time_text);
  table.add("", "wait at a lightly busy target", vis.light_delay_s, time_text);
  table.add("", "wait at a heavily busy target", vis.heavy_delay_s, time_text);
  return text + table.text();
}

std::string vis_text(const TunedModel& model) {
  std::string text;
  for (const auto& [path, vis] : model.vis) {
    if (vis.get) text += direction_text(path + " get of many regions", *vis.get);
    if (vis.put) text += direction_text(path + " put of many regions", *vis.put);
  }
  return text;
}

// Residuals of two methods in some places.
void add_vis_example(TunedModel& model) {
  const auto cell = [](uint64_t bytes, uint64_t regions, double ratio, double width = 0.02) {
    return VisResidual{bytes, regions, example_parameter(ratio, width)};
  };
  VisDirection get;
  get.chunk_bytes = 8192;
  get.window = 8;
  get.pipelined_window = 32;
  get.iov_piece_s = example_parameter(0.3e-6);
  get.light_delay_s = example_parameter(1e-6);
  get.heavy_delay_s = example_parameter(50e-6);
  VisMethodResiduals& idle = get.communication_only;
  idle.pipelined.compact = {cell(8, 16, 1.1), cell(8, 4096, 1.3), cell(4096, 16, 0.9)};
  idle.packed.compact = {cell(8, 16, 1.2), cell(4096, 16, 1.4)};
  idle.packed.spread = {cell(8, 16, 1.5)};
  idle.native_iov.compact = {cell(8, 16, 1)};
  get.light.bounding_box.compact = {cell(8, 16, 1.2)};
  get.heavy.packed.compact = {cell(8, 16, 2, 0.5)};
  VisDirection put;
  put.chunk_bytes = 4096;
  model.vis["inter-node"] = {put, get};
}

}  // namespace

Section vis_section() {
  const auto path = object<VisModel>(nullptr, {optional("put", &VisModel::put, direction_form()),
                                               optional("get", &VisModel::get, direction_form())});
  return {unless_empty("vis", &TunedModel::vis, by_name(path, kMaxPaths)), vis_text,
          add_vis_example, "transfers of many regions"};
}

}  // namespace stripline::model
