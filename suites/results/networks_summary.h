// What decisions on random networks lose: cells with their times, and the verdict over networks.
// Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "suites/kernels/engine.h"
#include "suites/results/drawn_cells.h"

namespace stripline::suites::results {

/// One problem on one network as measured.
struct NetworkCell {
  std::string network;
  ProblemKind kind = ProblemKind::loop;
  std::string problem;
  std::string chosen_plan;
  std::string best_plan;
  std::string untuned_plan;
  /// Without jitter, of which the sweep's best was the fastest. Seconds.
  double exact_chosen_s = 0;
  double exact_untuned_s = 0;
  double exact_best_s = 0;
  /// With jitter, a median for each of the same runs.
  std::vector<double> chosen_s;
  std::vector<double> untuned_s;
  std::vector<double> best_s;
  /// What the plan claims to gain of the loop's or nest's untuned time, beside which these times
  /// hold what the program does besides; none: it claims nothing.
  std::optional<suites::Claim> claim;

  std::string key() const { return network + ", " + std::string(to_string(kind)) + ", " + problem; }
};

Json to_json(const NetworkCell& cell);
/// Errors: data_loss.
Result<NetworkCell> network_cell_from_json(const Json& json);

/// The ratio of two methods over paired runs, as geometric mean with its 95 % interval.
struct PairedRatio {
  double value = 1;
  double low = 1;
  double high = 1;
};
/// At least two runs, the same of both.
PairedRatio paired_ratio(const std::vector<double>& times, const std::vector<double>& others);

/// What is asked.
struct NetworkCriteria {
  double mean = 1.03;           ///< chosen / best, geometric mean over all cells
  double worst_network = 1.08;  ///< the same of one network
  double worst_cell = 1.25;     ///< chosen / best
  double untuned_cell = 1.02;   ///< chosen / untuned: no cell reliably above
  double claims = 0.95;         ///< of the claims hold
};

/// The figures that the criteria are about.
struct NetworksVerdict {
  size_t networks = 0;
  size_t cells = 0;
  double mean = 1;
  double worst_network = 1;
  std::string worst_network_name;
  double worst_cell = 1;
  std::string worst_cell_name;
  double untuned_mean = 1;     ///< chosen / untuned
  size_t lost_to_untuned = 0;  ///< cells reliably above the criterion
  std::vector<std::string> lost_names;
  size_t claims = 0;
  size_t claims_held = 0;
};
NetworksVerdict networks_verdict(const std::vector<NetworkCell>& cells,
                                 const NetworkCriteria& criteria);

/// The verdict, a row for each network, and the cells that lose most, in Markdown.
std::string networks_tables(const std::vector<NetworkCell>& cells, const NetworkCriteria& criteria);

}  // namespace stripline::suites::results
