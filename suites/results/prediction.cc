#include "suites/results/prediction.h"

#include <cmath>
#include <cstdio>
#include <set>

#include "optimizer/stats/order.h"
#include "suites/harness/asked.h"
#include "suites/harness/table.h"
#include "suites/results/campaign.h"
#include "suites/results/fabrics.h"

namespace stripline::suites::results {
namespace {

using experiment::SampleSeries;

RunMedians held_out_medians(const std::vector<SampleSeries>& series, const std::string& variant) {
  std::set<std::string> held_out;
  for (const auto& point : held_out_points(false)) held_out.insert(experiment::point_key(point));
  return run_medians(series, [&](const experiment::Point& point) {
    return point.variant == variant && held_out.contains(experiment::point_key(point));
  });
}

}  // namespace

PredictionErrors prediction_errors(const cost::LinkCosts& costs, const RunMedians& measured) {
  PredictionErrors errors;
  for (const auto& [bytes, by_run] : measured) {
    std::vector<double> all;
    std::vector<double> halves[2];
    for (const auto& [run, time_s] : by_run) {
      all.push_back(time_s);
      halves[run % 2].push_back(time_s);
    }
    const double time_s = stats::median(all);
    const double error = std::abs(costs.blocking(bytes) - time_s) / time_s;
    errors.mean += error;
    errors.noise += std::abs(stats::median(halves[0]) - stats::median(halves[1])) / time_s;
    if (error > errors.largest) {
      errors.largest = error;
      errors.largest_at_bytes = bytes;
    }
    ++errors.sizes;
  }
  errors.mean /= static_cast<double>(errors.sizes);
  errors.noise /= static_cast<double>(errors.sizes);
  return errors;
}

Status print_prediction(const Options& options) {
  Table table({"network", "operation", ">sizes", ">mean error", ">largest error", ">at bytes",
               ">split-half noise", ">bound", "criterion"});
  STRIPLINE_ASSIGN_OR_RETURN(const std::vector<Network> measured_on, networks(options, false));
  for (const Network& network : measured_on) {
    STRIPLINE_ASSIGN_OR_RETURN(const auto series, load_or_measure(options, network));
    STRIPLINE_ASSIGN_OR_RETURN(const fit::Fit fitted, fit_network(network, series));
    const model::PathModel& path = fitted.model.network.begin()->second;
    for (const auto& [name, operation] : {std::pair("get", &path.get), {"put", &path.put}}) {
      const auto measured = held_out_medians(series, name);
      if (!*operation || measured.empty()) {
        return Error(ErrorCode::failed_precondition,
                     "no model of " + std::string(name) + " on " + network.fabric +
                         "; remove the measurements in " + options.path("campaigns").string() +
                         " and measure again");
      }
      const PredictionErrors errors = prediction_errors(cost::LinkCosts(**operation), measured);
      const double bound =
          network.emulated() ? asked::prediction::kEmulated : asked::prediction::kReal;
      table.add({network.fabric, name, std::to_string(errors.sizes), percent(errors.mean, 2),
                 percent(errors.largest, 2), std::to_string(errors.largest_at_bytes),
                 percent(errors.noise, 2), percent(bound, 0), met(errors.mean <= bound)});
    }
  }
  std::printf(
      "Time of one blocking operation at sizes between those of the grid, predicted by the model "
      "fitted to the grid, against the median over %u runs. Split-half noise: mean difference "
      "between the medians of the odd and of the even runs.\n\n%s",
      campaign_runs(options.quick), table.text().c_str());
  return {};
}

}  // namespace stripline::suites::results
