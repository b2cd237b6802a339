#include "optimizer/plan/explain_nest.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <variant>
#include <vector>

#include "base/quantity.h"
#include "optimizer/plan/explain_text.h"
#include "optimizer/plan/nest_evaluator.h"
#include "optimizer/plan/nest_json.h"
#include "optimizer/plan/request_fields.h"

namespace stripline::plan {
namespace {

using access::Cut;
using access::Mode;
using access::Reference;
using detail::percent_text;
using detail::time_text;

// Lines of alternatives that a person reads.
constexpr size_t kMostAlternatives = 20;

// The loops whose smallest steps have no tiles.
void add_closed_loops(NestExplanation& e) {
  const access::Nest& nest = e.request.nest;
  for (uint32_t loop = 0; loop < nest.depth; ++loop) {
    const auto tiled = access::tile(nest, {loop, 1});
    if (const auto* why = std::get_if<access::Failure>(&tiled)) e.closed.push_back({loop, *why});
  }
}

void add_entries(NestExplanation& e) {
  const auto tiled = access::tile(e.request.nest, e.plan.cut);
  const auto* tiling = std::get_if<access::Tiling>(&tiled);
  if (tiling == nullptr) return;
  for (const access::Group& group : tiling->group) {
    const uint8_t index = e.request.link[group.member[0]];
    const NestLink& link = e.request.links[index];
    if (link.in_reach || !group.tile.contiguous()) continue;
    for (const Direction direction : {Direction::get, Direction::put}) {
      if (direction == Direction::get ? !reads(group.mode) : !writes(group.mode)) continue;
      const bool known = std::ranges::any_of(e.entries, [&](const NestExplanation::Entry& entry) {
        return entry.link == index && entry.direction == direction && entry.bytes == group.bytes();
      });
      if (known) continue;
      const cost::LinkCosts& costs =
          direction == Direction::get ? link.strip->get() : link.strip->put();
      e.entries.push_back({index, direction, group.bytes(), costs.at(group.bytes())});
    }
  }
}

bool is_chosen(const NestExplanation& e, const NestCandidate& candidate) {
  return candidate.schedule == e.plan.schedule && candidate.cut.loop == e.plan.cut.loop &&
         candidate.cut.granule == e.plan.cut.granule &&
         (candidate.schedule != Schedule::pipelined || candidate.window == e.plan.window);
}

std::string count_text(uint64_t count, const std::string& of) {
  return std::to_string(count) + " " + of + (count == 1 ? "" : "s");
}

// "cut at loop 0 into 16 steps of 4 iterations".
std::string cut_text(const Cut& cut, uint64_t steps) {
  return "cut at loop " + std::to_string(cut.loop) + " into " + count_text(steps, "step") + " of " +
         count_text(cut.granule, "iteration");
}

// "schedule B, cut at loop 0 into 16 steps of 4 iterations, window 2, buffers 96 KiB".
std::string way_text(const NestPlan& plan) {
  std::string out = plan.schedule == Schedule::vectorised
                        ? "vectorised"
                        : "schedule " + std::string(to_string(plan.schedule));
  out += plan.steps == 1 ? ", 1 step" : ", " + cut_text(plan.cut, plan.steps);
  if (plan.schedule == Schedule::pipelined) out += ", window " + std::to_string(plan.window);
  return out + ", buffers " + exact_bytes_text(plan.buffer_bytes);
}

// "; many regions by packed, pipelined", or nothing.
std::string methods_text(const NestPlan& plan) {
  std::string out;
  for (uint32_t g = 0; g < plan.groups; ++g) {
    const NestTransfer& transfer = plan.transfer[g];
    if (!transfer.moved || !transfer.many_regions) continue;
    const std::string method(to_string(transfer.method));
    if (out.find(method) == std::string::npos) out += (out.empty() ? "" : ", ") + method;
  }
  return out.empty() ? out : "; many regions by " + out;
}

std::string path_text(uint8_t link) {
  return link == kLocalLink ? "in reach of loads and stores"
                            : std::string(model::path_name(static_cast<model::Path>(link - 1)));
}

std::string_view mode_text(Mode mode) {
  switch (mode) {
    case Mode::read:
      return "reads";
    case Mode::write:
      return "writes";
    case Mode::update:
      return "updates";
  }
  return "reads";
}

std::string reference_text(const NestRequest& request, uint32_t index) {
  const Reference& reference = request.nest.reference[index];
  std::string out =
      "  reference " + std::to_string(index) + " " + std::string(mode_text(reference.mode)) + " " +
      exact_bytes_text(reference.element_bytes) + " at " + std::to_string(reference.base);
  for (uint32_t loop = 0; loop < request.nest.depth; ++loop) {
    const int64_t stride = reference.stride_bytes[loop];
    if (stride == 0) continue;
    out += (stride < 0 ? " - " : " + ") + std::to_string(std::abs(stride)) + " i" +
           std::to_string(loop);
  }
  if (reference.in_pieces()) {
    out += " of piece i" + std::to_string(reference.piece_loop);
  } else if (request.link[index] != kLocalLink) {
    out += " of owner " + std::to_string(reference.owner);
  }
  out += ", " + path_text(request.link[index]);
  if (request.in_reach_part[index] > 0) {
    out += " but for " + percent_text(request.in_reach_part[index]) + " in reach";
  }
  return out + "\n";
}

// The references whose elements are in a group's tiles.
std::string members_text(const access::Group& group) {
  std::string out = group.members == 1 ? "reference " : "references ";
  for (uint32_t m = 0; m < group.members; ++m) {
    out += (m > 0 ? ", " : "") + std::to_string(group.member[m]);
  }
  return out;
}

std::string transfers_text(const access::Nest& nest, const NestPlan& plan) {
  const auto tiling = access::tile(nest, plan.cut);
  std::string out;
  for (uint32_t g = 0; g < plan.groups; ++g) {
    const NestTransfer& transfer = plan.transfer[g];
    if (!transfer.moved) continue;
    out += "    ";
    if (const auto* tiles = std::get_if<access::Tiling>(&tiling)) {
      out += members_text(tiles->group[g]) + ": ";
    }
    out += count_text(transfer.count, "tile") + " of " + exact_bytes_text(transfer.bytes);
    if (transfer.many_regions) {
      out += " in many regions, by " + std::string(to_string(transfer.method)) + ", window " +
             std::to_string(transfer.vis_window);
      if (transfer.chunk_bytes > 0) out += ", chunks of " + exact_bytes_text(transfer.chunk_bytes);
    }
    out += ", " + std::to_string(transfer.burst) + " under way, init level " +
           std::to_string(transfer.init_level) + ", sync level " +
           std::to_string(transfer.sync_level) + ", sync burst " +
           std::to_string(transfer.sync_burst) + "\n";
  }
  return out;
}

std::string reason_text(const NestExplanation& e) {
  if (e.plan.obstacle) {
    return e.plan.obstacle->text() + ", so the accesses are made one by one, in order";
  }
  double best_s = e.plan.baseline_s;
  for (const auto& a : e.alternatives) best_s = std::min(best_s, a.predicted_s);
  return detail::reason_text(e.plan.reason,
                             {e.plan.baseline_s, best_s, e.plan.gain_low, e.minimum_gain});
}

// Tells for each loop how many of its cuts were not looked at further.
std::string pruned_text(const NestExplanation& e) {
  std::string out;
  for (uint32_t loop = 0; loop < e.request.nest.depth; ++loop) {
    size_t count = 0;
    double least_s = std::numeric_limits<double>::infinity();
    for (const NestPruned& p : e.pruned) {
      if (p.cut.loop != loop) continue;
      ++count;
      least_s = std::min(least_s, p.bound_s);
    }
    if (count == 0) continue;
    out += "    " + count_text(count, "other cut") + " at loop " + std::to_string(loop) +
           ": at least " + time_text(least_s) + ", not considered further\n";
  }
  return out;
}

std::string alternatives_text(const NestExplanation& e) {
  std::vector<const NestExplanation::Alternative*> order;
  for (const NestExplanation::Alternative& a : e.alternatives) order.push_back(&a);
  std::ranges::stable_sort(
      order, [](const auto* a, const auto* b) { return a->predicted_s < b->predicted_s; });
  std::string out = "alternatives, the fastest first:\n";
  for (size_t i = 0; i < order.size(); ++i) {
    const bool chosen = is_chosen(e, order[i]->candidate);
    const bool vectorised = order[i]->candidate.schedule == Schedule::vectorised;
    if (i >= kMostAlternatives && !chosen && !vectorised) continue;
    out += (chosen ? "  * " : "    ") + way_text(order[i]->plan) + methods_text(order[i]->plan) +
           ": " + time_text(order[i]->predicted_s) + "\n";
  }
  if (order.size() > kMostAlternatives) {
    out += "    others, of " + std::to_string(order.size()) + " in all: up to " +
           time_text(order.back()->predicted_s) + "\n";
  }
  return out + pruned_text(e);
}

Json plan_json(const access::Nest& nest, const NestPlan& plan) {
  const auto tiling = access::tile(nest, plan.cut);
  Json json = {{"schedule", to_string(plan.schedule)},
               {"cut", {{"loop", plan.cut.loop}, {"granule", plan.cut.granule}}},
               {"steps", plan.steps},
               {"window", plan.window},
               {"buffer_bytes", plan.buffer_bytes},
               {"transfers", Json::array()}};
  for (uint32_t g = 0; g < plan.groups; ++g) {
    const NestTransfer& transfer = plan.transfer[g];
    if (!transfer.moved) continue;
    Json one = {{"count", transfer.count},           {"bytes", transfer.bytes},
                {"burst", transfer.burst},           {"init_level", transfer.init_level},
                {"sync_level", transfer.sync_level}, {"sync_burst", transfer.sync_burst}};
    if (const auto* tiles = std::get_if<access::Tiling>(&tiling)) {
      const access::Group& group = tiles->group[g];
      one["references"] =
          std::vector<int>(group.member.begin(), group.member.begin() + group.members);
      one["offset_bytes"] = group.tile.base;
      one["run_bytes"] = group.tile.run_bytes;
      one["runs"] = group.tile.runs();
    }
    if (transfer.many_regions) {
      one["method"] = to_string(transfer.method);
      one["window"] = transfer.vis_window;
      if (transfer.chunk_bytes > 0) one["chunk_bytes"] = transfer.chunk_bytes;
    }
    json["transfers"].push_back(std::move(one));
  }
  return json;
}

}  // namespace

NestExplanation explain(const NestRequest& request) {
  NestExplanation e;
  e.request = request;
  NestRecord record;
  e.plan = plan_nest(request, record);
  for (const auto& [candidate, predicted_s] : record.alternatives) {
    e.alternatives.push_back({candidate, predicted_s, unfold_nest(request, candidate)});
  }
  e.pruned = std::move(record.pruned);
  e.sensitivities = std::move(record.sensitivities);
  if (e.plan.obstacle) return e;
  add_closed_loops(e);
  const detail::NestEvaluator evaluator(request);
  e.has_model = evaluator.moves() && evaluator.known();
  if (!e.has_model) return e;
  e.compute_s = evaluator.compute_s();
  e.queue_depth = evaluator.queue_depth();
  e.minimum_gain = evaluator.minimum_gain();
  add_entries(e);
  return e;
}

std::string to_text(const NestExplanation& e) {
  const access::Nest& nest = e.request.nest;
  std::string out = "nest of ";
  for (uint32_t loop = 0; loop < nest.depth; ++loop) {
    out += (loop > 0 ? " x " : "") + std::to_string(nest.counts[loop]);
  }
  out += " iterations";
  out += surroundings_text(e.request.surroundings, NestRequest::kFacts);
  if (e.has_model) {
    out += ", computation " + time_text(e.compute_s) +
           (e.request.compute_s >= 0 ? " (given)" : " (estimated from the operations)");
  }
  out += "\n";
  for (uint32_t r = 0; r < nest.references(); ++r) out += reference_text(e.request, r);
  if (e.plan.obstacle) return out + "plan: access by access\nwhy: " + reason_text(e) + "\n";

  out += "plan: " + way_text(e.plan);
  if (e.has_model) {
    out += ", predicted " + time_text(e.plan.predicted_s) + ", vectorised blocking " +
           time_text(e.plan.baseline_s);
  }
  out += "\n" + transfers_text(nest, e.plan) + "why: " + reason_text(e) + "\n";
  for (const NestExplanation::Closed& closed : e.closed) {
    out += "    no cut at loop " + std::to_string(closed.loop) + ": " + closed.why.text() + "\n";
  }
  if (!e.has_model) return out;
  out += alternatives_text(e);
  out += detail::sensitivities_text(e.sensitivities);
  if (!e.entries.empty()) out += "model entries:\n";
  for (const NestExplanation::Entry& entry : e.entries) {
    out +=
        "    " + path_text(entry.link) + " " + std::string(to_string(entry.direction)) + " of " +
        detail::entry_text(entry.bytes, entry.message, e.request.surroundings.target_polls_only) +
        "\n";
  }
  return out;
}

Json to_json(const NestExplanation& e) {
  Json json = {{"nest", to_json(e.request)}, {"why", reason_text(e)}};
  if (e.plan.obstacle) {
    json["plan"] = {{"schedule", "one_by_one"}};
    json["obstacle"] = {{"kind", access::to_string(e.plan.obstacle->obstacle)},
                        {"reference", e.plan.obstacle->reference},
                        {"other", e.plan.obstacle->other}};
    return json;
  }
  json["plan"] = plan_json(e.request.nest, e.plan);
  json["plan"]["reason"] = to_string(e.plan.reason);
  json["closed"] = Json::array();
  for (const NestExplanation::Closed& closed : e.closed) {
    json["closed"].push_back({{"loop", closed.loop}, {"why", closed.why.text()}});
  }
  if (!e.has_model) return json;
  json["plan"]["predicted_s"] = e.plan.predicted_s;
  json["plan"]["baseline_s"] = e.plan.baseline_s;
  json["plan"]["gain_low"] = e.plan.gain_low;
  json["compute_s"] = e.compute_s;
  json["minimum_gain"] = e.minimum_gain;
  if (e.queue_depth != std::numeric_limits<uint32_t>::max()) json["queue_depth"] = e.queue_depth;
  json["alternatives"] = Json::array();
  for (const NestExplanation::Alternative& a : e.alternatives) {
    json["alternatives"].push_back(plan_json(e.request.nest, a.plan));
    json["alternatives"].back()["predicted_s"] = a.predicted_s;
  }
  json["pruned"] = Json::array();
  for (const NestPruned& p : e.pruned) {
    json["pruned"].push_back(
        {{"cut", {{"loop", p.cut.loop}, {"granule", p.cut.granule}}}, {"bound_s", p.bound_s}});
  }
  json["sensitivities"] = detail::sensitivities_json(e.sensitivities);
  json["entries"] = Json::array();
  for (const NestExplanation::Entry& entry : e.entries) {
    Json one =
        detail::entry_json(entry.bytes, entry.message, e.request.surroundings.target_polls_only);
    one["path"] = path_text(entry.link);
    one["direction"] = to_string(entry.direction);
    json["entries"].push_back(std::move(one));
  }
  return json;
}

}  // namespace stripline::plan
