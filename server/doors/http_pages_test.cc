// What pages of campaigns and of administrators need of /api/v1, by real connections.
#include <algorithm>
#include <httplib.h>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "base/pki/secret_file.h"
#include "server/clock.h"
#include "server/process/initialise.h"
#include "server/testing/http_service_test.h"

namespace stripline::server {
namespace {

class HttpPagesTest : public HttpServiceTest {
 protected:
  // A campaign of two synthetic nodes that has ended: c1.
  void tune() {
    const AutoAgent a(address_, "a");
    const AutoAgent b(address_, "b");
    ASSERT_TRUE(connected({"a", "b"}));
    watch(created(model_spec()).name());
  }
};

TEST_F(HttpPagesTest, PointsAreSentByColumnAndSummedUp) {
  tune();
  const Json points = json("campaigns/c1/points").at("points");
  const Json experiments = json("campaigns/c1/points/summary").at("experiments");
  uint64_t counted = 0;
  for (const Json& one : experiments) {
    const std::string experiment = one.at("experiment");
    const Json columns = json("campaigns/c1/points/columns?experiment=" + experiment);
    const size_t rows = columns.at("place").size();
    EXPECT_EQ(rows, one.at("points"));
    uint64_t measured = 0;
    for (size_t row = 0; row < rows; ++row) {
      const Json& point = points.at(columns.at("place")[row].get<size_t>());
      EXPECT_EQ(point.at("experiment"), experiment);
      const auto value = [&](const Json& placed) {
        const int at = placed.at("of")[row];
        return at < 0 ? Json() : placed.at("values")[static_cast<size_t>(at)];
      };
      EXPECT_EQ(value(columns.at("variant")), point.at("variant"));
      for (const auto& [name, placed] : columns.at("params").items()) {
        EXPECT_EQ(value(placed), point.at("params").value(name, Json())) << name;
      }
      for (const char* same : {"runs", "samples", "failed"}) {
        EXPECT_EQ(columns.at(same)[row], point.at(same)) << same;
      }
      if (point.at("median").is_null()) {
        EXPECT_TRUE(columns.at("median")[row].is_null());
      } else {
        ++measured;
        const double median = point.at("median");
        EXPECT_NEAR(columns.at("median")[row].get<double>(), median, 1e-5 * median);
      }
    }
    EXPECT_EQ(measured, one.at("measured")) << experiment;
    counted += rows;
  }
  EXPECT_EQ(counted, points.size());
  EXPECT_EQ(status("campaigns/c1/points/columns"), 400) << "an experiment is needed";
  EXPECT_TRUE(json("campaigns/c1/points/columns?experiment=none").at("place").empty());
  const std::string path = "/api/v1/campaigns/c1/points/summary";
  EXPECT_EQ(get(path, "", {{"If-None-Match", get(path)->get_header_value("ETag")}})->status, 304);
}

TEST_F(HttpPagesTest, APointLeadsToItsSamplesAndRuns) {
  tune();
  const Json points = json("campaigns/c1/points").at("points");
  const auto measured =
      std::ranges::find_if(points, [](const Json& one) { return one.at("runs") > 0; });
  ASSERT_NE(measured, points.end());
  const auto place = std::to_string(measured - points.begin());
  const Json point = json("campaigns/c1/points/" + place);
  EXPECT_EQ(point.at("params"), measured->at("params"));
  uint64_t samples = 0;
  std::set<std::string> runs;
  for (const Json& run : point.at("runs")) {
    samples += run.at("values").size();
    runs.insert(run.at("run"));
    EXPECT_EQ(run.at("node"), "nodes/a") << "where rank 0 is";
    EXPECT_FALSE(run.at("orphan").get<bool>());
    EXPECT_TRUE(run.at("median").is_number());
  }
  EXPECT_EQ(samples, measured->at("samples"));
  EXPECT_EQ(runs.size(), measured->at("runs"));
  std::set<std::string> listed;
  const Json all = json("campaigns/c1/runs").at("runs");
  for (const Json& run : all) {
    if (!runs.contains(run.at("name"))) continue;  // converged before it was given out
    listed.insert(run.at("name"));
    EXPECT_EQ(run.at("nodes"), Json({"nodes/a", "nodes/b"}));
  }
  EXPECT_TRUE(std::ranges::includes(listed, runs));
  EXPECT_EQ(status("campaigns/c1/points/999999"), 404);
  EXPECT_EQ(status("campaigns/c1/points/first"), 400);
  EXPECT_EQ(status("campaigns/c9/points/0"), 404);
  EXPECT_EQ(status("campaigns/c9/runs"), 404);
}

TEST_F(HttpPagesTest, CampaignsAreStartedAndLabelled) {
  const AutoAgent a(address_, "a");
  const AutoAgent b(address_, "b");
  ASSERT_TRUE(connected({"a", "b"}));
  const std::string spec =
      R"({"spec": {"fabric": "tcp", "experiments": ["micro.latency"], "runs": 2}, "request_id": "once")";
  const auto planned = post("campaigns", spec + R"(, "validate_only": true})");
  ASSERT_EQ(planned->status, 200) << planned->body;
  EXPECT_EQ(Json::parse(planned->body).at("name"), "");
  const auto started = post("campaigns", spec + "}");
  ASSERT_EQ(started->status, 200) << started->body;
  EXPECT_EQ(Json::parse(started->body).at("name"), "campaigns/c1");
  EXPECT_EQ(Json::parse(post("campaigns", spec + "}")->body).at("name"), "campaigns/c1")
      << "the same request";
  const auto unknown = post("campaigns", R"({"spec": {"fabric": "none"}})");
  EXPECT_EQ(unknown->status, 409);
  EXPECT_EQ(Json::parse(unknown->body).at("reason"), "UNSUPPORTED_FABRIC");

  const auto label = [&](const std::string& labels) {
    return post("campaigns/c1/label", R"({"labels": )" + labels + "}");
  };
  const auto labelled = label(R"(["switch-7", "nightly", "nightly"])");
  ASSERT_EQ(labelled->status, 200) << labelled->body;
  EXPECT_EQ(Json::parse(labelled->body).at("labels"), Json({"nightly", "switch-7"}));
  watch("campaigns/c1");
  EXPECT_EQ(json("campaigns/c1").at("labels"), Json({"nightly", "switch-7"}))
      << "its end leaves them";
  EXPECT_EQ(label("[]")->status, 200) << "a campaign that has ended may be labelled, too";
  EXPECT_TRUE(json("campaigns").at("campaigns")[0].at("labels").empty());
  EXPECT_EQ(label(R"(["No good"])")->status, 400);
  EXPECT_EQ(post("campaigns/c9/label", R"({"labels": ["x"]})")->status, 404);
  const Json trail = json("audit").at("events");
  EXPECT_EQ(std::ranges::count_if(
                trail, [](const Json& one) { return one.at("action") == "label campaign"; }),
            2);
}

TEST_F(HttpPagesTest, ResultsComeInParts) {
  const auto part = [&](const std::string& data, int offset, bool last) {
    return post(
        "campaigns/import",
        Json{{"upload", "x"}, {"offset", std::to_string(offset)}, {"data", data}, {"last", last}}
            .dump());
  };
  // "not results" in base64.
  const auto first = part("bm90IHJl", 0, false);
  ASSERT_EQ(first->status, 200) << first->body;
  EXPECT_EQ(Json::parse(first->body).at("size"), 6);
  EXPECT_EQ(part("c3VsdHM=", 9, true)->status, 400) << "something is missing";
  const auto last = part("c3VsdHM=", 6, true);
  EXPECT_EQ(last->status, 400) << "it is not a file of results";
  EXPECT_EQ(part("c3VsdHM=", 11, true)->status, 400) << "it is forgotten";
  EXPECT_EQ(post("campaigns/import", R"({"data": "YQ=="})")->status, 400) << "it has no name";
}

TEST_F(HttpPagesTest, NodesThatHaveGoneAreRemoved) {
  {
    const AutoAgent a(address_, "a");
    ASSERT_TRUE(connected({"a"}));
    EXPECT_NE(post("nodes/a/remove")->status, 200) << "it is connected";
  }
  ASSERT_TRUE(eventually([&] { return json("nodes/a").at("state") == "OFFLINE"; }));
  const auto removed = post("nodes/a/remove");
  EXPECT_EQ(removed->status, 200) << removed->body;
  EXPECT_EQ(status("nodes/a"), 404);
}

class TlsHttpPagesTest : public HttpPagesTest {
 protected:
  void SetUp() override {
    const auto made = initialise(folder_.path(), {"127.0.0.1"}, unix_seconds());
    ASSERT_TRUE(made.ok()) << made.error().message();
    admin_ = *pki::read_secret_line(made->admin_token_file.string());
    options_.protection = Protection::certificates;
    HttpPagesTest::SetUp();
  }

  std::string admin_;
};

TEST_F(TlsHttpPagesTest, AdministratorsMakeTokensAndTakeThemBack) {
  const auto made = post("tokens", R"({"role": "VIEWER", "subject": "eve"})", admin_);
  ASSERT_EQ(made->status, 200) << made->body;
  const std::string viewer = Json::parse(made->body).at("text");
  const std::string name = Json::parse(made->body).at("token").at("name");
  EXPECT_EQ(json("whoami", viewer).at("name"), "users/eve");
  EXPECT_EQ(status("tokens", viewer), 403);
  EXPECT_EQ(status("audit", viewer), 403);
  EXPECT_EQ(post("tokens", R"({"role": "ADMIN", "subject": "eve"})", viewer)->status, 403);
  EXPECT_EQ(post("campaigns", R"({"spec": {"fabric": "tcp"}})", viewer)->status, 403);
  EXPECT_EQ(post("campaigns/c1/label", R"({"labels": ["x"]})", viewer)->status, 403);
  EXPECT_EQ(post("campaigns/import", R"({"upload": "x", "data": "YQ=="})", viewer)->status, 403);

  const Json tokens = json("tokens", admin_).at("tokens");
  const auto listed =
      std::ranges::find_if(tokens, [&](const Json& one) { return one.at("name") == name; });
  ASSERT_NE(listed, tokens.end());
  EXPECT_EQ(listed->at("subject"), "eve");
  EXPECT_EQ(listed->at("end_time"), "");
  EXPECT_FALSE(tokens.dump().find(viewer) != std::string::npos) << "no secret is sent again";
  EXPECT_EQ(post("tokens", R"({"role": "VIEWER", "subject": "No Name"})", admin_)->status, 400);

  EXPECT_EQ(post(name + "/revoke", "{}", admin_)->status, 200);
  EXPECT_EQ(status("whoami", viewer), 401);
  EXPECT_EQ(post("tokens/0123456789abcdef/revoke", "{}", admin_)->status, 404);
  const Json page = json("audit?page_size=1", admin_);
  ASSERT_EQ(page.at("events").size(), 1U);
  EXPECT_EQ(page.at("events")[0].at("object"), name);
  const Json older =
      json("audit?page_size=1&page_token=" + page.at("next_page_token").get<std::string>(), admin_);
  EXPECT_EQ(older.at("events")[0].at("action"), "create token for viewer eve");
}

}  // namespace
}  // namespace stripline::server
