// In which order a run measures the points of its assignment, and which of them it leaves out: for
// the ranks, and for whoever watches them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "optimizer/experiment/experiment.h"

namespace stripline::experiment {

/// The points in the order in which every rank takes them.
std::vector<Point> order_of_points(const Assignment& assignment);

/// Experiments whose points a run passes over, and why: text for a person, as in "rank 1 on nodes/b
/// was killed by signal 11 (Segmentation fault)". A point of one of them yields a series without
/// values whose note says so.
using LeftOut = std::map<std::string, std::string>;

/// The member of an assignment's JSON form that names them. Programs that do not know it measure
/// the points. Results of campaigns have one of that name, too.
inline constexpr const char* kLeftOutMember = "left_out";

/// What this object leaves out in a member of that name; nothing without one. Errors: data_loss.
Result<LeftOut> left_out_of(const Json& object);

}  // namespace stripline::experiment
