#include "suites/results/networks_summary.h"

#include <algorithm>
#include <array>
#include <map>
#include <span>

#include "optimizer/stats/compare.h"
#include "suites/harness/table.h"
#include "suites/harness/verdicts.h"

namespace stripline::suites::results {
namespace {

// Cells of the table of losses.
constexpr size_t kShownLosses = 25;

double chosen_over_best(const NetworkCell& cell) {
  return paired_ratio(cell.chosen_s, cell.best_s).value;
}

Result<std::vector<double>> times_of(const Json& json, const char* name) {
  STRIPLINE_ASSIGN_OR_RETURN(const Json* times, get_array(json, name, "networks"));
  std::vector<double> values;
  for (const Json& time : *times) {
    if (!time.is_number() || !(time.get<double>() > 0)) {
      return Error(ErrorCode::data_loss, std::string("networks: '") + name +
                                             "' must hold positive numbers; remove that line to "
                                             "measure the cell again");
    }
    values.push_back(time.get<double>());
  }
  return values;
}

// A claim fails where even the interval of what was measured lies below it.
bool holds(const suites::Claim& claim, const PairedRatio& to_untuned,
           const std::vector<double>& untuned_s) {
  double untuned = 0;
  for (const double seconds : untuned_s) untuned += seconds;
  untuned /= static_cast<double>(untuned_s.size());
  return (1 - to_untuned.low) * untuned >= claim.gain * std::min(claim.of_s, untuned);
}

}  // namespace

Json to_json(const NetworkCell& cell) {
  Json json = {{"network", cell.network},
               {"kind", static_cast<int>(cell.kind)},
               {"problem", cell.problem},
               {"chosen_plan", cell.chosen_plan},
               {"best_plan", cell.best_plan},
               {"untuned_plan", cell.untuned_plan},
               {"exact_s", {cell.exact_chosen_s, cell.exact_untuned_s, cell.exact_best_s}},
               {"chosen_s", cell.chosen_s},
               {"untuned_s", cell.untuned_s},
               {"best_s", cell.best_s}};
  if (cell.claim) json["claim"] = {cell.claim->gain, cell.claim->of_s};
  return json;
}

Result<NetworkCell> network_cell_from_json(const Json& json) {
  NetworkCell cell;
  const auto text = [&](const char* name, std::string& into) -> Status {
    STRIPLINE_ASSIGN_OR_RETURN(into, get_string(json, name, "networks"));
    return {};
  };
  STRIPLINE_RETURN_IF_ERROR(text("network", cell.network));
  STRIPLINE_RETURN_IF_ERROR(text("problem", cell.problem));
  STRIPLINE_RETURN_IF_ERROR(text("chosen_plan", cell.chosen_plan));
  STRIPLINE_RETURN_IF_ERROR(text("best_plan", cell.best_plan));
  STRIPLINE_RETURN_IF_ERROR(text("untuned_plan", cell.untuned_plan));
  STRIPLINE_ASSIGN_OR_RETURN(const int64_t kind, get_integer(json, "kind", "networks"));
  if (kind < 0 || kind >= static_cast<int64_t>(kProblemKinds)) {
    return Error(ErrorCode::data_loss, "networks: 'kind' is not a kind of problem");
  }
  cell.kind = static_cast<ProblemKind>(kind);
  STRIPLINE_ASSIGN_OR_RETURN(const std::vector<double> exact, times_of(json, "exact_s"));
  if (exact.size() != 3) {
    return Error(ErrorCode::data_loss, "networks: 'exact_s' must hold three times");
  }
  cell.exact_chosen_s = exact[0];
  cell.exact_untuned_s = exact[1];
  cell.exact_best_s = exact[2];
  STRIPLINE_ASSIGN_OR_RETURN(cell.chosen_s, times_of(json, "chosen_s"));
  STRIPLINE_ASSIGN_OR_RETURN(cell.untuned_s, times_of(json, "untuned_s"));
  STRIPLINE_ASSIGN_OR_RETURN(cell.best_s, times_of(json, "best_s"));
  const size_t runs = cell.chosen_s.size();
  if (runs < 2 || cell.untuned_s.size() != runs || cell.best_s.size() != runs) {
    return Error(ErrorCode::data_loss,
                 "networks: a cell needs two runs, and as many of each alternative; remove that "
                 "line to measure the cell again");
  }
  if (json.contains("claim")) {
    STRIPLINE_ASSIGN_OR_RETURN(const std::vector<double> claim, times_of(json, "claim"));
    if (claim.size() != 2) {
      return Error(ErrorCode::data_loss, "networks.claim: a share and a time are expected");
    }
    cell.claim = {claim[0], claim[1]};
  }
  return cell;
}

PairedRatio paired_ratio(const std::vector<double>& times, const std::vector<double>& others) {
  const size_t runs = std::min(times.size(), others.size());
  const auto ratio =
      stats::paired_ratio(std::span(times).first(runs), std::span(others).first(runs));
  if (!ratio.ok()) return {};
  return {ratio->value, ratio->interval.low, ratio->interval.high};
}

NetworksVerdict networks_verdict(const std::vector<NetworkCell>& cells,
                                 const NetworkCriteria& criteria) {
  NetworksVerdict verdict;
  verdict.cells = cells.size();
  std::map<std::string, Ratios> by_network;
  Ratios all;
  Ratios untuned;
  for (const NetworkCell& cell : cells) {
    const double ratio = chosen_over_best(cell);
    all.add(ratio, cell.key());
    by_network[cell.network].add(ratio);
    const PairedRatio to_untuned = paired_ratio(cell.chosen_s, cell.untuned_s);
    untuned.add(to_untuned.value);
    if (to_untuned.low > criteria.untuned_cell) {
      ++verdict.lost_to_untuned;
      verdict.lost_names.push_back(cell.key());
    }
    if (cell.claim) {
      ++verdict.claims;
      if (holds(*cell.claim, to_untuned, cell.untuned_s)) ++verdict.claims_held;
    }
  }
  verdict.networks = by_network.size();
  verdict.mean = all.mean();
  if (all.worst > 1) {
    verdict.worst_cell = all.worst;
    verdict.worst_cell_name = all.worst_name;
  }
  verdict.untuned_mean = untuned.mean();
  for (const auto& [network, ratios] : by_network) {
    if (ratios.mean() <= verdict.worst_network) continue;
    verdict.worst_network = ratios.mean();
    verdict.worst_network_name = network;
  }
  return verdict;
}

std::string networks_tables(const std::vector<NetworkCell>& cells,
                            const NetworkCriteria& criteria) {
  const NetworksVerdict verdict = networks_verdict(cells, criteria);
  Table criteria_table({"what", ">asked", ">found", "verdict", "where"});
  const auto bound = [](double value) { return "at most " + number(value); };
  criteria_table.add({"chosen / best, geometric mean of " + std::to_string(verdict.cells) +
                          " cells on " + std::to_string(verdict.networks) + " networks",
                      bound(criteria.mean), number(verdict.mean),
                      met(verdict.mean <= criteria.mean), ""});
  criteria_table.add(
      {"chosen / best, worst network", bound(criteria.worst_network), number(verdict.worst_network),
       met(verdict.worst_network <= criteria.worst_network), verdict.worst_network_name});
  criteria_table.add({"chosen / best, worst cell", bound(criteria.worst_cell),
                      number(verdict.worst_cell), met(verdict.worst_cell <= criteria.worst_cell),
                      verdict.worst_cell_name});
  criteria_table.add({"chosen / without a model, geometric mean", "below 1",
                      number(verdict.untuned_mean), met(verdict.untuned_mean < 1), ""});
  criteria_table.add(
      {"cells reliably above " + number(criteria.untuned_cell) + " of their time without a model",
       "0", std::to_string(verdict.lost_to_untuned), met(verdict.lost_to_untuned == 0),
       verdict.lost_names.empty() ? "" : verdict.lost_names.front()});
  const double held = verdict.claims == 0 ? 1
                                          : static_cast<double>(verdict.claims_held) /
                                                static_cast<double>(verdict.claims);
  criteria_table.add({"claims \"gains at least\" that hold, of " + std::to_string(verdict.claims),
                      "at least " + percent(criteria.claims, 0), percent(held),
                      met(held >= criteria.claims), ""});

  std::vector<std::string> names = {"network", ">cells", ">chosen / best", ">worst"};
  for (size_t kind = 0; kind < kProblemKinds; ++kind) {
    names.push_back(">" + std::string(to_string(static_cast<ProblemKind>(kind))));
  }
  names.emplace_back(">chosen / without a model");
  names.emplace_back(">worst");
  Table by_network(names);
  std::map<std::string, std::vector<const NetworkCell*>> cells_of;
  for (const NetworkCell& cell : cells) cells_of[cell.network].push_back(&cell);
  for (const auto& [network, own] : cells_of) {
    Ratios best;
    Ratios untuned;
    std::array<Ratios, kProblemKinds> kinds;
    for (const NetworkCell* cell : own) {
      const double ratio = chosen_over_best(*cell);
      best.add(ratio);
      kinds[static_cast<size_t>(cell->kind)].add(ratio);
      untuned.add(paired_ratio(cell->chosen_s, cell->untuned_s).value);
    }
    std::vector<std::string> row = {network, std::to_string(own.size()), number(best.mean()),
                                    number(best.worst)};
    for (const Ratios& kind : kinds) row.push_back(kind.count == 0 ? "-" : number(kind.mean()));
    row.push_back(number(untuned.mean()));
    row.push_back(number(untuned.worst));
    by_network.add(row);
  }

  std::vector<const NetworkCell*> losses;
  for (const NetworkCell& cell : cells) losses.push_back(&cell);
  std::ranges::sort(losses, [](const NetworkCell* a, const NetworkCell* b) {
    return chosen_over_best(*a) > chosen_over_best(*b);
  });
  losses.resize(std::min(losses.size(), kShownLosses));
  Table worst({"network", "problem", "chosen", ">chosen / best", "best",
               ">chosen / without a model", ">claimed gain"});
  for (const NetworkCell* cell : losses) {
    worst.add({cell->network, cell->problem, cell->chosen_plan, number(chosen_over_best(*cell)),
               cell->best_plan, number(paired_ratio(cell->chosen_s, cell->untuned_s).value),
               cell->claim ? percent(cell->claim->gain) : "-"});
  }
  return criteria_table.text() + "\n" + by_network.text() + "\nThe cells that lose most:\n\n" +
         worst.text();
}

}  // namespace stripline::suites::results
