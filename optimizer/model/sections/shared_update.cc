#include "optimizer/model/sections/shared_update.h"

#include <tuple>
#include <utility>

#include "base/quantity.h"
#include "optimizer/model/section.h"

namespace stripline::model {
namespace {

using Shared = SharedUpdatePoint;

// What a point has, by the names of files and of people.
struct SharedCost {
  const char* name;
  const char* text;
  Parameter Shared::*parameter;
};
constexpr std::array<SharedCost, 7> kSharedCosts = {{
    {"plain_s", "an update of a cell in this cache", &Shared::plain_s},
    {"atomic_s", "the same as an atomic operation", &Shared::atomic_s},
    {"lock_s", "the same under a lock that is free", &Shared::lock_s},
    {"transfer_s", "a cache line that another worker has changed", &Shared::transfer_s},
    {"box_s", "an update of a cell in a box", &Shared::box_s},
    {"fold_s", "combining a cell of a replica with its target", &Shared::fold_s},
    {"barrier_s", "a barrier of the workers", &Shared::barrier_s},
}};

std::string shared_update_text(const TunedModel& model) {
  if (!model.shared_update) return {};
  ParameterTable table("team");
  for (const Shared& point : model.shared_update->points) {
    const std::string team =
        std::to_string(point.workers) + " of a " + std::string(to_string(point.placement)) + ", " +
        std::string(to_string(point.type)) + ", " + bytes_text(point.footprint_bytes);
    for (const SharedCost& cost : kSharedCosts) {
      table.add(team, cost.text, point.*cost.parameter, time_text);
    }
  }
  return table.titled("updates that a node shares");
}

bool comes_before(const Shared& a, const Shared& b) {
  const auto key = [](const Shared& one) {
    return std::tuple(one.type, one.placement, one.workers, one.footprint_bytes);
  };
  return key(a) < key(b);
}

}  // namespace

Section shared_update_section() {
  std::vector<Member<Shared>> members = {
      required("type", &Shared::type,
               one_of<CellType>(
                   {CellType::integer4, CellType::integer8, CellType::float4, CellType::float8}),
               "of a cell"),
      required("placement", &Shared::placement,
               one_of<SharedPlacement>(
                   {SharedPlacement::core, SharedPlacement::package, SharedPlacement::node}),
               "what the workers are in together"),
      required("workers", &Shared::workers, ranks(1), "of the team"),
      required("footprint_bytes", &Shared::footprint_bytes, bytes(),
               "of a worker's replica that is combined")};
  for (const SharedCost& cost : kSharedCosts) {
    members.push_back(required(cost.name, cost.parameter, seconds(), cost.text));
  }
  const auto form = object<SharedUpdateModel>(
      nullptr,
      {required("points", &SharedUpdateModel::points,
                list(object<Shared>("shared_update_point", std::move(members)), 1, kMaxPoints,
                     std::optional(Order<Shared>{
                         comes_before, "type, placement, workers and footprint must ascend", ""})),
                "What one update takes, by the team that makes it")});
  return {
      optional("shared_update", &TunedModel::shared_update, form,
               "Updates of cells that the workers of a node share"),
      shared_update_text,
      [](TunedModel& model) {
        model.shared_update = SharedUpdateModel{
            {{CellType::integer8, SharedPlacement::package, 2, 64 << 10, example_parameter(1e-9),
              example_parameter(6e-9), example_parameter(13e-9), example_parameter(50e-9),
              example_parameter(2e-9), example_parameter(1e-9), example_parameter(200e-9)},
             {CellType::integer8, SharedPlacement::node, 2, 64 << 10, example_parameter(1e-9),
              example_parameter(6e-9), example_parameter(13e-9), example_parameter(150e-9),
              example_parameter(2e-9), example_parameter(1.5e-9), example_parameter(500e-9)}}};
      },
      "updates that a node shares"};
}

}  // namespace stripline::model
