#include "suites/bench/verdict.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/formatted.h"
#include "base/quantity.h"
#include "base/table.h"
#include "optimizer/stats/interval.h"
#include "optimizer/stats/order.h"

namespace stripline::suites::bench {
namespace {

constexpr std::array<std::string_view, 4> kNames = {"gained", "lost", "too_close", "too_busy"};
// Tasks beyond the free processors, on average over some looks, that make a host too busy.
constexpr double kNoticeable = 0.5;

// Percent of the time without the model; no minus before what rounds to zero.
double percent(double part) {
  const double rounded = std::round(1000 * part) / 10;
  return rounded == 0 ? 0 : rounded;
}

Outcome outcome_of(const stats::Interval& interval) {
  if (interval.high < 1) return Outcome::gained;
  return interval.low > 1 + kGuardShare ? Outcome::lost : Outcome::too_close;
}

std::string ratio_words(Outcome outcome, double value, const stats::Interval& interval) {
  if (outcome == Outcome::lost) {
    return formatted("LOST: takes %.1f %% longer [%.1f, %.1f]", percent(value - 1),
                     percent(interval.low - 1), percent(interval.high - 1));
  }
  const double gain = percent(1 - value);
  const double low = percent(1 - interval.high);
  const double high = percent(1 - interval.low);
  if (outcome == Outcome::gained) {
    return formatted("gained %.1f %% of the time [%.1f, %.1f]", gain, low, high);
  }
  return gain >= 0
             ? formatted("too close to call: %.1f %% less time [%.1f, %.1f]", gain, low, high)
             : formatted("too close to call: %.1f %% more time [%.1f, %.1f]", -gain, -high, -low);
}

}  // namespace

std::string_view to_string(Outcome outcome) { return kNames[static_cast<size_t>(outcome)]; }

Result<Verdict> judge(std::vector<double> log_ratios, const std::optional<HostLoad>& load,
                      uint32_t ranks) {
  STRIPLINE_ASSIGN_OR_RETURN(const stats::Interval interval,
                             stats::mean_interval(log_ratios, 0.95));
  Verdict verdict;
  verdict.ratio.value = std::exp(stats::mean_and_variance(log_ratios).mean);
  verdict.ratio.interval = {std::exp(interval.low), std::exp(interval.high)};
  verdict.ratio.runs = log_ratios.size();
  verdict.log_ratios = std::move(log_ratios);
  verdict.load = load;
  const bool busy =
      load &&
      load->running > std::max(0.0, static_cast<double>(load->processors) - ranks) + kNoticeable;
  verdict.outcome = busy ? Outcome::too_busy : outcome_of(verdict.ratio.interval);
  return verdict;
}

std::string verdict_text(const Verdict& verdict) {
  if (verdict.outcome == Outcome::too_busy) {
    return "not judged: this host is too busy (" + host_load_text(*verdict.load) + ")";
  }
  return ratio_words(verdict.outcome, verdict.ratio.value, verdict.ratio.interval);
}

Json to_json(const Verdict& verdict) {
  Json json = {{"outcome", to_string(verdict.outcome)},
               {"log_ratios", verdict.log_ratios},
               {"ratio", verdict.ratio.value},
               {"ratio_ci_low", verdict.ratio.interval.low},
               {"ratio_ci_high", verdict.ratio.interval.high}};
  if (verdict.load) {
    json["host_load"] = {{"average", verdict.load->average},
                         {"running", verdict.load->running},
                         {"processors", verdict.load->processors}};
  }
  return json;
}

Result<Verdict> verdict_from_json(const Json& row) {
  try {
    Verdict verdict;
    row.at("experiment").get_to(verdict.experiment);
    row.at("fabric").get_to(verdict.fabric);
    const Json& json = row.at("without_model");
    const auto name = std::ranges::find(kNames, json.at("outcome").get<std::string>());
    if (name == kNames.end()) return Error(ErrorCode::data_loss, "unknown outcome of a comparison");
    verdict.outcome = static_cast<Outcome>(name - kNames.begin());
    json.at("log_ratios").get_to(verdict.log_ratios);
    json.at("ratio").get_to(verdict.ratio.value);
    json.at("ratio_ci_low").get_to(verdict.ratio.interval.low);
    json.at("ratio_ci_high").get_to(verdict.ratio.interval.high);
    verdict.ratio.runs = verdict.log_ratios.size();
    if (json.contains("host_load")) {
      const Json& load = json.at("host_load");
      verdict.load = HostLoad{load.at("average"), load.at("running"), load.at("processors")};
    }
    if (verdict.outcome == Outcome::too_busy && !verdict.load) {
      return Error(ErrorCode::data_loss, "a busy host without its load");
    }
    return verdict;
  } catch (const Json::exception& error) {
    return Error(ErrorCode::data_loss, std::string("row of a table: ") + error.what());
  }
}

Result<Closing> close(std::span<const Verdict> verdicts) {
  Closing closing;
  stripline::Table table({{"PROGRAM"}, {"NETWORK"}, {"WITH THE MODEL"}});
  std::vector<std::vector<double>> judged;
  std::array<size_t, kNames.size()> counts{};
  for (const Verdict& verdict : verdicts) {
    table.add({verdict.experiment, verdict.fabric, verdict_text(verdict)});
    ++counts[static_cast<size_t>(verdict.outcome)];
    if (verdict.outcome != Outcome::too_busy) judged.push_back(verdict.log_ratios);
  }
  closing.text = table.text() + "\n";
  const auto count = [&](Outcome outcome) { return counts[static_cast<size_t>(outcome)]; };
  closing.lost = count(Outcome::lost) > 0;
  if (judged.empty()) {
    const auto busiest = std::ranges::max_element(
        verdicts, {}, [](const Verdict& verdict) { return verdict.load->running; });
    closing.text += "VERDICT: none: this host is too busy (" + host_load_text(*busiest->load) +
                    "); come again when it is quiet\n";
    return closing;
  }
  STRIPLINE_ASSIGN_OR_RETURN(const stats::GeometricMean mean, stats::geometric_mean(judged, 0.975));
  const stats::Interval interval{mean.lower, mean.upper};
  // One program that loses is a loss, whatever others gain.
  const Outcome overall = closing.lost ? Outcome::lost : outcome_of(interval);
  std::string all = formatted("%zu gained, %zu too close to call, %zu lost", count(Outcome::gained),
                              count(Outcome::too_close), count(Outcome::lost));
  if (count(Outcome::too_busy) > 0) {
    all += formatted(", %zu not judged on a busy host", count(Outcome::too_busy));
  }
  const std::string together = ratio_words(outcome_of(interval), mean.value, interval);
  if (closing.lost) {
    closing.text += "VERDICT: LOST: " + all + "; all together: " + together + "\n";
  } else {
    closing.text +=
        (overall == Outcome::gained ? "VERDICT: GAINED: " : "VERDICT: TOO CLOSE TO CALL: ") + all +
        "; all together: " + together + "\n";
  }
  return closing;
}

}  // namespace stripline::suites::bench
