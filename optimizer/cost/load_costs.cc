#include "optimizer/cost/load_costs.h"

#include <algorithm>

namespace stripline::cost {

LoadCosts::LoadCosts(const std::vector<model::ServiceLevel>& levels) {
  for (size_t begin = 0; begin < levels.size();) {
    Set set;
    set.nodes = levels[begin].nodes;
    OctaveTable table(std::array{CurveValue{1, 1}});  // distances below the first that was measured
    for (uint32_t distance = 0; distance < model::kDistances; ++distance) {
      std::vector<CurveValue> values;
      for (; begin < levels.size() && levels[begin].nodes == set.nodes &&
             levels[begin].distance == distance;
           ++begin) {
        const model::ServiceLevel& level = levels[begin];
        const double factor = (distance == 0 ? level.best : level.worst).value;
        values.push_back({level.bytes, std::max(factor, 1.0)});
      }
      if (!values.empty()) table = OctaveTable(values);
      set.at_distance[distance] = table;
    }
    sets_.push_back(set);
  }
}

}  // namespace stripline::cost
