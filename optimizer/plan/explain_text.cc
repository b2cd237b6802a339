#include "optimizer/plan/explain_text.h"

#include <array>
#include <cstdio>

#include "base/quantity.h"

namespace stripline::plan::detail {

std::string format(const char* pattern, double value) {
  std::array<char, 48> buffer{};
  std::snprintf(buffer.data(), buffer.size(), pattern, value);
  return buffer.data();
}

std::string time_text(double seconds) { return seconds_text(seconds, 4); }

std::string percent_text(double part) { return format("%.3g %%", 100 * part); }

std::string reason_text(Reason reason, const Gain& gain) {
  const std::string margin = percent_text(gain.minimum_gain);
  const std::string likely =
      percent_text(gain.baseline_s > 0 ? 1 - gain.best_s / gain.baseline_s : 0);
  const std::string sure = percent_text(gain.gain_low);
  switch (reason) {
    case Reason::no_model:
      return "the model does not hold this operation and its overhead, so the loop is vectorised";
    case Reason::no_faster_plan:
      return "no decomposition is predicted to be faster than one blocking transfer";
    case Reason::below_margin:
      return "the best decomposition gains " + likely + ", or as little as " + sure +
             " within the model's intervals; more than " + margin + " is required";
    case Reason::tuned:
      return "gains " + likely + ", and at least " + sure +
             " within the model's intervals; more than " + margin + " is required";
    case Reason::forced:
      return "asked for by the caller";
    case Reason::own_memory:
      return "loads and stores reach the data";
    case Reason::tied:
      return "as fast as the simple way, by the model; the site's guard compares them";
    case Reason::guarded:
      return "the simple way, as the site's guard decided, or to compare";
  }
  return {};
}

std::string sensitivities_text(std::span<const Sensitivity> sensitivities) {
  if (sensitivities.empty()) return {};
  std::string out = "the gain may be smaller by, if a parameter errs within its interval:\n";
  for (const Sensitivity& one : sensitivities) {
    out += "    " + std::string(to_string(one.source)) +
           (one.of_baseline ? " (of the whole message): " : ": ") + percent_text(one.gain_loss) +
           "\n";
  }
  return out;
}

Json sensitivities_json(std::span<const Sensitivity> sensitivities) {
  Json json = Json::array();
  for (const Sensitivity& one : sensitivities) {
    json.push_back({{"source", to_string(one.source)},
                    {"of_baseline", one.of_baseline},
                    {"gain_loss", one.gain_loss}});
  }
  return json;
}

std::string entry_text(uint64_t bytes, const cost::MessageCosts& message, bool serves) {
  const auto size = static_cast<double>(bytes);
  std::string text = exact_bytes_text(bytes) + ": o " + time_text(message.o(size)) + ", L " +
                     time_text(message.L) + ", gap " + time_text(message.gap(size)) + ", G " +
                     format("%.4g ns/B", message.G * 1e9) + ", r " + time_text(message.r(size));
  if (serves) text += ", s " + time_text(message.s(size));
  return text;
}

Json entry_json(uint64_t bytes, const cost::MessageCosts& message, bool serves) {
  const auto size = static_cast<double>(bytes);
  Json json = {{"bytes", bytes},
               {"o_s", message.o(size)},
               {"L_s", message.L},
               {"gap_s", message.gap(size)},
               {"G_s_per_byte", message.G},
               {"r_s", message.r(size)}};
  if (serves) json["s_s"] = message.s(size);
  return json;
}

}  // namespace stripline::plan::detail
