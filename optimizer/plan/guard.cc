#include "optimizer/plan/guard.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace stripline::plan {
namespace {

// What a check counts after one more.
constexpr double kMemory = 0.9;
// Until there are enough executions to say, times are taken to scatter by this; and until there are
// enough pairs, as executions do.
constexpr double kPriorDeviation = 0.05;
constexpr double kPriorExecutions = 4;
constexpr uint64_t kPriorPlaces = 4;
constexpr double kPriorPairs = 2;
// By how many standard errors, and by what share, another arm has to be faster to take the place of
// the one in use; by more if there is but one pair.
constexpr double kErrors = 2.5;
constexpr double kErrorsAtOnce = 3;
constexpr double kErrorsOfSure = 1.5;
constexpr double kLeastGain = 0.005;
// A pair that is farther from the mean, in standard deviations of pairs, counts as if it were
// there: another process was there meanwhile.
constexpr double kFarthest = 3;
// Executions from one check to the next, at least: of the first ones, while the other method may be
// the faster one, and later.
constexpr uint64_t kFirstDistance = 8;
constexpr uint64_t kUndecidedDistance = 16;
constexpr uint64_t kLeastDistance = 64;
constexpr uint64_t kMostDistance = uint64_t{1} << 40;
// A prediction is missed by more than rounding.
constexpr double kMissed = 1.02;
// More than executions scatter by chance: something has changed.
constexpr double kDegraded = 1.5;

size_t index(Guard::Method method) { return static_cast<size_t>(method); }

}  // namespace

Guard::Forecast Guard::tuned_forecast(double predicted_s, double baseline_s, double gain_low) {
  if (!(predicted_s > 0) || !(baseline_s > 0)) return {};
  const double high_s = std::max(predicted_s, baseline_s * (1 - gain_low));
  return {predicted_s, std::max(0.0, 2 * predicted_s - high_s), high_s};
}

Guard::Forecast Guard::baseline_forecast(double predicted_s, double baseline_s, double gain_low) {
  if (!(predicted_s > 0) || !(baseline_s > 0)) return {};
  const double low_s = std::min(baseline_s, predicted_s / std::max(1 - gain_low, 1e-9));
  return {baseline_s, low_s, 2 * baseline_s - low_s};
}

void Guard::Recent::add(double seconds) {
  times_[next_] = seconds;
  next_ = (next_ + 1) % kTimes;
  count_ = std::min<uint32_t>(count_ + 1, kTimes);
}

// The time that would be at this place if they were in order; there are more than `place`.
double Guard::Recent::in_order(uint32_t place) const {
  std::array<double, kTimes> times = times_;
  const auto wanted = times.begin() + place;
  std::nth_element(times.begin(), wanted, times.begin() + count_);
  return *wanted;
}

double Guard::Recent::typical() const { return count_ > 0 ? in_order((count_ - 1) / 2) : 0; }

double Guard::Recent::least() const {
  return count_ == 0 ? 0 : *std::min_element(times_.begin(), times_.begin() + count_);
}

double Guard::Recent::sum() const {
  return std::accumulate(times_.begin(), times_.begin() + count_, 0.0);
}

double Guard::Recent::scatter() const {
  return count_ > 0 ? in_order(3 * count_ / 4) / in_order(count_ / 4) - 1 : 0;
}

void Guard::expect(const Forecast& tuned, const Forecast& baseline) {
  forecasts_[index(Method::tuned)] = tuned;
  forecasts_[index(Method::baseline)] = baseline;
  if (recent_.count() > 0) look_for_surprise();
}

void Guard::remember(Method method, double seconds) {
  before_s_[index(method)] = seconds;
  if (recent_.count() > 0) look_for_surprise();
}

bool Guard::is_beyond_doubt() const {
  return checks_ == 0 && recent_.count() > 0 &&
         expected_excess_s(recent_.least()) == std::numeric_limits<double>::infinity();
}

// By how much longer an execution by the other method is expected to take than one in use.
double Guard::expected_excess_s(double used_s) const {
  const Forecast& of_used = forecasts_[index(in_use_)];
  const Forecast& of_other = forecasts_[index(other())];
  if (checks_ > 0) {
    // A single time that is far longer than was predicted may be an accident.
    const double measured_s = std::exp(mean_log_s_[index(other())]);
    const bool strange = checks_ == 1 && of_other.known() && of_ != Of::turns &&
                         of_other.high_s > used_s && measured_s > kForeign * of_other.high_s;
    return (strange ? of_other.high_s : measured_s) - used_s;
  }
  if (const double before_s = before_s_[index(other())]; before_s > 0) {
    if (before_s > kBeyondDoubt * used_s) return std::numeric_limits<double>::infinity();
    return before_s - used_s;
  }
  // The method in use may have become slower.
  if (!of_other.known()) {
    const double before_s = reference_s_ > 0 ? std::min(reference_s_, used_s) : used_s;
    return (1 + assumed_) * before_s - used_s;
  }
  if (of_ == Of::turns) {
    const double excess_s = of_other.seconds - of_used.seconds;
    const bool hopeless = of_other.low_s - of_used.high_s > (kBeyondDoubt - 1) * used_s;
    return hopeless ? std::numeric_limits<double>::infinity() : excess_s;
  }
  const bool foreign = of_used.known() && kForeign * used_s < of_used.low_s;
  if (!foreign && of_other.low_s > kBeyondDoubt * used_s) {
    return std::numeric_limits<double>::infinity();
  }
  const double scale = foreign ? used_s / of_used.seconds : 1;
  // What has not been timed may take the longest that is predicted.
  const double other_s = in_use_ == Method::tuned ? of_other.seconds : of_other.high_s;
  return scale * other_s - used_s;
}

// By how much longer a check may take than executions in use, if its own scatter as they do.
double Guard::longest_check_s(double used_s) const {
  const double typical_s = recent_.typical();
  const double excess_s = expected_excess_s(typical_s);
  if (excess_s == std::numeric_limits<double>::infinity()) return excess_s;
  const double scattered_s = excess_s + recent_.scatter() * (typical_s + excess_s);
  return of_check() * std::max(expected_excess_s(used_s), scattered_s);
}

// The plan may be losing: it takes longer than the baseline did, or longer than was predicted, and
// the baseline might take less.
void Guard::look_for_surprise() {
  if (surprised_) return;
  double used_s = recent_.least();
  // Where there is but one, it may have been disturbed. What settles is seldom shorter than others.
  if (recent_.count() == 1 && settled_s_ > 0) used_s = std::min(used_s, settled_s_);
  double other_s = before_s_[index(other())];
  if (!(other_s > 0)) {
    const Forecast& predicted = forecasts_[index(Method::tuned)];
    if (in_use_ != Method::tuned || of_ == Of::turns || !predicted.known()) return;
    if (checks_ == 0 && !distrusted_ && kForeign * used_s < predicted.low_s) {
      return distrust(used_s);
    }
    if (used_s <= kMissed * predicted.high_s) return;
    other_s = forecasts_[index(Method::baseline)].low_s * predicted.high_s / used_s;
  }
  if (used_s <= kMissed * other_s) return;
  const double lost_s = recent_.count() * (used_s - other_s);
  if (lost_s < longest_check_s(used_s)) return;
  surprised_ = urgent_ = true;
}

// The plan is not in use any more. What it took is what is known of it.
void Guard::distrust(double tuned_s) {
  close_account();
  distrusted_ = true;
  before_s_[index(Method::tuned)] = tuned_s;
  in_use_ = Method::baseline;
  settling_ = true;
  settled_s_ = 0;
  recent_.clear();
  reference_s_ = 0;
}

// Most of the latest executions took far longer than executions did before. Where a prediction is
// all that is known of the other method, look_for_surprise() tells.
bool Guard::has_degraded() const {
  if (checks_ == 0 && forecasts_[index(other())].known()) return false;
  return reference_s_ > 0 && recent_.typical() > kDegraded * reference_s_;
}

// What was found before something changed does not hold any more. Something has if the method in
// use is as slow at the check after the first one as at that.
void Guard::forget_if_changed() {
  if (!has_degraded()) {
    degraded_ = false;
  } else if (std::exchange(degraded_, true)) {
    weight_ = weight_squares_ = mean_ = squares_ = 0;
    counted_ = checks_ = 0;
    reference_s_ = 0;
    degraded_ = false;
    close_account();
  }
}

bool Guard::is_due(uint64_t place) const {
  if (demoted_ || recent_.count() == 0 || place < not_before_) return false;
  if (urgent_) return true;
  if (place % kFirstDistance != 0) return false;
  const bool degraded = has_degraded();
  // A moment in which all takes longer is not to make the other method look faster than it is.
  const double used_s = degraded ? recent_.typical() : recent_.least();
  const double check_s = std::max(longest_check_s(used_s), 0.0);
  const double executions = check_s / used_s / kBudget;
  if (!(executions < static_cast<double>(kMostDistance))) return false;
  double losing_s = -expected_excess_s(used_s);
  if (degraded && degraded_) {
    losing_s = std::max(losing_s, used_s - reference_s_);
  } else {
    const bool unsure = checks_ > 0 && !is_sure();
    uint64_t distance = checks_ < kFirstChecks || degraded ? kFirstDistance
                        : unsure                           ? kUndecidedDistance
                                                           : kLeastDistance;
    distance = std::max(distance, static_cast<uint64_t>(std::ceil(executions)));
    if (place % std::bit_ceil(distance * sharers_) != 0) return false;
  }
  const double lost_s = std::max(losing_s, 0.0) * static_cast<double>(place - checked_at_);
  return (excess_s() + check_s) * sharers_ <= kBudget * taken_s_ + lost_s;
}

Guard::Turn Guard::next() {
  const uint64_t place = place_++;
  if (left_ == 0 && is_due(place)) {
    left_ = of_check();
    checked_at_ = place;
    urgent_ = false;
    forget_if_changed();
    // Unless it comes to its end.
    not_before_ = place + kFirstDistance;
  }
  Turn turn{.method = in_use_};
  if (left_ > 0) {
    turn.method = other();
    turn.check = true;
    turn.settles = left_ > 1;
    turn.last = --left_ == 0;
    settling_ = of_ != Of::turns;
  } else {
    turn.settles = settling_;
    settling_ = false;
  }
  return turn;
}

void Guard::give_back(const Turn& turn) {
  --place_;
  if (turn.check) {
    ++left_;
  } else {
    settling_ = turn.settles;
  }
}

void Guard::record(const Turn& turn, double seconds) {
  if (!(seconds > 0)) return;
  taken_s_ += seconds;
  sums_s_[index(turn.method)] += seconds;
  executions_[index(turn.method)] += 1;
  account(turn, seconds);
  if (turn.check && turn.settles) first_s_ = seconds;
  if (turn.settles) {
    // So much slower that it does not matter what the method before has left.
    if (turn.check && left_ > 0 && recent_.count() > 0 && seconds > kHopeless * recent_.typical()) {
      left_ = 0;
      compare(turn.method, seconds);
    }
    return;
  }
  if (turn.method != in_use_) {
    const double first_s = std::exchange(first_s_, 0);
    const bool disturbed = first_s > 0 && seconds > kHopeless * first_s;
    if (turn.check && recent_.count() > 0) compare(turn.method, disturbed ? first_s : seconds);
    return;
  }
  // With enough executions recorded, every kPriorPlaces-th one is a sufficient sample.
  if (recent_.count() > 0 && (own_count_ < kPriorExecutions || place_ % kPriorPlaces == 0)) {
    const double off = std::clamp(std::log(seconds / recent_.typical()),
                                  -kFarthest * kPriorDeviation, kFarthest * kPriorDeviation);
    own_squares_ = kMemory * own_squares_ + off * off;
    own_count_ = kMemory * own_count_ + 1;
  }
  recent_.add(seconds);
  if (reference_s_ == 0 && recent_.is_full()) reference_s_ = recent_.typical();
  look_for_surprise();
}

// The execution that follows a check pays for the change back.
void Guard::account(const Turn& turn, double seconds) {
  const bool settles = turn.settles && !turn.check;
  if (settles) settled_s_ = seconds;
  if (turn.check && !after_check_) {
    settle_account();
    beside_ = {recent_.sum(), static_cast<double>(recent_.count())};
  }
  if (turn.check || (settles && after_check_)) {
    of_check_.add(seconds);
  } else if (!settles && turn.method == in_use_ && of_check_.executions > 0) {
    beside_.add(seconds);
    if (beside_.executions >= 2 * Recent::kTimes) settle_account();
  }
  after_check_ = turn.check;
}

// What the latest check took longer, by the executions beside it so far; negative: it took less.
double Guard::latest_excess_s() const {
  if (beside_.executions == 0) return 0;
  return of_check_.seconds - of_check_.executions * beside_.seconds / beside_.executions;
}

double Guard::excess_s() const { return std::max(0.0, excess_s_ + latest_excess_s()); }

void Guard::settle_account() {
  excess_s_ += latest_excess_s();
  of_check_ = beside_ = {};
}

// That of the method in use. What a check has saved that found a faster one is not for others to
// spend.
void Guard::close_account() {
  settle_account();
  excess_s_ = std::max(0.0, excess_s_);
  after_check_ = false;
}

void Guard::compare(Method method, double seconds) {
  const double used_s = recent_.typical();
  const double tuned_s = method == Method::tuned ? seconds : used_s;
  const double baseline_s = method == Method::tuned ? used_s : seconds;
  if (suspended_) {
    // What it lost by may have been an accident, which is not to count.
    weight_ = weight_squares_ = mean_ = squares_ = 0;
    counted_ = 0;
  }
  ++checks_;
  if (!degraded_) reference_s_ = used_s;
  average(std::log(baseline_s / tuned_s));
  // By the method in use, which has been timed more often.
  const double log_s = std::log(used_s);
  mean_log_s_[index(in_use_)] = log_s;
  mean_log_s_[index(other())] = log_s + ahead();
  judge();
}

// The first pairs are summed up by their median, because a disturbance can only make an execution
// longer; of an even number of pairs the middle one in which the other method is faster is taken.
// Later pairs are averaged.
void Guard::average(double ratio) {
  const double farthest = kFarthest * deviation();
  weight_ = kMemory * weight_ + 1;
  weight_squares_ = kMemory * kMemory * weight_squares_ + 1;
  if (counted_ == kFirstChecks) {
    const double off = std::clamp(ratio - mean_, -farthest, farthest);
    mean_ += off / weight_;
    squares_ = kMemory * squares_ + off * off * (1 - 1 / weight_);
    return;
  }
  first_[counted_++] = ratio;
  std::array<double, kFirstChecks> sorted;
  sorted.fill(std::numeric_limits<double>::infinity());
  std::copy_n(first_.begin(), counted_, sorted.begin());
  std::sort(sorted.begin(), sorted.end());
  mean_ = sorted[(in_use_ == Method::tuned ? counted_ - 1 : counted_) / 2];
  squares_ = 0;
  for (uint32_t i = 0; i < counted_; ++i) {
    const double off = std::clamp(first_[i] - mean_, -farthest, farthest);
    squares_ += off * off;
  }
}

// Pairs that would say as much if all counted alike.
double Guard::pairs() const { return weight_ > 0 ? weight_ * weight_ / weight_squares_ : 0; }

// Standard deviation of pairs.
double Guard::deviation() const {
  const double prior = (own_squares_ + kPriorExecutions * kPriorDeviation * kPriorDeviation) /
                       (own_count_ + kPriorExecutions);
  const double sum = weight_ > 0 ? squares_ * pairs() / weight_ : 0;
  return std::sqrt((sum + kPriorPairs * prior) / (std::max(pairs() - 1, 0.0) + kPriorPairs));
}

bool Guard::is_sure() const {
  return checks_ > 0 &&
         ahead() > (checks_ > 1 ? kErrorsOfSure : kErrorsAtOnce) * deviation() / std::sqrt(pairs());
}

void Guard::judge() {
  // How much longer the method in use takes than the other one.
  const double behind = -ahead();
  if (suspended_) {
    suspended_ = false;
    demoted_ = behind <= 0;
  }
  // Confirmed by what it took before it was left.
  if (distrusted_ && in_use_ == Method::baseline && is_sure() &&
      before_s_[index(Method::tuned)] > recent_.typical()) {
    demoted_ = true;
  }
  // A tie is left after all of the first checks: nothing was promised.
  const bool tie = of_ == Of::tie && in_use_ == begun_with_;
  if (checks_ < (tie ? kFirstChecks : 1U) || behind <= kLeastGain) return;
  if (checks_ > 1) {
    if (behind <= kErrors * deviation() / std::sqrt(pairs())) return;
  } else {
    // By the least of the latest times: a moment in which all takes longer is no loss.
    const double other_s = std::exp(mean_log_s_[index(other())]);
    if (std::log(recent_.least() / other_s) <= kErrorsAtOnce * deviation()) return;
  }
  const bool confirmed = checks_ > 1 || recent_.count() > 1;
  if (of_ != Of::turns && in_use_ == Method::tuned) {
    demoted_ = confirmed;
    suspended_ = !confirmed;
  }
  close_account();
  in_use_ = other();
  // What is in use now has been carried out already, and goes on.
  settling_ = false;
  settled_s_ = 0;
  recent_.clear();
  recent_.add(std::exp(mean_log_s_[index(in_use_)]));
  reference_s_ = 0;
  degraded_ = false;  // that was the other one
}

void Guard::demote() {
  close_account();
  if (in_use_ == Method::tuned) {
    recent_.clear();
    reference_s_ = 0;
  }
  in_use_ = Method::baseline;
  demoted_ = true;
  left_ = 0;
}

void Guard::restart(Of of, Method first, bool same) {
  Guard fresh(of, first);
  if (same) {
    fresh.recent_ = recent_;
    fresh.reference_s_ = reference_s_;
    fresh.settled_s_ = settled_s_;
    fresh.surprised_ = surprised_ && checks_ > 0;
  } else {
    close_account();
  }
  fresh.place_ = place_;
  fresh.sharers_ = sharers_;
  fresh.taken_s_ = taken_s_;
  fresh.checked_at_ = checked_at_;
  fresh.excess_s_ = excess_s_;
  fresh.of_check_ = of_check_;
  fresh.beside_ = beside_;
  fresh.after_check_ = after_check_;
  fresh.assumed_ = assumed_;
  fresh.settling_ = settling_;
  *this = fresh;
}

Guard::Balance Guard::balance() const {
  if (checks_ == 0) return {};
  const double actual_s = sums_s_[0] + sums_s_[1];
  const double executions = executions_[0] + executions_[1];
  // From the method that was carried out more often, and the ratio that checks have found.
  const Method most = executions_[index(Method::tuned)] > executions_[index(Method::baseline)]
                          ? Method::tuned
                          : Method::baseline;
  const double most_s = sums_s_[index(most)] / executions_[index(most)];
  const double baseline_s = most == Method::tuned ? most_s * std::exp(mean_) : most_s;
  return {actual_s, executions * baseline_s,
          sums_s_[index(Method::tuned)] * deviation() / std::sqrt(pairs())};
}

}  // namespace stripline::plan
