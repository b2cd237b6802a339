#include "server/core/models/settings_version.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "base/sha256.h"
#include "optimizer/experiment/json.h"
#include "optimizer/experiment/tuning.h"
#include "server/core/models/model_gate.h"
#include "server/core/models/model_verdict.h"
#include "server/testing/packed_settings.h"

namespace stripline::server {
namespace {

ModelVersionRecord version_of(const std::string& text) {
  const auto read = settings_version(text, "it");
  ModelVersionRecord record;
  record.key = {"openmpi-shm", 1};
  if (read.ok()) record.validation = ValidationRecord{record.key, 0, {}, *read->version.judgement};
  return record;
}

TEST(SettingsVersion, OnlyValidatedOnesThatAreReadPassTheGate) {
  const Json fast = Json::array({compared_settings("NON_INFERIOR", 0.5)});
  const auto good = version_of(packed_settings(true, 3.5, fast));
  EXPECT_EQ(verdict_of(good.validation).verdict, Verdict::passed);
  EXPECT_EQ(gate_refusal(good, {.label = kStableLabel}), std::nullopt);

  const auto unread = version_of(packed_settings(true, 0, fast));
  const auto unvalidated = version_of(packed_settings(false, 3.5, fast));
  for (const auto* const one : {&unread, &unvalidated}) {
    EXPECT_EQ(verdict_of(one->validation).verdict, Verdict::unjudged);
    // Whatever a person says.
    EXPECT_NE(gate_refusal(*one, {.label = kStableLabel, .unjudged_reason = "I want it"}),
              std::nullopt);
  }
  const auto open = version_of(packed_settings(
      true, 3.5,
      Json::array({compared_settings("NON_INFERIOR", 0.5), compared_settings("INCONCLUSIVE", 1)})));
  EXPECT_EQ(verdict_of(open.validation).verdict, Verdict::unjudged);
  const auto why_open = gate_refusal(open, {.label = kStableLabel, .unjudged_reason = "I want it"});
  ASSERT_TRUE(why_open);
  EXPECT_NE(why_open->find("1 comparison with the default settings of 2"), std::string::npos)
      << *why_open;
  const auto slower = version_of(packed_settings(
      true, 3.5,
      Json::array({compared_settings("NON_INFERIOR", 0.5), compared_settings("INFERIOR", 1.5)})));
  EXPECT_EQ(verdict_of(slower.validation).verdict, Verdict::failed);
  const auto why = gate_refusal(slower, {.label = kStableLabel});
  ASSERT_TRUE(why);
  EXPECT_NE(why->find("the worst by 50.0 %: halo, 4 ranks"), std::string::npos) << *why;
}

FitJob job_with(const std::string& result, const std::string& note) {
  experiment::SampleSeries series{{experiment::kTuneExperiment, "settings", {}}, 1, {1.5}};
  series.verified = true;
  series.note = note;
  series.result = result;
  FitJob job;
  job.input.runs = 1;
  job.input.spec.fabric = "tune:openmpi";
  job.batches.push_back({Json::array({experiment::to_json(series)}).dump()});
  return job;
}

TEST(SettingsVersion, ACampaignBringsItsPackedExport) {
  const std::string text =
      packed_settings(true, 3.5, Json::array({compared_settings("NON_INFERIOR", 0.5)}));
  const auto found = tuned_settings(job_with(text, ""));
  ASSERT_TRUE(found.ok()) << found.error().message();
  EXPECT_EQ(found->content, text);
  EXPECT_EQ(found->sha256, sha256_hex(text));
  FitJob other = job_with(text, "");
  other.input.spec.fabric = "tune:mpich";
  EXPECT_FALSE(tuned_settings(other).ok());
  EXPECT_FALSE(tuned_settings(job_with("{}", "")).ok());
}

TEST(SettingsVersion, WhatIsValidatedAgainHoldsOrIsOutsideAsAWhole) {
  const Json fast = Json::array({compared_settings("NON_INFERIOR", 0.5)});
  const auto judged = [](const std::string& text) {
    const auto found = verified_settings(job_with(text, ""));
    EXPECT_TRUE(found.ok()) << (found.ok() ? "" : found.error().message());
    return found.ok() ? *found : fit::Judgement();
  };
  const fit::Judgement then = judged(packed_settings(true, 3.5, fast));
  const auto same = reading_of(then, then);
  EXPECT_EQ(same.points, 1U);
  EXPECT_FALSE(is_off(same));
  EXPECT_DOUBLE_EQ(same.ratio, 1);
  const Json less = Json::array({compared_settings("NON_INFERIOR", 0.75)});
  EXPECT_DOUBLE_EQ(reading_of(then, judged(packed_settings(true, 3.5, less))).ratio, 1.5);
  for (const std::string& text :
       {packed_settings(false, 3.5, fast), packed_settings(true, 0, fast),
        packed_settings(false, 0, Json::array()),
        packed_settings(true, 3.5, Json::array({compared_settings("INFERIOR", 1.5)})),
        packed_settings(true, 3.5, Json::array({compared_settings("INCONCLUSIVE", 1.0)}))}) {
    EXPECT_TRUE(is_off(reading_of(then, judged(text)))) << text;
  }
  EXPECT_EQ(verified_settings(job_with("", "it failed")).error().code(), ErrorCode::data_loss);
}

TEST(SettingsVersion, WithoutOneTheDefaultIsKept) {
  const auto found = tuned_settings(job_with("", "nothing is certain to gain"));
  ASSERT_TRUE(found.ok()) << found.error().message();
  EXPECT_EQ(found->content, "");
  EXPECT_EQ(found->summary, "nothing is certain to gain");
  // That is an answer, which a run that was cut short has not given.
  FitJob unfinished;
  unfinished.input.spec.fabric = "tune:openmpi";
  EXPECT_EQ(tuned_settings(unfinished).error().code(), ErrorCode::failed_precondition);
}

TEST(SettingsVersion, ChangesOfItsBasisAreNamed) {
  const std::map<std::string, std::string> then = {{"target.openmpi.version", "4.1.4"},
                                                   {"target.openmpi.configuration", "ab12"},
                                                   {"target.ucx.version", "1.13.1"},
                                                   {"kernel", "6.1"}};
  EXPECT_EQ(target_change("openmpi", then, then), "");
  auto now = then;
  now["target.ucx.version"] = "1.15.0";
  EXPECT_EQ(target_change("openmpi", then, now), "");
  now["kernel"] = "6.6";
  EXPECT_EQ(target_change("openmpi", then, now), "the kernel was 6.1 and is 6.6");
  now["target.openmpi.version"] = "4.1.6";
  EXPECT_EQ(target_change("openmpi", then, now), "the version of openmpi was 4.1.4 and is 4.1.6");
  // An agent that does not offer the target any more says nothing of it.
  EXPECT_EQ(target_change("openmpi", then, {{"kernel", "6.1"}}), "");
}

}  // namespace
}  // namespace stripline::server
