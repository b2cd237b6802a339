// What happens before the first strip of a loop, and after its last one: what is to be transferred,
// and how.
#include <algorithm>
#include <optional>
#include <string>

#include "base/quantity.h"
#include "optimizer/plan/strip_mechanism.h"
#include "runtime/decide/choice.h"
#include "runtime/decide/surroundings.h"
#include "runtime/loop/loop_engine.h"
#include "runtime/loop/loop_state.h"
#include "runtime/rma/explain_command.h"

namespace stripline::detail {

// Goes through the blocks: what is to be transferred, and the request for it.
LoopEngine::Remote LoopEngine::describe(const LoopOptions& options) {
  const bool reading = direction_ == plan::Direction::get;
  const bool caches = reading && loops_.caches(options.data_cache);
  Remote remote;
  uint32_t placed_blocks = 0;
  uint32_t peers = 0;  // as blocks follow one another
  rank_t peer = state_.job.rank();
  bool uneven = false;
  uint64_t largest_bytes = 0;
  std::optional<model::Path> path;
  uint64_t own_count = reading ? options.own_count : 0;
  uint64_t count = 0;
  const bool loaded = !loops_.loads.empty() && !options.alone;
  cost::NetworkLoad load;
  if (loaded) load = loops_.loads.begin();
  if (blocks_.data == nullptr && blocks_.count > 0) [[unlikely]] {
    state_.fail(Error(ErrorCode::invalid_argument, text(rma::Call("loop", call_)) + " of " +
                                                       count_text(blocks_.count, "block") +
                                                       " at a null pointer"));
  }
  for (size_t i = 0; i < blocks_.count; ++i) {
    const RawBlock block = blocks_[i];
    if (block.count != 0) {
      state_.operations.check({"loop", call_}, block.rank, block.offset,
                              loop_bytes(block.count, reading ? options.halo : 0, element_bytes_));
    }
    if (caches) look_for_kept(i, block);
    if (in_place(i, block) != nullptr || block.count == 0) {
      if (reading) own_count += block.count;
      continue;
    }
    if (remote.blocks++ == 0) remote.first = block;
    uneven = uneven || block.count != remote.first.count;
    remote.whole_bytes += align_up(block.count * element_bytes_ + halo_bytes_);
    largest_bytes = std::max(largest_bytes, block.count * element_bytes_);
    placed_blocks += block.place != nullptr ? 1 : 0;
    count += block.count;
    if (block.rank != peer) {
      ++peers;
      if (loaded) loops_.loads.add(load, block.rank);
    }
    peer = block.rank;
    // Where some blocks come over the network, it decides.
    if (path != model::Path::network) path = state_.job.path_to(peer);
  }
  path_ = path.value_or(model::Path::mapped);
  const uint64_t room = loops_.pool.room();
  placed_ = placed_blocks > 0 && placed_blocks == remote.blocks;
  keeps_ = caches && remote.blocks > 0 && placed_blocks == 0 &&
           remote.blocks <= DataCache::kMostRegions &&
           remote.whole_bytes <= std::min<uint64_t>(options.max_buffer_bytes, room);
  request_ = {};
  request_.direction = direction_;
  request_.total_bytes = count * element_bytes_;
  request_.blocks = std::max<uint32_t>(remote.blocks, 1);
  if (uneven) request_.largest_block_bytes = largest_bytes;
  if (!options.alone) {  // others go through loops like this one
    request_.peers = std::max<uint32_t>(peers, 1);
    request_.uneven = uneven;
  }
  request_.surroundings = decide::surroundings_of(
      state_.job.fabric().info(), plan::StripRequest::kFacts,
      {.path = path_, .gets = reading, .puts = !reading, .alone = options.alone});
  request_.surroundings.load = load;
  request_.element_bytes = element_bytes_;
  request_.granule_elements = std::max<size_t>(options.granule, 1);
  request_.halo_bytes = halo_bytes_;
  // What is to be kept has a place, as far as the planner is concerned.
  request_.placed = placed_ || keeps_;
  request_.slot_alignment = kAlignment;
  if (!request_.placed) {
    // A loop that has room is the same loop wherever it is carried out.
    request_.max_buffer_bytes = std::min<uint64_t>(
        options.max_buffer_bytes, remote.whole_bytes <= room ? loops_.pool.most_room() : room);
  }
  request_.own_bytes = own_count * element_bytes_;
  request_.compute_s = said_compute_s(options.compute_s);
  request_.loop = options.loop;
  request_.sweeps = options.sweeps;
  request_.local_bytes = options.local_bytes;
  return remote;
}

void LoopEngine::find_plan(const LoopOptions& options, const Remote& remote) {
  site_ = nullptr;
  costs_ = nullptr;
  if (remote.blocks == 0) return execution_.begin({}, kOwnMemoryPlan);
  guarded_ = options.self_check && state_.mechanisms.instruments().run_guard != nullptr;
  costs_ = loops_.costs(path_);
  look_up(options);
  if (!fits(decided())) {
    // Within other loops there is less room.
    request_.max_buffer_bytes = loops_.pool.room();
    look_up(options);
  }
  if (site_ == nullptr) return execution_.begin(state_.mechanisms.instruments(), *given_);
  execution_.begin(
      state_.mechanisms.instruments(), *this, *site_,
      {.call = {.what = place_, .rank = remote.first.rank, .loose_offset = remote.first.offset},
       .guarded = guarded_,
       .measures = request_.compute_s < 0 && decided().reason != plan::Reason::no_model});
}

// Finds what the planner says of the request, or asks it.
void LoopEngine::look_up(const LoopOptions& options) {
  const bool simply =
      options.use_model && !options.force &&
      state_.job.tuning().forced.forced(plan::StripMechanism::kWords.command,
                                        request_.total_bytes) == plan::kForcedBaseline;
  const plan::StripCosts* const costs = options.use_model && !simply ? costs_ : nullptr;
  if (options.force || costs == nullptr) {
    given_.emplace(options.force ? plan::force_strip(request_, costs, *options.force)
                                 : plan::plan_strip(request_, nullptr));
    if (!options.force && options.use_model && !simply) loops_.say_no_model(state_);
    return;
  }
  // A place that is reached otherwise is another one.
  place_ = site_of(options.site, call_) + static_cast<uint64_t>(path_);
  site_ = &loops_.sites.find_or_make({place_, request_}, [this](LoopSite& made) {
    // A loop of the same place that was a little larger or smaller tells what this one computes.
    if (request_.compute_s < 0) {
      if (const auto seconds = loops_.rates.seconds(place_, request_.total_bytes)) {
        made.refinement.expect(*seconds);
      }
    }
    decide(made, made.refinement.planned_s());
  });
  if (decided().reason == plan::Reason::no_model) loops_.say_no_model(state_);
}

plan::StripRequest LoopEngine::request_for(double compute_s) const {
  plan::StripRequest request = request_;
  if (request.compute_s < 0) request.compute_s = compute_s;
  return request;
}

plan::StripPlan LoopEngine::make(decide::Arm, double compute_s) const {
  return plan::baseline_of_strip(request_for(compute_s), costs_);
}

bool LoopEngine::fits(const plan::StripPlan& plan) const {
  const uint64_t room = loops_.pool.room();
  return request_.placed || request_.max_buffer_bytes <= room ||
         plan::strip_buffer_bytes(request_, {plan.schedule, plan.strip_bytes, plan.burst}) <= room;
}

// Where nothing is known of the computation, the first executions go as the baseline. What that
// takes says how far the model is to be trusted before anything is left to it.
void LoopEngine::decide(Site& site, double compute_s) const {
  const plan::StripPlan plan = plan::plan_strip(request_for(compute_s), costs_);
  const bool tuned = plan.reason == plan::Reason::tuned;
  if (tuned && guarded_ && request_.compute_s < 0 && compute_s < 0) {
    loops_.analysis.count_plan();
    return site.decide(decide::kBaseline, make(decide::kBaseline, compute_s));
  }
  const plan::StripPlan* const before = site.made(1);
  const bool same = tuned && before != nullptr && before->schedule == plan.schedule &&
                    before->strip_bytes == plan.strip_bytes && before->burst == plan.burst;
  if (tuned && !site.outweighs(plan)) {
    site.compare(1, plan, plan::Guard::Of::site);
  } else {
    site.decide(tuned ? decide::Arm{1} : decide::kBaseline, plan, 2, decide::Race::Of::site, same);
  }
  // An estimate of the computation is no promise.
  if (tuned && (request_.compute_s >= 0 || compute_s >= 0)) site.expect(plan);
  loops_.analysis.count_plan();
}

void LoopEngine::look_for_ties(Site& site) const {
  const auto tie = plan::tie_of_strip(request_for(site.refinement.planned_s()), costs_);
  loops_.analysis.count_plan();
  if (!tie) return;
  // What is expected to gain, but not surely, needs less proof.
  const bool expected = tie->predicted_s < (1 - costs_->minimum_gain()) * tie->baseline_s;
  site.compare(1, *tie, expected ? plan::Guard::Of::site : plan::Guard::Of::tie);
  site.expect(*tie);
}

void LoopEngine::note(decide::Trace& trace, double seconds) const {
  // Where blocks differ in size, the last one of each may be shorter.
  const bool cut = plan().schedule != plan::Schedule::vectorised;
  const std::string detail =
      cut && strips_ != plan().count ? "in " + count_text(strips_, "strip") : std::string();
  const auto command = [this] {
    return explain_command<plan::StripMechanism>(state_, request_for(execution_.compute_s()),
                                                 plan().reason, path_);
  };
  trace.note(call_, request_.total_bytes * 2 + static_cast<uint64_t>(direction_),
             decide::choice_of<plan::StripMechanism>(request_, plan(), {.detail = detail}), seconds,
             std::string(to_string(direction_)) + " " + exact_bytes_text(request_.total_bytes),
             command);
}

// From an execution that came to its end.
void LoopEngine::learn() {
  const Analysis::Span deciding(loops_.analysis);
  double uncut_s = 0;  // what the computation would have taken if the loop had not been cut
  if (execution_.measures()) {
    uncut_s = plan::uncut_compute_s(request_, *costs_, plan(), execution_.computed_s());
    loops_.rates.note(place_, request_.total_bytes, uncut_s);
  }
  execution_.finish(*this, uncut_s);
}

// Looks in the data cache for a block that is out of reach.
void LoopEngine::look_for_kept(size_t index, const RawBlock& block) {
  if (loops_.cache.empty() || block.count == 0 || context_.is_local(block.rank)) return;
  const auto kept = loops_.cache.find({.rank = block.rank,
                                       .base = static_cast<int64_t>(block.offset),
                                       .bytes = block.count * element_bytes_ + halo_bytes_,
                                       .element_bytes = element_bytes_});
  if (!kept) return;
  kept_.resize(blocks_.count, nullptr);
  kept_[index] = kept->data;
  kept_in_.emplace_back(loops_.pool, *kept->buffer);
}

}  // namespace stripline::detail
