#include "optimizer/plan/shared_mechanism.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace stripline::plan {
namespace {

using Shared = SharedRequest;

// A part of the updates, in percent.
template <double SpreadRequest::*Share>
constexpr Field<Shared> share(const char* name, const char* option, const char* phrase,
                              const char* help) {
  return {{.name = name, .option = option, .phrase = phrase, .help = help, .most = 100},
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

// What is known without a model, or by one that has no such section: no team.
const model::SharedUpdateModel* or_none(const model::SharedUpdateModel* known) {
  static const model::SharedUpdateModel kNone;
  return known != nullptr ? known : &kNone;
}

// What counts for a request at these ends: the model's costs, or those that it was given.
SharedCosts costs_at(const SharedRequest& request, const model::SharedUpdateModel& known,
                     const Ends& ends) {
  if (known.points.empty() || request.costs != SharedMechanism::usual().costs) return request.costs;
  const auto of_team = [&](cost::Corner corner) {
    return team_costs(known, request.team(), corner).value_or(request.costs);
  };
  SharedCosts costs = of_team(ends.of(Source::compute));
  if (ends.corner == cost::Corner::nominal) return costs;
  const SharedCosts of_lines = of_team(ends.of(Source::latency));
  costs.transfer_s = of_lines.transfer_s;
  costs.barrier_s = of_lines.barrier_s;
  return costs;
}

}  // namespace

SharedTeam SharedRequest::team() const {
  return {spread.workers, placement, type,
          std::min(spread.cells * spread.cell_bytes, spread.budget_bytes / 2)};
}

double in_whole_percents(double share) { return std::round(100 * share) / 100; }

SharedPlan plan_shared(const SharedRequest& request,
                       const model::SharedUpdateModel* known) noexcept {
  NoRecord record;
  return choose<SharedMechanism>(request, or_none(known), record);
}

SharedPlan baseline_of_shared(const SharedRequest& request,
                              const model::SharedUpdateModel* known) noexcept {
  return baseline_of<SharedMechanism>(request, or_none(known));
}

const model::SharedUpdateModel* SharedMechanism::costs_of(const CompiledModel& model) {
  const auto& section = model.tuned().shared_update;
  return section ? &*section : nullptr;
}

double SharedMechanism::seconds(const SharedRequest& request, const Costs& known,
                                SharedStrategy strategy, const Ends& ends) {
  return spread_s(request.spread, costs_at(request, known, ends), strategy);
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
  static constexpr std::array<Field<Shared>, 23> kFields = {
      field<Shared, &Shared::spread, &SpreadRequest::workers>(
          "workers", "--workers", "{} workers of a node", "Workers that update the cells")
          .from(1)
          .required(),
      updates_field(),
      field<Shared, &Shared::spread, &SpreadRequest::cells>("cells", "--cells", ", of {} cells",
                                                            "Cells of the grid")
          .within(1, kMostNumber)
          .required(),
      bytes<Shared, &Shared::spread, &SpreadRequest::cell_bytes>("cell_bytes", "--cell-bytes",
                                                                 " of {}", "Bytes of a cell")
          .from(1),
      field<Shared, &Shared::type>("type", "--type", " ({})",
                                   "Kind and bytes of a cell, as models know them"),
      field<Shared, &Shared::placement>("placement", "--placement", ", workers in a {}",
                                        "What the workers are in together"),
      bytes<Shared, &Shared::spread, &SpreadRequest::budget_bytes>(
          "budget_bytes", "--budget", nullptr, "Memory of a worker for replicas and boxes"),
      field<Shared, &Shared::spread, &SpreadRequest::competing>(
          "competing", "--competing", ", {} where they compete",
          "What updates that compete for a cell can be made by: atomic operations, locks, or "
          "either"),
      field<Shared, &Shared::spread, &SpreadRequest::unordered>(
          "unordered", "--unordered", ", in no order",
          "Any worker may update any cell: updates are not of points in order"),
      field<Shared, &Shared::spread, &SpreadRequest::hot_cells>(
          "hot_cells", "--hot-cells", ", {} of them hot",
          "Cells that get most updates for their number (default: none are known)")
          .within(0, kMostNumber),
      share<&SpreadRequest::hot_share>("hot_percent", "--hot", ", which get {} % of the updates",
                                       "Percent of the updates that the hot cells get"),
      share<&SpreadRequest::own_share>("own_percent", "--own", ", {} % of cells of its own",
                                       "Percent of the updates whose cells the worker owns"),
      share<&SpreadRequest::mirror_share>(
          "mirror_percent", "--mirror", ", {} % of those of an equal slab",
          "Percent of those in the worker's slab if all slabs are equal"),
      field<Shared, &Shared::spread, &SpreadRequest::box_cells>(
          "box_cells", "--box-cells", ", {} cells in boxes",
          "Cells of the boxes that a worker needs beside its slab")
          .within(0, kMostNumber),
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

SharedPlan SharedMechanism::plan(const Shared& request, const Costs* known, Record& record) {
  return choose<SharedMechanism>(request, or_none(known), record);
}

void SharedMechanism::add_to(Explained<SharedMechanism>& explained, const Shared&, const Costs*) {
  const uint64_t interval = explained.decision.sort_interval;
  if (interval == 0) return;
  explained.remarks.number("sort_interval", interval, "    points are sorted again after {} epochs")
      .say(", unless it is seen sooner how fast they move\n");
}

}  // namespace stripline::plan
