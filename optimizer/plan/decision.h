// The frame of every decision. A planner knows its request, the baseline that is taken without a
// model, its candidates and what they take; what follows from that is here, once: by how much a
// candidate must be faster, what doubts about parameters count, why the plan is what it is, and the
// record of what was considered, which explanations are made of.
//
// No user changes a plan. What is not possible for a user (a method that has no memory, a hop that
// has no room) is a member of the request, so that the planner, the explanation and the program
// have the same plan; the members of plans are const.
//
// There are two kinds of decisions.
//
// * Against a baseline (strips, nests, wavefronts): the fastest candidate is taken if its gain
//   exceeds the margin of the model even at the lower end of its interval. Every source of doubt is
//   put to the ends of its interval by itself; what that costs of the gain are independent losses,
//   which add as squares (weigh()), with what the whole may take longer than its parts. The
//   baseline is what is done without a model, with all that it consists of: where transfers within
//   it have methods of their own, those that are taken without one. Who moves the same by another
//   method is a candidate, and what is not known of either method is a source by itself. A loop has
//   two sizes of messages, and what holds for either is a source by itself; the many sizes of
//   messages of a nest err together. Where candidates are so few that all are tried, choose() does
//   all of it.
// * Among equals (noncontiguous transfers): no margin protects a baseline, as what is slow without
//   a model may be slow by any factor. The one is taken that loses least if the times of the two
//   fastest err, which add as squares likewise (least_regret()). Where it is not sure which is
//   faster, losses against the method that is taken without a model count twice, so that tuned runs
//   hardly ever take longer.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "optimizer/cost/corner.h"

namespace stripline::plan {

/// Why a plan is what it is.
enum class Reason : uint8_t {
  no_model,        ///< nothing is known of the operation: without_model()
  no_faster_plan,  ///< no candidate is predicted to be faster than the baseline
  below_margin,    ///< one is, but not surely by more than the margin
  tuned,           ///< surely faster by more than the margin
  forced,          ///< the caller asked for it
  own_memory,      ///< nothing to move: loads and stores reach the data
  tied,            ///< tie_of_strip(): the site's guard found it to be faster, or compares
  guarded,         ///< the baseline, by the site's guard (guard.h): it is faster, or compared
  measured,        ///< the model says what a campaign found to be the fastest, not what it takes
};
inline constexpr std::array<std::string_view, 9> kReasonNames = {
    "no_model",   "no_faster_plan", "below_margin", "tuned",   "forced",
    "own_memory", "tied",           "guarded",      "measured"};
inline std::string_view to_string(Reason reason) {
  return kReasonNames[static_cast<size_t>(reason)];
}

/// The ranks that decide, and how long that holds.
struct Scope {
  /// Each rank for itself; or one rank for all of them, which change the method in step.
  enum class Decider : uint8_t { rank, group } decider = Decider::rank;
  enum class Until : uint8_t { call, site, inspection, period, job } until = Until::site;
};
/// "each rank, for a call".
std::string_view to_string(Scope::Decider decider);
std::string_view to_string(Scope::Until until);

/// A source of doubt about a prediction that matters for a decision: a parameter; many regions as a
/// whole; whether ranks that share a NIC, and get blocks of different sizes, compute at different
/// times, so that vectorised loops hide each other's transfers; whether a computation takes longer
/// on parts of its data; whether a plan takes what its parts were measured to take.
enum class Source : uint8_t {
  issue,
  latency,
  gap,
  bandwidth,
  retire,
  serve,
  buffers,
  overhead,
  compute,
  regions,
  turns,
  body,
  composition,
};
inline constexpr std::array<std::string_view, 13> kSourceNames = {"o",
                                                                  "L",
                                                                  "g",
                                                                  "G",
                                                                  "r",
                                                                  "s",
                                                                  "buffers",
                                                                  "strip overhead",
                                                                  "computation",
                                                                  "many regions",
                                                                  "turns at the NIC",
                                                                  "computation on parts",
                                                                  "parts put together"};
inline std::string_view to_string(Source source) {
  return kSourceNames[static_cast<size_t>(source)];
}

/// At which ends of their intervals the parameters are taken: all at one corner, or one source only
/// and the others at their nominal values.
struct Ends {
  cost::Corner corner = cost::Corner::nominal;
  std::optional<Source> only;

  cost::Corner of(Source source) const {
    return only && *only != source ? cost::Corner::nominal : corner;
  }
};

/// How far the gain of the best candidate may fall when one source errs within its interval.
struct Sensitivity {
  Source source = Source::issue;
  bool of_baseline = false;  ///< as it holds for the baseline, whose message has other parameters
  double gain_loss = 0;
};

/// What a planner considered, in order. `Candidate` is a method to carry out the request; `Pruned`
/// is what was found to be no faster than the best so far, with a `bound_s` that shows it.
template <typename Candidate, typename Pruned>
struct Record {
  static constexpr bool kRecords = true;
  struct Alternative {
    Candidate candidate;
    double predicted_s = 0;  ///< at the nominal parameters
  };
  std::vector<Alternative> alternatives;
  std::vector<Pruned> pruned;
  /// The candidate whose gain decides; none: none is faster than the baseline.
  std::optional<Alternative> best;
  std::vector<Sensitivity> sensitivities;  ///< of its gain

  void consider(const Candidate& candidate, double predicted_s) {
    alternatives.push_back({candidate, predicted_s});
  }
  void prune(const Pruned& one) { pruned.push_back(one); }
  void take(const Candidate& candidate, double predicted_s) { best = {candidate, predicted_s}; }
  void doubt(const Sensitivity& sensitivity) { sensitivities.push_back(sensitivity); }
};

/// The record of a planner that is only asked for its plan: nothing, at no cost.
struct NoRecord {
  static constexpr bool kRecords = false;
  template <typename Candidate>
  void consider(const Candidate&, double) {}
  template <typename Pruned>
  void prune(const Pruned&) {}
  template <typename Candidate>
  void take(const Candidate&, double) {}
  void doubt(const Sensitivity&) {}
};

/// What came of a candidate against the baseline.
struct Verdict {
  Reason reason = Reason::no_faster_plan;
  double predicted_s = 0;  ///< of what is taken
  double baseline_s = 0;
  double gain_low = 0;  ///< lower end of the interval of the candidate's relative gain
  bool takes_candidate() const { return reason == Reason::tuned; }
};

/// What is gained by taking `after_s` in place of `before_s`, as a part of that.
inline double gain_of(double before_s, double after_s) {
  return before_s > 0 ? 1 - after_s / before_s : 0;
}

/// The lower one of what is gained at either end of an interval: gain(corner).
template <typename Gain>
double lowest_at_ends(const Gain& gain) {
  const double at_low = gain(cost::Corner::low);
  return std::min(at_low, gain(cost::Corner::high));
}

/// The verdict on a request for which no candidate is faster.
inline Verdict keep_baseline(double baseline_s) {
  return {.predicted_s = baseline_s, .baseline_s = baseline_s};
}

/// What a candidate may take longer than its parts were measured to take, which no campaign knows
/// of the parameters: as a share of its predicted time, independently of the baseline's.
struct PartsDoubt {
  double composition = 0;  ///< parts that go together: Source::composition
  double turns = 0;        ///< messages of several ranks, in an order that is not known: turns
};

/// The verdict on a candidate that is predicted to take `best_s`. `each_doubt(visit)` calls
/// visit(source, of_baseline, lowest_gain) for every source of doubt about parameters: the lowest
/// gain, at either end of the source's interval, all others being nominal.
template <typename Recorder, typename EachDoubt>
Verdict weigh(double baseline_s, double best_s, double minimum_gain, const PartsDoubt& parts,
              Recorder& record, const EachDoubt& each_doubt) {
  Verdict verdict = keep_baseline(baseline_s);
  const double gain = gain_of(baseline_s, best_s);
  double squares = 0;
  const auto visit = [&](Source source, bool of_baseline, double lowest_gain) {
    const double loss = std::max(0.0, gain - lowest_gain);
    squares += loss * loss;
    record.doubt({source, of_baseline, loss});
  };
  each_doubt(visit);
  for (const auto& [source, share] :
       {std::pair(Source::composition, parts.composition), std::pair(Source::turns, parts.turns)}) {
    if (share > 0) visit(source, false, 1 - (1 + share) * (1 - gain));
  }
  verdict.gain_low = gain - std::sqrt(squares);
  const bool sure = verdict.gain_low > minimum_gain;
  verdict.reason = sure ? Reason::tuned : Reason::below_margin;
  if (sure) verdict.predicted_s = best_s;
  return verdict;
}

/// What choose() needs of a mechanism, besides what mechanism.h says: static functions, which
/// allocate nothing. `each_candidate` visits all but the baseline, `each_source` what may be
/// otherwise than the model says. A candidate takes infinitely long of which the model does not
/// know what it takes. Where costs are not known the baseline is carried out, or what
/// `without_model(request)` says, if there is one. What is not known of a source holds for all
/// candidates alike, unless `errs_apart(request, costs, a, b, source)`, if there is one, says that
/// two of them err by themselves: they do something by different methods.
template <typename M>
concept Tried = requires(const typename M::Request& request, const typename M::Costs& costs,
                         const typename M::Candidate& candidate, const Ends& ends) {
  { M::knows(&costs) } -> std::same_as<bool>;
  { M::baseline(request) } -> std::same_as<typename M::Candidate>;
  M::each_candidate(request, [](const typename M::Candidate&) {});
  { M::seconds(request, costs, candidate, ends) } -> std::same_as<double>;
  M::each_source(request, [](Source) {});
  { M::margin(request, &costs) } -> std::convertible_to<double>;
  { M::unfold(request, candidate, Verdict{}) } -> std::same_as<typename M::Plan>;
};

/// The plan of a candidate that was not decided on by its time: the caller asked for it, or a guard
/// has it carried out. Its times are 0 where the model does not say what the candidate takes.
template <Tried M>
typename M::Plan plan_of(const typename M::Request& request, const typename M::Costs* costs,
                         const typename M::Candidate& candidate, Reason reason) {
  if (!M::knows(costs)) return M::unfold(request, candidate, {.reason = reason});
  const double predicted_s = M::seconds(request, *costs, candidate, Ends{});
  const bool known = predicted_s < std::numeric_limits<double>::infinity();
  return M::unfold(request, candidate,
                   {.reason = reason,
                    .predicted_s = known ? predicted_s : 0,
                    .baseline_s = M::seconds(request, *costs, M::baseline(request), Ends{})});
}

/// The baseline, as a guard has it carried out in place of another plan.
template <Tried M>
typename M::Plan baseline_of(const typename M::Request& request, const typename M::Costs* costs) {
  return plan_of<M>(request, costs, M::baseline(request), Reason::guarded);
}

/// What is carried out where the model does not know what a request takes: the baseline, but where
/// the program has asked for something else, which its engine then compares with the baseline.
template <Tried M>
typename M::Candidate without_model(const typename M::Request& request) {
  if constexpr (requires { M::without_model(request); }) {
    return M::without_model(request);
  } else {
    return M::baseline(request);
  }
}

/// Calls visit(source, of_baseline, lowest gain of a candidate over the baseline) for a source.
template <Tried M, typename Visit>
void doubt(const typename M::Request& request, const typename M::Costs& costs,
           const typename M::Candidate& baseline, const typename M::Candidate& candidate,
           Source source, const Visit& visit) {
  const auto lowest = [&](bool baseline_errs, bool candidate_errs) {
    return lowest_at_ends([&](cost::Corner corner) {
      const Ends ends{corner, source};
      return gain_of(M::seconds(request, costs, baseline, baseline_errs ? ends : Ends{}),
                     M::seconds(request, costs, candidate, candidate_errs ? ends : Ends{}));
    });
  };
  if constexpr (requires { M::errs_apart(request, costs, baseline, candidate, source); }) {
    if (M::errs_apart(request, costs, baseline, candidate, source)) {
      visit(source, true, lowest(true, false));
      visit(source, false, lowest(false, true));
      return;
    }
  }
  visit(source, false, lowest(true, true));
}

/// The plan for a request: the fastest candidate, or the baseline, if it is not surely faster by
/// more than the margin; the first of those that are equally fast. `costs` may be null.
template <Tried M, typename Recorder>
typename M::Plan choose(const typename M::Request& request, const typename M::Costs* costs,
                        Recorder& record) {
  using Candidate = typename M::Candidate;
  if (!M::knows(costs)) {
    return M::unfold(request, without_model<M>(request), {.reason = Reason::no_model});
  }
  const Candidate baseline = M::baseline(request);
  const double baseline_s = M::seconds(request, *costs, baseline, Ends{});
  record.consider(baseline, baseline_s);
  Candidate best = baseline;
  double best_s = baseline_s;
  M::each_candidate(request, [&](const Candidate& candidate) {
    const double predicted_s = M::seconds(request, *costs, candidate, Ends{});
    if (predicted_s == std::numeric_limits<double>::infinity()) return;
    record.consider(candidate, predicted_s);
    if (predicted_s >= best_s) return;
    best = candidate;
    best_s = predicted_s;
  });
  Verdict verdict = keep_baseline(baseline_s);
  if (best_s < baseline_s) {
    record.take(best, best_s);
    verdict =
        weigh(baseline_s, best_s, M::margin(request, costs), {}, record, [&](const auto& visit) {
          M::each_source(request, [&](Source source) {
            doubt<M>(request, *costs, baseline, best, source, visit);
          });
        });
  }
  return M::unfold(request, verdict.takes_candidate() ? best : baseline, verdict);
}

/// The logarithm of a predicted time, and how far its interval reaches below and above it.
struct LogTime {
  double log_s = 0;
  double below = 0;
  double above = 0;
};

/// The method that is taken where neither of two is a baseline.
struct LeastRegret {
  bool uncertain = false;  ///< the interval of their ratio contains 1
  /// What the faster one and the other one lose at most: logarithms of times' ratios, below 0 where
  /// it is surely faster.
  double faster_loses = 0;
  double other_loses = 0;
};

/// `faster` is predicted to take no longer than `other`. Their errors are independent, so that they
/// add as squares.
inline LeastRegret least_regret(const LogTime& faster, const LogTime& other) {
  // For logarithms, which are neither huge nor tiny, as std::hypot() allows for.
  const auto length = [](double a, double b) { return std::sqrt(a * a + b * b); };
  // ln(faster / other) lies in [difference - down, difference + up].
  const double difference = faster.log_s - other.log_s;
  const double up = length(faster.above, other.below);
  const double down = length(faster.below, other.above);
  // What either loses at most: the faster one exp(difference + up) - 1, the other one
  // exp(down - difference) - 1.
  const double faster_loses = difference + up;
  const double other_loses = down - difference;
  return {faster_loses >= 0, faster_loses, other_loses};
}

}  // namespace stripline::plan
