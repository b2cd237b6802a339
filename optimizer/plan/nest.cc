#include "optimizer/plan/nest.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <variant>

#include "optimizer/plan/perturbed.h"
#include "optimizer/plan/strip_shape.h"
#include "optimizer/plan/strip_time.h"
#include "optimizer/plan/vis_time.h"

namespace stripline::plan {
namespace {

using access::Cut;
using access::Group;
using access::Mode;
using access::Nest;
using access::Tiling;
using cost::Corner;
using cost::MessageCosts;
using detail::saturating_add;
using detail::saturating_multiply;

// A window is so many times what suffices on an idle network, as others' messages come between.
constexpr double kSlack = 2;
// However cheap data in a cache are, so much of the computation remains.
constexpr double kLeastCompute = 0.1;
constexpr uint64_t kMostWindow = 65536;

// Of the loops from the outermost on.
uint64_t iterations(const Nest& nest, uint32_t loops) {
  uint64_t product = 1;
  for (uint32_t loop = 0; loop < loops; ++loop) {
    product = saturating_multiply(product, nest.counts[loop]);
  }
  return product;
}

Cut within(const Nest& nest, const Cut& cut) {
  const uint32_t loop = std::min(cut.loop, nest.depth - 1);
  return {loop, std::clamp<uint64_t>(cut.granule, 1, nest.counts[loop])};
}

// Over all iterations of the loops around the cut.
uint64_t steps_of(const Nest& nest, const Cut& cut) {
  const uint64_t each = (nest.counts[cut.loop] + cut.granule - 1) / cut.granule;
  return saturating_multiply(iterations(nest, cut.loop), each);
}

// The mean step as a part of a full one: the last of a loop may be shorter.
double mean_step(const Nest& nest, const Cut& cut) {
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
  double serve_s = 0;              // of a step, for peers
  double received_bytes = 0;       // by all steps
  uint64_t slot_bytes = 0;         // buffers of one step
  uint64_t held_bytes = 0;         // and for what is held
  uint64_t messages = 0;           // tiles of a step
};

class Evaluator {
 public:
  explicit Evaluator(const NestRequest& request) : request_(request), nest_(request.nest) {
    for (uint32_t r = 0; r < nest_.references; ++r) {
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
      reserve(steps, group, moved < count);
      double get_s = 0;  // that a tile takes by itself
      double put_s = 0;
      if (reads(group.mode)) {
        steps.received_bytes +=
            moved * (moved < count ? 1.0 : tiles.full) * static_cast<double>(group.bytes());
        get_s = add(steps, group, Direction::get, moved / count, tiles.full);
      }
      if (writes(group.mode)) {
        put_s = add(steps, group, Direction::put, moved / count, tiles.full);
      }
      if (moved < count) {
        steps.held_get_s = std::max(steps.held_get_s, moved * get_s);
        if (put_s > 0) {
          steps.held_both_s = std::max(steps.held_both_s, moved * (get_s + put_s));
        }
      }
    }
    steps.blocking_s += t.round_trip + steps.put_round_trip;
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

 private:
  // `full`: how much of it there is on average.
  TileCosts tile_costs(const Group& group, Direction direction, double full) const {
    const NestLink& link = link_of(group);
    const double ranks = request_.nic_ranks;
    if (group.tile.contiguous() || link.vis == nullptr) {
      const double size = full * static_cast<double>(group.tile.run_bytes);
      const MessageCosts m = message(*link.strip, direction, group.tile.run_bytes);
      const TileCosts one{m.o(size), m.r(size), 0, 2 * m.L + ranks * m.G * size,
                          ranks * m.gap(size)};
      const auto runs = static_cast<double>(group.tile.runs());
      return {runs * one.issue, runs * one.retire, 0, one.round_trip + (runs - 1) * one.gap,
              runs * one.gap};
    }
    const VisRequest request = many(group, direction);
    const VisPlan plan = plan_vis(request, link.vis);
    const VisCandidate candidate{plan.method, plan.window, plan.chunk_bytes};
    const detail::VisStage stage = detail::vis_stage(request, *link.vis, candidate);
    const cost::LogRatio residual = residual_of(request, *link.vis, candidate);
    const double factor =
        std::exp(perturbation_.of(Source::regions) == Corner::high  ? residual.high
                 : perturbation_.of(Source::regions) == Corner::low ? residual.low
                                                                    : residual.value);
    const double part = full * factor;
    return {part * stage.issue, part * stage.retire, part * stage.serve, factor * stage.round_trip,
            part * ranks * stage.gap};
  }

  static cost::LogRatio residual_of(const VisRequest& request, const VisCosts& costs,
                                    const VisCandidate& candidate) {
    return costs.residual(request.direction, request.compute, candidate.method,
                          detail::vis_spread(request), vis_lands(request, candidate.chunk_bytes),
                          std::log2(static_cast<double>(request.region_bytes)),
                          std::log2(static_cast<double>(detail::vis_bytes(request))));
  }

  MessageCosts message(const StripCosts& costs, Direction direction, uint64_t bytes) const {
    const cost::LinkCosts& link = direction == Direction::get ? costs.get() : costs.put();
    if (perturbation_.corner == Corner::nominal) return link.at(bytes);
    return detail::perturbed(link.at(bytes), link.at(bytes, perturbation_.corner),
                             perturbation_.source);
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

  // Seconds of computation of all iterations, if the nest is not cut.
  double compute_s() const {
    if (request_.compute_s >= 0) return request_.compute_s;
    const uint64_t all = iterations(nest_, nest_.depth);
    const uint64_t bytes = saturating_multiply(all, nest_.reference[0].element_bytes);
    return static_cast<double>(all) *
           costs_->compute().seconds_per_element(request_.loop, {1, bytes, request_.local_bytes},
                                                 perturbation_.of(Source::compute));
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

// Sinks of plan_nest: nothing, at no cost.
struct NoSink {
  void considered(const NestCandidate&, double) {}
  void sensitivity(Source, double) {}
};

// The tiles of a cut, or nothing where the nest cannot be cut so.
std::optional<Tiles> tiles_of(const Nest& nest, const Cut& cut, access::Failure* why = nullptr) {
  auto tiled = access::tile(nest, cut);
  if (const auto* failure = std::get_if<access::Failure>(&tiled)) {
    if (why != nullptr) *why = *failure;
    return std::nullopt;
  }
  return Tiles{cut, steps_of(nest, cut), mean_step(nest, cut), std::get<Tiling>(tiled)};
}

// The nest in as few steps as its buffers allow; one iteration of all loops always fits. The first
// obstacle where it cannot be tiled at all.
std::variant<Tiles, access::Failure> vectorised(const NestRequest& request,
                                                const Evaluator& evaluator) {
  const Nest& nest = request.nest;
  std::optional<Tiles> smallest;
  std::optional<access::Failure> obstacle;
  for (uint32_t loop = 0; loop < nest.depth; ++loop) {
    for (uint64_t granule = nest.counts[loop]; granule > 0; granule /= 2) {
      access::Failure why;
      auto tiles = tiles_of(nest, {loop, granule}, &why);
      if (!tiles) {
        if (!obstacle) obstacle = why;
        continue;
      }
      const Steps steps = evaluator.steps(*tiles);
      if (Evaluator::buffer_bytes(steps, Schedule::vectorised, 1) <= request.max_buffer_bytes) {
        return *tiles;
      }
      smallest = std::move(tiles);
    }
  }
  if (smallest) return *smallest;
  return *obstacle;
}

NestPlan plan_of(const NestRequest& request, const Evaluator& evaluator, const Tiles& tiles,
                 Schedule schedule, uint32_t window, Reason reason) {
  NestPlan plan;
  plan.schedule = schedule;
  plan.reason = reason;
  plan.cut = tiles.cut;
  plan.steps = tiles.steps;
  if (schedule == Schedule::all_issued) plan.window = static_cast<uint32_t>(tiles.steps);
  if (schedule == Schedule::pipelined) plan.window = window;
  plan.groups = tiles.tiling.groups();
  for (uint32_t g = 0; g < plan.groups; ++g) {
    const Group& group = tiles.tiling.group[g];
    const bool moves = group.hold > tiles.cut.loop;
    NestTransfer& transfer = plan.transfer[g];
    transfer.moved = !evaluator.link_of(group).in_reach;
    transfer.bytes = group.bytes();
    transfer.count = tiles.count_of(request.nest, group);
    transfer.burst = moves ? plan.window : 1;
    transfer.init_level = transfer.sync_level = std::min(group.hold, tiles.cut.loop);
    if (moves && schedule == Schedule::all_issued) {
      (reads(group.mode) ? transfer.init_level : transfer.sync_level) = 0;
      if (!reads(group.mode)) transfer.sync_burst = plan.window;
    }
    transfer.many_regions = !group.tile.contiguous();
    if (!transfer.moved || !transfer.many_regions) continue;
    const Direction direction = reads(group.mode) ? Direction::get : Direction::put;
    const VisPlan vis = plan_vis(evaluator.many(group, direction), evaluator.link_of(group).vis);
    transfer.method = vis.method;
    transfer.vis_window = vis.window;
    transfer.chunk_bytes = vis.chunk_bytes;
  }
  plan.buffer_bytes = Evaluator::buffer_bytes(evaluator.steps(tiles), schedule, plan.window);
  return plan;
}

// Looks for the fastest candidate.
template <typename Sink>
class Search {
 public:
  Search(const NestRequest& request, const Evaluator& evaluator, Sink& sink)
      : request_(request), evaluator_(evaluator), sink_(sink) {}

  void consider(const Tiles& tiles, Schedule schedule, uint32_t window, double predicted_s) {
    sink_.considered({schedule, tiles.cut, window}, predicted_s);
    if (!(predicted_s < best_s_)) return;
    best_s_ = predicted_s;
    best_ = tiles;
    schedule_ = schedule;
    window_ = window;
  }

  /// Cuts at every loop. Of a loop the large steps first: once several in a row were worse than the
  /// best, and ever worse, smaller ones are, too.
  void run() {
    for (uint32_t loop = 0; loop < request_.nest.depth; ++loop) try_loop(loop);
  }

  const Tiles& best() const { return best_; }
  Schedule schedule() const { return schedule_; }
  uint32_t window() const { return window_; }
  double best_s() const { return best_s_; }

 private:
  static constexpr int kHopeless = 3;
  static constexpr uint64_t kMostSteps = uint64_t{1} << 24;

  // The granules to try, from large to small: equal parts of the loop, and the largest whose tiles
  // are below a protocol switch.
  class Granules {
   public:
    struct One {
      uint64_t iterations;
      bool protocol_begins;  // going down
    };
    void insert(uint64_t iterations, bool protocol_begins = false) {
      size_t place = 0;
      while (place < count_ && granules_[place].iterations > iterations) ++place;
      if (place < count_ && granules_[place].iterations == iterations) {
        granules_[place].protocol_begins |= protocol_begins;
        return;
      }
      if (count_ == granules_.size()) return;
      for (size_t i = count_++; i > place; --i) granules_[i] = granules_[i - 1];
      granules_[place] = {iterations, protocol_begins};
    }
    const One* begin() const { return granules_.data(); }
    const One* end() const { return granules_.data() + count_; }

   private:
    std::array<One, 96> granules_;  // NOLINT(*-member-init): filled up to count_
    size_t count_ = 0;
  };

  void try_loop(uint32_t loop) {
    const uint64_t count = request_.nest.counts[loop];
    Granules granules;
    // Steps of about the same length.
    const auto insert_parts = [&](uint64_t parts) { granules.insert((count + parts - 1) / parts); };
    if (iterations(request_.nest, loop) > 1) insert_parts(1);
    for (const uint64_t parts : {2, 3, 4}) insert_parts(parts);
    for (uint64_t parts = 8; parts < 2 * count; parts *= 2) insert_parts(std::min(parts, count));
    learn_growth(loop);
    insert_by_bytes(loop, granules);
    int hopeless = 0;
    double last_s = std::numeric_limits<double>::infinity();
    for (const auto& granule : granules) {
      if (granule.protocol_begins) hopeless = 0;
      if (hopeless == kHopeless) continue;
      const double before_s = best_s_;
      const double s = try_cut({loop, granule.iterations});
      if (std::isinf(s)) continue;  // not possible
      hopeless = s < before_s || s < last_s ? 0 : hopeless + 1;
      last_s = s;
    }
  }

  // Tiles grow by the same number of bytes with each iteration of the loop.
  void learn_growth(uint32_t loop) {
    one_.reset();
    linear_ = false;
    const Nest& nest = request_.nest;
    if (nest.counts[loop] < 2) return;
    one_ = tiles_of(nest, {loop, 1});
    const auto two = tiles_of(nest, {loop, 2});
    if (!one_ || !two || one_->tiling.groups() != two->tiling.groups()) {
      one_.reset();
      return;
    }
    linear_ = true;
    for (uint32_t g = 0; g < one_->tiling.groups(); ++g) {
      const Group& group = one_->tiling.group[g];
      const Group& larger = two->tiling.group[g];
      more_[g] = larger.bytes() - std::min(group.bytes(), larger.bytes());
      contiguous_[g] = larger.tile.contiguous();
      linear_ = linear_ && group.hold == larger.hold && group.members == larger.members &&
                (group.hold <= loop || (group.tile.contiguous() && contiguous_[g]));
    }
  }

  // The tiles of a cut, as tiles_of(), but at once where they are pieces that only grow.
  std::optional<Tiles> tiles(const Cut& cut) const {
    if (!linear_) return tiles_of(request_.nest, cut);
    Tiles grown = *one_;
    grown.cut = cut;
    grown.steps = steps_of(request_.nest, cut);
    grown.full = mean_step(request_.nest, cut);
    for (uint32_t g = 0; g < grown.tiling.groups(); ++g) {
      if (grown.tiling.group[g].hold <= cut.loop) continue;
      grown.tiling.group[g].tile.run_bytes += (cut.granule - 1) * more_[g];
    }
    return grown;
  }

  // The largest below a protocol switch, and those with which a few slots fill the buffers.
  void insert_by_bytes(uint32_t loop, Granules& granules) const {
    if (!one_) return;
    const Nest& nest = request_.nest;
    uint64_t all_least = 0;
    uint64_t all_more = 0;
    const auto insert = [&](uint64_t bytes, uint64_t least, uint64_t more, bool protocol_begins) {
      if (bytes < least || more == 0) return;
      const uint64_t granule = 1 + (bytes - least) / more;
      if (granule < nest.counts[loop]) granules.insert(granule, protocol_begins);
    };
    for (uint32_t g = 0; g < one_->tiling.groups(); ++g) {
      const Group& group = one_->tiling.group[g];
      const NestLink& link = evaluator_.link_of(group);
      if (link.in_reach || group.hold <= loop || more_[g] == 0) continue;
      all_least += group.bytes();
      all_more += more_[g];
      if (!contiguous_[g]) continue;
      const cost::LinkCosts& costs = reads(group.mode) ? link.strip->get() : link.strip->put();
      for (const uint64_t next : costs.breakpoints()) {
        insert(next - 1, group.bytes(), more_[g], true);
      }
    }
    if (request_.max_buffer_bytes == std::numeric_limits<uint64_t>::max()) return;
    for (const uint64_t slots : {2, 3, 4, 5, 7, 9}) {
      insert(request_.max_buffer_bytes / slots, all_least, all_more, false);
    }
  }

  // The time of the fastest schedule, or what none can be below.
  double try_cut(const Cut& cut) {
    constexpr double kNever = std::numeric_limits<double>::infinity();
    const uint64_t count = steps_of(request_.nest, cut);
    if (count < 2 || count > kMostSteps) return kNever;
    const auto tiles = this->tiles(cut);
    if (!tiles) return kNever;
    Steps steps = evaluator_.steps(*tiles);
    const double bound_s = evaluator_.bound(steps);
    if (bound_s >= best_s_) return bound_s;
    double fastest_s = kNever;
    const auto attempt = [&](Schedule schedule, uint32_t window) {
      const double s = evaluator_.time(steps, schedule, window);
      fastest_s = std::min(fastest_s, s);
      consider(*tiles, schedule, window, s);
    };
    // Beyond the queue issuing gets blocks, and B with as many in flight computes meanwhile.
    if ((!steps.gets || saturating_multiply(count, steps.messages) <= evaluator_.queue_depth()) &&
        Evaluator::buffer_bytes(steps, Schedule::all_issued, 1) <= request_.max_buffer_bytes) {
      attempt(Schedule::all_issued, 1);
    }
    const uint64_t limit = evaluator_.largest_window(steps);
    if (limit > 0) attempt(Schedule::pipelined, evaluator_.window_for(steps, limit));
    return fastest_s;
  }

  const NestRequest& request_;
  const Evaluator& evaluator_;
  Sink& sink_;
  // Of the loop that is tried: the tiles of one iteration, if they are known, and how they grow.
  std::optional<Tiles> one_;
  bool linear_ = false;  // as contiguous pieces, all that move
  std::array<uint64_t, access::kMaxReferences> more_{};
  std::array<bool, access::kMaxReferences> contiguous_{};

  Tiles best_;
  Schedule schedule_ = Schedule::vectorised;
  uint32_t window_ = 1;
  double best_s_ = std::numeric_limits<double>::infinity();
};

// Propagates the parameters' intervals to the gain of the best candidate over `baseline`.
template <typename Sink>
double lower_gain(Evaluator& evaluator, const Tiles& baseline, const Search<Sink>& search,
                  double nominal_gain, bool estimates_compute, Sink& sink) {
  bool of_transfers = false;  // else only the work of steps changes
  Steps before = evaluator.steps(baseline);
  Steps after = evaluator.steps(search.best());
  const auto gain = [&](Source source, Corner corner) {
    evaluator.perturb({source, corner});
    if (of_transfers) {
      before = evaluator.steps(baseline);
      after = evaluator.steps(search.best());
    }
    const double before_s = evaluator.time(before, Schedule::vectorised, 1);
    const double after_s = evaluator.time(after, search.schedule(), search.window());
    return before_s > 0 ? 1 - after_s / before_s : 0.0;
  };
  double squares = 0;
  const auto add = [&](Source source) {
    const double lowest = std::min(gain(source, Corner::low), gain(source, Corner::high));
    const double loss = std::max(0.0, nominal_gain - lowest);
    squares += loss * loss;
    sink.sensitivity(source, loss);
  };
  for (const Source source : {Source::buffers, Source::overhead}) add(source);
  if (estimates_compute) add(Source::compute);
  of_transfers = true;
  for (const Source source : detail::kMessageSources) add(source);
  if (evaluator.has_many_regions(baseline) || evaluator.has_many_regions(search.best())) {
    add(Source::regions);
  }
  evaluator.perturb({});
  return nominal_gain - std::sqrt(squares);
}

template <typename Sink>
NestPlan decide(const NestRequest& request, Sink& sink) {
  NestPlan plan;
  plan.obstacle = access::dependence_of(request.nest);
  if (plan.obstacle) return plan;
  Evaluator evaluator(request);
  const auto whole = vectorised(request, evaluator);
  if (const auto* failure = std::get_if<access::Failure>(&whole)) {
    plan.obstacle = *failure;
    return plan;
  }
  const Tiles& baseline = std::get<Tiles>(whole);
  const auto vectorise = [&](Reason reason) {
    return plan_of(request, evaluator, baseline, Schedule::vectorised, 1, reason);
  };
  if (!evaluator.moves()) return vectorise(Reason::own_memory);
  if (!evaluator.known()) return vectorise(Reason::no_model);

  Steps uncut = evaluator.steps(baseline);
  const double baseline_s = evaluator.time(uncut, Schedule::vectorised, 1);
  Search<Sink> search(request, evaluator, sink);
  search.consider(baseline, Schedule::vectorised, 1, baseline_s);
  search.run();
  const bool cut = search.schedule() != Schedule::vectorised;
  double gain_low = 0;
  if (cut && baseline_s > 0) {
    gain_low = lower_gain(evaluator, baseline, search, 1 - search.best_s() / baseline_s,
                          request.compute_s < 0, sink);
  }
  const bool sure = cut && gain_low > evaluator.minimum_gain();
  plan = sure ? plan_of(request, evaluator, search.best(), search.schedule(), search.window(),
                        Reason::tuned)
              : vectorise(cut ? Reason::below_margin : Reason::no_faster_plan);
  plan.predicted_s = sure ? search.best_s() : baseline_s;
  plan.baseline_s = baseline_s;
  plan.gain_low = gain_low;
  return plan;
}

// Whether buffers allow a candidate.
bool fits(const NestRequest& request, const Steps& steps, const NestCandidate& candidate) {
  return Evaluator::buffer_bytes(steps, candidate.schedule, candidate.window) <=
         request.max_buffer_bytes;
}

}  // namespace

NestPlan plan_nest(const NestRequest& request) noexcept {
  NoSink sink;
  return decide(request, sink);
}

NestPlan explain_nest(const NestRequest& request, NestSink& sink) { return decide(request, sink); }

NestPlan force_nest(const NestRequest& request, const NestCandidate& candidate) noexcept {
  NestPlan plan;
  plan.obstacle = access::dependence_of(request.nest);
  if (plan.obstacle) return plan;
  const Evaluator evaluator(request);
  const auto whole = vectorised(request, evaluator);
  if (const auto* failure = std::get_if<access::Failure>(&whole)) {
    plan.obstacle = *failure;
    return plan;
  }
  const Tiles& baseline = std::get<Tiles>(whole);
  NestCandidate allowed = candidate;
  allowed.cut = within(request.nest, candidate.cut);
  allowed.window = std::max<uint32_t>(allowed.window, 1);
  std::optional<Tiles> tiles = tiles_of(request.nest, allowed.cut);
  // Fewer steps under way, then smaller ones, until the buffers fit.
  while (tiles && !fits(request, evaluator.steps(*tiles), allowed)) {
    if (allowed.schedule == Schedule::all_issued) {
      allowed.schedule = Schedule::pipelined;
      allowed.window = static_cast<uint32_t>(std::min(tiles->steps, kMostWindow));
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
  plan = plan_of(request, evaluator, *tiles, allowed.schedule, allowed.window, Reason::forced);
  if (evaluator.moves() && evaluator.known()) {
    Steps uncut = evaluator.steps(baseline);
    Steps steps = evaluator.steps(*tiles);
    plan.baseline_s = evaluator.time(uncut, Schedule::vectorised, 1);
    plan.predicted_s = evaluator.time(steps, allowed.schedule, plan.window);
  }
  return plan;
}

}  // namespace stripline::plan
