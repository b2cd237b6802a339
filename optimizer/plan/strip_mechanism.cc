#include "optimizer/plan/strip_mechanism.h"

#include <algorithm>
#include <array>
#include <limits>

namespace stripline::plan {
namespace {

using Strip = StripRequest;

Row row_of(const StripRequest& request, const StripPlan& plan) {
  Row row;
  StripMechanism::show(request, plan, row);
  return row;
}

// Shows a plan that ties: what was passed over as surely slower may.
void add_tie(const StripRequest& request, const StripCosts& costs, const StripPlan& tie,
             Explanation& e) {
  Row row = row_of(request, tie);
  const std::string text = row.text();
  const bool known = std::ranges::any_of(
      e.alternatives, [&](const auto& alternative) { return alternative.plan.text() == text; });
  if (!known) {
    Explanation::Alternative& a = e.alternatives.emplace_back();
    a.plan = row;
    a.predicted_s = tie.predicted_s;
    StripMechanism::add_to(a, request, costs, {tie.schedule, tie.strip_bytes, tie.burst});
  }
  std::erase_if(e.pruned, [&](const auto& pruned) {
    return pruned.what.json()["strip_bytes"] == tie.strip_bytes;
  });
  e.why += "; too close to call: while the program runs, the loop's guard compares " + text +
           ", predicted " + time_text(tie.predicted_s);
  row.word("reason", to_string(tie.reason))
      .seconds("predicted_s", tie.predicted_s)
      .seconds("baseline_s", tie.baseline_s)
      .seconds("gain_low", tie.gain_low);
  e.model.json("tie", row.json());
}

// Gets from several ranks may pass over what is faster.
void add_passed_over(Explained<StripMechanism>& e) {
  const bool taken = e.record.best.has_value();
  const double best_s = taken ? e.record.best->predicted_s : e.decision.baseline_s;
  double fastest_s = best_s;
  for (const auto& a : e.record.alternatives) fastest_s = std::min(fastest_s, a.predicted_s);
  if (fastest_s == best_s) return;
  e.why += taken ? "; what is faster, by up to " : ", but for what has to gain more than ";
  e.why += percent_text(1 - fastest_s / best_s);
  e.why += taken ? ", has" : ", as it has";
  e.why += " more in flight, which disturbs the gets of other ranks";
}

void add_compute(const StripRequest& request, const StripCosts& costs, Row& row) {
  const auto at = [&](cost::Corner corner) { return strip_compute_s(request, costs, corner); };
  Row compute;
  compute.seconds("value_s", at(cost::Corner::nominal), ", computation {}")
      .seconds("low_s", at(cost::Corner::low), " [{}")
      .seconds("high_s", at(cost::Corner::high), ", {}] (estimated from the loop class)");
  row.json("compute", compute.json());
  if (request.compute_s < 0) row.say(compute.text());
}

// Messages of one size, in the buffers of a candidate.
Row entry_of(const StripRequest& request, const StripCosts& costs, uint64_t bytes,
             const StripCandidate& candidate) {
  const bool get = request.direction == Direction::get;
  const cost::LinkCosts& link = get ? costs.get() : costs.put();
  Row row = entry_row(bytes, link.at(bytes), request.surroundings.target_polls_only);
  if (!get || !costs.has_buffers()) return row;
  const uint64_t buffer_bytes = strip_buffer_bytes(request, candidate);
  const cost::Corner nominal = cost::Corner::nominal;
  return row.part(
      "buffer", Row()
                    .bytes("bytes", buffer_bytes, "; in a buffer of {}")
                    .seconds_per_byte("retire_s_per_byte", costs.retire_into(buffer_bytes, nominal),
                                      " r more by {}")
                    .seconds_per_byte("read_s_per_byte", costs.first_read(buffer_bytes, nominal),
                                      ", first read {}"));
}

}  // namespace

std::string brief_schedule(Schedule schedule, Reason reason, uint64_t steps, uint32_t window) {
  if (reason == Reason::guarded) return "blocking, by the guard";
  std::string of_steps = std::to_string(steps) + (steps == 1 ? " step" : " steps");
  switch (schedule) {
    case Schedule::vectorised:
      return reason == Reason::own_memory ? "in place" : "blocking, " + of_steps;
    case Schedule::all_issued:
      return "A, " + of_steps;
    case Schedule::pipelined:
      return "B, " + of_steps + ", " + std::to_string(window) + " ahead";
  }
  return of_steps;
}

StripRequest StripMechanism::usual() {
  StripRequest usual;
  usual.loop.n_fp_alu = 1;
  usual.slot_alignment = kUsualSlotAlignment;
  return usual;
}

std::span<const Field<Strip>> StripMechanism::fields() {
  static constexpr std::array<Field<Strip>, 20> kFields = {
      field<Strip, &Strip::direction>("direction", "--direction", "{}",
                                      "Direction of the transfers")
          .always(),
      bytes<Strip, &Strip::total_bytes>("total_bytes", "--bytes", " of {}",
                                        "Remote data of the whole loop, e.g. 1MiB")
          .required(),
      field<Strip, &Strip::compute_s>("compute_s", "--compute", ", computation {}",
                                      "Computation of the whole loop, e.g. 400us (default: "
                                      "estimated from the options below)"),
      field<Strip, &Strip::loop, &cost::LoopClass::n_fp_alu>(
          "fp_ops", "--fp-ops", nullptr, "Floating-point operations per element"),
      field<Strip, &Strip::loop, &cost::LoopClass::n_int_alu>("int_ops", "--int-ops", nullptr,
                                                              "Integer operations per element"),
      field<Strip, &Strip::loop, &cost::LoopClass::n_div>("divisions", "--divisions", nullptr,
                                                          "Divisions per element"),
      field<Strip, &Strip::loop, &cost::LoopClass::n_local_ref>(
          "local_refs", "--local-refs", nullptr, "References to local memory per element"),
      bytes<Strip, &Strip::local_bytes>("local_bytes", "--local-bytes", nullptr,
                                        "Footprint of the local references"),
      field<Strip, &Strip::sweeps>("sweeps", "--sweeps", nullptr, "How often each element is used")
          .from(1),
      bytes<Strip, &Strip::element_bytes>("element_bytes", "--element", ", elements of {}",
                                          "Bytes of an element")
          .from(1)
          .always(),
      field<Strip, &Strip::granule_elements>("granule_elements", "--granule", nullptr,
                                             "Strips are a multiple of this many elements")
          .within(1, kMostNumber),
      bytes<Strip, &Strip::halo_bytes>("halo_bytes", "--halo", ", halo {}",
                                       "Bytes that a strip of a get needs beyond its end"),
      bytes<Strip, &Strip::max_buffer_bytes>("max_buffer_bytes", "--buffer", nullptr,
                                             "Memory that the plan may use (default: no limit)"),
      bytes<Strip, &Strip::slot_alignment>(
          "slot_alignment", "--slot-alignment", nullptr,
          "Strips begin at multiples of this many bytes of that memory")
          .within(1, kMostNumber),
      field<Strip, &Strip::blocks>("blocks", "--blocks", ", in {} blocks",
                                   "Contiguous regions that the data are in")
          .from(1),
      field<Strip, &Strip::peers>("peers", "--peers", " of {} ranks",
                                  "Ranks that the blocks are of, one after the other")
          .from(1),
      field<Strip, &Strip::uneven>("uneven", "--uneven", ", of different sizes",
                                   "The blocks differ in size"),
      bytes<Strip, &Strip::largest_block_bytes>(
          "largest_block_bytes", "--largest-block", " up to {}",
          "The largest of the blocks, where they differ (default: they are equal)"),
      bytes<Strip, &Strip::own_bytes>("own_bytes", "--own", ", beside {} of its own",
                                      "Local data that the loop goes through while the "
                                      "first transfers are in flight"),
      field<Strip, &Strip::placed>("placed", "--placed", nullptr,
                                   "The data have a place in the program's memory"),
  };
  return kFields;
}

Result<StripRequest> StripMechanism::request_of(const Strip& asked) {
  if (asked.total_bytes == 0) {
    return refused("--bytes 0 leaves nothing to transfer; write the loop's remote data, e.g. 1MiB");
  }
  if (asked.element_bytes == 0 || asked.total_bytes % asked.element_bytes != 0) {
    return refused("--bytes " + std::to_string(asked.total_bytes) +
                   " is not a multiple of the element, " + std::to_string(asked.element_bytes) +
                   " bytes");
  }
  if (asked.peers > asked.blocks) {
    return refused("--peers " + std::to_string(asked.peers) +
                   " have a block each at least; --blocks says " + std::to_string(asked.blocks));
  }
  return asked;
}

StripRequest StripMechanism::asked_of(const Strip& request) {
  Strip asked = request;
  if (request.compute_s >= 0) {  // which says what these would
    asked.loop = usual().loop;
    asked.local_bytes = usual().local_bytes;
  }
  return asked;
}

void StripMechanism::show(const Strip&, const StripPlan& plan, Row& row) {
  const bool cut = plan.schedule != Schedule::vectorised;
  row.word("schedule", to_string(plan.schedule), cut ? "schedule {}" : "{}")
      .number("count", plan.count, ", {}")
      .bytes("strip_bytes", plan.strip_bytes, " x {}")
      .number("burst", plan.burst, plan.schedule == Schedule::pipelined ? ", window {}" : "")
      .number("sync_burst", plan.sync_burst);
}

void StripMechanism::add_to(Explained<StripMechanism>& e, const Strip& request,
                            const StripCosts* costs) {
  if (!e.has_times) return;
  add_passed_over(e);
  if (e.decision.reason != Reason::tuned) {
    if (const auto tie = tie_of_strip(request, costs)) add_tie(request, *costs, *tie, e);
  }
  add_compute(request, *costs, e.asked);
  const bool get = request.direction == Direction::get;
  const cost::LoadCosts& load = get ? costs->get_load() : costs->put_load();
  const double slowdown =
      load.slowdown(request.surroundings.load, request.total_bytes / request.blocks);
  e.asked.factor("slowdown", slowdown,
                 slowdown > 1 ? ", a byte {} times as long in flight as alone" : "");
  e.entries.push_back(
      entry_of(request, *costs, request.total_bytes, e.record.alternatives.front().candidate));
  const StripCandidate best =
      e.record.best ? e.record.best->candidate
                    : StripCandidate{e.decision.schedule, e.decision.strip_bytes, e.decision.burst};
  if (best.strip_bytes != request.total_bytes) {
    e.entries.push_back(entry_of(request, *costs, best.strip_bytes, best));
  }
  const uint32_t depth = (get ? costs->get() : costs->put()).queue_depth();
  if (depth == std::numeric_limits<uint32_t>::max()) {
    e.model.say("queue depth not known");
  } else {
    e.model.number("queue_depth", depth, "queue depth {}");
  }
  e.model.seconds("strip_overhead_s", costs->strip_overhead(cost::Corner::nominal),
                  ", overhead per strip {}");
}

}  // namespace stripline::plan
