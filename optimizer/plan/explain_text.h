// What the explanations of loops, nests and calls say alike. For the files of this folder.
#pragma once

#include <span>
#include <string>

#include "base/json.h"
#include "optimizer/cost/link_costs.h"
#include "optimizer/plan/decision.h"

namespace stripline::plan::detail {

/// One number by a pattern of printf.
std::string format(const char* pattern, double value);
/// Alternatives often differ by less than a percent: four digits.
std::string time_text(double seconds);
/// "12.3 %".
std::string percent_text(double part);

/// What a decision about cutting rests on.
struct Gain {
  double baseline_s = 0;    ///< of the vectorised way
  double best_s = 0;        ///< of the fastest alternative
  double gain_low = 0;      ///< lower end of what that gains
  double minimum_gain = 0;  ///< more is required
};
std::string reason_text(Reason reason, const Gain& gain);

/// What every plan against a baseline has: reason, predicted_s, baseline_s, gain_low.
template <typename Plan>
Json verdict_json(const Plan& plan) {
  return {{"reason", to_string(plan.reason)},
          {"predicted_s", plan.predicted_s},
          {"baseline_s", plan.baseline_s},
          {"gain_low", plan.gain_low}};
}

/// Lines of what each source of doubt may cost of the gain; nothing without any.
std::string sensitivities_text(std::span<const Sensitivity> sensitivities);
Json sensitivities_json(std::span<const Sensitivity> sensitivities);

/// The parameters that hold for messages of one size, on one line without its end. `serves`: those
/// of serving them, too.
std::string entry_text(uint64_t bytes, const cost::MessageCosts& message, bool serves);
/// The same as members of an object: bytes, o_s, L_s, gap_s, G_s_per_byte, r_s, and s_s.
Json entry_json(uint64_t bytes, const cost::MessageCosts& message, bool serves);

}  // namespace stripline::plan::detail
