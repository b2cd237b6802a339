#include "optimizer/plan/nest.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "optimizer/plan/nest_evaluator.h"
#include "optimizer/plan/nest_search.h"
#include "optimizer/plan/nest_stream.h"

namespace stripline::plan {
namespace {

using access::Cut;
using access::Nest;
using cost::Corner;
using detail::baseline_with;
using detail::iterations;
using detail::NestEvaluator;
using detail::StepBuffers;
using detail::Steps;
using detail::Stream;
using detail::stream_of;
using detail::Tile;
using detail::Tiles;
using detail::tiles_of;

// The nest in as few steps as its buffers allow; one iteration of all loops always fits. The first
// obstacle where it cannot be tiled at all.
std::variant<Tiles, access::Failure> vectorised(const NestRequest& request,
                                                const NestEvaluator& evaluator) {
  const Nest& nest = request.nest;
  std::optional<Tiles> smallest;
  std::optional<access::Failure> obstacle;
  for (uint32_t loop = outermost_cut(nest); loop < nest.depth; ++loop) {
    const bool whole = within_pieces(nest, {loop, 2});
    for (uint64_t granule = whole ? nest.counts[loop] : 1; granule > 0; granule /= 2) {
      access::Failure why;
      auto tiles = tiles_of(nest, {loop, granule}, &why);
      if (!tiles) {
        if (!obstacle) obstacle = why;
        continue;
      }
      const StepBuffers buffers = evaluator.buffers(*tiles);
      if (NestEvaluator::buffer_bytes(buffers, Schedule::vectorised, 1) <=
          request.max_buffer_bytes) {
        return *tiles;
      }
      smallest = std::move(tiles);
    }
  }
  if (smallest) return *smallest;
  return *obstacle;
}

// Steps in flight, where `window` is that of schedule B.
uint32_t window_of(const Tiles& tiles, Schedule schedule, uint32_t window) {
  if (schedule == Schedule::all_issued) return static_cast<uint32_t>(tiles.steps);
  return schedule == Schedule::pipelined ? window : 1;
}

// `known`: the steps of these tiles, if they have been looked up.
std::array<NestTransfer, access::kMaxReferences> transfers_of(const NestEvaluator& evaluator,
                                                              const Tiles& tiles,
                                                              const Steps* known,
                                                              const NestCandidate& candidate,
                                                              uint32_t window) {
  std::array<NestTransfer, access::kMaxReferences> transfers{};
  for (uint32_t g = 0; g < tiles.groups(); ++g) {
    const Tile& tile = tiles.tile[g];
    const bool moves = tile.hold > tiles.cut.loop;
    NestTransfer& transfer = transfers[g];
    transfer.moved = !evaluator.link_of(tile).in_reach;
    transfer.bytes = tile.bytes();
    transfer.count = tile.count;
    transfer.burst = moves ? window : 1;
    transfer.init_level = transfer.sync_level = std::min(tile.hold, tiles.cut.loop);
    if (moves && candidate.schedule == Schedule::all_issued) {
      (reads(tile.mode) ? transfer.init_level : transfer.sync_level) = 0;
      if (!reads(tile.mode)) transfer.sync_burst = window;
    }
    transfer.many_regions = !tile.contiguous();
    if (!transfer.moved || !transfer.many_regions) continue;
    const auto method_of = [&](Direction direction) {
      const detail::VisChoice* const chosen =
          known != nullptr ? known->choice_of(g, direction) : nullptr;
      return chosen != nullptr ? chosen->candidate
                               : evaluator.method_of(tile, direction, candidate.tunes_tiles);
    };
    const VisCandidate vis = method_of(reads(tile.mode) ? Direction::get : Direction::put);
    transfer.method = vis.method;
    transfer.vis_window = vis.window;
    transfer.chunk_bytes = vis.chunk_bytes;
    if (reads(tile.mode) && writes(tile.mode)) transfer.put_back = method_of(Direction::put);
  }
  return transfers;
}

// For a candidate whose cut makes these tiles.
NestPlan plan_of(const NestEvaluator& evaluator, const Tiles& tiles, const Steps* known,
                 const NestCandidate& candidate, const Verdict& verdict) {
  const Schedule schedule = candidate.schedule;
  const uint32_t in_flight = window_of(tiles, schedule, candidate.window);
  return {
      .schedule = schedule,
      .reason = verdict.reason,
      .cut = tiles.cut,
      .steps = tiles.steps,
      .window = in_flight,
      .tunes_tiles = candidate.tunes_tiles,
      .groups = tiles.groups(),
      .transfer = transfers_of(evaluator, tiles, known, candidate, in_flight),
      .buffer_bytes = NestEvaluator::buffer_bytes(evaluator.buffers(tiles), schedule, in_flight),
      .predicted_s = verdict.predicted_s,
      .baseline_s = verdict.baseline_s,
      .gain_low = verdict.gain_low};
}

// A method to run the nest, whose time is asked for while parameters are perturbed.
struct Perturbed {
  const Tiles& tiles;
  Steps& steps;
  Schedule schedule;
  uint32_t window;
  double nominal_s;
  bool stale = false;  // the transfers' times are not the nominal ones

  NestEvaluator::Dependence dependence(const NestEvaluator& evaluator, Source source) const {
    return evaluator.dependence(steps, schedule, source);
  }
  double time(const NestEvaluator& evaluator, NestEvaluator::Dependence dependence) {
    if (!dependence.any) return nominal_s;
    if (dependence.transfers || stale) evaluator.take_times(tiles, steps);
    stale = dependence.transfers;
    return evaluator.time(steps, schedule, window);
  }
};

// Calls visit(source, of_baseline, lowest gain of one plan over another) for every source of doubt.
template <typename Visit>
void each_doubt(NestEvaluator& evaluator, Perturbed before, Perturbed after, const Visit& visit) {
  const double nominal_gain = 1 - after.nominal_s / before.nominal_s;
  const auto doubt = [&](Source source) {
    const auto of_before = before.dependence(evaluator, source);
    const auto of_after = after.dependence(evaluator, source);
    if (!of_before.any && !of_after.any) return visit(source, false, nominal_gain);
    visit(source, false, lowest_at_ends([&](Corner corner) {
            evaluator.perturb({corner, source});
            return gain_of(before.time(evaluator, of_before), after.time(evaluator, of_after));
          }));
  };
  for (const Source source : {Source::buffers, Source::overhead, Source::body}) doubt(source);
  if (evaluator.estimates_compute()) doubt(Source::compute);
  for (const Source source : detail::kMessageSources) doubt(source);
  if (evaluator.serves()) doubt(Source::serve);
  const auto regions_before = before.dependence(evaluator, Source::regions);
  const auto regions_after = after.dependence(evaluator, Source::regions);
  if (!regions_before.any && !regions_after.any) return;
  if (!regions_before.any || !regions_after.any ||
      before.steps.methods() == after.steps.methods()) {
    return doubt(Source::regions);
  }
  // What the model errs by about one method says nothing about another one.
  const auto at_ends_of_regions = [&](const auto& gain) {
    return lowest_at_ends([&](Corner corner) {
      evaluator.perturb({corner, Source::regions});
      return gain();
    });
  };
  visit(Source::regions, true, at_ends_of_regions([&] {
          return gain_of(before.time(evaluator, regions_before), after.nominal_s);
        }));
  visit(Source::regions, false, at_ends_of_regions([&] {
          return gain_of(before.nominal_s, after.time(evaluator, regions_after));
        }));
}

void report(const Nest&, const Stream&, const StripCosts*, NoRecord&) {}
void report(const Nest& nest, const Stream& stream, const StripCosts* costs, NestRecord& record) {
  StripRecord strips;
  plan_strip(stream.strips, costs, strips);
  detail::add_as_nests(strips, nest, stream, record);
}

// The plan of the strip loop that the nest is (optimizer/plan/strip.h): the same time, found
// sooner. None where parts of a row may be better, or no cut has steps like these strips; nor where
// rows are not the outermost loop's, and no strips of them are surely faster: other steps may be.
template <typename Recorder>
std::optional<NestPlan> decide_stream(const NestRequest& request, const NestEvaluator& evaluator,
                                      const Stream& stream, Recorder& record) {
  const StripCosts* const costs = request.links[request.link[0]].strip;
  const StripPlan strip = plan_strip(stream.strips, costs);
  const uint64_t rows = stream.rows_of(strip.strip_bytes);
  if (rows <= 1 && stream.strips.granule_elements > 1) return std::nullopt;
  const Cut cut = cut_of(request.nest, stream, rows);
  if (!is_exact(request.nest, stream, cut, rows)) return std::nullopt;
  if (stream.loop > 0 && strip.reason != Reason::tuned) return std::nullopt;
  report(request.nest, stream, costs, record);
  const auto tiles = tiles_of(request.nest, cut);
  return plan_of(evaluator, *tiles, nullptr,
                 {strip.schedule, cut, strip.burst, strip.reason == Reason::tuned},
                 {strip.reason, strip.predicted_s, strip.baseline_s, strip.gain_low});
}

// Cut or not, and how tiles travel. With a model of all that moves. (Functions that return one plan
// only do not copy it.)
template <typename Recorder>
NestPlan decide_cut(const NestRequest& request, NestEvaluator& evaluator, const Tiles& baseline,
                    Recorder& record) {
  Steps uncut = evaluator.steps(baseline, false);
  const double baseline_s = evaluator.time(uncut, Schedule::vectorised, 1);
  detail::FastestNest fastest =
      detail::search_nest(request, evaluator, baseline, uncut, baseline_s, record);
  Verdict verdict = keep_baseline(baseline_s);
  if (!fastest.keeps_baseline()) {
    const NestCandidate& best = fastest.candidate();
    record.take(best, fastest.predicted_s());
    verdict = weigh(baseline_s, fastest.predicted_s(), evaluator.minimum_gain(),
                    {.composition = evaluator.composition()}, record, [&](const auto& visit) {
                      each_doubt(evaluator, {baseline, uncut, Schedule::vectorised, 1, baseline_s},
                                 {fastest.tiles(), fastest.steps(), best.schedule, best.window,
                                  fastest.predicted_s()},
                                 visit);
                    });
  }
  return verdict.takes_candidate()
             ? plan_of(evaluator, fastest.tiles(), &fastest.steps(), fastest.candidate(), verdict)
             : plan_of(evaluator, baseline, &uncut, baseline_with(baseline), verdict);
}

template <typename Recorder>
NestPlan decide(const NestRequest& request, Recorder& record) {
  if (const auto obstacle = access::dependence_of(request.nest))
    return uncut_nest(request.nest, *obstacle);
  NestEvaluator evaluator(request);
  const bool predictable = evaluator.moves() && evaluator.known();
  if (predictable) {
    if (const auto stream = stream_of(request)) {
      if (const auto found = decide_stream(request, evaluator, *stream, record)) return *found;
    }
  }
  const auto whole = vectorised(request, evaluator);
  if (const auto* failure = std::get_if<access::Failure>(&whole))
    return uncut_nest(request.nest, *failure);
  const Tiles& baseline = std::get<Tiles>(whole);
  if (predictable) return decide_cut(request, evaluator, baseline, record);
  return plan_of(evaluator, baseline, nullptr, baseline_with(baseline),
                 {.reason = evaluator.moves() ? Reason::no_model : Reason::own_memory});
}

// True if buffers allow a candidate.
bool fits(const NestRequest& request, const StepBuffers& buffers, const NestCandidate& candidate) {
  return NestEvaluator::buffer_bytes(buffers, candidate.schedule, candidate.window) <=
         request.max_buffer_bytes;
}

// The plan of a candidate, adjusted to what nest and buffers allow.
NestPlan force(const NestRequest& request, const NestCandidate& candidate, Reason reason) {
  if (const auto obstacle = access::dependence_of(request.nest)) {
    return uncut_nest(request.nest, *obstacle);
  }
  const NestEvaluator evaluator(request);
  const auto whole = vectorised(request, evaluator);
  if (const auto* failure = std::get_if<access::Failure>(&whole)) {
    return uncut_nest(request.nest, *failure);
  }
  const Tiles& baseline = std::get<Tiles>(whole);
  NestCandidate allowed = candidate;
  allowed.cut = detail::within(request.nest, candidate.cut);
  allowed.window = std::max<uint32_t>(allowed.window, 1);
  std::optional<Tiles> tiles = tiles_of(request.nest, allowed.cut);
  // Fewer steps in flight, then smaller ones, until the buffers fit.
  while (tiles && !fits(request, evaluator.buffers(*tiles), allowed)) {
    if (allowed.schedule == Schedule::all_issued) {
      allowed.schedule = Schedule::pipelined;
      allowed.window = static_cast<uint32_t>(std::min<uint64_t>(tiles->steps, kMostWindow));
    } else if (allowed.schedule == Schedule::pipelined && allowed.window > 1) {
      allowed.window /= 2;
    } else if (allowed.cut.granule > 1) {
      allowed.cut.granule /= 2;
      tiles = tiles_of(request.nest, allowed.cut);
    } else {
      tiles.reset();
    }
  }
  if (!tiles) {
    tiles = baseline;
    allowed.schedule = Schedule::vectorised;
  }
  if (allowed.schedule == Schedule::pipelined && tiles->steps > 1) {
    allowed.window = static_cast<uint32_t>(std::min<uint64_t>(allowed.window, tiles->steps - 1));
  }
  Verdict verdict{.reason = reason};
  if (evaluator.moves() && evaluator.known()) {
    Steps uncut = evaluator.steps(baseline, false);
    Steps steps = evaluator.steps(*tiles, allowed.tunes_tiles);
    verdict.baseline_s = evaluator.time(uncut, Schedule::vectorised, 1);
    verdict.predicted_s = evaluator.time(steps, allowed.schedule,
                                         window_of(*tiles, allowed.schedule, allowed.window));
  }
  return plan_of(evaluator, *tiles, nullptr, allowed, verdict);
}

// True if the groups of two tilings are the same but for what is in a tile.
bool same_structure(const access::Tiling& a, const access::Tiling& b) {
  if (a.groups() != b.groups()) return false;
  for (uint32_t g = 0; g < a.groups(); ++g) {
    const access::Group& x = a.group[g];
    const access::Group& y = b.group[g];
    if (x.hold != y.hold || x.members != y.members || x.mode != y.mode || x.member != y.member) {
      return false;
    }
  }
  return true;
}

// True if all steps of the cut's loop move the same groups.
bool has_uniform_steps(const Nest& nest, const Cut& cut) {
  const uint64_t left = nest.counts[cut.loop] % cut.granule;
  if (left == 0) return true;
  const auto whole = access::tile(nest, cut);
  const auto rest = access::tile(nest, {cut.loop, left});
  const auto* of_whole = std::get_if<access::Tiling>(&whole);
  const auto* of_rest = std::get_if<access::Tiling>(&rest);
  return of_whole != nullptr && of_rest != nullptr && same_structure(*of_whole, *of_rest);
}

// The plan of a candidate with the longest steps, no longer than its own, that all move the same.
NestPlan force_uniform(const NestRequest& request, NestCandidate even, Reason reason) {
  for (; even.cut.granule > 0; --even.cut.granule) {
    if (request.nest.counts[even.cut.loop] % even.cut.granule != 0) continue;
    const NestPlan plan = force(request, even, reason);
    if (!plan.obstacle && plan.cut.granule == even.cut.granule &&
        has_uniform_steps(request.nest, plan.cut)) {
      return plan;
    }
  }
  return uncut_nest(request.nest, {});
}

// The plan, if its steps are as the request wants them, or one of steps of equal length; as without
// a model where the planner cuts for what it gains, and equal steps do not gain it.
NestPlan with_uniform_steps(const NestRequest& request, const NestPlan& plan) {
  if (!request.uniform_steps || plan.obstacle || has_uniform_steps(request.nest, plan.cut)) {
    return plan;
  }
  const NestPlan even = force_uniform(request, plan.candidate(), plan.reason);
  const double most_s = (1 - plan.gain_low) * plan.baseline_s;
  if (plan.reason != Reason::tuned || even.predicted_s < most_s) return even;
  return force_uniform(request, {Schedule::vectorised, {0, request.nest.counts[0]}, 1, false},
                       Reason::no_faster_plan);
}

}  // namespace

NestPlan plan_nest(const NestRequest& request) noexcept {
  NoRecord record;
  if (!request.uniform_steps) return decide(request, record);
  return with_uniform_steps(request, decide(request, record));
}

NestPlan plan_nest(const NestRequest& request, NestRecord& record) {
  return with_uniform_steps(request, decide(request, record));
}

NestPlan uncut_nest(const access::Nest& nest, const access::Failure& obstacle) noexcept {
  return {.cut = {nest.depth - 1, 1}, .steps = iterations(nest, nest.depth), .obstacle = obstacle};
}

NestPlan unfold_nest(const NestRequest& request, const NestCandidate& candidate) noexcept {
  const auto tiles = tiles_of(request.nest, candidate.cut);
  if (!tiles) return {};
  return plan_of(NestEvaluator(request), *tiles, nullptr, candidate, {.reason = Reason::forced});
}

NestPlan force_nest(const NestRequest& request, const NestCandidate& candidate,
                    Reason reason) noexcept {
  return with_uniform_steps(request, force(request, candidate, reason));
}

std::optional<NestPlan> tie_of_nest(const NestRequest& request) noexcept {
  const NestPlan tie =
      force_nest(request, {Schedule::vectorised, {0, request.nest.counts[0]}}, Reason::tied);
  if (tie.obstacle || !(tie.predicted_s < tie.baseline_s)) return std::nullopt;
  return tie;
}

}  // namespace stripline::plan
