#include "optimizer/experiment/rank_environment.h"

namespace stripline::experiment {

std::map<std::string, std::string> rank_environment(const Assignment& assignment) {
  return {{"STRIPLINE_MODEL", ""},
          {"STRIPLINE_TUNING", ""},
          {"STRIPLINE_PROGRESS", ""},
          {"STRIPLINE_GUARD", ""},
          {"STRIPLINE_LOAD_ESTIMATION", ""},
          {"STRIPLINE_TRACE", ""},
          {"STRIPLINE_DEBUG", ""},
          {"STRIPLINE_FABRIC", assignment.fabric},
          {"STRIPLINE_CLOCK", assignment.clock},
          {"STRIPLINE_SAME_NODE", "network"},
          {"STRIPLINE_SEED", std::to_string(assignment.seed)}};
}

}  // namespace stripline::experiment
