#include "server/process/monitoring.h"

#include <atomic>
#include <chrono>
#include <future>
#include <httplib.h>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "server/meters.h"
#include "server/testing/http_client.h"

namespace stripline::server {
namespace {

class MonitoringTest : public testing::Test {
 protected:
  MonitoringTest() {
    auto started = Monitoring::start({"127.0.0.1", 0}, {"head"},
                                     {[this] { return meters_.text(); }, [this] { return why_; }});
    EXPECT_TRUE(started.ok());
    monitoring_.emplace(std::move(*started));
  }

  httplib::Result get(const std::string& path, const httplib::Headers& headers = {}) const {
    return http_client(monitoring_->address().port).Get(path, headers);
  }

  Meters meters_;
  std::string why_;
  std::optional<Monitoring> monitoring_;
};

TEST_F(MonitoringTest, TellsFigures) {
  meters_.count(Meters::Counter::samples_stored, 42);
  meters_.set(Meters::Gauge::sessions, 3);
  meters_.observe(Meters::Time::commit, 0.002);
  const auto answer = get("/metrics");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 200);
  EXPECT_TRUE(answer->get_header_value("Content-Type").starts_with("text/plain; version=0.0.4"));
  for (const char* line :
       {"# TYPE stripline_samples_stored_total counter\n", "\nstripline_samples_stored_total 42\n",
        "\nstripline_sessions 3\n", "stripline_commit_seconds_bucket{le=\"0.003\"} 1\n",
        "stripline_commit_seconds_bucket{le=\"0.001\"} 0\n", "stripline_info{version=\"",
        "process_start_time_seconds "}) {
    EXPECT_NE(answer->body.find(line), std::string::npos) << line << "in\n" << answer->body;
  }
}

TEST_F(MonitoringTest, TellsLivenessFromReadiness) {
  EXPECT_EQ(get("/healthz")->status, 200);
  EXPECT_EQ(get("/readyz")->status, 200);
  why_ = "the disk is full";
  EXPECT_EQ(get("/healthz")->status, 200);
  EXPECT_EQ(get("/readyz")->status, 503);
  EXPECT_EQ(get("/readyz")->body, "not ready: the disk is full\n");
  EXPECT_EQ(get("/")->status, 404);
}

TEST(Monitoring, LivenessIsAnsweredWhileFiguresTakeLong) {
  std::promise<void> open;
  std::atomic<int> asked = 0;
  const auto started = Monitoring::start({"127.0.0.1", 0}, {},
                                         {[&asked, opened = open.get_future().share()] {
                                            ++asked;
                                            opened.wait();
                                            return std::string("figures\n");
                                          },
                                          [] { return std::string(); }});
  ASSERT_TRUE(started.ok()) << started.error().message();
  const auto status = [port = started->address().port](const char* path) {
    const auto answer = http_client(port).Get(path);
    return answer ? answer->status : -1;
  };
  std::vector<std::future<int>> figures;
  for (int i = 0; i < 4; ++i) figures.push_back(std::async(std::launch::async, status, "/metrics"));
  while (asked == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  auto alive = std::async(std::launch::async, status, "/healthz");
  EXPECT_EQ(alive.wait_for(std::chrono::seconds(20)), std::future_status::ready);
  open.set_value();
  EXPECT_EQ(alive.get(), 200);
  int answered = 0;
  for (auto& one : figures) answered += one.get() == 200 ? 1 : 0;
  EXPECT_GE(answered, 1);
  EXPECT_EQ(asked, 1) << "one caller at a time, and once a second";
}

TEST_F(MonitoringTest, FiguresAreReadAndNothingElse) {
  httplib::Client client = http_client(monitoring_->address().port);
  EXPECT_EQ(client.Post("/metrics", "", "text/plain")->status, 405);
  EXPECT_EQ(client.Post("/metrics", "x", "text/plain")->status, 413);
  EXPECT_EQ(client.Delete("/metrics")->status, 405);
}

TEST_F(MonitoringTest, PagesOfElsewhereAreRefused) {
  EXPECT_EQ(get("/metrics", {{"Host", "head:7412"}})->status, 200);
  EXPECT_EQ(get("/metrics", {{"Host", "evil.example"}})->status, 421);
  EXPECT_EQ(get("/metrics", {{"Host", "head:7412"}, {"Origin", "http://evil.example"}})->status,
            403);
}

TEST_F(MonitoringTest, APortIsOneServersAlone) {
  const auto second = Monitoring::start(monitoring_->address(), {}, {});
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code(), ErrorCode::already_exists) << second.error().message();
}

}  // namespace
}  // namespace stripline::server
