#include "server/core/campaigns/held_out_plan.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "optimizer/experiment/held_out.h"

namespace stripline::server {
namespace {

// By a declaration that has its factors and variants, and whose grid does not hold it.
bool completes(const experiment::Experiment* declaration, experiment::Point& point) {
  if (declaration == nullptr || experiment::complete_point(*declaration, point)) return false;
  return std::ranges::any_of(declaration->factors, [&](const experiment::Factor& factor) {
    return std::ranges::find(factor.values, point.params.at(factor.name)) == factor.values.end();
  });
}

}  // namespace

// Empty: there are no more.
std::vector<experiment::Point> HeldOutPlan::next_problem() {
  while (place_ < experiment::kMostHeldOut) {
    auto problem = experiment::draw_held_out(seed_, ranks_, experiment::held_out_at(place_++));
    const bool is_possible = std::ranges::all_of(problem.points, [&](experiment::Point& point) {
      return completes(find_(point.experiment), point);
    });
    if (is_possible) return std::move(problem.points);
  }
  return {};
}

std::vector<experiment::Point> HeldOutPlan::with(const std::vector<experiment::Point>& part) {
  of_grids_ += part.size();
  const auto room = static_cast<size_t>(
      std::lround(static_cast<double>(of_grids_) * kHeldOutShare / (1 - kHeldOutShare)));
  std::vector<experiment::Point> added;
  while (true) {
    if (waiting_.empty()) waiting_ = next_problem();
    if (waiting_.empty() || drawn_ + waiting_.size() > room) return added;
    drawn_ += waiting_.size();
    std::ranges::move(waiting_, std::back_inserter(added));
    waiting_.clear();
  }
}

}  // namespace stripline::server
