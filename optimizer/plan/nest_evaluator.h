// The time that a nest takes, cut into given tiles and carried out by a given schedule: what
// plan_nest(), its explanation and force_nest() share. The pipeline of steps is that of
// strip_time.h; tiles of many regions are stages of vis_time.h.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "optimizer/plan/nest.h"
#include "optimizer/plan/nest_tiles.h"
#include "optimizer/plan/perturbed.h"
#include "optimizer/plan/step_costs.h"
#include "optimizer/plan/strip_shape.h"
#include "optimizer/plan/strip_time.h"
#include "optimizer/plan/vis_choice.h"
#include "optimizer/plan/vis_time.h"

namespace stripline::plan::detail {

using cost::Corner;
using cost::MessageCosts;

// Tiles that are in flight together, until all have come.
struct TilesInFlight : InFlight {
  // The NIC takes one after the other.
  void add(const TransferCosts& tile) {
    latency = latency > 0 ? std::max(latency + tile.gap, tile.latency) : tile.latency;
    serve += tile.serve;
  }
};

// What is looked up of the transfer of a tile in one direction, whatever the parameters' errors.
struct TileTransfer {
  uint32_t tile = 0;
  Direction direction = Direction::get;
  bool many_regions = false;  // by a method of vis.h
  double part = 1;            // of the tiles, those that are not in reach
  double share = 1;           // of a tile, what a step moves: all, or less if it is held
  double full = 1;            // of its bytes, the mean
  double slowdown = 1;        // of a byte, in a network that others use
  // One operation for each run: its parameters, by corner.
  const MessageCosts* message = nullptr;
  // By a method of vis.h: one of Steps::choices.
  uint32_t choice = 0;
};

// Buffers of steps.
struct StepBuffers {
  uint64_t steps = 1;
  uint64_t slot_bytes = 0;  // of one step
  uint64_t held_bytes = 0;  // and for what is held
  bool gets = false;        // with every step, some tiles come
  bool puts = false;        // and some leave
};

// What the transfers of steps take, and what happens beside them.
struct StepTimes {
  double put_issue = 0;
  double put_retire = 0;
  double put_round_trip = 0;
  double once_s = 0;        // of the CPU, for what is held throughout
  double exposed_s = 0;     // of the CPU, for the first tiles of what is held for some steps
  double first_s = 0;       // how much later than a step's tiles those of the first one come
  double last_s = 0;        // and the last ones are complete
  double held_get_s = 0;    // of all tiles of a group held for some steps, one by one
  double held_both_s = 0;   // and with putting them back, where they are written
  TilesInFlight gets;       // of a step
  TilesInFlight puts;       // likewise
  TilesInFlight held_gets;  // of what is held, before the first step
  TilesInFlight held_puts;  // and after the last one
  double blocking_s = 0;    // of the transfers of a step that waits for them

  // One by one: that is cheaper than clearing memory in a loop.
  void clear() {
    put_issue = put_retire = put_round_trip = once_s = exposed_s = first_s = last_s = 0;
    held_get_s = held_both_s = blocking_s = 0;
    gets = puts = held_gets = held_puts = {};
  }
};

// Steps as a pipeline.
struct Steps : StepTimes {
  StripTerms terms;  // of what is read: all tiles of a step together
  StepBuffers buffers;
  double waiting_part = 0;    // of the steps, those that have to wait for their tiles
  double received_bytes = 0;  // by all steps
  uint64_t messages = 0;      // tiles of a step
  // By tile; of what is written back, the get first.
  access::Few<TileTransfer, 2 * access::kMaxReferences> transfers;
  access::Few<VisChoice, 2 * access::kMaxReferences> choices;

  // How the transfer of a tile is carried out, if by a method of vis.h; else null.
  const VisChoice* choice_of(uint32_t tile, Direction direction) const {
    for (const TileTransfer& transfer : transfers) {
      if (transfer.tile == tile && transfer.direction == direction && transfer.many_regions)
        return &choices[transfer.choice];
    }
    return nullptr;
  }

  // By which methods tiles of many regions are moved, as bits.
  uint32_t methods() const {
    uint32_t bits = 0;
    for (const TileTransfer& transfer : transfers) {
      if (!transfer.many_regions) continue;
      const size_t number = static_cast<size_t>(transfer.direction) * kVisMethods +
                            static_cast<size_t>(choices[transfer.choice].candidate.method);
      bits |= uint32_t{1} << number;
    }
    return bits;
  }
};

// True if the same tiles are moved by the same methods, with the same windows and chunks.
inline bool move_alike(const Steps& a, const Steps& b) {
  return std::equal(
      a.choices.begin(), a.choices.end(), b.choices.begin(), b.choices.end(),
      [](const VisChoice& x, const VisChoice& y) { return x.candidate == y.candidate; });
}

class NestEvaluator {
 public:
  explicit NestEvaluator(const NestRequest& request)
      : request_(request),
        nest_(request.nest),
        slots_(std::max<uint64_t>(request.slot_alignment, 1)) {
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
      // A put leaves the queue when it is sent.
      if (reads(mode)) queue_ = std::min(queue_, costs.queue_depth());
    }
    if (known()) compute_s_ = estimate_compute_s(Corner::nominal);
  }

  /// True if any data move, and whether the model says what all of them cost.
  bool moves() const { return moves_; }
  bool known() const { return known_ && costs_ != nullptr; }
  double minimum_gain() const { return costs_->minimum_gain(); }
  double composition() const { return costs_->nest_composition(); }

  const NestLink& link_of(const Tile& tile) const {
    return request_.links[request_.link[tile.reference]];
  }

  /// The call for a tile of several regions.
  VisRequest many(const Tile& tile, Direction direction) const {
    VisRequest request = link_of(tile).many;
    request.direction = direction;
    request.regions = tile.runs;
    request.region_bytes = tile.run_bytes;
    request.extent_bytes = tile.extent_bytes;
    request.local_regions = 1;
    request.bounding_box_allowed = direction == Direction::get;
    return request;
  }

  /// How a tile of several regions is moved (NestCandidate::tunes_tiles).
  VisCandidate method_of(const Tile& tile, Direction direction, bool tunes_tiles) const {
    const VisPlan plan = plan_vis(many(tile, direction), tunes_tiles ? link_of(tile).vis : nullptr);
    return {plan.method, plan.window, plan.chunk_bytes};
  }

  StepBuffers buffers(const Tiles& tiles) const {
    StepBuffers buffers{.steps = tiles.steps};
    for (const Tile& tile : tiles.tile) {
      if (!link_of(tile).in_reach) reserve(buffers, tile, tile.count < tiles.steps);
    }
    return buffers;
  }

  /// The bytes that this many tiles may have together so that a slot of `slot_bytes` holds them.
  uint64_t most_tile_bytes(uint64_t slot_bytes, uint64_t tiles) const {
    const uint64_t unused = tiles == 0 ? 0 : (tiles - 1) * (slots_.bytes() - 1);
    const uint64_t bytes = slots_.down(slot_bytes);
    return bytes - std::min(bytes, unused);
  }

  Steps steps(const Tiles& tiles, bool tunes_tiles) const {
    Steps steps;
    look_up(tiles, tunes_tiles, steps);
    return steps;
  }

  /// Sets `steps`, with the times of a model that is known().
  void look_up(const Tiles& tiles, bool tunes_tiles, Steps& steps) const {
    steps.buffers = {.steps = tiles.steps};
    steps.waiting_part = steps.received_bytes = 0;
    steps.messages = 0;
    steps.transfers.clear();
    steps.choices.clear();
    const auto count = static_cast<double>(tiles.steps);
    steps.terms.strips = steps.terms.strips_per_peer = count;
    steps.terms.queue = queue_;
    for (uint32_t g = 0; g < tiles.groups(); ++g) {
      const Tile& tile = tiles.tile[g];
      if (link_of(tile).in_reach) continue;
      const auto moved = static_cast<double>(tile.count);
      const bool held = moved < count;
      const double part = 1 - request_.in_reach_part[tile.reference];
      reserve(steps.buffers, tile, held);
      if (!held) steps.waiting_part = std::max(steps.waiting_part, part);
      const double full = held ? 1.0 : tiles.full;
      if (reads(tile.mode)) {
        steps.received_bytes += part * moved * full * static_cast<double>(tile.bytes());
      }
      for (const Direction direction : {Direction::get, Direction::put}) {
        if (direction == Direction::get ? !reads(tile.mode) : !writes(tile.mode)) continue;
        if (!held) ++steps.messages;
        TileTransfer& transfer = steps.transfers.emplace_back();
        transfer.tile = g;
        transfer.direction = direction;
        transfer.part = part;
        transfer.share = moved / count;
        transfer.full = full;
        look_up(tile, tunes_tiles, transfer, steps);
      }
    }
    take_times(tiles, steps);
  }

  /// Times with the parameters as perturb() has left them.
  void take_times(const Tiles& tiles, Steps& steps) const {
    steps.clear();
    StripTerms& t = steps.terms;
    t.o = t.r = t.gap = 0;
    double get_s = 0;  // that a tile takes by itself
    for (const TileTransfer& transfer : steps.transfers) {
      const Tile& tile = tiles.tile[transfer.tile];
      const double alone_s = add(steps, tile, transfer);
      const bool put = transfer.direction == Direction::put;
      if (!put) get_s = alone_s;
      if (transfer.share >= 1) continue;
      const auto moved = static_cast<double>(tile.count);
      if (!put) {
        steps.held_get_s = std::max(steps.held_get_s, moved * alone_s);
      } else {
        const double both_s = alone_s + (reads(tile.mode) ? get_s : 0.0);
        steps.held_both_s = std::max(steps.held_both_s, moved * both_s);
      }
    }
    t.round_trip = steps.gets.round_trip();
    t.filled = steps.gets.filled();
    steps.put_round_trip = steps.puts.round_trip();
    steps.blocking_s += steps.waiting_part * (t.round_trip + steps.put_round_trip);
    steps.first_s = std::max(0.0, steps.held_gets.round_trip() - t.round_trip);
    steps.last_s = std::max(0.0, steps.held_puts.round_trip() - steps.put_round_trip);
    t.o_last = t.o_first = t.o;
    t.r_last = t.r;
    t.round_trip_last = t.round_trip_first = t.round_trip;
    t.gap_first = t.gap;
  }

  static uint64_t buffer_bytes(const StepBuffers& buffers, Schedule schedule, uint32_t window) {
    const uint64_t slots = nest_slots(schedule, window, buffers.steps, buffers.gets, buffers.puts);
    return saturating_add(saturating_multiply(slots, buffers.slot_bytes), buffers.held_bytes);
  }

  double time(Steps& steps, Schedule schedule, uint32_t window) const {
    StripTerms& t = steps.terms;
    set_work(steps, schedule, window);
    if (schedule == Schedule::vectorised) {
      return steps.once_s + steps.first_s + steps.last_s +
             t.strips * (steps.blocking_s + t.work - overhead());
    }
    const double beside = steps.once_s + steps.exposed_s + steps.first_s + steps.last_s;
    const double pace = held_pace(steps);
    const bool pipeline = schedule == Schedule::pipelined && t.strips > window;
    t.window = window;
    if (steps.buffers.gets) {
      // Gets beyond the queue wait for a place in it.
      const uint64_t queued = queue_ / std::max<uint64_t>(steps.messages, 1);
      t.window =
          static_cast<double>(std::clamp<uint64_t>(window, 1, std::max<uint64_t>(queued, 1)));
      // What is written leaves after the computation of a step, and is retired by later ones.
      t.work += steps.put_issue + steps.put_retire;
      t.work_last = t.work;
      t.others = served_later(t.work);
      return beside + steps.put_round_trip +
             std::max(pace,
                      pipeline ? strip_time::get_pipelined(t) : strip_time::get_all_issued(t));
    }
    if (!steps.buffers.puts) return beside + std::max(pace, t.strips * (t.work + t.o + t.r));
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
    set_work(steps, Schedule::pipelined, 1);
    const StripTerms& t = steps.terms;
    // The first tiles are in flight while others are issued.
    const double issue = std::max(t.strips * t.o, t.o + t.round_trip);
    const double cpu = t.strips * (t.r + t.work + steps.put_issue + steps.put_retire);
    return steps.once_s + std::max({issue + cpu, t.strips * t.gap, held_pace(steps)});
  }

  /// A window that does not limit the pipeline, with slack; at most `limit`.
  uint32_t window_for(Steps& steps, uint64_t limit) const {
    set_work(steps, Schedule::pipelined, 1);
    const StripTerms& t = steps.terms;
    const double step = std::max(t.o + t.r + t.work + steps.put_issue + steps.put_retire, t.gap);
    const double cycle =
        std::max(t.o + t.round_trip + (steps.buffers.gets ? served_later(t.work) : 0) + t.r,
                 t.work + steps.put_issue + steps.put_round_trip + steps.put_retire);
    return static_cast<uint32_t>(std::min<uint64_t>(ample_window(cycle, step), limit));
  }

  /// What buffers, queue and number of steps allow; 0: none.
  uint64_t largest_window(const Steps& steps) const {
    const StepBuffers& buffers = steps.buffers;
    const uint64_t room =
        request_.max_buffer_bytes - std::min(request_.max_buffer_bytes, buffers.held_bytes);
    const uint64_t slots =
        buffers.slot_bytes == 0 ? uint64_t{2} * kMostWindow : room / buffers.slot_bytes;
    const uint64_t count = buffers.steps;
    const uint64_t each = buffers.gets && buffers.puts ? 2 : 1;
    const uint64_t held = slots >= count ? count - 1 : slots > 0 ? (slots - 1) / each : 0;
    const uint64_t queued = queue_ / std::max<uint64_t>(steps.messages, 1);
    return std::min({held, count - 1, queued, uint64_t{kMostWindow}});
  }

  /// Steps of which the first one's transfers, which are not hidden, take as long as issuing those
  /// of all steps: about that many are best. At least 1.
  double balanced_steps(const Tiles& tiles, const Steps& uncut) const {
    double each_s = overhead();
    for (const TileTransfer& transfer : uncut.transfers) {
      const MessageCosts& message = transfer.many_regions
                                        ? link_of(tiles.tile[transfer.tile]).vis->am().at(0)
                                        : *transfer.message;
      const double serve = serves() ? message.s_base : 0;
      each_s += transfer.share * (message.o_base + message.r_base + serve);
    }
    const double nic_s = uncut.terms.strips * uncut.terms.gap;
    return each_s < nic_s ? std::sqrt(nic_s / each_s) : 1;
  }

  uint32_t queue_depth() const { return queue_; }

  /// True if this rank serves as many transfers as it makes.
  bool serves() const { return request_.surroundings.target_polls_only; }

  void perturb(const Ends& ends) {
    const Corner before = ends_.of(Source::compute);
    ends_ = ends;
    const Corner compute = ends_.of(Source::compute);
    if (compute != before) compute_s_ = estimate_compute_s(compute);
  }

  /// Says if the time of steps depends on a source of error. `transfers`: those take other times
  /// (take_times()), and not only the computation.
  struct Dependence {
    bool any = false;
    bool transfers = false;
  };
  Dependence dependence(const Steps& steps, Schedule schedule, Source source) const {
    switch (source) {
      case Source::buffers:
        return {buffers_matter(steps), false};
      case Source::overhead:
        return {schedule != Schedule::vectorised, false};
      case Source::compute:
        return {estimates_compute(), false};
      case Source::body:
        return {schedule != Schedule::vectorised, false};
      case Source::issue:
      case Source::latency:
      case Source::gap:
      case Source::bandwidth:
      case Source::retire:
      case Source::serve:
      case Source::regions:
      case Source::turns:
      case Source::composition:
        break;
    }
    const bool many_regions = source == Source::regions;
    const bool some = std::ranges::any_of(steps.transfers, [&](const TileTransfer& transfer) {
      return transfer.many_regions == many_regions;
    });
    return {some, some};
  }

  bool estimates_compute() const { return request_.compute_s < 0; }

  /// True if the size of buffers changes how long steps take.
  bool buffers_matter(const Steps& steps) const {
    return costs_->has_buffers() && steps.received_bytes > 0;
  }

  /// Seconds of computation of all iterations, if the nest is not cut.
  double compute_s() const { return compute_s_; }

 private:
  double estimate_compute_s(Corner corner) const {
    if (request_.compute_s >= 0) return request_.compute_s;
    const uint64_t all = iterations(nest_, nest_.depth);
    const uint64_t bytes = saturating_multiply(all, nest_.reference[0].element_bytes);
    return estimate_factor(corner) * static_cast<double>(all) *
           costs_->compute().seconds_per_element(request_.loop, {1, bytes, request_.local_bytes},
                                                 corner);
  }

  void look_up(const Tile& tile, bool tunes_tiles, TileTransfer& transfer, Steps& steps) const {
    const NestLink& link = link_of(tile);
    const Direction direction = transfer.direction;
    if (tile.contiguous() || link.vis == nullptr) {
      const cost::LinkCosts& costs =
          direction == Direction::get ? link.strip->get() : link.strip->put();
      transfer.message = costs.corners_at(tile.run_bytes).data();
      transfer.slowdown = slowdown(link, direction, tile.run_bytes);
      return;
    }
    const VisRequest request = many(tile, direction);
    transfer.many_regions = true;
    transfer.choice = static_cast<uint32_t>(steps.choices.size());
    steps.choices.add([&] {
      return tunes_tiles ? choose_vis(request, *link.vis) : untuned_vis(request, *link.vis);
    });
    // What the NIC takes of it is bytes, all but a little.
    transfer.slowdown = slowdown(link, direction, tile.bytes());
  }

  // How much later a get is served because the peer computes, which goes through a nest like this.
  double served_later(double work_s) const {
    if (!request_.surroundings.target_polls_only || !costs_->has_get()) return 0;
    return std::max(0.0, work_s - costs_->get().at(0).L);
  }

  // The costs of the mean tile: some tiles are not moved.
  TransferCosts tile_costs(const Tile& tile, const TileTransfer& transfer,
                           const Steps& steps) const {
    TransferCosts costs = moved_tile_costs(tile, transfer, steps);
    costs.issue *= transfer.part;
    costs.retire *= transfer.part;
    costs.serve *= transfer.part;
    costs.gap *= transfer.part;
    return costs;
  }

  TransferCosts moved_tile_costs(const Tile& tile, const TileTransfer& transfer,
                                 const Steps& steps) const {
    const double ranks = request_.surroundings.nic_ranks;
    if (!transfer.many_regions) {
      const TransferCosts run =
          message_costs(message(transfer), transfer.full * static_cast<double>(tile.run_bytes),
                        ranks, ranks * transfer.slowdown, serves());
      const auto runs = static_cast<double>(tile.runs);
      return {{run.latency + (runs - 1) * run.gap, runs * run.serve},
              runs * run.issue,
              runs * run.retire,
              runs * run.gap};
    }
    const auto& [candidate, stage, residual, nominal] = steps.choices[transfer.choice];
    const Corner regions = ends_.of(Source::regions);
    const double factor = regions == Corner::high  ? std::exp(residual.high)
                          : regions == Corner::low ? std::exp(residual.low)
                                                   : nominal;
    const double part = transfer.full * factor;
    // Messages need their target on any network.
    const double serve = (request_.surroundings.alone ? 0.0 : stage.serve) +
                         (serves() ? stage.serve_operations : 0.0);
    return {{factor * (stage.round_trip + (transfer.slowdown - 1) * stage.gap), part * serve},
            part * stage.issue,
            part * stage.retire,
            part * std::max(ranks * transfer.slowdown * stage.gap, stage.queued)};
  }

  double slowdown(const NestLink& link, Direction direction, uint64_t bytes) const {
    if (link.strip == nullptr) return 1;
    const cost::LoadCosts& load =
        direction == Direction::get ? link.strip->get_load() : link.strip->put_load();
    return load.slowdown(request_.surroundings.load, bytes);
  }

  MessageCosts message(const TileTransfer& transfer) const {
    if (ends_.corner == Corner::nominal) return *transfer.message;
    return at_ends(*transfer.message, transfer.message[static_cast<size_t>(ends_.corner)], ends_);
  }

  // Buffers of a tile. What is held for some steps has two: the next tile's transfer overlaps.
  void reserve(StepBuffers& buffers, const Tile& tile, bool held) const {
    const uint64_t bytes = slots_.up(tile.bytes());
    if (!held) {
      buffers.slot_bytes = saturating_add(buffers.slot_bytes, bytes);
      buffers.gets = buffers.gets || reads(tile.mode);
      buffers.puts = buffers.puts || writes(tile.mode);
    } else {
      const uint64_t places = tile.hold == 0 ? 1 : 2;
      buffers.held_bytes = saturating_add(buffers.held_bytes, saturating_multiply(places, bytes));
    }
  }

  // No nest is faster than its tiles are held. One is fetched while the one before is in use; where
  // they are written, each of two buffers is computed on, put back, and filled again.
  static double held_pace(const Steps& steps) {
    const double work = steps.terms.strips * steps.terms.work;
    const double both = steps.held_both_s > 0 ? (steps.held_both_s + work) / 2 : 0.0;
    return std::max(steps.held_get_s, both);
  }

  // Adds the transfer of a tile. Returns how long it takes by itself.
  double add(Steps& steps, const Tile& tile, const TileTransfer& transfer) const {
    StripTerms& t = steps.terms;
    const TransferCosts costs = tile_costs(tile, transfer, steps);
    const double retire = costs.retire_and_serve();
    const double share = transfer.share;
    const bool get = transfer.direction == Direction::get;
    if (share < 1) {
      // Together with the first step's tiles, or the last one's.
      (get ? steps.held_gets : steps.held_puts).add(costs);
      (tile.hold == 0 ? steps.once_s : steps.exposed_s) += costs.issue + retire;
    }
    const double alone_s = costs.issue + costs.retire + std::max(costs.latency, costs.serve);
    if (tile.hold == 0 && share < 1) return alone_s;
    if (share < 1) {
      // Later ones between two steps, in the background.
      steps.blocking_s += share * (costs.issue + costs.retire + std::max(costs.gap, costs.serve));
      t.o += share * costs.issue;
      t.r += share * retire;
      t.gap += share * costs.gap;
      return alone_s;
    }
    steps.blocking_s += costs.issue + retire;
    t.gap += costs.gap;
    if (get) {
      steps.gets.add(costs);
      t.o += costs.issue;
      t.r += retire;
    } else {
      steps.puts.add(costs);
      steps.put_issue += costs.issue;
      steps.put_retire += retire;
    }
    return alone_s;
  }

  // Seconds of the engine for each step of a nest that is cut.
  double overhead() const { return costs_->strip_overhead(ends_.of(Source::overhead)); }

  static double body_doubt(const Steps& steps) {
    const bool scattered = std::ranges::any_of(steps.transfers, &TileTransfer::many_regions);
    return scattered ? kScatteredBodyDoubt : kBodyDoubt;
  }

  // The CPU's work of a step, with the buffers of a schedule.
  void set_work(Steps& steps, Schedule schedule, uint32_t window) const {
    double compute = compute_s_;
    if (schedule != Schedule::vectorised && ends_.of(Source::body) == Corner::high) {
      compute *= 1 + body_doubt(steps);
    }
    if (buffers_matter(steps)) {
      const Corner corner = ends_.of(Source::buffers);
      const uint64_t bytes = buffer_bytes(steps.buffers, schedule, window);
      const auto all = static_cast<uint64_t>(steps.received_bytes);
      const double saved = steps.received_bytes *
                           (costs_->first_read(all, corner) - costs_->first_read(bytes, corner));
      compute =
          compute_left(compute, saved) + steps.received_bytes * costs_->retire_into(bytes, corner);
    }
    steps.terms.work = compute / steps.terms.strips + overhead();
    steps.terms.work_last = steps.terms.work;
  }

  const NestRequest& request_;
  const Nest& nest_;
  SizeUnit slots_;
  const StripCosts* costs_ = nullptr;
  bool moves_ = false;
  bool known_ = true;
  uint32_t queue_ = std::numeric_limits<uint32_t>::max();
  Ends ends_;
  double compute_s_ = 0;  // as perturbed
};

}  // namespace stripline::plan::detail
