#include "optimizer/plan/nest_mechanism.h"

#include <algorithm>
#include <array>
#include <limits>
#include <variant>
#include <vector>

#include "base/quantity.h"
#include "optimizer/plan/nest_evaluator.h"
#include "optimizer/plan/nest_json.h"
#include "optimizer/plan/strip_mechanism.h"

namespace stripline::plan {
namespace {

using access::Mode;
using access::Reference;

// "; many regions by packed, pipelined", and if that is as without a model; or nothing.
std::string methods_text(const NestPlan& plan) {
  std::string out;
  for (uint32_t g = 0; g < plan.groups; ++g) {
    const NestTransfer& transfer = plan.transfer[g];
    if (!transfer.moved || !transfer.many_regions) continue;
    const std::string method(to_string(transfer.method));
    if (out.find(method) == std::string::npos) out += (out.empty() ? "" : ", ") + method;
    if (transfer.put_back == VisCandidate{}) continue;
    const std::string put(to_string(transfer.put_back.method));
    if (out.find(put) == std::string::npos) out += ", " + put;
  }
  if (out.empty()) return out;
  return "; many regions by " + out + (plan.tunes_tiles ? "" : ", as without a model");
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
      "\n  reference " + std::to_string(index) + " " + std::string(mode_text(reference.mode)) +
      " " + exact_bytes_text(reference.element_bytes) + " at " + std::to_string(reference.base);
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
  return out;
}

// The references whose elements are in a group's tiles.
std::string members_text(const access::Group& group) {
  std::string out = group.members == 1 ? "reference " : "references ";
  for (uint32_t m = 0; m < group.members; ++m) {
    out += (m > 0 ? ", " : "") + std::to_string(group.member[m]);
  }
  return out;
}

// A line for each transfer of a plan, and an object.
std::string add_transfers(const NestRequest& request, const NestPlan& plan, Json& json) {
  const auto tiled = access::tile(request.nest, plan.cut);
  const auto* const tiling = std::get_if<access::Tiling>(&tiled);
  std::string lines;
  for (uint32_t g = 0; g < plan.groups; ++g) {
    const NestTransfer& transfer = plan.transfer[g];
    if (!transfer.moved) continue;
    Row row;
    if (tiling != nullptr) {
      const access::Group& group = tiling->group[g];
      row.say(members_text(group) + ": ")
          .json("references",
                std::vector<int>(group.member.begin(), group.member.begin() + group.members))
          .json("offset_bytes", group.tile.base)
          .json("run_bytes", group.tile.run_bytes)
          .json("runs", group.tile.runs());
    }
    row.number("count", transfer.count, transfer.count == 1 ? "{} tile" : "{} tiles")
        .bytes("bytes", transfer.bytes, " of {}");
    if (transfer.many_regions) {
      row.word("method", to_string(transfer.method), " in many regions, by {}")
          .number("window", transfer.vis_window, ", window {}");
      if (transfer.chunk_bytes > 0) {
        row.bytes("chunk_bytes", transfer.chunk_bytes, ", chunks of {}");
      }
      const VisCandidate get = transfer.by(Direction::get, access::Mode::read);
      if (transfer.put_back != VisCandidate{} && transfer.put_back != get) {
        row.word("put_method", to_string(transfer.put_back.method), ", put by {}")
            .number("put_window", transfer.put_back.window, ", window {}");
      }
    }
    row.number("burst", transfer.burst, ", {} in flight")
        .number("init_level", transfer.init_level, ", init level {}")
        .number("sync_level", transfer.sync_level, ", sync level {}")
        .number("sync_burst", transfer.sync_burst, ", sync burst {}");
    lines += "    " + row.text() + "\n";
    json.push_back(row.json());
  }
  return lines;
}

Row cut_row(const access::Cut& cut) {
  return Row().number("loop", cut.loop, ", cut at loop {}").number("granule", cut.granule);
}

void add_obstacle(const access::Failure& obstacle, Explanation& e) {
  e.why = obstacle.text() + ", so the accesses are made one by one, in order";
  e.remarks.json("obstacle", {{"kind", access::to_string(obstacle.obstacle)},
                              {"reference", obstacle.reference},
                              {"other", obstacle.other}});
}

// The loops whose smallest steps have no tiles.
void add_closed_loops(const access::Nest& nest, Explanation& e) {
  Json closed = Json::array();
  for (uint32_t loop = 0; loop < nest.depth; ++loop) {
    const auto tiled = access::tile(nest, {loop, 1});
    const auto* const why = std::get_if<access::Failure>(&tiled);
    if (why == nullptr) continue;
    closed.push_back({{"loop", loop}, {"why", why->text()}});
    e.remarks.say("    no cut at loop " + std::to_string(loop) + ": " + why->text() + "\n");
  }
  e.remarks.json("closed", closed);
}

void add_entries(const NestRequest& request, const NestPlan& plan, Explanation& e) {
  const auto tiled = access::tile(request.nest, plan.cut);
  const auto* const tiling = std::get_if<access::Tiling>(&tiled);
  if (tiling == nullptr) return;
  for (const access::Group& group : tiling->group) {
    const uint8_t index = request.link[group.member[0]];
    const NestLink& link = request.links[index];
    if (link.in_reach || !group.tile.contiguous()) continue;
    for (const Direction direction : {Direction::get, Direction::put}) {
      const bool get = direction == Direction::get;
      if (get ? !reads(group.mode) : !writes(group.mode)) continue;
      const cost::LinkCosts& costs = get ? link.strip->get() : link.strip->put();
      Row row =
          entry_row(group.bytes(), costs.at(group.bytes()), request.surroundings.target_polls_only);
      row.word("direction", to_string(direction), ", of a {}")
          .word("path", path_text(index), " over {}");
      const bool known = std::ranges::any_of(
          e.entries, [&](const Row& entry) { return entry.text() == row.text(); });
      if (!known) e.entries.push_back(row);
    }
  }
}

// A document, or one in a file.
Result<DescribedNest> read_nest(const std::string& asked) {
  if (asked.starts_with('{')) return parse_nest(asked, "the nest");
  STRIPLINE_ASSIGN_OR_RETURN(const Json json, read_json_file(asked));
  return nest_from_json(json, "'" + asked + "'");
}

}  // namespace

const Words NestMechanism::kWords = {
    .command = "nest",
    .help = "A nest of loops over remote arrays (for_nest)",
    .example = R"('{"loops":[{"count":4096}],"compute_s":1e-4,)"
               R"("references":[{"mode":"read","stride_bytes":[64]}]}')",
    .notes =
        "The nest is a JSON object: loops, the outermost first, and references with the bytes\n"
        "that they move by loop. docs/cli.md shows one, docs/schema/nest-v1.schema.json has all\n"
        "members, docs/schema/nests more examples.\n\n",
    .baseline = "the vectorised nest",
    .no_model = "the model does not hold an operation and its overhead, so the nest is vectorised",
    .sized_by = "iterations"};

std::span<const Field<AskedNest>> NestMechanism::fields() {
  static constexpr std::array<Field<AskedNest>, 1> kFields = {
      field<AskedNest, &AskedNest::nest>("nest", "nest", nullptr,
                                         "A file with the nest, or the nest itself: {...}")
          .required()};
  return kFields;
}

AskedNest NestMechanism::asked_of(const NestRequest& request) {
  return {.nest = plan::to_json(request).dump()};
}

Result<Explanation> NestMechanism::answer(const AskedNest& asked, const CompiledModel& model) {
  STRIPLINE_ASSIGN_OR_RETURN(DescribedNest nest, read_nest(asked.nest));
  for (size_t i = 0; i < model::kPaths; ++i) {
    const auto path = static_cast<model::Path>(i);
    NestLink& link = nest.request.links.at(link_by(path));
    link.strip = model.strip(path);
    link.vis = model.vis(path);
  }
  return Explanation(explain(nest.request));
}

double NestMechanism::margin(const NestRequest& request, const CompiledModel* /*costs*/) {
  return detail::NestEvaluator(request).minimum_gain();
}

void NestMechanism::describe(const NestRequest& request, Row& row) {
  row.json("nest", plan::to_json(request)).say("nest of ");
  for (uint32_t loop = 0; loop < request.nest.depth; ++loop) {
    row.say((loop > 0 ? " x " : "") + std::to_string(request.nest.counts[loop]));
  }
  row.say(" iterations" + surroundings_text(request.surroundings, NestRequest::kFacts));
  const detail::NestEvaluator evaluator(request);
  if (evaluator.moves() && evaluator.known()) {
    row.seconds("compute_s", evaluator.compute_s(), ", computation {}")
        .say(request.compute_s >= 0 ? " (given)" : " (estimated from the operations)");
  }
  for (uint32_t r = 0; r < request.nest.references(); ++r) row.say(reference_text(request, r));
}

void NestMechanism::show(const NestRequest& request, const NestPlan& plan, Row& row) {
  if (plan.obstacle) {
    row.word("schedule", "one_by_one").say("access by access");
    return;
  }
  const bool cut = plan.schedule != Schedule::vectorised;
  row.word("schedule", to_string(plan.schedule), cut ? "schedule {}" : "{}")
      .json("cut", cut_row(plan.cut).json())
      .say(plan.steps > 1 ? cut_row(plan.cut).text() : "")
      .number("steps", plan.steps, plan.steps > 1 ? " into {} steps" : ", {} step")
      .say(plan.steps > 1 ? " of " + count_text(plan.cut.granule, "iteration") : "")
      .number("window", plan.window, plan.schedule == Schedule::pipelined ? ", window {}" : "")
      .bytes("buffer_bytes", plan.buffer_bytes, ", buffers {}")
      .say(methods_text(plan));
  Json transfers = Json::array();
  add_transfers(request, plan, transfers);
  row.json("transfers", transfers);
}

std::string NestMechanism::brief(const NestPlan& plan, std::string_view /*why*/) {
  if (plan.obstacle) return "access by access";
  std::string text = brief_schedule(plan.schedule, plan.reason, plan.steps, plan.window);
  // What distinguishes it from the baseline.
  if (plan.schedule == Schedule::vectorised && plan.tunes_tiles) text += methods_text(plan);
  return text;
}

void NestMechanism::show_pruned(const NestPruned& pruned, Row& row) {
  const access::Cut& cut = pruned.cut;
  row.json("cut", cut_row(cut).json()).say("other cuts at loop " + std::to_string(cut.loop));
}

void NestMechanism::add_to(Explained<NestMechanism>& e, const NestRequest& request,
                           const CompiledModel* /*costs*/) {
  const NestPlan& plan = e.decision;
  if (plan.obstacle) return add_obstacle(*plan.obstacle, e);
  Json transfers;
  e.details = add_transfers(request, plan, transfers);
  add_closed_loops(request.nest, e);
  if (!e.has_times) return;
  const uint32_t depth = detail::NestEvaluator(request).queue_depth();
  if (depth < std::numeric_limits<uint32_t>::max()) {
    e.model.number("queue_depth", depth, "queue depth {}");
  }
  add_entries(request, plan, e);
}

}  // namespace stripline::plan
