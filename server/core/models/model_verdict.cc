#include "server/core/models/model_verdict.h"

#include <cmath>
#include <vector>

#include "base/formatted.h"
#include "base/quantity.h"

namespace stripline::server {
namespace {

constexpr std::size_t kFewestOfKind = 3;
// Times are medians over runs, and few bursts of gets are drawn.
constexpr std::size_t kFewestTimesOfKind = 2;

double share_of(std::size_t some, std::size_t all) {
  return all == 0 ? 0 : static_cast<double>(some) / static_cast<double>(all);
}

// What a share is at least that was seen as `some` of `all` (Wilson, Probable inference, the law of
// succession, and statistical inference, 1927; one-sided at 97.5 %).
double least_share(std::size_t some, std::size_t all) {
  if (all == 0) return 0;
  constexpr double kErrors = 1.96;
  const auto n = static_cast<double>(all);
  const double share = static_cast<double>(some) / n;
  const double more = kErrors * kErrors / n;
  const double spread = std::sqrt(more * (share * (1 - share) + more / 4));
  return (share + more / 2 - spread) / (1 + more);
}

std::string bound(double most) { return " (at most " + share_text(most) + " is allowed)"; }

// Not a number is no small error either.
bool exceeds(double value, double most) { return !(value <= most); }

// The kind of times that is predicted worst, of those that exceed their bound; null: none does.
const fit::TimesJudgement* worst_times(const fit::Judgement& j) {
  const fit::TimesJudgement* worst = nullptr;
  for (const fit::TimesJudgement& kind : j.times) {
    if (kind.points < kFewestTimesOfKind ||
        !exceeds(kind.mean_error, most_error_of_kind(kind.points))) {
      continue;
    }
    if (worst == nullptr || exceeds(kind.mean_error, worst->mean_error)) worst = &kind;
  }
  return worst;
}

// The gravest first.
std::vector<std::string> failures(const fit::Judgement& j) {
  std::vector<std::string> found;
  if (j.compared > 0 && exceeds(j.over_untuned_low, kMaxOverUntuned)) {
    found.push_back("its decisions take " + share_text(j.over_untuned) +
                    " longer than without a model, surely more than " +
                    share_text(j.over_untuned_low) + bound(kMaxOverUntuned));
  }
  if (j.points > 0 && exceeds(j.mean_error, kMaxError)) {
    found.push_back("the mean error of " +
                    count_text(j.points, "predicted time", "predicted times") + " is " +
                    share_text(j.mean_error) + bound(kMaxError));
  }
  if (const fit::TimesJudgement* const kind = worst_times(j)) {
    found.push_back("the mean error of " + std::to_string(kind->points) +
                    " predicted times of the kind '" + kind->kind + "' is " +
                    share_text(kind->mean_error) + bound(most_error_of_kind(kind->points)));
  }
  if (j.choices > 0 && exceeds(j.mean_regret, most_regret_of(j.choices))) {
    found.push_back("the mean regret of " + count_text(j.choices, "decision", "decisions") +
                    " is " + share_text(j.mean_regret) + bound(most_regret_of(j.choices)));
  }
  if (least_share(j.missed, j.points) > kMaxMisses) {
    found.push_back(std::to_string(j.missed) + " of " +
                    count_text(j.points, "predicted time", "predicted times") +
                    " are off by more " + "than they say" + bound(kMaxMisses));
  }
  if (j.losses > 1 && share_of(j.losses, j.choices) > kMaxLosses) {
    found.push_back(std::to_string(j.losses) + " of " +
                    count_text(j.choices, "decision", "decisions") +
                    " surely take longer than without a model" + bound(kMaxLosses) +
                    ", the worst by " + share_text(j.worst_loss_share) + ": " + j.worst_loss);
  }
  for (const fit::KindJudgement& kind : j.kinds) {
    if (kind.choices < kFewestOfKind || !exceeds(kind.mean_regret, kMaxOfKind)) continue;
    found.push_back("the mean regret of " + std::to_string(kind.choices) +
                    " decisions of the kind '" + kind.kind + "' is " +
                    share_text(kind.mean_regret) + bound(kMaxOfKind));
  }
  return found;
}

VersionVerdict verdict_on_settings(const fit::Judgement& judgement) {
  if (judgement.losses > 0) {
    return {Verdict::failed, count_text(judgement.losses, "comparison") +
                                 " with the default settings found them slower, the worst by " +
                                 share_text(judgement.worst_loss_share) + ": " +
                                 judgement.worst_loss};
  }
  if (!judgement.settings->validated || judgement.compared == 0) {
    return {Verdict::unjudged,
            "they were not validated in the version of the target that they are for"};
  }
  if (judgement.settings->inconclusive > 0) {
    return {Verdict::unjudged, count_text(judgement.settings->inconclusive, "comparison") +
                                   " with the default settings of " +
                                   std::to_string(judgement.compared) + " are inconclusive"};
  }
  if (judgement.settings->probe_factor > 0) return {Verdict::passed, ""};
  return {Verdict::unjudged, "no probe has shown that the target reads them"};
}

}  // namespace

std::string share_text(double share) { return formatted("%.1f %%", 100 * share); }

VersionVerdict verdict_on(const std::optional<fit::Judgement>& given) {
  if (!given) return {Verdict::unjudged, "nothing that it was not fitted to was measured"};
  const fit::Judgement& judgement = *given;
  if (judgement.settings) return verdict_on_settings(judgement);
  std::string why;
  for (const std::string& one : failures(judgement)) why += (why.empty() ? "" : "; ") + one;
  if (!why.empty()) return {Verdict::failed, why};
  if (judgement.points >= kFewestPoints && judgement.choices >= kFewestChoices) {
    return {Verdict::passed, ""};
  }
  return {Verdict::unjudged, "of what it was not fitted to, " +
                                 count_text(judgement.points, "time", "times") + " and " +
                                 count_text(judgement.choices, "decision", "decisions") +
                                 " were measured, " + std::to_string(kFewestPoints) + " and " +
                                 std::to_string(kFewestChoices) + " are needed"};
}

VersionVerdict verdict_of(const std::optional<ValidationRecord>& validation) {
  return validation ? verdict_on(validation->judgement) : verdict_on(std::nullopt);
}

std::string figures_text(const fit::Judgement& judgement) {
  std::string text;
  if (judgement.points > 0) {
    text = "mean error " + share_text(judgement.mean_error) + " of " +
           count_text(judgement.points, "point", "points");
  }
  if (judgement.choices > 0) {
    text += (text.empty() ? "" : ", ") + std::string("mean regret ") +
            share_text(judgement.mean_regret) + " of " +
            count_text(judgement.choices, "choice", "choices");
  }
  if (judgement.settings && judgement.compared > 0) {
    return count_text(judgement.compared, "comparison") + " with the default settings, " +
           share_text(std::abs(judgement.over_untuned)) +
           (judgement.over_untuned > 0 ? " more" : " less") + " time in the mean";
  }
  if (judgement.compared > 0) {
    text += ", " + share_text(std::abs(judgement.over_untuned)) +
            (judgement.over_untuned > 0 ? " more" : " less") + " time than without a model";
  }
  return text.empty() ? "nothing that it predicts was measured" : text;
}

}  // namespace stripline::server
