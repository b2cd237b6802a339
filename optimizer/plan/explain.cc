#include "optimizer/plan/explain.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "base/quantity.h"
#include "optimizer/plan/explain_text.h"
#include "optimizer/plan/fields_json.h"

namespace stripline::plan {
namespace {

using detail::entry_text;
using detail::format;
using detail::percent_text;
using detail::reason_text;
using detail::time_text;

Explanation::Alternative alternative_of(const StripRequest& request, const StripCosts& costs,
                                        const StripCandidate& candidate, double predicted_s) {
  return {candidate,
          force_strip(request, nullptr, candidate).count,
          {predicted_s, predict_strip(request, costs, candidate, cost::Corner::low),
           predict_strip(request, costs, candidate, cost::Corner::high)}};
}

// Shows a plan that ties: what was passed over as surely slower may.
void add_tie(const StripCosts& costs, Explanation& e) {
  const StripPlan& tie = *e.tie;
  const bool known = std::ranges::any_of(e.alternatives, [&](const auto& alternative) {
    const StripCandidate& other = alternative.candidate;
    return other.schedule == tie.schedule && other.strip_bytes == tie.strip_bytes &&
           (tie.schedule != Schedule::pipelined || other.window == tie.burst);
  });
  if (!known) {
    e.alternatives.push_back(alternative_of(
        e.request, costs, {tie.schedule, tie.strip_bytes, tie.burst}, tie.predicted_s));
  }
  std::erase_if(e.pruned,
                [&](const StripPruned& pruned) { return pruned.strip_bytes == tie.strip_bytes; });
}

std::string interval_text(const Explanation::Time& time) {
  return time_text(time.value_s) + " [" + time_text(time.low_s) + ", " + time_text(time.high_s) +
         "]";
}

std::string schedule_text(Schedule schedule, uint64_t count, uint64_t strip_bytes,
                          uint32_t window) {
  std::string strips = std::to_string(count) + " x " + exact_bytes_text(strip_bytes);
  switch (schedule) {
    case Schedule::vectorised:
      return "vectorised, " + strips;
    case Schedule::all_issued:
      return "schedule A, " + strips;
    case Schedule::pipelined:
      return "schedule B, " + strips + ", window " + std::to_string(window);
  }
  return strips;
}

std::string reason_text(const Explanation& e) {
  const double best_s = e.best ? e.best->predicted_s : e.plan.baseline_s;
  double fastest_s = best_s;
  for (const Explanation::Alternative& a : e.alternatives) {
    fastest_s = std::min(fastest_s, a.time.value_s);
  }
  std::string text =
      reason_text(e.plan.reason, {e.plan.baseline_s, best_s, e.plan.gain_low, e.minimum_gain});
  if (fastest_s < best_s) {
    text += e.best ? "; what is faster, by up to " : ", but for what has to gain more than ";
    text += percent_text(1 - fastest_s / best_s);
    text += e.best ? ", has" : ", as it has";
    text += " more under way, which disturbs the gets of other ranks";
  }
  if (e.tie) {
    text += "; too close to call: while the program runs, the loop's guard compares " +
            schedule_text(e.tie->schedule, e.tie->count, e.tie->strip_bytes, e.tie->burst) +
            ", predicted " + time_text(e.tie->predicted_s);
  }
  return text;
}

Json time_json(const Explanation::Time& time) {
  return {{"value_s", time.value_s}, {"low_s", time.low_s}, {"high_s", time.high_s}};
}

Json plan_json(const StripPlan& plan) {
  Json json = detail::verdict_json(plan);
  json["schedule"] = to_string(plan.schedule);
  json["strip_bytes"] = plan.strip_bytes;
  json["count"] = plan.count;
  json["burst"] = plan.burst;
  json["sync_burst"] = plan.sync_burst;
  return json;
}

constexpr uint64_t kMostNumber = uint64_t{1} << 53;  // of which a double loses none
constexpr uint64_t kAnyBytes = std::numeric_limits<uint64_t>::max();
constexpr std::array<std::string_view, 2> kDirections = {"get", "put"};

using Strip = StripRequest;
constexpr std::array<Field<Strip>, 18> kFields = {
    field<Strip, &Strip::direction>({.name = "direction",
                                     .option = "--direction",
                                     .help = "Of the transfers",
                                     .unit = Unit::choice,
                                     .choices = kDirections}),
    field<Strip, &Strip::total_bytes>({.name = "total_bytes",
                                       .option = "--bytes",
                                       .help = "Remote data of the whole loop, e.g. 1MiB",
                                       .unit = Unit::bytes,
                                       .most = kAnyBytes,
                                       .required = true}),
    field<Strip, &Strip::compute_s>({.name = "compute_s",
                                     .option = "--compute",
                                     .help = "Computation of the whole loop, e.g. 400us (default: "
                                             "estimated from the options below)",
                                     .unit = Unit::seconds}),
    field<Strip, &Strip::loop, &cost::LoopClass::n_fp_alu>(
        {.name = "fp_ops", .option = "--fp-ops", .help = "Floating-point operations per element"}),
    field<Strip, &Strip::loop, &cost::LoopClass::n_int_alu>(
        {.name = "int_ops", .option = "--int-ops", .help = "Integer operations per element"}),
    field<Strip, &Strip::loop, &cost::LoopClass::n_div>(
        {.name = "divisions", .option = "--divisions", .help = "Divisions per element"}),
    field<Strip, &Strip::loop, &cost::LoopClass::n_local_ref>(
        {.name = "local_refs",
         .option = "--local-refs",
         .help = "References to local memory per element"}),
    field<Strip, &Strip::local_bytes>({.name = "local_bytes",
                                       .option = "--local-bytes",
                                       .help = "Footprint of the local references",
                                       .unit = Unit::bytes,
                                       .most = kAnyBytes}),
    field<Strip, &Strip::sweeps>({.name = "sweeps",
                                  .option = "--sweeps",
                                  .help = "How often each element is used",
                                  .least = 1}),
    field<Strip, &Strip::element_bytes>({.name = "element_bytes",
                                         .option = "--element",
                                         .help = "Bytes of an element",
                                         .unit = Unit::bytes,
                                         .least = 1,
                                         .most = kAnyBytes}),
    field<Strip, &Strip::granule_elements>({.name = "granule_elements",
                                            .option = "--granule",
                                            .help = "Strips are a multiple of so many elements",
                                            .least = 1,
                                            .most = kMostNumber}),
    field<Strip, &Strip::halo_bytes>({.name = "halo_bytes",
                                      .option = "--halo",
                                      .help = "Bytes that a strip of a get needs beyond its end",
                                      .unit = Unit::bytes,
                                      .most = kAnyBytes}),
    field<Strip, &Strip::max_buffer_bytes>(
        {.name = "max_buffer_bytes",
         .option = "--buffer",
         .help = "Memory that the plan may use (default: no limit)",
         .unit = Unit::bytes,
         .most = kAnyBytes}),
    field<Strip, &Strip::blocks>({.name = "blocks",
                                  .option = "--blocks",
                                  .help = "Contiguous regions that the data are in",
                                  .least = 1}),
    field<Strip, &Strip::peers>({.name = "peers",
                                 .option = "--peers",
                                 .help = "Ranks that the blocks are of, one after the other",
                                 .least = 1}),
    field<Strip, &Strip::uneven>({.name = "uneven",
                                  .option = "--uneven",
                                  .help = "The blocks differ in size",
                                  .unit = Unit::flag}),
    field<Strip, &Strip::own_bytes>({.name = "own_bytes",
                                     .option = "--own",
                                     .help = "Local data that the loop goes through while the "
                                             "first transfers are under way",
                                     .unit = Unit::bytes,
                                     .most = kAnyBytes}),
    field<Strip, &Strip::placed>({.name = "placed",
                                  .option = "--placed",
                                  .help = "The data have a place in the program's memory",
                                  .unit = Unit::flag}),
};

}  // namespace

template <>
std::span<const Field<StripRequest>> fields_of() {
  return kFields;
}

template <>
StripRequest usual_request() {
  StripRequest usual;
  usual.loop.n_fp_alu = 1;
  return usual;
}

Explanation explain(const StripRequest& request, const StripCosts* costs) {
  Explanation e;
  e.request = request;
  StripRecord record;
  e.plan = plan_strip(request, costs, record);
  e.has_model = e.plan.reason != Reason::no_model;
  if (!e.has_model) return e;
  if (e.plan.reason != Reason::tuned) e.tie = tie_of_strip(request, costs);
  for (const auto& [candidate, predicted_s] : record.alternatives) {
    e.alternatives.push_back(alternative_of(request, *costs, candidate, predicted_s));
  }
  e.pruned = std::move(record.pruned);
  e.best = record.best;
  e.sensitivities = std::move(record.sensitivities);
  if (e.tie) add_tie(*costs, e);

  for (auto [corner, value] : {std::pair(cost::Corner::nominal, &e.compute.value_s),
                               {cost::Corner::low, &e.compute.low_s},
                               {cost::Corner::high, &e.compute.high_s}}) {
    *value = strip_compute_s(request, *costs, corner);
  }
  const cost::LinkCosts& link = request.direction == Direction::get ? costs->get() : costs->put();
  e.queue_depth = link.queue_depth();
  e.strip_overhead_s = costs->strip_overhead(cost::Corner::nominal);
  const cost::LoadCosts& load =
      request.direction == Direction::get ? costs->get_load() : costs->put_load();
  e.slowdown = load.slowdown(request.surroundings.load, request.total_bytes / request.blocks);
  e.minimum_gain = costs->minimum_gain();
  const auto add_entry = [&](uint64_t bytes, const StripCandidate& candidate) {
    Explanation::Entry entry{bytes, link.at(bytes), std::nullopt};
    if (request.direction == Direction::get && costs->has_buffers()) {
      const uint64_t buffer_bytes = strip_buffer_bytes(request, candidate);
      entry.buffer = {buffer_bytes, costs->retire_into(buffer_bytes, cost::Corner::nominal),
                      costs->first_read(buffer_bytes, cost::Corner::nominal)};
    }
    e.entries.push_back(entry);
  };
  add_entry(request.total_bytes, e.alternatives.front().candidate);
  const StripCandidate best =
      e.best ? e.best->candidate
             : StripCandidate{e.plan.schedule, e.plan.strip_bytes, e.plan.burst};
  if (best.strip_bytes != request.total_bytes) add_entry(best.strip_bytes, best);
  return e;
}

std::string to_text(const Explanation& e) {
  const StripRequest& request = e.request;
  std::string out = std::string(to_string(request.direction)) + " of " +
                    exact_bytes_text(request.total_bytes) + ", elements of " +
                    exact_bytes_text(request.element_bytes);
  if (request.blocks > 1) {
    out += ", in " + std::to_string(request.blocks) + " blocks";
    if (request.peers > 1) out += " of " + std::to_string(request.peers) + " ranks";
    if (request.uneven) out += ", of different sizes";
  }
  out += surroundings_text(request.surroundings, StripRequest::kFacts);
  if (e.slowdown > 1) {
    out += ", a byte " + format("%.3g", e.slowdown) + " times as long under way as alone";
  }
  if (request.own_bytes > 0)
    out += ", beside " + exact_bytes_text(request.own_bytes) + " of its own";
  if (request.halo_bytes > 0) out += ", halo " + exact_bytes_text(request.halo_bytes);
  if (e.has_model) {
    out += ", computation " + interval_text(e.compute) +
           (request.compute_s >= 0 ? " (given)" : " (estimated from the loop class)");
  }
  out +=
      "\nplan: " + schedule_text(e.plan.schedule, e.plan.count, e.plan.strip_bytes, e.plan.burst);
  if (e.has_model) {
    out += ", predicted " + time_text(e.plan.predicted_s) + ", vectorised blocking " +
           time_text(e.plan.baseline_s);
  }
  out += "\nwhy: " + reason_text(e) + "\n";
  if (!e.has_model) return out;

  out += "alternatives:\n";
  for (const Explanation::Alternative& a : e.alternatives) {
    const bool chosen =
        a.candidate.schedule == e.plan.schedule && a.count == e.plan.count &&
        (a.candidate.schedule != Schedule::pipelined || a.candidate.window == e.plan.burst);
    out +=
        std::string(chosen ? "  * " : "    ") +
        schedule_text(a.candidate.schedule, a.count, a.candidate.strip_bytes, a.candidate.window) +
        ": " + interval_text(a.time) + "\n";
  }
  for (const StripPruned& p : e.pruned) {
    out += "    strips of " + exact_bytes_text(p.strip_bytes) + ": at least " +
           time_text(p.bound_s) + ", not considered further\n";
  }
  out += detail::sensitivities_text(e.sensitivities);
  out += "model entries:\n";
  for (const Explanation::Entry& entry : e.entries) {
    out += "    " +
           entry_text(entry.bytes, entry.message, e.request.surroundings.target_polls_only) + "\n";
    if (entry.buffer) {
      out += "      in a buffer of " + exact_bytes_text(entry.buffer->bytes) + ": r more by " +
             format("%.3g ns/B", entry.buffer->retire_s_per_byte * 1e9) + ", first read " +
             format("%.3g ns/B", entry.buffer->read_s_per_byte * 1e9) + "\n";
    }
  }
  out += "    queue depth " +
         (e.queue_depth == std::numeric_limits<uint32_t>::max() ? std::string("not known")
                                                                : std::to_string(e.queue_depth)) +
         ", overhead per strip " + time_text(e.strip_overhead_s) + "\n";
  return out;
}

Json to_json(const Explanation& e) {
  Json json = {{"slowdown", e.slowdown}, {"plan", plan_json(e.plan)}, {"why", reason_text(e)}};
  add_fields(json, e.request);
  if (!e.has_model) return json;
  if (e.tie) json["tie"] = plan_json(*e.tie);
  json["compute"] = time_json(e.compute);
  json["minimum_gain"] = e.minimum_gain;
  json["strip_overhead_s"] = e.strip_overhead_s;
  if (e.queue_depth != std::numeric_limits<uint32_t>::max()) json["queue_depth"] = e.queue_depth;
  json["alternatives"] = Json::array();
  for (const Explanation::Alternative& a : e.alternatives) {
    json["alternatives"].push_back({{"schedule", to_string(a.candidate.schedule)},
                                    {"strip_bytes", a.candidate.strip_bytes},
                                    {"count", a.count},
                                    {"window", a.candidate.window},
                                    {"time", time_json(a.time)}});
  }
  json["pruned"] = Json::array();
  for (const StripPruned& p : e.pruned) {
    json["pruned"].push_back({{"strip_bytes", p.strip_bytes}, {"bound_s", p.bound_s}});
  }
  json["sensitivities"] = detail::sensitivities_json(e.sensitivities);
  json["entries"] = Json::array();
  for (const Explanation::Entry& entry : e.entries) {
    json["entries"].push_back(
        detail::entry_json(entry.bytes, entry.message, e.request.surroundings.target_polls_only));
    if (!entry.buffer) continue;
    json["entries"].back()["buffer"] = {{"bytes", entry.buffer->bytes},
                                        {"retire_s_per_byte", entry.buffer->retire_s_per_byte},
                                        {"read_s_per_byte", entry.buffer->read_s_per_byte}};
  }
  return json;
}

}  // namespace stripline::plan
