#include "suites/targets/report_page.h"

#include <string>

#include <gtest/gtest.h>

#include "base/json.h"

namespace stripline::suites::tune {
namespace {

Json record() {
  const Json cell = {{"collective", "bcast"}, {"ranks", 4U}, {"bytes", 8U}};
  Json fast = cell;
  fast.update({{"chosen", "binomial"},
               {"outcome", "departs"},
               {"ratio", 0.52},
               {"ratio_low", 0.5},
               {"ratio_high", 0.55}});
  Json larger = fast;
  larger["bytes"] = 128U;
  Json kept = cell;
  kept.update({{"bytes", 2048U}, {"chosen", "default"}, {"outcome", "few_runs"}});
  // On fresh launches, which is what is shown.
  const Json checked = {
      {"operation", "bcast"}, {"ranks", 4U},  {"bytes", 128U}, {"stage", "fitted"},
      {"ratio", 0.75},        {"lower", 0.7}, {"upper", 0.8},  {"verdict", "NON_INFERIOR"}};
  const Json predicted = {{"collective", "bcast"},
                          {"ranks", 3U},
                          {"first_bytes", 8U},
                          {"last_bytes", 128U},
                          {"chosen", "chain"}};
  Json rejected = cell;
  rejected.update({{"candidate", "chain"}, {"reason", "hung for 5 s"}});
  Json violated = cell;
  violated.update({{"guideline", "8 B <= 128 B"}, {"ratio", 1.5}, {"lower", 1.4}});
  const auto knob = [](const char* name, double ratio, const char* failure) {
    return Json{{"name", name},      {"value", "2"},       {"outcome", "departs"},
                {"ratio", ratio},    {"ratio_low", ratio}, {"ratio_high", ratio},
                {"failure", failure}};
  };
  Json paired = knob("paired", 1.1, "");
  paired.update({{"outcome", "loses"}, {"together", "together with much=2 faster by 40 %"}});
  Json settings = Json::object();
  settings["much"] = "2";
  return {{"target", "openmpi"},
          {"version", "4.1.4"},
          {"host", "<script>alert(1)</script>"},
          {"validated", true},
          {"cells", Json::array({fast, larger, kept})},
          {"checks", Json::array({checked})},
          {"predicted", Json::array({predicted})},
          {"knobs",
           Json::array({knob("little", 0.99, ""), knob("much", 0.7, "too much memory"), paired})},
          {"settings", settings},
          {"rejected", Json::array({rejected})},
          {"tuned_violations", Json::array({violated})},
          {"proofs",
           Json::array(
               {{{"collective", "bcast"}, {"ranks", 4U}, {"candidate", "linear"}, {"factor", 4.0}},
                {{"collective", "allreduce"},
                 {"ranks", 2U},
                 {"setting", {{"name", "much"}, {"value", "1"}}},
                 {"operation", "latency"},
                 {"factor", 3.0}}})}};
}

std::string page_of(const Json& json) {
  const auto page = report_page({json.dump(), {{"rules.conf", "# from 8 B on: <binomial>\n"}}});
  EXPECT_TRUE(page.ok()) << page.error().message();
  return page.ok() ? *page : "";
}

bool has(const std::string& page, const std::string& text) {
  return page.find(text) != std::string::npos;
}

TEST(ReportPage, HoldsWhatWasFoundAndWhy) {
  const std::string page = page_of(record());
  EXPECT_TRUE(has(page, "<li>bcast of 4 ranks uses binomial for 8 B to 128 B</li>")) << page;
  EXPECT_TRUE(has(page, "<li>much is 2</li>"));
  EXPECT_TRUE(has(page, "title=\"binomial, 0.52 (0.50 to 0.55) of the default's time\">0.52</td>"));
  EXPECT_TRUE(has(page, "title=\"binomial, 0.75 (0.70 to 0.80) of the default's time\">0.75</td>"));
  EXPECT_TRUE(has(page, "<li>bcast of 3 ranks uses chain for 8 B to 128 B, predicted, as the "));
  EXPECT_TRUE(has(page, "title=\"default: few_runs\">?</td>"));
  EXPECT_TRUE(has(page, "<td>chain</td><td>hung for 5 s</td>"));
  EXPECT_TRUE(has(page, "<td>the tuned settings</td><td>8 B &lt;= 128 B</td>"));
  EXPECT_TRUE(has(page, "a probe (linear for bcast of 4 ranks) took 4.00 times"));
  EXPECT_TRUE(has(page, "a probe (much=1 for latency of 2 ranks) took 3.00 times"));
  EXPECT_TRUE(has(page, "# from 8 B on: &lt;binomial&gt;"));
  EXPECT_TRUE(has(page, "<td>too much memory</td>"));
  EXPECT_TRUE(has(page, "<td>together with much=2 faster by 40 %</td>"));
  EXPECT_LT(page.find("<td>much</td>"), page.find("<td>little</td>"));
}

TEST(ReportPage, NothingOfARecordIsCode) { EXPECT_FALSE(has(page_of(record()), "<script")); }

TEST(ReportPage, SaysWhereTheDefaultIsKeptAndNothingIsProven) {
  const std::string page =
      page_of({{"target", "ucx"}, {"version", "1.13.1"}, {"validated", false}});
  EXPECT_TRUE(has(page, "The default is kept everywhere."));
  EXPECT_TRUE(has(page, "Not validated."));
  EXPECT_TRUE(has(page, "was not proven"));
  // Its probe is known, and was not tried in another version.
  Json converted = record();
  converted["proofs"][1]["factor"] = nullptr;
  EXPECT_TRUE(has(page_of(converted), "was not proven"));
  EXPECT_FALSE(report_page({"{}", {}}).ok());
  EXPECT_FALSE(report_page({"no JSON", {}}).ok());
}

}  // namespace
}  // namespace stripline::suites::tune
