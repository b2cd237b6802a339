#include "optimizer/plan/shared_mechanism.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace stripline::plan {
namespace {

using Shared = SharedRequest;

// A part of the updates, in percent.
template <double SpreadRequest::*Share>
constexpr Field<Shared> share(const char* name, const char* option, const char* phrase,
                              const char* help) {
  return {
      {.name = name, .option = option, .phrase = phrase, .help = help, .most = 100, .always = true},
      [](const Shared& shared) -> FieldValue {
        return static_cast<uint64_t>(std::lround(100 * shared.spread.*Share));
      },
      [](Shared& shared, const FieldValue& percent) {
        shared.spread.*Share = static_cast<double>(std::get<uint64_t>(percent)) / 100;
      }};
}

// What the machine takes for something.
template <double SharedCosts::*Seconds>
constexpr Field<Shared> cost(const char* name, const char* option, const char* help) {
  return field<Shared, &Shared::costs, Seconds>(name, option, nullptr, help);
}

constexpr Field<Shared> updates_field() {
  return {{.name = "updates",
           .option = "--updates",
           .phrase = ", each of {} updates",
           .help = "Updates of the worker that makes most, in an epoch",
           .most = kMostNumber,
           .required = true},
          [](const Shared& shared) -> FieldValue {
            return static_cast<uint64_t>(shared.spread.updates);
          },
          [](Shared& shared, const FieldValue& updates) {
            shared.spread.updates = static_cast<double>(std::get<uint64_t>(updates));
          }};
}

SharedStrategy shared_baseline(const SpreadChoice& choice) {
  const auto seconds = [&](SharedStrategy strategy) {
    return choice.predicted_s[static_cast<size_t>(strategy)];
  };
  return seconds(SharedStrategy::locked) < seconds(SharedStrategy::atomic) ? SharedStrategy::locked
                                                                           : SharedStrategy::atomic;
}

SharedPlan shared_plan(const SpreadRequest& request, const SpreadChoice& choice) {
  const double baseline_s = choice.predicted_s[static_cast<size_t>(shared_baseline(choice))];
  const double chosen_s = choice.predicted_s[static_cast<size_t>(choice.strategy)];
  // Otherwise updates compete for their cells, also where hot ones are looked for.
  const bool gains = chosen_s < baseline_s;
  const double predicted_s = gains ? chosen_s : baseline_s;
  return {.strategy = choice.strategy,
          .reason = gains ? Reason::tuned : Reason::no_faster_plan,
          .predicted_s = predicted_s,
          .baseline_s = baseline_s,
          .gain_low = gains ? 1 - predicted_s / baseline_s : 0,
          .sort_interval = first_sort_interval(request.sort_s, predicted_s)};
}

}  // namespace

SharedTeam SharedRequest::team() const {
  return {spread.workers, placement, type,
          std::min(spread.cells * spread.cell_bytes, spread.budget_bytes / 2)};
}

SharedPlan plan_shared(const SpreadRequest& request, const SharedCosts& costs) noexcept {
  return shared_plan(request, choose_spread(request, costs));
}

SharedPlan guarded_shared(const SpreadRequest& request, const SharedCosts& costs,
                          SharedStrategy strategy) noexcept {
  const SharedPlan plan = plan_shared(request, costs);
  return {strategy, Reason::guarded, plan.baseline_s, plan.baseline_s, 0, plan.sort_interval};
}

SharedCosts SharedMechanism::costs_of_team(const SharedRequest& request,
                                           const CompiledModel* model) {
  if (model == nullptr || request.costs != usual().costs) return request.costs;
  const auto& section = model->tuned().shared_update;
  return section ? team_costs(*section, request.team()).value_or(request.costs) : request.costs;
}

// A processor of some years ago, whose workers share a cache.
SharedRequest SharedMechanism::usual() {
  Request usual;
  usual.spread.own_share = usual.spread.mirror_share = 1;
  usual.spread.budget_bytes = uint64_t{64} << 20;
  usual.costs = {.plain_s = 1e-9,
                 .atomic_s = 6e-9,
                 .lock_s = 13e-9,
                 .transfer_s = 50e-9,
                 .box_s = 2e-9,
                 .fold_s = 1e-9,
                 .barrier_s = 1e-6};
  return usual;
}

std::span<const Field<Shared>> SharedMechanism::fields() {
  static constexpr std::array<Field<Shared>, 20> kFields = {
      field<Shared, &Shared::spread, &SpreadRequest::workers>(
          "workers", "--workers", "{} workers of a node", "Workers that update the cells")
          .from(1)
          .required(),
      updates_field(),
      share<&SpreadRequest::own_share>("own_percent", "--own", ", {} % of cells of its own",
                                       "Percent of the updates whose cells the worker owns"),
      share<&SpreadRequest::mirror_share>(
          "mirror_percent", "--mirror", ", {} % of those of an equal slab",
          "Percent of those in the worker's slab if all slabs are equal"),
      field<Shared, &Shared::spread, &SpreadRequest::cells>("cells", "--cells", ", of {} cells",
                                                            "Cells of the grid")
          .within(1, kMostNumber)
          .required(),
      bytes<Shared, &Shared::spread, &SpreadRequest::cell_bytes>("cell_bytes", "--cell-bytes",
                                                                 " of {}", "Bytes of a cell"),
      field<Shared, &Shared::type>("type", "--type", " ({})",
                                   "Kind and bytes of a cell, as models know them"),
      field<Shared, &Shared::placement>("placement", "--placement", ", workers in a {}",
                                        "What the workers are in together"),
      field<Shared, &Shared::spread, &SpreadRequest::looks>(
          "looks", "--looks", ", hot cells looked for",
          "Cells that are hot are replicated where updates compete"),
      field<Shared, &Shared::spread, &SpreadRequest::box_cells>(
          "box_cells", "--box-cells", ", {} cells in boxes",
          "Cells of the boxes that a worker needs beside its slab")
          .within(0, kMostNumber),
      bytes<Shared, &Shared::spread, &SpreadRequest::budget_bytes>(
          "budget_bytes", "--budget", nullptr, "Memory of a worker for replicas and boxes"),
      field<Shared, &Shared::spread, &SpreadRequest::sort_s>("sort_s", "--sort", nullptr,
                                                             "What sorting the points takes"),
      field<Shared, &Shared::spread, &SpreadRequest::sort_every>(
          "sort_every", "--sort-every", nullptr,
          "Epochs that an order of the points serves (default: not known)")
          .within(0, kMostNumber),
      cost<&SharedCosts::plain_s>("plain_s", "--plain", "An update of a cell in this cache"),
      cost<&SharedCosts::atomic_s>("atomic_s", "--atomic", "The same as an atomic operation"),
      cost<&SharedCosts::lock_s>("lock_s", "--lock", "The same under a lock that is free"),
      cost<&SharedCosts::transfer_s>("transfer_s", "--transfer",
                                     "A cache line that another worker has changed"),
      cost<&SharedCosts::box_s>("box_s", "--in-box", "An update of a cell in a box"),
      cost<&SharedCosts::fold_s>("fold_s", "--fold",
                                 "Combining a cell of a replica with its target"),
      cost<&SharedCosts::barrier_s>("barrier_s", "--barrier", "A barrier of the workers")};
  return kFields;
}

SharedPlan SharedMechanism::plan(const Shared& request, const CompiledModel* model,
                                 Record& record) {
  const SpreadChoice choice = choose_spread(request.spread, costs_of_team(request, model));
  const auto seconds = [&](SharedStrategy strategy) {
    return choice.predicted_s[static_cast<size_t>(strategy)];
  };
  const SharedStrategy baseline = shared_baseline(choice);
  record.consider(baseline, seconds(baseline));
  for (size_t i = 0; i < choice.predicted_s.size(); ++i) {
    const auto strategy = static_cast<SharedStrategy>(i);
    if (strategy == baseline || seconds(strategy) == std::numeric_limits<double>::infinity()) {
      continue;
    }
    record.consider(strategy, seconds(strategy));
  }
  const SharedPlan plan = shared_plan(request.spread, choice);
  if (plan.reason == Reason::tuned) record.take(plan.strategy, plan.predicted_s);
  return plan;
}

void SharedMechanism::add_to(Explained<SharedMechanism>& explained, const Shared&,
                             const CompiledModel*) {
  const uint64_t interval = explained.decision.sort_interval;
  if (interval == 0) return;
  explained.remarks.number("sort_interval", interval, "    points are sorted again after {} epochs")
      .say(", unless it is seen sooner how fast they move\n");
}

}  // namespace stripline::plan
