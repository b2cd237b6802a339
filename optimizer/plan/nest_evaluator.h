// The time that a nest takes, cut into given tiles and carried out by a given schedule: what
// plan_nest(), explain_nest() and force_nest() share. The pipeline of steps is that of
// strip_time.h; tiles of many regions are stages of vis_time.h.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <variant>

#include "optimizer/plan/nest.h"
#include "optimizer/plan/perturbed.h"
#include "optimizer/plan/strip_shape.h"
#include "optimizer/plan/strip_time.h"
#include "optimizer/plan/vis_time.h"

namespace stripline::plan::detail {

using access::Cut;
using access::Group;
using access::Mode;
using access::Nest;
using access::Tiling;
using cost::Corner;
using cost::MessageCosts;

inline constexpr uint64_t kMostWindow = 65536;

// Of the loops from the outermost on.
inline uint64_t iterations(const Nest& nest, uint32_t loops) {
  uint64_t product = 1;
  for (uint32_t loop = 0; loop < loops; ++loop) {
    product = saturating_multiply(product, nest.counts[loop]);
  }
  return product;
}

// The nearest cut that a nest can have.
inline Cut within(const Nest& nest, const Cut& cut) {
  const uint32_t loop = std::clamp(cut.loop, outermost_cut(nest), nest.depth - 1);
  const Cut near{loop, std::clamp<uint64_t>(cut.granule, 1, nest.counts[loop])};
  return within_pieces(nest, near) ? near : Cut{loop, 1};
}

// Over all iterations of the loops around the cut.
inline uint64_t steps_of(const Nest& nest, const Cut& cut) {
  const uint64_t each = (nest.counts[cut.loop] + cut.granule - 1) / cut.granule;
  return saturating_multiply(iterations(nest, cut.loop), each);
}

// The mean step as a part of a full one: the last of a loop may be shorter.
inline double mean_step(const Nest& nest, const Cut& cut) {
  const auto count = static_cast<double>(nest.counts[cut.loop]);
  const uint64_t steps = (nest.counts[cut.loop] + cut.granule - 1) / cut.granule;
  return count / static_cast<double>(cut.granule * steps);
}

// A cut and the tiles it makes.
struct Tiles {
  Cut cut;
  uint64_t steps = 1;
  double full = 1;  // mean_step()
  Tiling tiling;
  uint64_t count_of(const Nest& nest, const Group& group) const {
    return group.hold > cut.loop ? steps : iterations(nest, group.hold);
  }
};

// What one tile takes of CPU and network, in one direction.
struct TileCosts {
  double issue = 0;
  double retire = 0;
  double serve = 0;  // of this rank's CPU for a peer's tile: peers do the same
  double round_trip = 0;
  double gap = 0;
  double blocking() const { return issue + round_trip + retire + serve; }
};

// A parameter at another end of its interval.
struct Perturbation {
  Source source = Source::compute;
  Corner corner = Corner::nominal;
  Corner of(Source one) const { return one == source ? corner : Corner::nominal; }
};

// Steps as a pipeline, and what happens beside them.
struct Steps {
  StripTerms terms;   // of what is read: all tiles of a step together
  bool gets = false;  // with every step, some tiles come
  bool puts = false;  // and some leave
  double put_issue = 0;
  double put_retire = 0;
  double put_round_trip = 0;
  double once_s = 0;               // of the CPU, for what is held throughout
  double exposed_s = 0;            // of the CPU, for the first tiles of what is held for some steps
  double first_s = 0;              // how much later than a step's tiles those of the first one come
  double last_s = 0;               // and the last ones are complete
  double held_get_s = 0;           // of all tiles of a group held for some steps, one by one
  double held_both_s = 0;          // and with putting them back, where they are written
  double held_get_round_trip = 0;  // of what is held, before the first step
  double held_put_round_trip = 0;  // and after the last one
  double blocking_s = 0;           // of the transfers of a step that waits for them
  double waiting_part = 0;         // of the steps, those that have to
  double serve_s = 0;              // of a step, for peers
  double received_bytes = 0;       // by all steps
  uint64_t slot_bytes = 0;         // buffers of one step
  uint64_t held_bytes = 0;         // and for what is held
  uint64_t messages = 0;           // tiles of a step
};

class NestEvaluator {
 public:
  explicit NestEvaluator(const NestRequest& request) : request_(request), nest_(request.nest) {
    for (uint32_t r = 0; r < nest_.references(); ++r) {
      const NestLink& link = request.links[request.link[r]];
      if (link.in_reach) continue;
      moves_ = true;
      const Mode mode = nest_.reference[r].mode;
      if (link.strip == nullptr || (reads(mode) && !link.strip->has_get()) ||
          (writes(mode) && !link.strip->has_put())) {
        known_ = false;
        continue;
      }
      if (costs_ == nullptr) costs_ = link.strip;
      const cost::LinkCosts& costs = reads(mode) ? link.strip->get() : link.strip->put();
      queue_ = std::min(queue_, costs.queue_depth());
    }
  }

  /// Whether any data move, and whether the model says what all of them cost.
  bool moves() const { return moves_; }
  bool known() const { return known_ && costs_ != nullptr; }
  double minimum_gain() const { return costs_->minimum_gain(); }

  const NestLink& link_of(const Group& group) const {
    return request_.links[request_.link[group.member[0]]];
  }

  /// The call for a tile of several regions.
  VisRequest many(const Group& group, Direction direction) const {
    VisRequest request = link_of(group).many;
    request.direction = direction;
    request.regions = group.tile.runs();
    request.region_bytes = group.tile.run_bytes;
    request.extent_bytes = group.tile.extent().bytes();
    request.local_regions = 1;
    request.bounding_box_allowed = direction == Direction::get;
    return request;
  }

  Steps steps(const Tiles& tiles) const {
    Steps steps;
    StripTerms& t = steps.terms;
    const auto count = static_cast<double>(tiles.steps);
    t.strips = t.strips_per_peer = count;
    t.queue = queue_;
    for (uint32_t g = 0; g < tiles.tiling.groups(); ++g) {
      const Group& group = tiles.tiling.group[g];
      if (link_of(group).in_reach) continue;
      const auto moved = static_cast<double>(tiles.count_of(nest_, group));
      const double part = moved_part(group);
      reserve(steps, group, moved < count);
      double get_s = 0;  // that a tile takes by itself
      double put_s = 0;
      if (reads(group.mode)) {
        steps.received_bytes +=
            part * moved * (moved < count ? 1.0 : tiles.full) * static_cast<double>(group.bytes());
        get_s = add(steps, group, Direction::get, moved / count, tiles.full);
      }
      if (writes(group.mode)) {
        put_s = add(steps, group, Direction::put, moved / count, tiles.full);
      }
      if (moved == count) steps.waiting_part = std::max(steps.waiting_part, part);
      if (moved < count) {
        steps.held_get_s = std::max(steps.held_get_s, moved * get_s);
        if (put_s > 0) {
          steps.held_both_s = std::max(steps.held_both_s, moved * (get_s + put_s));
        }
      }
    }
    steps.blocking_s += steps.waiting_part * (t.round_trip + steps.put_round_trip);
    steps.first_s = std::max(0.0, steps.held_get_round_trip - t.round_trip);
    steps.last_s = std::max(0.0, steps.held_put_round_trip - steps.put_round_trip);
    t.o_last = t.o_first = t.o;
    t.r_last = t.r;
    t.round_trip_last = t.round_trip_first = t.round_trip;
    t.gap_first = t.gap;
    return steps;
  }

  static uint64_t buffer_bytes(const Steps& steps, Schedule schedule, uint32_t window) {
    const auto count = static_cast<uint64_t>(steps.terms.strips);
    const uint64_t slots = nest_slots(schedule, window, count, steps.gets, steps.puts);
    return saturating_add(saturating_multiply(slots, steps.slot_bytes), steps.held_bytes);
  }

  double time(Steps& steps, Schedule schedule, uint32_t window) const {
    StripTerms& t = steps.terms;
    set_work(steps, buffer_bytes(steps, schedule, window));
    if (schedule == Schedule::vectorised) {
      return steps.once_s + steps.first_s + steps.last_s +
             t.strips * (steps.blocking_s + t.work - overhead());
    }
    const double beside = steps.once_s + steps.exposed_s + steps.first_s + steps.last_s;
    const double pace = held_pace(steps);
    const bool pipeline = schedule == Schedule::pipelined && t.strips > window;
    t.window = window;
    if (steps.gets) {
      // What is written leaves after the computation of a step, and is retired by later ones.
      StripTerms both = t;
      both.work += steps.put_issue + steps.put_retire;
      both.work_last = both.work;
      return beside + steps.put_round_trip +
             std::max(pace, pipeline ? strip_time::get_pipelined(both)
                                     : strip_time::get_all_issued(both));
    }
    if (!steps.puts) return beside + std::max(pace, t.strips * (t.work + t.o + t.r));
    StripTerms puts = t;
    puts.work += t.o + t.r;  // of what is held for some steps
    puts.work_last = puts.work;
    puts.o = puts.o_last = steps.put_issue;
    puts.r = puts.r_last = steps.put_retire;
    puts.round_trip = puts.round_trip_last = steps.put_round_trip;
    return beside + std::max(pace, pipeline ? strip_time::put_pipelined(puts)
                                            : strip_time::put_all_issued(puts));
  }

  /// No schedule of these steps is faster: the CPU's work, and the NIC's.
  double bound(Steps& steps) const {
    set_work(steps, buffer_bytes(steps, Schedule::pipelined, 1));
    const StripTerms& t = steps.terms;
    // The first tiles are under way while others are issued.
    const double issue = std::max(t.strips * t.o, t.o + t.round_trip);
    const double cpu = t.strips * (t.r + t.work + steps.put_issue + steps.put_retire);
    return steps.once_s + std::max({issue + cpu, t.strips * t.gap, held_pace(steps)});
  }

  /// The smallest window that does not limit the pipeline, with slack; at most `limit`.
  uint32_t window_for(Steps& steps, uint64_t limit) const {
    set_work(steps, buffer_bytes(steps, Schedule::pipelined, 1));
    const StripTerms& t = steps.terms;
    const double step = std::max(t.o + t.r + t.work + steps.put_issue + steps.put_retire, t.gap);
    const double cycle =
        std::max(t.o + t.round_trip + t.r,
                 t.work + steps.put_issue + steps.put_round_trip + steps.put_retire);
    const double enough = step > 0 ? kSlack * std::ceil(cycle / step) : 1;
    const auto window =
        static_cast<uint64_t>(std::clamp(enough, 1.0, static_cast<double>(kMostWindow)));
    return static_cast<uint32_t>(std::min(std::bit_ceil(window), limit));
  }

  /// What buffers, queue and number of steps allow; 0: none.
  uint64_t largest_window(const Steps& steps) const {
    const uint64_t room =
        request_.max_buffer_bytes - std::min(request_.max_buffer_bytes, steps.held_bytes);
    const uint64_t slots = steps.slot_bytes == 0 ? 2 * kMostWindow : room / steps.slot_bytes;
    const auto count = static_cast<uint64_t>(steps.terms.strips);
    const uint64_t each = steps.gets && steps.puts ? 2 : 1;
    const uint64_t held = slots >= count ? count - 1 : slots > 0 ? (slots - 1) / each : 0;
    const uint64_t queued = queue_ / std::max<uint64_t>(steps.messages, 1);
    return std::min({held, count - 1, queued, kMostWindow});
  }

  uint32_t queue_depth() const { return queue_; }

  bool has_many_regions(const Tiles& tiles) const {
    for (uint32_t g = 0; g < tiles.tiling.groups(); ++g) {
      const Group& group = tiles.tiling.group[g];
      if (!group.tile.contiguous() && !link_of(group).in_reach) return true;
    }
    return false;
  }

  void perturb(const Perturbation& perturbation) { perturbation_ = perturbation; }

  /// Seconds of computation of all iterations, if the nest is not cut.
  double compute_s() const {
    if (request_.compute_s >= 0) return request_.compute_s;
    const uint64_t all = iterations(nest_, nest_.depth);
    const uint64_t bytes = saturating_multiply(all, nest_.reference[0].element_bytes);
    return static_cast<double>(all) *
           costs_->compute().seconds_per_element(request_.loop, {1, bytes, request_.local_bytes},
                                                 perturbation_.of(Source::compute));
  }

 private:
  // A window is so many times what suffices on an idle network, as others' messages come between.
  static constexpr double kSlack = 2;
  // However cheap data in a cache are, so much of the computation remains.
  static constexpr double kLeastCompute = 0.1;

  // Of a group's tiles, those that are not in reach.
  double moved_part(const Group& group) const {
    return 1 - request_.in_reach_part[group.member[0]];
  }

  // Of the mean tile: some are not moved. `full`: how much of it there is on average.
  TileCosts tile_costs(const Group& group, Direction direction, double full) const {
    TileCosts tile = moved_tile_costs(group, direction, full);
    const double part = moved_part(group);
    tile.issue *= part;
    tile.retire *= part;
    tile.serve *= part;
    tile.gap *= part;
    return tile;
  }

  TileCosts moved_tile_costs(const Group& group, Direction direction, double full) const {
    const NestLink& link = link_of(group);
    const double ranks = request_.nic_ranks;
    if (group.tile.contiguous() || link.vis == nullptr) {
      const double size = full * static_cast<double>(group.tile.run_bytes);
      const MessageCosts m = message(*link.strip, direction, group.tile.run_bytes);
      const double byte_s = ranks * slowdown(link, direction, group.tile.run_bytes) * m.G;
      const TileCosts one{m.o(size), m.r(size), 0, 2 * m.L + byte_s * size,
                          ranks * m.g + byte_s * size};
      const auto runs = static_cast<double>(group.tile.runs());
      return {runs * one.issue, runs * one.retire, 0, one.round_trip + (runs - 1) * one.gap,
              runs * one.gap};
    }
    const VisRequest request = many(group, direction);
    const VisPlan plan = plan_vis(request, link.vis);
    const VisCandidate candidate{plan.method, plan.window, plan.chunk_bytes};
    const VisStage stage = vis_stage(request, *link.vis, candidate);
    const cost::LogRatio residual = residual_of(request, *link.vis, candidate);
    const double factor =
        std::exp(perturbation_.of(Source::regions) == Corner::high  ? residual.high
                 : perturbation_.of(Source::regions) == Corner::low ? residual.low
                                                                    : residual.value);
    const double part = full * factor;
    // What the NIC takes of it is bytes, all but a little.
    const double loaded = slowdown(link, direction, group.bytes());
    return {part * stage.issue, part * stage.retire, part * stage.serve,
            factor * (stage.round_trip + (loaded - 1) * stage.gap),
            part * ranks * loaded * stage.gap};
  }

  double slowdown(const NestLink& link, Direction direction, uint64_t bytes) const {
    if (link.strip == nullptr) return 1;
    const cost::LoadCosts& load =
        direction == Direction::get ? link.strip->get_load() : link.strip->put_load();
    return load.empty() ? 1 : load.slowdown(request_.load, bytes);
  }

  static cost::LogRatio residual_of(const VisRequest& request, const VisCosts& costs,
                                    const VisCandidate& candidate) {
    return costs.residual(request.direction, request.compute, candidate.method, vis_spread(request),
                          vis_lands(request, candidate.chunk_bytes),
                          std::log2(static_cast<double>(request.region_bytes)),
                          std::log2(static_cast<double>(vis_bytes(request))));
  }

  MessageCosts message(const StripCosts& costs, Direction direction, uint64_t bytes) const {
    const cost::LinkCosts& link = direction == Direction::get ? costs.get() : costs.put();
    if (perturbation_.corner == Corner::nominal) return link.at(bytes);
    return perturbed(link.at(bytes), link.at(bytes, perturbation_.corner), perturbation_.source);
  }

  // Buffers of a group. What is held for some steps has two: the next tile comes meanwhile.
  static void reserve(Steps& steps, const Group& group, bool held) {
    if (!held) {
      steps.slot_bytes = saturating_add(steps.slot_bytes, group.bytes());
      steps.gets = steps.gets || reads(group.mode);
      steps.puts = steps.puts || writes(group.mode);
    } else {
      const uint64_t buffers = group.hold == 0 ? 1 : 2;
      steps.held_bytes =
          saturating_add(steps.held_bytes, saturating_multiply(buffers, group.bytes()));
    }
  }

  // No nest is faster than its tiles are held. One is fetched while the one before is in use; where
  // they are written, each of two buffers is computed on, put back, and filled again.
  static double held_pace(const Steps& steps) {
    const double work = steps.terms.strips * steps.terms.work;
    const double both = steps.held_both_s > 0 ? (steps.held_both_s + work) / 2 : 0.0;
    return std::max(steps.held_get_s, both);
  }

  // When a tile is complete that follows others, which are after `others_s`.
  static double after(double others_s, const TileCosts& tile) {
    return others_s > 0 ? std::max(others_s + tile.gap, tile.round_trip) : tile.round_trip;
  }

  // Adds a group, of which a step moves so many tiles: one, or less if it is held.
  // Returns how long a tile takes by itself.
  double add(Steps& steps, const Group& group, Direction direction, double share,
             double full) const {
    if (!known()) return 0;
    StripTerms& t = steps.terms;
    const TileCosts tile = tile_costs(group, direction, share < 1 ? 1.0 : full);
    const bool get = direction == Direction::get;
    if (share < 1) {
      // Together with the first step's tiles, or the last one's.
      double& round_trip = get ? steps.held_get_round_trip : steps.held_put_round_trip;
      round_trip = after(round_trip, tile);
      (group.hold == 0 ? steps.once_s : steps.exposed_s) += tile.issue + tile.retire + tile.serve;
    }
    const double alone_s = tile.issue + tile.round_trip + tile.retire;
    if (group.hold == 0 && share < 1) return alone_s;
    steps.serve_s += share * tile.serve;
    if (share < 1) {
      // Later ones between two steps, in the background.
      steps.blocking_s += share * (tile.issue + tile.retire + tile.gap);
      t.o += share * tile.issue;
      t.r += share * tile.retire;
      t.gap += share * tile.gap;
      return alone_s;
    }
    ++steps.messages;
    steps.blocking_s += tile.issue + tile.retire;
    t.gap += tile.gap;
    if (get) {
      // The NIC takes one after the other.
      t.round_trip = after(t.round_trip, tile);
      t.o += tile.issue;
      t.r += tile.retire;
    } else {
      steps.put_round_trip = after(steps.put_round_trip, tile);
      steps.put_issue += tile.issue;
      steps.put_retire += tile.retire;
    }
    return alone_s;
  }

  // Of the engine, for each step of a nest that is cut.
  double overhead() const {
    return known() ? costs_->strip_overhead(perturbation_.of(Source::overhead)) : 0.0;
  }

  // The CPU's work of a step, with buffers of so many bytes.
  void set_work(Steps& steps, uint64_t buffer_bytes) const {
    if (!known()) return;
    const Corner buffers = perturbation_.of(Source::buffers);
    const double uncut = compute_s();
    double compute = uncut;
    if (costs_->has_buffers() && steps.received_bytes > 0) {
      const auto all = static_cast<uint64_t>(steps.received_bytes);
      const double saved = steps.received_bytes * (costs_->first_read(all, buffers) -
                                                   costs_->first_read(buffer_bytes, buffers));
      compute = std::max(uncut - saved, kLeastCompute * uncut) +
                steps.received_bytes * costs_->retire_into(buffer_bytes, buffers);
    }
    steps.terms.work = compute / steps.terms.strips + overhead() + steps.serve_s;
    steps.terms.work_last = steps.terms.work;
  }

  const NestRequest& request_;
  const Nest& nest_;
  const StripCosts* costs_ = nullptr;
  bool moves_ = false;
  bool known_ = true;
  uint32_t queue_ = std::numeric_limits<uint32_t>::max();
  Perturbation perturbation_;
};

}  // namespace stripline::plan::detail
