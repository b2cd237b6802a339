#include "optimizer/experiment/point_order.h"

#include "base/random.h"

namespace stripline::experiment {

std::vector<Point> order_of_points(const Assignment& assignment) {
  std::vector<Point> points = assignment.points;
  shuffle(points, assignment.seed);
  return points;
}

Result<LeftOut> left_out_of(const Json& object) {
  LeftOut left_out;
  if (!object.is_object()) return left_out;
  const auto member = object.find(kLeftOutMember);
  if (member == object.end()) return left_out;
  const Error wrong(ErrorCode::data_loss,
                    "left_out: an object of experiments and reasons is expected");
  if (!member->is_object()) return wrong;
  for (const auto& [experiment, why] : member->items()) {
    if (!why.is_string()) return wrong;
    left_out[experiment] = why.get<std::string>();
  }
  return left_out;
}

}  // namespace stripline::experiment
