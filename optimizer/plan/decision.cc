#include "optimizer/plan/decision.h"

namespace stripline::plan {

std::string_view to_string(Reason reason) {
  switch (reason) {
    case Reason::no_model:
      return "no_model";
    case Reason::no_faster_plan:
      return "no_faster_plan";
    case Reason::below_margin:
      return "below_margin";
    case Reason::tuned:
      return "tuned";
    case Reason::forced:
      return "forced";
    case Reason::own_memory:
      return "own_memory";
    case Reason::tied:
      return "tied";
    case Reason::guarded:
      return "guarded";
  }
  return "no_model";
}

std::string_view to_string(Source source) {
  switch (source) {
    case Source::issue:
      return "o";
    case Source::latency:
      return "L";
    case Source::gap:
      return "g";
    case Source::bandwidth:
      return "G";
    case Source::retire:
      return "r";
    case Source::serve:
      return "s";
    case Source::buffers:
      return "buffers";
    case Source::overhead:
      return "strip overhead";
    case Source::compute:
      return "computation";
    case Source::regions:
      return "many regions";
    case Source::turns:
      return "turns at the NIC";
  }
  return "o";
}

}  // namespace stripline::plan
