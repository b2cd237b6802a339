#include "optimizer/campaign/refinement.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <numbers>
#include <string>

#include "optimizer/experiment/catalogue.h"

namespace stripline::campaign {
namespace {

using experiment::Point;

// Points that stay together: those of one size, or one that has no size.
struct Unit {
  std::vector<const Point*> points;
};

// An experiment's units in the order of their sizes; those without one come after them.
class Units {
 public:
  void add(const Point& point) {
    const auto size = experiment::number_param(point, experiment::factor::kBytes);
    if (size) {
      sized_[*size].points.push_back(&point);
    } else {
      others_.push_back({{&point}});
    }
  }

  // Calls visit(place, unit), with a place between 0 and 1 in the sequence.
  template <typename Visit>
  void for_each(const Visit& visit) const {
    size_t index = 0;
    const auto next_place = [&index] {
      const double turns = static_cast<double>(++index) / std::numbers::phi;
      return turns - std::floor(turns);
    };
    for (const auto& [size, unit] : sized_) visit(next_place(), unit);
    for (const Unit& unit : others_) visit(next_place(), unit);
  }

 private:
  std::map<double, Unit> sized_;
  std::vector<Unit> others_;
};

}  // namespace

std::vector<Point> by_refinement(const std::vector<Point>& points) {
  std::map<std::string, Units> experiments;
  for (const Point& point : points) experiments[point.experiment].add(point);
  struct Placed {
    double place = 0;
    const Unit* unit = nullptr;
  };
  std::vector<Placed> sequence;
  for (const auto& [name, units] : experiments) {
    units.for_each([&](double place, const Unit& unit) { sequence.push_back({place, &unit}); });
  }
  std::ranges::stable_sort(sequence, {}, &Placed::place);
  std::vector<Point> ordered;
  ordered.reserve(points.size());
  for (const Placed& one : sequence) {
    for (const Point* point : one.unit->points) ordered.push_back(*point);
  }
  return ordered;
}

}  // namespace stripline::campaign
