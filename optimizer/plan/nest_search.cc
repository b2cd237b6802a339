#include "optimizer/plan/nest_search.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

namespace stripline::plan::detail {
namespace {

// Looks for the fastest candidate.
template <typename Recorder>
class Search {
 public:
  Search(const NestRequest& request, const NestEvaluator& evaluator, Recorder& record,
         FastestNest& fastest)
      : request_(request), evaluator_(evaluator), record_(record), fastest_(fastest) {}

  /// The baseline, the same with tiles of many regions as the model says, and cuts at every loop.
  /// Of a loop, sizes of about as many steps as are expected to be best come first, then smaller
  /// and larger ones: once some in a row were worse than the best, and ever worse, those further on
  /// are, too, but for those that just fill the buffers: between two of them no more steps can be
  /// in flight than with the larger one.
  void run(const Tiles& baseline, const Steps& uncut, double baseline_s) {
    fastest_.tried().tiles = baseline;
    fastest_.tried().steps = uncut;
    if (consider(baseline_with(baseline), baseline_s)) fastest_.keep();
    try_methods(baseline, uncut);
    for (uint32_t loop = outermost_cut(request_.nest); loop < request_.nest.depth; ++loop) {
      try_loop(loop);
    }
  }

 private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();  // not possible
  static constexpr uint64_t kMostSteps = uint64_t{1} << 24;

  // The granules to try, from large to small: equal parts of the loop, and the largest whose tiles
  // are below a protocol switch.
  class Granules {
   public:
    struct One {
      uint64_t iterations = 1;
      bool protocol_begins = false;  // going down
      bool fills_buffers = false;    // which hold a part of the data
    };
    void insert(const One& one) {
      size_t place = count_;
      while (place > 0 && granules_[place - 1].iterations < one.iterations) --place;
      if (place > 0 && granules_[place - 1].iterations == one.iterations) {
        granules_[place - 1].protocol_begins |= one.protocol_begins;
        granules_[place - 1].fills_buffers |= one.fills_buffers;
        return;
      }
      if (count_ == granules_.size()) return;
      for (size_t i = count_++; i > place; --i) granules_[i] = granules_[i - 1];
      granules_[place] = one;
    }
    const One* begin() const { return granules_.data(); }
    const One* end() const { return granules_.data() + count_; }

   private:
    std::array<One, 96> granules_;  // NOLINT(*-member-init): filled up to count_
    size_t count_ = 0;
  };

  // The vectorised nest with tiles as the model says, if some of them then travel otherwise.
  void try_methods(const Tiles& baseline, const Steps& uncut) {
    expected_steps_ = evaluator_.balanced_steps(baseline, uncut);
    if (uncut.choices.size() == 0) return;
    FastestNest::Trial& trial = fastest_.tried();
    trial.tiles = baseline;
    evaluator_.look_up(baseline, true, trial.steps);
    if (move_alike(trial.steps, uncut)) return;
    expected_steps_ = evaluator_.balanced_steps(baseline, trial.steps);
    const NestCandidate candidate{Schedule::vectorised, baseline.cut};
    if (consider(candidate, evaluator_.time(trial.steps, candidate.schedule, candidate.window))) {
      fastest_.keep();
    }
  }

  void try_loop(uint32_t loop) {
    const uint64_t count = request_.nest.counts[loop];
    const double whole_s = std::exchange(one_iteration_s_, kNever);
    const TileGrowth growth(request_.nest, loop);
    Granules granules;
    // Steps of about the same length.
    const auto insert_parts = [&](uint64_t parts) {
      granules.insert({.iterations = (count + parts - 1) / parts});
    };
    if (within_pieces(request_.nest, {loop, 2})) {
      if (iterations(request_.nest, loop) > 1 && std::isinf(whole_s)) insert_parts(1);
      for (const uint64_t parts : {2, 3, 4}) insert_parts(parts);
      for (int log2 = 3; log2 < static_cast<int>(std::bit_width(count - 1)); ++log2) {
        granules.insert({.iterations = ((count - 1) >> log2) + 1});
      }
      granules.insert({.iterations = 1});
      insert_by_bytes(loop, growth, granules);
    } else {
      granules.insert({.iterations = 1});
    }
    const double expected =
        kFirstAbove * static_cast<double>(iterations(request_.nest, loop + 1)) / expected_steps_;
    const auto* const middle = std::find_if(
        granules.begin(), granules.end(),
        [&](const auto& granule) { return static_cast<double>(granule.iterations) <= expected; });
    const double middle_s = try_sizes(loop, growth, middle, granules.end(), true,
                                      middle == granules.begin() ? whole_s : kNever);
    try_sizes(loop, growth, std::reverse_iterator(middle), std::reverse_iterator(granules.begin()),
              false, middle_s);
  }

  // From one size on to ever smaller ones (`descending`), or larger ones. `last_s`: the time of the
  // one before these. Returns the time of the first that is possible.
  template <typename Iterator>
  double try_sizes(uint32_t loop, const TileGrowth& growth, Iterator begin, Iterator end,
                   bool descending, double last_s) {
    double first_s = kNever;
    SizeTrend trend(last_s);
    bool left_protocol = false;  // going up
    for (Iterator granule = begin; granule != end; ++granule) {
      if (descending ? granule->protocol_begins : left_protocol) trend.begin_protocol();
      left_protocol = granule->protocol_begins;
      if (trend.is_hopeless() && !granule->fills_buffers) continue;
      const double before_s = fastest_.predicted_s();
      const double s = try_cut({loop, granule->iterations}, growth);
      if (std::isinf(s)) continue;
      if (std::isinf(first_s)) first_s = s;
      if (granule->iterations == 1) one_iteration_s_ = s;
      trend.add(s, before_s);
    }
    return first_s;
  }

  // The largest below a protocol switch, and those with which a few slots fill the buffers.
  void insert_by_bytes(uint32_t loop, const TileGrowth& growth, Granules& granules) const {
    const Tiles* const one = growth.one();
    if (one == nullptr) return;
    const Nest& nest = request_.nest;
    uint64_t moving = 0;
    uint64_t all_least = 0;
    uint64_t all_more = 0;
    const auto insert = [&](uint64_t bytes, uint64_t least, uint64_t more,
                            typename Granules::One granule) {
      if (bytes < least || more == 0) return;
      granule.iterations = 1 + (bytes - least) / more;
      if (granule.iterations < nest.counts[loop]) granules.insert(granule);
    };
    for (uint32_t g = 0; g < one->groups(); ++g) {
      const Tile& tile = one->tile[g];
      const NestLink& link = evaluator_.link_of(tile);
      const uint64_t more = growth.more_bytes(g);
      if (link.in_reach || tile.hold <= loop || more == 0) continue;
      ++moving;
      all_least += tile.bytes();
      all_more += more;
      if (!growth.contiguous(g)) continue;
      const cost::LinkCosts& costs = reads(tile.mode) ? link.strip->get() : link.strip->put();
      for (const uint64_t next : costs.breakpoints()) {
        insert(next - 1, tile.bytes(), more, {.protocol_begins = true});
      }
    }
    if (request_.max_buffer_bytes == std::numeric_limits<uint64_t>::max()) return;
    const uint64_t each_time =
        saturating_add(all_least, saturating_multiply(nest.counts[loop] - 1, all_more));
    const bool all_fit =
        saturating_multiply(iterations(nest, loop), each_time) <= request_.max_buffer_bytes;
    for (const uint64_t slots : {2, 3, 4, 5, 7, 9}) {
      insert(evaluator_.most_tile_bytes(request_.max_buffer_bytes / slots, moving), all_least,
             all_more, {.fills_buffers = !all_fit});
    }
  }

  // The time of the fastest schedule, or what none can be below.
  double try_cut(const Cut& cut, const TileGrowth& growth) {
    Steps& steps = fastest_.tried().steps;
    if (!growth.tiles(cut.granule, fastest_.tried().tiles)) return kNever;
    const uint64_t count = fastest_.tried().tiles.steps;
    if (count < 2 || count > kMostSteps) return kNever;
    evaluator_.look_up(fastest_.tried().tiles, true, steps);
    const double bound_s = evaluator_.bound(steps);
    if (bound_s >= fastest_.predicted_s()) {
      record_.prune(NestPruned{cut, bound_s});
      return bound_s;
    }
    double fastest_s = kNever;
    bool better = false;
    const auto attempt = [&](Schedule schedule, uint32_t window) {
      const double s = evaluator_.time(steps, schedule, window);
      fastest_s = std::min(fastest_s, s);
      better = consider({schedule, cut, window}, s) || better;
    };
    // Beyond the queue issuing gets blocks, and B with as many in flight computes meanwhile. Else
    // B's gets are not earlier than A's.
    const bool all_fit = (!steps.buffers.gets ||
                          saturating_multiply(count, steps.messages) <= evaluator_.queue_depth()) &&
                         NestEvaluator::buffer_bytes(steps.buffers, Schedule::all_issued, 1) <=
                             request_.max_buffer_bytes;
    if (all_fit) attempt(Schedule::all_issued, 1);
    const bool as_fast = all_fit && steps.buffers.gets && !evaluator_.buffers_matter(steps);
    const uint64_t limit = as_fast ? 0 : evaluator_.largest_window(steps);
    if (limit > 0) attempt(Schedule::pipelined, evaluator_.window_for(steps, limit));
    if (better) fastest_.keep();
    return fastest_s;
  }

  // True if a candidate with the tiles that are tried is the best so far.
  bool consider(const NestCandidate& candidate, double predicted_s) {
    record_.consider(candidate, predicted_s);
    return fastest_.take(candidate, predicted_s);
  }

  const NestRequest& request_;
  const NestEvaluator& evaluator_;
  Recorder& record_;
  FastestNest& fastest_;
  double expected_steps_ = 1;        // of the best cut
  double one_iteration_s_ = kNever;  // of steps of one iteration of the loop that was tried last
};

template <typename Recorder>
FastestNest search(const NestRequest& request, const NestEvaluator& evaluator,
                   const Tiles& baseline, const Steps& uncut, double baseline_s, Recorder& record) {
  FastestNest fastest;
  Search<Recorder>(request, evaluator, record, fastest).run(baseline, uncut, baseline_s);
  return fastest;  // made where the caller wants it: it is not copied
}

}  // namespace

FastestNest search_nest(const NestRequest& request, const NestEvaluator& evaluator,
                        const Tiles& baseline, const Steps& uncut, double baseline_s,
                        NoRecord& record) {
  return search(request, evaluator, baseline, uncut, baseline_s, record);
}

FastestNest search_nest(const NestRequest& request, const NestEvaluator& evaluator,
                        const Tiles& baseline, const Steps& uncut, double baseline_s,
                        NestRecord& record) {
  return search(request, evaluator, baseline, uncut, baseline_s, record);
}

}  // namespace stripline::plan::detail
