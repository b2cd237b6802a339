// What happens before the first step of a nest: its plan is found, or made, as the guards say, and
// its first tiles are asked for.
#include <algorithm>
#include <string>

#include "base/random.h"
#include "optimizer/access/saturate.h"
#include "optimizer/plan/nest_mechanism.h"
#include "runtime/decide/choice.h"
#include "runtime/loop/loop_state.h"
#include "runtime/loop/nest_engine.h"
#include "runtime/rma/explain_command.h"

namespace stripline::detail {

using access::Nest;
using access::Reference;
using plan::Direction;

namespace {

// What a body may take longer on copies than on the program's memory, as a part of that.
constexpr double kUnmeasuredBody = 1;

// Decisions about a nest because owners answer sooner or later than before; and executions in a row
// by owners that answer sooner until there is one: the owner may be another one each time.
constexpr uint32_t kMostRedecided = 8;
constexpr uint32_t kSoonerInARow = 16;

bool has_strided_tiles(const NestLayout& layout) {
  for (uint32_t g = 0; g < layout.whole.groups(); ++g) {
    if (!layout.in_reach[g] && layout.whole_shapes[g].many_regions) return true;
  }
  return false;
}

}  // namespace

void NestEngine::begin(const Nest& nest, const NestOptions& options, CallSite call) {
  Analysis::Span deciding(loops_.analysis);
  loops_.analysis.count_execution();
  nest_ = nest;
  call_ = call;
  out_ = false;
  compute_ = fetch_ = {};
  check_bounds(call);
  caches_ = loops_.caches(options.data_cache);
  served_ = 0;
  if (caches_ && !loops_.cache.empty()) look_for_kept();
  find_plan(options);
  deciding.end();
  if (layout_->buffer_bytes > 0) memory_ = loops_.buffer_of(state_, layout_->buffer_bytes);
  if (!plan().obstacle) begin_tiles();
}

void NestEngine::find_plan(const NestOptions& options) {
  const Nest& nest = planned_nest();
  NestKey key = key_of(state_, nest, options, call_, caches_);
  if (key.use_model && !options.force && is_forced()) key.use_model = false;
  use_model_ = key.use_model;
  guarded_ = options.self_check && state_.mechanisms.instruments().run_guard != nullptr;
  site_ = nullptr;
  look_up(key, options);
  if (!fits(decided())) {
    // A nest that has room is the same wherever it is carried out.
    key.max_buffer_bytes = loops_.pool.room();
    look_up(key, options);
  }
  if (site_ == nullptr) {
    execution_.begin(state_.mechanisms.instruments(), *forced_);
  } else {
    execution_.begin(state_.mechanisms.instruments(), *this, *site_, terms_of(key));
  }
  layout_ = &execution_.plan();
  if (plan().obstacle) return;
  for (uint32_t g = 0; g < groups(); ++g) {
    origin_[g] = origin_of(key, nest, layout_->whole.group[g].member[0]);
  }
}

// As the baseline, by a rule of a score map.
bool NestEngine::is_forced() const {
  const plan::ScoreMap& forced = state_.job.tuning().forced;
  if (forced.empty()) return false;
  uint64_t iterations = 1;
  for (uint32_t loop = 0; loop < nest_.depth; ++loop) {
    iterations = access::saturating_multiply(iterations, nest_.counts[loop]);
  }
  return forced.forced(plan::NestMechanism::kWords.command, iterations) == plan::kForcedBaseline;
}

// Finds what the planner says of a nest, or asks it.
void NestEngine::look_up(const NestKey& key, const NestOptions& options) {
  max_buffer_bytes_ = key.max_buffer_bytes;
  if (options.force) {
    const double delay_s = service_delay_of(state_, key, planned_nest());
    const plan::NestRequest request = request_of(state_, key, -1, delay_s);
    forced_.emplace(lay_out(key, force_nest(request, *options.force)));
    return;
  }
  bool is_new = false;
  site_ = &loops_.nest_sites.find_or_make(key, [&](NestSite& made) {
    is_new = true;
    made.keep_pieces();
    made.service_delay_s = service_delay_of(state_, key, planned_nest());
    site_ = &made;
    decide(made, -1);
  });
  if (!is_new) follow_delays();
}

// Owners answer sooner or later than when the nest was decided on: tiles that go in messages wait
// for them. A few times; then what was decided holds.
void NestEngine::follow_delays() {
  if (!use_model_ || site_->users > 0 || site_->redecided == kMostRedecided) return;
  if (!has_strided_tiles(decided())) return;
  const double delay_s = service_delay_of(state_, site_->key, planned_nest());
  if (delay_s >= site_->service_delay_s) site_->sooner = 0;
  if (delay_s == site_->service_delay_s) return;
  if (delay_s < site_->service_delay_s && ++site_->sooner < kSoonerInARow) return;
  site_->sooner = 0;
  site_->service_delay_s = delay_s;
  ++site_->redecided;
  decide(*site_, site_->refinement.planned_s());
}

decide::Terms NestEngine::terms_of(const NestKey& key) {
  const plan::NestPlan& plan = decided().plan;
  const bool in_order = plan.obstacle.has_value();
  const bool no_model = plan.reason == plan::Reason::no_model && !in_order;
  const bool moves = plan.reason != plan::Reason::own_memory;
  if (no_model && use_model_) loops_.say_no_model(state_);
  const auto is_remote = [](const NestKey::Route& route) { return route.link != plan::kLocalLink; };
  if (in_order && use_model_ && std::ranges::any_of(key.route, is_remote)) {
    loops_.say_in_order(state_, call_, *plan.obstacle);
  }
  const Reference& first = nest_.reference[0];
  return {.call = {.what = key.place,
                   .rank = first.owner,
                   .loose_offset = static_cast<uint64_t>(first.base)},
          .guarded = guarded_ && use_model_ && moves && !in_order,
          .measures = (key.compute_s < 0 || looks_first()) && moves && !in_order && !no_model};
}

// True while the site goes as the baseline, before it is decided on.
bool NestEngine::looks_first() const {
  return site_ != nullptr && site_->refinement.planned_s() < 0 &&
         decided().plan.reason == plan::Reason::guarded;
}

NestLayout NestEngine::make(decide::Arm, double compute_s) const {
  const plan::NestRequest request = request_for(compute_s);
  loops_.analysis.count_plan();
  return lay_out(site_->key, plan::baseline_of_nest(request));
}

bool NestEngine::fits(const NestLayout& layout) const {
  if (layout.buffer_bytes == 0) return true;
  const uint64_t room = loops_.pool.room();
  return layout.buffer_bytes <= room || max_buffer_bytes_ <= room;
}

// Tiles of many regions are copies that lie otherwise than the program's memory, on which its body
// may take longer, and the model may be wrong about how they are best moved, and about nests whose
// computation is not known. What that is worth is not known before both have been seen: the first
// executions go as the baseline; and a gain that a slower body, or an error like the one that the
// baseline has shown, would eat up is tried by the guard before it is relied upon.
void NestEngine::decide(decide::Site<NestLayout>& site, double compute_s) const {
  const plan::NestRequest request = request_for(compute_s);
  const NestLayout layout = lay_out(site_->key, plan_nest(request));
  loops_.analysis.count_plan();
  const plan::NestPlan& plan = layout.plan;
  const bool given = site_->key.compute_s >= 0;
  const bool copies = has_strided_tiles(layout);
  if (plan.reason != plan::Reason::tuned) {
    // What tiles may gain by the methods that the model chooses, but not surely.
    const bool unsure = copies && plan.reason == plan::Reason::below_margin;
    const auto tie =
        unsure && (given || compute_s >= 0) ? plan::tie_of_nest(request) : std::nullopt;
    if (!tie) return site.decide(decide::kBaseline, layout);
    site.compare(1, lay_out(site_->key, *tie), plan::Guard::Of::tie);
    return site.expect(*tie);
  }
  const bool unknown = copies || (guarded_ && !given);
  if (unknown && compute_s < 0) return site.decide(decide::kBaseline, make(decide::kBaseline, -1));
  // The vectorised nest computes on the copies that the baseline computes on.
  const bool other_copies = copies && plan.schedule != plan::Schedule::vectorised;
  const double doubt_s = other_copies && !given ? kUnmeasuredBody * compute_s : 0;
  if (!site.outweighs(plan, doubt_s)) {
    const plan::NestPlan tie = force_nest(request, plan.candidate(), plan::Reason::tied);
    site.compare(1, lay_out(site_->key, tie), plan::Guard::Of::site);
  } else {
    const NestLayout* const before = site.made(1);
    const bool same = before != nullptr && plan.does_as(before->plan);
    site.decide(decide::Arm{1}, layout, 2, decide::Race::Of::site, same);
  }
  if (given || compute_s >= 0) site.expect(site.plan(1).plan, doubt_s);
}

void NestEngine::note(decide::Trace& trace, double seconds) const {
  uint64_t shape = nest_.references();
  std::string loops;
  for (uint32_t loop = 0; loop < nest_.depth; ++loop) {
    shape = shape * kGoldenRatio + nest_.counts[loop];
    loops += (loop > 0 ? " x " : "") + std::to_string(nest_.counts[loop]);
  }
  const plan::NestPlan& done = plan();
  // No command where the planner was not asked.
  const auto command = [&] {
    if (site_ == nullptr) return std::string();
    return explain_command<plan::NestMechanism>(state_, request_for(execution_.compute_s()),
                                                done.reason);
  };
  trace.note(call_, shape,
             decide::choice_of<plan::NestMechanism>(
                 {}, done, {.obstacle = done.obstacle ? done.obstacle->text() : std::string()}),
             seconds, "nest of " + loops, command);
}

void NestEngine::begin_tiles() {
  attention_ = layout_->attention_step_s
                   ? Attention(state_.job.fabric().info(), loops_.look_time.seconds(),
                               *layout_->attention_step_s)
                   : Attention();
  if (!layout_->transfers) {
    fetch_.step = plan().steps;
    return;
  }
  take_methods();
  if (caches_) keep();
  if (flights_.size() < layout_->slots * groups()) flights_.resize(layout_->slots * groups());
  if (!layout_->gets) fetch_.step = plan().steps;
  for (uint32_t g = 0; g < groups(); ++g) {
    held_[g].fetched = 0;
    if (layout_->is_held(g) && layout_->ahead > 0) fetch_held(g);
  }
  while (fetch_.step < std::min(layout_->ahead, plan().steps)) fetch_step();
}

// As the plan says. The last tile of a loop, which may be shorter, travels as the others.
void NestEngine::take_methods() {
  for (uint32_t g = 0; g < groups(); ++g) {
    const bool many_regions =
        layout_->whole_shapes[g].many_regions || layout_->rest_shapes[g].many_regions;
    if (!many_regions || layout_->in_reach[g]) continue;
    const access::Mode mode = layout_->whole.group[g].mode;
    const auto plan_of = [&](Direction direction) {
      const plan::VisCandidate by = plan().transfer[g].by(direction, mode);
      return plan::VisPlan{.method = by.method,
                           .reason = plan().reason,
                           .window = by.window,
                           .chunk_bytes = by.chunk_bytes};
    };
    if (reads(mode)) methods_[g].get.emplace(plan_of(Direction::get));
    if (writes(mode)) methods_[g].put.emplace(plan_of(Direction::put));
  }
}

}  // namespace stripline::detail
