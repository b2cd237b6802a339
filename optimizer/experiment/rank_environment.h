// The environment of ranks that measure, the same whether an agent or 'stripline campaign run-plan'
// starts them. Pure.
#pragma once

#include <map>
#include <string>

#include "optimizer/experiment/experiment.h"

namespace stripline::experiment {

/// The variables that a measuring rank gets beside those of whoever starts it. What would change
/// the figures unrecorded is set to nothing, so that it is not inherited.
std::map<std::string, std::string> rank_environment(const Assignment& assignment);

}  // namespace stripline::experiment
