#include "optimizer/experiment/point_order.h"

#include "base/random.h"

namespace stripline::experiment {

std::vector<Point> order_of_points(const Assignment& assignment) {
  std::vector<Point> points = assignment.points;
  shuffle(points, assignment.seed);
  return points;
}

Result<LeftOut> left_out_of(const Json& assignment) {
  LeftOut left_out;
  if (!assignment.is_object()) return left_out;
  const auto member = assignment.find(kLeftOutMember);
  if (member == assignment.end()) return left_out;
  const Error wrong(ErrorCode::data_loss,
                    "assignment.left_out: an object of experiments and reasons is expected");
  if (!member->is_object()) return wrong;
  for (const auto& [experiment, why] : member->items()) {
    if (!why.is_string()) return wrong;
    left_out[experiment] = why.get<std::string>();
  }
  return left_out;
}

}  // namespace stripline::experiment
