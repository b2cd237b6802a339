#include "optimizer/fit/doubts.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "optimizer/fit/held_out_plans.h"
#include "optimizer/fit/over_runs.h"
#include "optimizer/stats/order.h"

namespace stripline::fit {
namespace {

// The mean excess of a problem's cuts, by run.
std::map<uint32_t, double> excess_of(const plan::CompiledModel& model, const HeldOutTimes& times) {
  std::map<uint32_t, double> excess;
  for (const auto& [run, uncut_s] : times.alternatives.front()) {
    double sum = 0;
    double cuts = 0;
    for (size_t one = 1; one < times.alternatives.size(); ++one) {
      const auto measured = times.alternatives[one].find(run);
      if (measured == times.alternatives[one].end()) continue;
      const auto predicted_s = predicted_cut(model, times.problem, one, uncut_s);
      if (!predicted_s || !(*predicted_s > 0)) continue;
      sum += measured->second / *predicted_s - 1;
      ++cuts;
    }
    if (cuts > 0) excess[run] = sum / cuts;
  }
  return excess;
}

std::optional<model::Parameter> doubt_of(const plan::CompiledModel& model,
                                         std::span<const HeldOutTimes> held_out,
                                         experiment::HeldOutKind kind, double confidence) {
  std::map<uint32_t, std::vector<double>> by_run;
  for (const HeldOutTimes& times : held_out) {
    if (times.problem.kind != kind) continue;
    for (const auto& [run, excess] : excess_of(model, times)) by_run[run].push_back(excess);
  }
  std::vector<double> per_run;
  size_t samples = 0;
  for (const auto& [run, problems] : by_run) {
    if (problems.size() < kLeastDoubted) continue;
    per_run.push_back(std::clamp(stats::quantile(problems, kDoubtCovers), 0.0, 1.0));
    samples += problems.size();
  }
  auto doubt = over_runs(per_run, static_cast<uint32_t>(samples), "held-out-quantiles+t",
                         {.confidence = confidence});
  if (doubt) doubt->ci_high = std::min(doubt->ci_high, 1.0);
  return doubt;
}

}  // namespace

void fit_doubts(std::span<const HeldOutTimes> held_out, double confidence,
                model::TunedModel& model) {
  const plan::CompiledModel compiled(model);
  auto loops = doubt_of(compiled, held_out, experiment::HeldOutKind::loop, confidence);
  auto nests = doubt_of(compiled, held_out, experiment::HeldOutKind::nest, confidence);
  if (!loops && !nests) return;
  if (!model.strip) model.strip.emplace();
  model.strip->composition_doubt = std::move(loops);
  model.strip->nest_composition_doubt = std::move(nests);
}

}  // namespace stripline::fit
