#include "optimizer/plan/vis_costs.h"

#include <limits>

namespace stripline::plan {
namespace {

double nominal(const std::optional<model::Parameter>& parameter) {
  return parameter ? cost::at_corner(*parameter, cost::Corner::nominal) : 0.0;
}

// Those packed transfers whose data landed, or those whose did not; all, if there are none.
std::vector<model::VisResidual> of_same_landing(const std::vector<model::VisResidual>& cells,
                                                Direction direction, uint64_t chunk_bytes,
                                                bool lands) {
  std::vector<model::VisResidual> gone;
  for (const model::VisResidual& cell : cells) {
    VisRequest request;
    request.direction = direction;
    request.regions = cell.regions;
    request.region_bytes = cell.region_bytes;
    request.extent_bytes = 2 * cell.regions * cell.region_bytes;
    request.message_bytes = kUsualMessageBytes;
    const uint64_t chunk =
        chunk_bytes > 0 ? chunk_bytes : std::numeric_limits<uint64_t>::max();  // the largest
    if (vis_lands(request, chunk) == lands) gone.push_back(cell);
  }
  return gone.empty() ? cells : gone;
}

}  // namespace

VisCosts::VisCosts(const model::PathModel& path, const std::optional<model::PackModel>& pack,
                   const model::VisModel* vis)
    : has_{path.get.has_value(), path.put.has_value()},
      has_am_(path.am.has_value()),
      link_{cost::LinkCosts(path.get.value_or(model::OperationModel{})),
            cost::LinkCosts(path.put.value_or(model::OperationModel{}))},
      am_(path.am.value_or(model::OperationModel{})),
      pack_(pack.value_or(model::PackModel{})) {
  static_assert(static_cast<size_t>(Direction::get) == 0 &&
                static_cast<size_t>(Direction::put) == 1);
  model::VisResidual unmeasured{1, 1, {}};
  unmeasured.ratio.value = 1;
  unmeasured.ratio.ci_low = 1 / kUnmeasuredFactor;
  unmeasured.ratio.ci_high = kUnmeasuredFactor;
  const cost::ResidualTable table({unmeasured});
  for (auto& of_direction : residuals_) {
    for (auto& of_class : of_direction) {
      for (Residuals& of_footprint : of_class) of_footprint.fill({table, table});
    }
  }
  if (vis == nullptr) return;
  if (vis->get) compile(Direction::get, *vis->get);
  if (vis->put) compile(Direction::put, *vis->put);
}

void VisCosts::compile(Direction direction, const model::VisDirection& measured) {
  VisTuning& tuning = tuning_[static_cast<size_t>(direction)];
  tuning.chunk_bytes = measured.chunk_bytes.value_or(0);
  tuning.window = measured.window.value_or(0);
  tuning.pipelined_window = measured.pipelined_window.value_or(0);
  tuning.iov_piece_s = nominal(measured.iov_piece_s);
  tuning.service_delay_s = {0.0, nominal(measured.light_delay_s), nominal(measured.heavy_delay_s)};
  static_assert(model::kResidualsOfClass.size() == kComputeClasses &&
                model::kResidualsOfMethod.size() == kVisMethods);
  for (size_t c = 0; c < kComputeClasses; ++c) {
    const model::VisMethodResiduals& own_class = measured.*model::kResidualsOfClass[c].second;
    for (size_t m = 0; m < kVisMethods; ++m) {
      const auto method = static_cast<VisMethod>(m);
      const auto member = model::kResidualsOfMethod[m].second;
      const model::VisResiduals& own = own_class.*member;
      const model::VisResiduals& fallback = measured.communication_only.*member;
      for (const bool spread : {false, true}) {
        const std::vector<model::VisResidual>* cells = nullptr;
        bool as_tuned =
            true;  // beside computation they were measured in chunks of the largest size
        for (const model::VisResiduals* table : {&own, &fallback}) {
          for (const bool footprint : {spread, !spread}) {
            const auto& candidates = footprint ? table->spread : table->compact;
            if (cells == nullptr && !candidates.empty()) {
              cells = &candidates;
              as_tuned = table == &fallback || c == 0;
            }
          }
        }
        if (cells == nullptr) continue;
        for (const bool lands : {false, true}) {
          const uint64_t chunk_bytes = as_tuned ? tuning.chunk_bytes : 0;
          residuals_[static_cast<size_t>(direction)][c][spread ? 1 : 0][m][lands ? 1 : 0] =
              cost::ResidualTable(method == VisMethod::packed
                                      ? of_same_landing(*cells, direction, chunk_bytes, lands)
                                      : *cells);
        }
      }
    }
  }
}

}  // namespace stripline::plan
