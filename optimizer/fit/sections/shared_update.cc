#include "optimizer/plan/shared_update.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "optimizer/fit/over_runs.h"
#include "optimizer/fit/section_fits.h"

namespace stripline::fit {
namespace {

namespace factor = experiment::factor;
namespace micro = experiment::micro;
using model::SharedUpdatePoint;

template <typename Enum, size_t kCount>
Enum enumerator(const std::array<std::string_view, kCount>& names, std::string_view name) {
  return static_cast<Enum>(std::ranges::find(names, name) - names.begin());
}

}  // namespace

std::vector<SampleRule> shared_update_samples() {
  return {
      {&micro::kSharedUpdate,
       {{factor::kCell, 0, 0, enumerator_names<model::CellType>(model::kCellTypeNames.size() - 1)},
        {factor::kPlacement, 0, 0,
         enumerator_names<model::SharedPlacement>(model::kSharedPlacementNames.size())},
        {factor::kWorkers, 1, model::kMaxRanks},
        {factor::kFootprintBytes, 1}},
       SampleValues::differences}};
}

std::optional<model::SharedUpdateModel> fit_shared_update(const SampleTable& table,
                                                          double confidence,
                                                          std::vector<std::string>& notes) {
  using Team = std::tuple<model::CellType, model::SharedPlacement, uint64_t, uint64_t>;
  std::map<Team, std::array<const SampleRow*, plan::kSharedParts.size()>> teams;
  for (const SampleRow& row : table.rows(micro::kSharedUpdate)) {
    const Team team(enumerator<model::CellType>(model::kCellTypeNames, row.name(factor::kCell)),
                    enumerator<model::SharedPlacement>(model::kSharedPlacementNames,
                                                       row.name(factor::kPlacement)),
                    row.number(factor::kWorkers), row.number(factor::kFootprintBytes));
    teams[team].at(static_cast<size_t>(plan::shared_part(row.variant))) = &row;
  }
  model::SharedUpdateModel model;
  for (const auto& [team, rows] : teams) {
    const auto& [type, placement, workers, footprint_bytes] = team;
    SharedUpdatePoint point;
    point.type = type;
    point.placement = placement;
    point.workers = static_cast<uint32_t>(workers);
    point.footprint_bytes = footprint_bytes;
    bool complete = true;
    for (size_t part = 0; part < rows.size(); ++part) {
      auto fitted = over_runs(rows[part], confidence);
      complete = complete && fitted.has_value();
      if (fitted) point.*plan::kSharedParts[part].parameter = *std::move(fitted);
    }
    if (complete) {
      model.points.push_back(std::move(point));
    } else {
      notes.push_back("what " + std::to_string(workers) + " workers of a " +
                      std::string(to_string(placement)) + " take to update " +
                      std::string(to_string(type)) +
                      " cells is absent: not all of it was measured in two runs");
    }
  }
  if (model.points.empty()) return std::nullopt;
  return model;
}

}  // namespace stripline::fit
