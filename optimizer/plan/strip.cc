#include "optimizer/plan/strip.h"

#include <algorithm>
#include <utility>

#include "optimizer/plan/perturbed.h"
#include "optimizer/plan/strip_evaluator.h"
#include "optimizer/plan/strip_shape.h"
#include "optimizer/plan/strip_sizes.h"

namespace stripline::plan {
namespace {

using namespace detail;

bool knows(const StripCosts* costs, Direction direction) {
  return costs != nullptr && (direction == Direction::get ? costs->has_get() : costs->has_put());
}

uint64_t buffer_bytes(const StripRequest& request, const StripShape& shape,
                      const StripCandidate& candidate) {
  if (request.placed) return shape.whole;
  if (candidate.schedule == Schedule::all_issued) return shape.whole;
  const uint64_t slots = strip_slots(request.direction, candidate.schedule, candidate.window,
                                     shape.strips(candidate.strip_bytes));
  return saturating_multiply(slots,
                             shape.slot(std::min(candidate.strip_bytes, shape.largest_block)));
}

// Bytes of the strips of a candidate. Where those hold a block of the mean size, larger ones stay
// whole, too, as far as the buffers allow.
uint64_t strip_of(const StripRequest& request, const StripShape& shape,
                  const StripCandidate& candidate) {
  if (candidate.strip_bytes < shape.block || shape.largest_block == shape.block) {
    return std::min(candidate.strip_bytes, shape.block);
  }
  const StripCandidate whole{candidate.schedule, shape.largest_block, candidate.window};
  const bool fits =
      request.placed || buffer_bytes(request, shape, whole) <= request.max_buffer_bytes;
  return fits ? shape.largest_block : shape.block;
}

StripPlan plan_of(const StripRequest& request, const StripShape& shape,
                  const StripCandidate& candidate, const Verdict& verdict) {
  const uint64_t count = shape.strips(candidate.strip_bytes);
  const bool all = candidate.schedule == Schedule::all_issued;
  const uint32_t burst = all                                         ? static_cast<uint32_t>(count)
                         : candidate.schedule == Schedule::pipelined ? candidate.window
                                                                     : 1;
  return {.schedule = candidate.schedule,
          .reason = verdict.reason,
          .burst = burst,
          .sync_burst = all && request.direction == Direction::put ? burst : 1,
          .strip_bytes = strip_of(request, shape, candidate),
          .count = count,
          .predicted_s = verdict.predicted_s,
          .baseline_s = verdict.baseline_s,
          .gain_low = verdict.gain_low};
}

// As strip_compute_s() says, of a request whose largest piece is known.
double compute_s_of(const StripRequest& request, uint64_t piece, const StripCosts& costs,
                    Corner corner) {
  if (request.compute_s >= 0) return request.compute_s;
  const auto bytes = static_cast<double>(request.total_bytes);
  const double elements = bytes / static_cast<double>(std::max<uint64_t>(request.element_bytes, 1));
  const cost::LoopShape shape{request.sweeps, request.total_bytes, request.local_bytes};
  const cost::ComputeCosts& compute = costs.compute();
  if (!costs.has_buffers() || request.direction == Direction::put) {
    return estimate_factor(corner) * elements *
           compute.seconds_per_element(request.loop, shape, corner);
  }
  // The estimate takes what was received for out of cache; what it really costs was measured.
  return estimate_factor(corner) * elements *
             compute.seconds_beside_first_read(request.loop, shape, corner) +
         bytes * costs.first_read(piece, corner);
}

// True if vectorised loops of ranks that share a NIC may hide each other's transfers.
bool takes_turns(const StripRequest& request) {
  return request.surroundings.nic_ranks > 1 && finds_others(request);
}

// Calls visit(source, of_baseline, lowest gain of `best` over `before`) for every source of doubt.
template <typename Visit>
void each_doubt(Evaluator& evaluator, const StripRequest& request, const StripCosts& costs,
                VectorisedTerms before, const StripCandidate& best, double compute_s,
                double nominal_gain, const Visit& visit) {
  CandidateTerms after = evaluator.terms(best, Corner::nominal, compute_s);
  const uint64_t buffer_bytes = evaluator.buffer_bytes(best);
  const auto gain = [&] { return gain_of(before.time(), evaluator.time(best, after)); };
  const auto gain_with_messages = [&] {
    evaluator.set_messages(before, Corner::nominal);
    evaluator.set_messages(after, Corner::nominal);
    return gain();
  };
  const auto gain_with_work = [&](double with_compute_s) {
    evaluator.set_work(before, Corner::nominal, with_compute_s);
    evaluator.set_work(after, buffer_bytes, Corner::nominal, with_compute_s);
    return gain();
  };
  if (takes_turns(request)) {
    visit(Source::turns, false,
          1 - evaluator.time(best, after) / evaluator.vectorised_in_turns(before));
  }

  const StripShape& shape = evaluator.shape();
  const uint64_t sizes[] = {best.strip_bytes, before.piece + shape.halo};
  const bool one_segment = &evaluator.link().at(sizes[0]) == &evaluator.link().at(sizes[1]);
  for (size_t which = 0; which < (one_segment ? 1U : 2U); ++which) {
    const MessageCosts& nominal = evaluator.link().at(sizes[which]);
    const MessageCosts& low = evaluator.link().at(sizes[which], Corner::low);
    const MessageCosts& high = evaluator.link().at(sizes[which], Corner::high);
    const auto lower = [&](Source source) {
      double lowest = nominal_gain;
      // Dearer strips lose, a cheaper whole message loses; where both are in one segment, issue,
      // gap and retirement are paid more often by strips; latency and bandwidth can favour either.
      const bool try_high = which == 0;
      const bool try_low =
          which == 1 || (one_segment && (source == Source::latency || source == Source::bandwidth));
      if (try_high) {
        evaluator.replace(nominal, perturbed(nominal, high, source));
        lowest = std::min(lowest, gain_with_messages());
      }
      if (try_low) {
        evaluator.replace(nominal, perturbed(nominal, low, source));
        lowest = std::min(lowest, gain_with_messages());
      }
      visit(source, which == 1, lowest);
    };
    for (const Source source : kMessageSources) lower(source);
    if (request.surroundings.target_polls_only && (high.s_base > 0 || high.s_per_byte > 0)) {
      lower(Source::serve);
    }
  }
  evaluator.restore();
  evaluator.set_messages(before, Corner::nominal);
  evaluator.set_messages(after, Corner::nominal);
  if (evaluator.buffers_matter()) {
    // The costs of small and of large buffers come from the same runs, and err together.
    visit(Source::buffers, false, lowest_at_ends([&](Corner corner) {
            evaluator.set_buffers(corner);
            return gain_with_work(compute_s);
          }));
    evaluator.set_buffers(Corner::nominal);
  }
  evaluator.set_overhead(Corner::high);
  visit(Source::overhead, false, gain_with_work(compute_s));
  evaluator.set_overhead(Corner::nominal);
  after = evaluator.terms(best, Corner::nominal, (1 + kBodyDoubt) * compute_s);
  evaluator.set_work(before, Corner::nominal, compute_s);
  visit(Source::body, false, gain());
  if (request.compute_s < 0) {
    visit(Source::compute, false, lowest_at_ends([&](Corner corner) {
            return gain_with_work(compute_s_of(request, shape.piece, costs, corner));
          }));
  }
}

// Looks for the fastest candidate.
template <typename Recorder>
class Search {
 public:
  Search(const StripRequest& request, const Evaluator& evaluator, double compute_s, double margin,
         Recorder& record)
      : request_(request),
        evaluator_(evaluator),
        compute_s_(compute_s),
        record_(record),
        shape_(evaluator.shape()),
        buffers_matter_(evaluator.buffers_matter()),
        crowding_(finds_others(request) ? margin : 0),
        out_of_step_(goes_in_step(request) ? kOutOfStep * margin : 0) {}

  void consider(const StripCandidate& candidate, double predicted_s) {
    record_.consider(candidate, predicted_s);
    const double s = counted_s(candidate, predicted_s);
    if (s < least_s_) {
      least_s_ = s;
      best_s_ = predicted_s;
      best_ = candidate;
    }
  }

  /// All strip sizes, with the windows that each may want. Begins where the best are expected, so
  /// that what is found there rules out the others at once.
  void run() {
    Sizes sizes(request_, shape_, evaluator_.link().breakpoints());
    const double expected = kFirstAbove * evaluator_.balanced_strip();
    std::array<uint64_t, Sizes::kMost> larger;  // NOLINT: filled up to count
    size_t count = 0;
    uint64_t first = sizes.next();
    while (first > 0 && static_cast<double>(first) > expected) {
      larger[count++] = first;
      first = sizes.next();
    }
    const auto smaller = [&] { return std::exchange(first, first > 0 ? sizes.next() : 0); };
    run(smaller, evaluator_.link().at(shape_.halo), true);
    run([&] { return count > 0 ? larger[--count] : 0; },
        evaluator_.link().at(shape_.block + shape_.halo), false);
  }

  const StripCandidate& best() const { return best_; }
  double best_s() const { return best_s_; }

  /// What is predicted, with what has to be gained by more that is in flight.
  double counted_s(const StripCandidate& candidate, double predicted_s) const {
    return predicted_s * (1 + disturbance(candidate));
  }
  /// The time of the best candidate.
  double least_s() const { return least_s_; }

 private:
  // What is predicted of loops out of step errs by this many margins of decisions.
  static constexpr double kOutOfStep = 2;

  // Tries the sizes that `next` gives until it gives 0. None of them is sent by a protocol beyond
  // `outermost`.
  template <typename Next>
  void run(Next next, const MessageCosts& outermost, bool descending) {
    SizeTrend trend(0);
    const MessageCosts* last_protocol = nullptr;
    for (uint64_t strip = next(); strip > 0; strip = next()) {
      const MessageCosts* const protocol = &evaluator_.link().at(strip + shape_.halo);
      if (protocol != last_protocol) trend.begin_protocol();
      last_protocol = protocol;
      if (trend.is_hopeless()) {
        if (protocol == &outermost) return;
        continue;
      }
      const double least_before_s = least_s_;
      const bool worse = trend.add(try_size(strip), least_before_s);
      if (worse && descending && buffers_matter_ && evaluator_.smaller_is_cheaper(strip)) {
        trend.pardon();
      }
    }
  }

  // Considers what may win of a size. Returns what no schedule of the size can be below.
  double try_size(uint64_t strip) {
    // Without a halo both schedules send the same messages; with one, A sends less. The smallest
    // buffer that a schedule may have is that of B with one strip ahead.
    CandidateTerms t = evaluator_.terms(strip, false, evaluator_.pipelined_buffer(strip, 1),
                                        Corner::nominal, compute_s_);
    const double bound_s = evaluator_.bound(t);
    if (bound_s >= least_s_) {
      record_.prune(StripPruned{strip, bound_s});
      return bound_s;
    }
    const auto count = static_cast<uint64_t>(t.strips);
    // Beyond the queue depth issuing gets blocks, and B with as many in flight computes meanwhile.
    if (evaluator_.fits_whole() && count <= evaluator_.queue_depth()) {
      set_buffer(t, evaluator_.all_issued_buffer());
      consider({Schedule::all_issued, strip, 1}, evaluator_.all_issued(t));
    }
    const uint32_t limit = count < 2 ? 0 : evaluator_.largest_window(strip, count);
    if (limit == 0) return bound_s;
    if (shape_.halo > 0) {
      t = evaluator_.terms(strip, true, evaluator_.pipelined_buffer(strip, 1), Corner::nominal,
                           compute_s_);
    } else {
      set_buffer(t, evaluator_.pipelined_buffer(strip, 1));
    }
    uint32_t window = std::min(evaluator_.window_for(t), limit);
    if (request_.peers > 1 && request_.direction == Direction::get) {
      const uint32_t of_one_peer = evaluator_.strips_per_peer(count);
      if (of_one_peer < window) try_window(t, of_one_peer);
    }
    try_window(t, window);
    // Smaller windows need smaller buffers, which may stay in a cache: halve while that saves work.
    while (buffers_matter_ && window > 1) {
      const double wider_s = t.work;
      window = (window + 1) / 2;
      set_buffer(t, evaluator_.pipelined_buffer(strip, window));
      if (!(t.work < wider_s)) break;
      consider({Schedule::pipelined, strip, window}, evaluator_.pipelined(t, window));
    }
    return bound_s;
  }

  double disturbance(const StripCandidate& candidate) const {
    if (crowding_ > 0) return crowding_ * in_flight(candidate);
    return out_of_step_ > 0 && leaves_step(candidate) ? out_of_step_ : 0;
  }

  // True if strips of more than one peer are in flight.
  bool leaves_step(const StripCandidate& candidate) const {
    if (candidate.schedule == Schedule::vectorised) return false;
    const uint64_t count = shape_.strips(candidate.strip_bytes);
    const uint64_t strips = candidate.schedule == Schedule::all_issued ? count : candidate.window;
    return strips > evaluator_.strips_per_peer(count);
  }

  // The part of the data that is in flight at a time.
  double in_flight(const StripCandidate& candidate) const {
    if (candidate.schedule == Schedule::all_issued) return 1;
    const auto bytes = static_cast<double>(candidate.strip_bytes) * candidate.window;
    return std::min(1.0, bytes / static_cast<double>(request_.total_bytes));
  }

  void try_window(CandidateTerms& t, uint32_t window) {
    set_buffer(t, evaluator_.pipelined_buffer(t.strip, window));
    consider({Schedule::pipelined, t.strip, window}, evaluator_.pipelined(t, window));
  }
  void set_buffer(CandidateTerms& t, uint64_t buffer_bytes) const {
    if (buffers_matter_) evaluator_.set_work(t, buffer_bytes, Corner::nominal, compute_s_);
  }

  const StripRequest& request_;
  const Evaluator& evaluator_;
  const double compute_s_;
  Recorder& record_;
  const StripShape& shape_;
  const bool buffers_matter_;
  // Uneven gets from several ranks disturb those of other ranks, which choose for themselves. Who
  // has everything in flight has to gain the margin of all decisions over who has next to nothing;
  // so ranks whose loops differ a little do not choose plans that differ much.
  const double crowding_;
  // Ranks whose loops are alike go in step, one at a peer at a time. With strips of a second peer
  // in flight they find each other there, strip after strip, and not only at first (set_lag()).
  const double out_of_step_;
  StripCandidate best_;
  double best_s_ = std::numeric_limits<double>::infinity();
  double least_s_ = std::numeric_limits<double>::infinity();  // with what crowding adds
};

template <typename Recorder>
StripPlan evaluate(const StripRequest& request, const StripCosts* costs, Recorder& record) {
  const auto baseline = [](const StripShape& shape) -> StripCandidate {
    return {Schedule::vectorised, shape.piece, 1};
  };
  if (!knows(costs, request.direction) || request.total_bytes == 0) {
    const StripShape shape(request);
    return plan_of(request, shape, baseline(shape), {.reason = Reason::no_model});
  }
  Evaluator evaluator(request, *costs);
  const StripShape& shape = evaluator.shape();
  const double compute_s = compute_s_of(request, shape.piece, *costs, Corner::nominal);
  const VectorisedTerms uncut = evaluator.vectorised(shape.piece, Corner::nominal, compute_s);
  const double baseline_s = uncut.time();
  Search<Recorder> search(request, evaluator, compute_s, costs->minimum_gain(), record);
  search.consider(baseline(shape), baseline_s);
  search.run();
  const StripCandidate& best = search.best();
  const double best_s = search.best_s();

  Verdict verdict = keep_baseline(baseline_s);
  if (best.schedule != Schedule::vectorised) {
    record.take(best, best_s);
    const bool among_others = request.peers > 1 && !takes_turns(request);
    const PartsDoubt parts{costs->composition(), among_others ? costs->others() : 0};
    verdict =
        weigh(baseline_s, best_s, costs->minimum_gain(), parts, record, [&](const auto& visit) {
          each_doubt(evaluator, request, *costs, uncut, best, compute_s, 1 - best_s / baseline_s,
                     visit);
        });
  }
  return plan_of(request, shape, verdict.takes_candidate() ? best : baseline(shape), verdict);
}

// Among the candidates that are nearly as fast as the best of a search: the one that errors of
// parameters make least slow.
class Surest : public NoRecord {
 public:
  Surest(const Evaluator& evaluator, double compute_s, const Search<NoRecord>& search,
         double margin)
      : evaluator_(evaluator),
        compute_s_(compute_s),
        search_(search),
        most_s_(search.least_s() * (1 + margin)) {}

  void consider(const StripCandidate& candidate, double predicted_s) {
    if (search_.counted_s(candidate, predicted_s) > most_s_) return;
    const double high_s = evaluator_.predict(candidate, Corner::high, compute_s_);
    if (high_s >= least_high_s_) return;
    least_high_s_ = high_s;
    surest_ = candidate;
    surest_s_ = predicted_s;
  }
  const StripCandidate& surest() const { return surest_; }
  double surest_s() const { return surest_s_; }

 private:
  const Evaluator& evaluator_;
  const double compute_s_;
  const Search<NoRecord>& search_;
  const double most_s_;
  double least_high_s_ = std::numeric_limits<double>::infinity();
  StripCandidate surest_;
  double surest_s_ = 0;
};

std::optional<StripPlan> find_tie(const StripRequest& request, const StripCosts& costs) {
  if (finds_others(request)) return std::nullopt;
  const Evaluator evaluator(request, costs);
  const StripShape& shape = evaluator.shape();
  const double compute_s = compute_s_of(request, shape.piece, costs, Corner::nominal);
  const double margin = costs.minimum_gain();
  NoRecord record;
  Search<NoRecord> search(request, evaluator, compute_s, margin, record);
  search.run();
  if (search.best().schedule == Schedule::vectorised) return std::nullopt;
  const double baseline_s =
      evaluator.predict({Schedule::vectorised, shape.piece, 1}, Corner::nominal, compute_s);
  if (search.best_s() > baseline_s * (1 + margin)) return std::nullopt;
  Surest near(evaluator, compute_s, search, margin);
  Search<Surest>(request, evaluator, compute_s, margin, near).run();
  return plan_of(
      request, shape, near.surest(),
      {.reason = Reason::tied, .predicted_s = near.surest_s(), .baseline_s = baseline_s});
}

}  // namespace

std::optional<StripPlan> tie_of_strip(const StripRequest& request,
                                      const StripCosts* costs) noexcept {
  if (!knows(costs, request.direction) || request.total_bytes == 0) return std::nullopt;
  return find_tie(request, *costs);
}

StripPlan plan_strip(const StripRequest& request, const StripCosts* costs) noexcept {
  NoRecord record;
  return evaluate(request, costs, record);
}

StripPlan plan_strip(const StripRequest& request, const StripCosts* costs, StripRecord& record) {
  return evaluate(request, costs, record);
}

StripPlan force_strip(const StripRequest& request, const StripCosts* costs,
                      const StripCandidate& candidate, Reason reason) noexcept {
  StripCandidate allowed = candidate;
  const StripShape shape(request);
  const uint64_t piece = shape.piece;
  const bool whole = shape.whole <= request.max_buffer_bytes;
  if (allowed.schedule == Schedule::vectorised) {
    allowed.strip_bytes = std::min(allowed.strip_bytes == 0 ? piece : allowed.strip_bytes, piece);
  }
  if (allowed.schedule == Schedule::all_issued && !whole) allowed.schedule = Schedule::pipelined;
  const SizeUnit unit(granule_bytes(request));
  allowed.strip_bytes = std::min(unit.up(std::max<uint64_t>(allowed.strip_bytes, 1)), piece);
  if (allowed.schedule == Schedule::pipelined) {
    allowed.window = std::max<uint32_t>(allowed.window, 1);
    // Fewer operations in flight, then smaller strips, until the buffers fit.
    while (buffer_bytes(request, shape, allowed) > request.max_buffer_bytes) {
      if (allowed.window > 1) {
        --allowed.window;
      } else if (allowed.strip_bytes > unit.bytes()) {
        allowed.strip_bytes = unit.up(allowed.strip_bytes / 2);
      } else {
        allowed.schedule = Schedule::vectorised;
        break;
      }
    }
    const uint64_t count = shape.strips(allowed.strip_bytes);
    if (allowed.schedule == Schedule::pipelined && count > 1) {
      allowed.window = static_cast<uint32_t>(std::min<uint64_t>(allowed.window, count - 1));
    }
    if (count == 1) allowed.window = 1;
  }
  Verdict verdict{.reason = reason};
  if (knows(costs, request.direction) && request.total_bytes > 0) {
    const Evaluator evaluator(request, *costs);
    const double compute_s = compute_s_of(request, piece, *costs, Corner::nominal);
    verdict.predicted_s = evaluator.predict(allowed, Corner::nominal, compute_s);
    verdict.baseline_s = evaluator.vectorised(piece, Corner::nominal, compute_s).time();
  }
  return plan_of(request, shape, allowed, verdict);
}

double predict_strip(const StripRequest& request, const StripCosts& costs,
                     const StripCandidate& candidate, Corner corner) noexcept {
  if (request.total_bytes == 0) return 0;
  const Evaluator evaluator(request, costs);
  return evaluator.predict(candidate, corner,
                           compute_s_of(request, evaluator.shape().piece, costs, corner));
}

double strip_compute_s(const StripRequest& request, const StripCosts& costs,
                       Corner corner) noexcept {
  return compute_s_of(request, StripShape(request).piece, costs, corner);
}

double uncut_compute_s(const StripRequest& request, const StripCosts& costs, const StripPlan& plan,
                       double measured_s) noexcept {
  if (request.direction == Direction::put) return measured_s;
  const Evaluator evaluator(request, costs);
  const StripCandidate candidate{plan.schedule, plan.strip_bytes, plan.burst};
  const StripShape& shape = evaluator.shape();
  const uint64_t buffers = plan.schedule == Schedule::vectorised
                               ? plan.strip_bytes + shape.halo
                               : buffer_bytes(request, shape, candidate);
  return evaluator.uncut(plan.strip_bytes, buffers, measured_s);
}

uint64_t strip_buffer_bytes(const StripRequest& request, const StripCandidate& candidate) noexcept {
  return buffer_bytes(request, StripShape(request), candidate);
}

}  // namespace stripline::plan
