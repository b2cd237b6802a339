#include "optimizer/plan/guard.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace stripline::plan {
namespace {

// What a check counts after one more.
constexpr double kMemory = 0.9;
// Until there are enough pairs to say, times are taken to scatter as if two pairs had done so.
constexpr double kPriorDeviation = 0.05;
constexpr double kPriorPairs = 2;
// The way in use is changed for one that is faster by so many standard errors, and by so much.
constexpr double kErrors = 1.5;
constexpr uint32_t kLeastChecks = 2;
constexpr double kLeastGain = 0.005;
// A tie is left for the tuned way only when that is surely faster, after all of the first checks:
// nothing was promised, and who has left by chance does not return soon.
constexpr double kErrorsOfTie = 2.5;
// A pair that is farther from the mean, in standard deviations of pairs, counts as if it were
// there: another process was there meanwhile.
constexpr double kFarthest = 3;
// The first checks, and the loss up to which they follow one another.
constexpr uint32_t kFirstChecks = 4;
constexpr double kFirstLoss = 1;
// Executions between later ones: the fewest and the most, and how many while the other way may be
// the faster one, or as fast.
constexpr uint64_t kLeastDistance = 32;
constexpr uint64_t kMostDistance = 4096;
constexpr uint64_t kUndecidedDistance = 8;

size_t index(Guard::Way way) { return static_cast<size_t>(way); }

}  // namespace

Guard::Turn Guard::next() {
  const uint64_t length = 2 * of_way();
  const uint64_t place = place_++;
  const uint64_t of_check = place % length;
  if (of_check == 0) {
    checking_ = place >= next_check_;
    first_done_ = false;
  }
  Turn turn{in_use_, checking_ && (of_check + 1) % of_way() == 0};
  if (checking_) {
    turn.last = of_check + 1 == length;
    // Parities of ones (Thue and Morse) have each way first equally often at any distance.
    const bool tuned_first = std::popcount(place / length) % 2 == 0;
    turn.way = tuned_first == (of_check < of_way()) ? Way::tuned : Way::baseline;
  }
  ++executions_[index(turn.way)];
  return turn;
}

void Guard::record(Way way, double seconds) {
  if (!checking_) return;
  // Where a site is carried out within itself, the other way's time may not have come in between.
  if (!first_done_ || way == first_way_) {
    first_done_ = true;
    first_way_ = way;
    first_s_ = seconds;
    return;
  }
  checking_ = first_done_ = false;
  if (!(seconds > 0) || !(first_s_ > 0)) return;
  const double tuned_s = way == Way::tuned ? seconds : first_s_;
  const double baseline_s = way == Way::tuned ? first_s_ : seconds;
  const double farthest = kFarthest * deviation();
  ++checks_;
  weight_ = kMemory * weight_ + 1;
  weight_squares_ = kMemory * kMemory * weight_squares_ + 1;
  // The first pairs are what there is.
  const auto near = [&](double mean, double value) {
    return checks_ < kFirstChecks ? value : std::clamp(value, mean - farthest, mean + farthest);
  };
  const double ratio = near(mean_, std::log(baseline_s / tuned_s));
  const double off = ratio - mean_;
  mean_ += off / weight_;
  squares_ = kMemory * squares_ + off * (ratio - mean_);
  const auto average = [&](Way of, double one_s) {
    double& mean = mean_log_s_[index(of)];
    mean += (near(mean, std::log(one_s)) - mean) / weight_;
  };
  average(Way::tuned, tuned_s);
  average(Way::baseline, baseline_s);
  judge();
}

// Pairs that would say as much if all counted alike.
double Guard::pairs() const { return weight_ > 0 ? weight_ * weight_ / weight_squares_ : 0; }

// Standard deviation of pairs.
double Guard::deviation() const {
  const double sum = weight_ > 0 ? squares_ * pairs() / weight_ : 0;
  return std::sqrt((sum + kPriorPairs * kPriorDeviation * kPriorDeviation) /
                   (std::max(pairs() - 1, 0.0) + kPriorPairs));
}

bool Guard::is_sure() const {
  return checks_ >= kLeastChecks && ahead() > kErrors * deviation() / std::sqrt(pairs());
}

void Guard::judge() {
  // How much longer the way in use takes than the other one.
  const double behind = -ahead();
  const double error = deviation() / std::sqrt(pairs());
  const bool tie = of_ == Of::tie && in_use_ == begun_with_;
  const double errors = tie ? kErrorsOfTie : kErrors;
  const uint32_t least_checks = tie ? kFirstChecks : kLeastChecks;
  if (checks_ >= least_checks && behind > kLeastGain && behind > errors * error) {
    in_use_ = other();
    postpone(kLeastDistance);
    return;
  }
  // What an execution in the other way takes longer.
  const double loss = std::max(std::exp(-behind) - 1, 0.0);
  // Checks of others go on meanwhile: the first one that is sure suffices.
  const bool follows = sharers_ > 1 ? behind > -kErrors * error : loss < kFirstLoss;
  if (checks_ < kFirstChecks && follows) return postpone(0);
  if (checks_ >= kFirstChecks && behind > -kErrors * error) {
    return postpone(of_way() * kUndecidedDistance);
  }
  postpone(of_way() *
           std::clamp(static_cast<uint64_t>(loss / kBudget), kLeastDistance, kMostDistance));
}

// The next check is so many executions away, or about that.
void Guard::postpone(uint64_t executions) {
  if (executions == 0) {
    next_check_ = place_;
    return;
  }
  const uint64_t distance = std::bit_ceil(executions * sharers_);
  const uint64_t least = place_ + distance / 2;
  next_check_ = (least + distance - 1) / distance * distance;
}

void Guard::restart(Of of, Way first) {
  const uint64_t place = place_;
  const uint32_t sharers = sharers_;
  *this = Guard(of, first);
  place_ = place;
  sharers_ = sharers;
}

Guard::Balance Guard::balance() const {
  if (checks_ == 0) return {};
  const auto tuned = static_cast<double>(executions_[index(Way::tuned)]);
  const auto baseline = static_cast<double>(executions_[index(Way::baseline)]);
  const double tuned_s = std::exp(mean_log_s_[index(Way::tuned)]);
  const double baseline_s = std::exp(mean_log_s_[index(Way::baseline)]);
  return {tuned * tuned_s + baseline * baseline_s, (tuned + baseline) * baseline_s,
          tuned * tuned_s * deviation() / std::sqrt(pairs())};
}

}  // namespace stripline::plan
