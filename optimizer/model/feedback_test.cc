#include "optimizer/model/feedback.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "base/testing/assert_ok.h"

namespace stripline::model {
namespace {

Feedback example() {
  Feedback feedback;
  feedback.model_sha256 = std::string(64, 'a');
  feedback.run = "f00d";
  feedback.program = "transpose";
  feedback.fabric = "tcp";
  feedback.ranks = 4;
  feedback.elapsed_s = 12.5;
  feedback.places = {
      {"t.cc:17", "get 1 MiB", "packed, tuned", 4, 100, 90, 1e-3, 1.1e-3, 10, 2e-3, 1}};
  feedback.places_left_out = 3;
  feedback.guard = {24, 1.5e-3, 0.5};
  feedback.buffer_bytes = 8 << 20;
  return feedback;
}

TEST(Feedback, ComesBackFromItsText) {
  ASSERT_OK_AND_ASSIGN(const auto again, parse_feedback(feedback_text(example()), "report"));
  EXPECT_EQ(again, example());
}

TEST(Feedback, TellsTheShareOfTheGuard) {
  Json json = Json::parse(feedback_text(example()));
  EXPECT_DOUBLE_EQ(json["guard"]["share"].get<double>(), 0.003);
  // Older reports say nothing of it, nor of buffers.
  json.erase("guard");
  json.erase("buffer_bytes");
  ASSERT_OK_AND_ASSIGN(const auto parsed, parse_feedback(json.dump(), "report"));
  EXPECT_EQ(parsed.guard, FeedbackGuard());
  EXPECT_EQ(parsed.buffer_bytes, 0U);
  json["guard"] = {{"checks", -1}};
  EXPECT_EQ(parse_feedback(json.dump(), "r.json").error().message(),
            "r.json.guard.checks is out of range");
}

TEST(Feedback, LargestReportIsWithinItsBounds) {
  Feedback feedback = example();
  feedback.places_left_out = 0;
  const std::string text(kMaxFeedbackTextBytes + 50, '"');
  feedback.program = feedback.fabric = feedback.run = text;
  feedback.places.assign(300, {text, text, text, 1U << 20, ~uint64_t{0} >> 1, ~uint64_t{0} >> 1,
                               1.2345678901234567e-100, 1.2345678901234567e-100, ~uint64_t{0} >> 1,
                               1.2345678901234567e-100, 1U << 20});
  ASSERT_OK_AND_ASSIGN(const auto parsed, parse_feedback(report_text(feedback), "report"));
  EXPECT_EQ(parsed.places.size() + parsed.places_left_out, 300U);
  EXPECT_GT(parsed.places.size(), 20U);
  feedback.places.assign(300, {"t.cc:17"});
  EXPECT_EQ(parse_feedback(report_text(feedback), "report")->places.size(), kMaxFeedbackPlaces);
}

TEST(Feedback, PlacesOfRanksBecomeOne) {
  const auto all =
      places_of_ranks({{{"t.cc:17", "get", "packed", 1, 10, 8, 1e-3, 2e-3, 2, 4e-3, 0}},
                       {{"t.cc:17", "get", "direct", 1, 30, 24, 1e-3, 6e-3, 6, 8e-3, 1},
                        {"t.cc:17", "put", "packed", 1, 1, 1, 9, 9, 0, 0, 0}},
                       {{"t.cc:17", "get", "none", 1, 2, 2, 0, 0, 0, 0, 0}}});
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].what, "put") << "it took longer";
  EXPECT_EQ(all[1].choice, "direct");
  EXPECT_EQ(all[1].ranks, 3U);
  EXPECT_EQ(all[1].executions, 42U);
  EXPECT_EQ(all[1].as_chosen, 34U);
  EXPECT_DOUBLE_EQ(all[1].predicted_s, 1e-3);
  EXPECT_DOUBLE_EQ(all[1].measured_s, 5e-3);
  EXPECT_DOUBLE_EQ(all[1].simple_s, 7e-3);
  EXPECT_EQ(all[1].demoted_ranks, 1U);
}

TEST(Feedback, TheChoiceIsThatOfMostExecutions) {
  std::vector<std::vector<FeedbackPlace>> of_ranks(
      64, std::vector<FeedbackPlace>{{"t.cc:17", "get", "direct", 1, 10, 10}});
  of_ranks.front().front().choice = "packed";
  EXPECT_EQ(places_of_ranks(of_ranks).front().choice, "direct");
}

// Two shapes of one place that read alike.
TEST(Feedback, ARankCountsOnceAtAPlace) {
  const FeedbackPlace one{"t.cc:17", "get", "packed", 1, 10, 2, 1e-3, 1e-3, 8, 1e-3, 1};
  const FeedbackPlace other{"t.cc:17", "get", "packed", 1, 5, 5, 1e-3, 1e-3, 0, 0, 0};
  const auto all = places_of_ranks({{one, one, other}, {other, one}, {other}});
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all.front().ranks, 3U);
  EXPECT_EQ(all.front().demoted_ranks, 2U);
  EXPECT_EQ(all.front().executions, 45U);
}

TEST(Feedback, TextsThatAreNotUtf8StayWithinTheirBounds) {
  Feedback feedback = example();
  feedback.program = std::string(150, '\xff');
  ASSERT_OK_AND_ASSIGN(const auto parsed, parse_feedback(report_text(feedback), "report"));
  EXPECT_TRUE(parsed.program.starts_with("\ufffd")) << parsed.program;
}

TEST(Feedback, TextsAreCutBetweenCharacters) {
  Feedback feedback = example();
  feedback.program = std::string(kMaxFeedbackTextBytes - 1, 'x') + "\u00e9";
  const auto parsed = parse_feedback(report_text(feedback), "report");
  EXPECT_EQ(parsed->program, std::string(kMaxFeedbackTextBytes - 1, 'x'));
}

TEST(Feedback, OfNonsenseSaysWhatIsWrong) {
  const auto message = [](const std::string& text) {
    const auto parsed = parse_feedback(text, "r.json");
    return parsed.ok() ? "" : parsed.error().message();
  };
  const auto with = [&](const char* key, const Json& value) {
    Json json = Json::parse(feedback_text(example()));
    json[key] = value;
    return message(json.dump());
  };
  EXPECT_NE(message("[]").find("r.json is not a report"), std::string::npos);
  EXPECT_NE(message("{").find("r.json"), std::string::npos);
  EXPECT_NE(with("stripline_feedback", 2).find("has form 2"), std::string::npos);
  EXPECT_EQ(with("model_sha256", "abc"), "r.json.model_sha256 is no SHA-256");
  EXPECT_EQ(with("ranks", -1), "r.json.ranks is out of range");
  EXPECT_EQ(with("elapsed_s", -2.0), "r.json.elapsed_s is not a time");
  EXPECT_EQ(with("program", std::string(201, 'x')), "r.json.program has more than 200 bytes");
  EXPECT_EQ(with("places", Json::array({1})), "r.json.places[0] is not an object");
  EXPECT_EQ(with("places", Json(std::vector<int>(201))), "r.json has more than 200 places");
  EXPECT_NE(message(std::string(kMaxFeedbackBytes + 1, ' ')).find("more than"), std::string::npos);
}

}  // namespace
}  // namespace stripline::model
