#include "server/core/models/model_verdict.h"

#include <cmath>
#include <string>

#include <gtest/gtest.h>

namespace stripline::server {
namespace {

fit::Judgement good() {
  fit::Judgement judgement;
  judgement.points = 16;
  judgement.mean_error = 0.05;
  judgement.times = {{"burst of get", 5, 0.08}, {"size of get", 11, 0.02}};
  judgement.choices = 20;
  judgement.mean_regret = 0.02;
  judgement.compared = 20;
  judgement.over_untuned = -0.2;
  judgement.over_untuned_low = -0.22;
  judgement.kinds = {{"call", 10, 0.02, 0.1}, {"loop", 10, 0.02, 0.1}};
  return judgement;
}

TEST(ModelVerdict, NotJudgedIsNotPassed) {
  EXPECT_EQ(verdict_on(good()).verdict, Verdict::passed);
  EXPECT_EQ(verdict_on(good()).why, "");
  EXPECT_EQ(verdict_of(std::nullopt).verdict, Verdict::unjudged);
  fit::Judgement sizes_alone = good();
  sizes_alone.choices = 0;
  sizes_alone.compared = 0;
  sizes_alone.kinds.clear();
  const VersionVerdict unjudged = verdict_on(sizes_alone);
  EXPECT_EQ(unjudged.verdict, Verdict::unjudged);
  EXPECT_NE(unjudged.why.find("16 times and 0 decisions"), std::string::npos) << unjudged.why;
  fit::Judgement few = good();
  few.points = 2;
  EXPECT_EQ(verdict_on(few).verdict, Verdict::unjudged);
  EXPECT_EQ(verdict_on(fit::Judgement()).verdict, Verdict::unjudged);
}

TEST(ModelVerdict, SaysWhatFailedByHowMuch) {
  fit::Judgement judgement = good();
  judgement.points = 3;  // few, and far off
  judgement.mean_error = 5.67;
  const VersionVerdict off = verdict_on(judgement);
  EXPECT_EQ(off.verdict, Verdict::failed);
  EXPECT_NE(off.why.find("567.0 %"), std::string::npos) << off.why;

  judgement = good();
  judgement.times.front().mean_error = 0.6;
  EXPECT_EQ(verdict_on(judgement).verdict, Verdict::failed);
  EXPECT_EQ(verdict_on(judgement).why,
            "the mean error of 5 predicted times of the kind 'burst of get' is 60.0 % (at most "
            "28.0 % is allowed)");
  judgement.times.back().mean_error = std::nan("");  // the worst one is named
  EXPECT_NE(verdict_on(judgement).why.find("11 predicted times of the kind 'size of get'"),
            std::string::npos)
      << verdict_on(judgement).why;
  judgement = good();
  judgement.times.front() = {"burst of get", 7, 0.25};  // may be chance
  EXPECT_EQ(verdict_on(judgement).verdict, Verdict::passed);
  judgement.times.front() = {"burst of get", 20, 0.25};
  EXPECT_EQ(verdict_on(judgement).why,
            "the mean error of 20 predicted times of the kind 'burst of get' is 25.0 % (at most "
            "22.0 % is allowed)");
  judgement = good();
  judgement.times.front() = {"burst of get", 1, 0.6};  // may be chance
  EXPECT_EQ(verdict_on(judgement).verdict, Verdict::passed);

  judgement = good();
  judgement.over_untuned = 0.3;
  judgement.over_untuned_low = 0.2;
  EXPECT_NE(verdict_on(judgement).why.find("30.0 % longer than without a model"), std::string::npos)
      << verdict_on(judgement).why;
  judgement.over_untuned_low = 0.001;  // within what noise makes
  EXPECT_EQ(verdict_on(judgement).verdict, Verdict::passed);

  judgement = good();
  judgement.mean_regret = 0.2;
  EXPECT_NE(verdict_on(judgement).why.find("20.0 %"), std::string::npos);
  judgement.mean_regret = 0.18;
  EXPECT_NE(verdict_on(judgement).why.find("18.0 % (at most 11.0 % is allowed)"), std::string::npos)
      << verdict_on(judgement).why;
  judgement.choices = 2;  // of two, one that noise made look wrong
  EXPECT_EQ(verdict_on(judgement).why.find("regret"), std::string::npos)
      << verdict_on(judgement).why;
  judgement = good();
  judgement.missed = 4;
  EXPECT_NE(verdict_on(judgement).why.find("4 of 16 predicted times"), std::string::npos);
  judgement = good();
  judgement.losses = 3;
  judgement.worst_loss = "window: get 64 x 32 B";
  judgement.worst_loss_share = 0.87;
  EXPECT_NE(verdict_on(judgement).why.find("87.0 %: window: get 64 x 32 B"), std::string::npos);
  judgement = good();
  judgement.kinds = {{"call", 4, 0.4, 1}, {"loop", 16, 0, 0}};
  EXPECT_NE(verdict_on(judgement).why.find("'call'"), std::string::npos);
  judgement.kinds.front().choices = 2;  // may be chance
  EXPECT_EQ(verdict_on(judgement).verdict, Verdict::passed);
}

using Count = std::size_t fit::Judgement::*;
// The verdict where `number_wrong` of `number` predictions or decisions were wrong.
Verdict verdict_with(Count wrong, std::size_t number_wrong, Count all, std::size_t number) {
  fit::Judgement judgement = good();
  judgement.*wrong = number_wrong;
  judgement.*all = number;
  return verdict_on(judgement).verdict;
}

// Where there are few times, more may miss by chance; one decision may lose.
TEST(ModelVerdict, SharesExceedTheirBoundsBeyondChance) {
  const auto with_misses = [](std::size_t missed, std::size_t points) {
    return verdict_with(&fit::Judgement::missed, missed, &fit::Judgement::points, points);
  };
  EXPECT_EQ(with_misses(1, 16), Verdict::passed);
  EXPECT_EQ(with_misses(3, 33), Verdict::passed);
  EXPECT_EQ(with_misses(7, 74), Verdict::passed);
  EXPECT_EQ(with_misses(5, 36), Verdict::failed);
  EXPECT_EQ(with_misses(60, 1000), Verdict::passed);
  EXPECT_EQ(with_misses(80, 1000), Verdict::failed);
  const auto with_losses = [](std::size_t losses, std::size_t choices) {
    return verdict_with(&fit::Judgement::losses, losses, &fit::Judgement::choices, choices);
  };
  EXPECT_EQ(with_losses(1, 9), Verdict::passed);
  EXPECT_EQ(with_losses(2, 9), Verdict::failed);
  EXPECT_EQ(with_losses(2, 20), Verdict::passed);
}

TEST(ModelVerdict, FiguresAreThoseThatThereAre) {
  EXPECT_EQ(figures_text(good()),
            "mean error 5.0 % of 16 points, mean regret 2.0 % of 20 choices, 20.0 % less time than "
            "without a model");
  EXPECT_EQ(figures_text({}), "nothing that it predicts was measured");
}

}  // namespace
}  // namespace stripline::server
