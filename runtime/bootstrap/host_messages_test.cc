#include "runtime/bootstrap/host_messages.h"

#include <gtest/gtest.h>

namespace stripline::bootstrap {
namespace {

/// What arrives at the other end.
Json sent(const Json& message) { return *parse_json(message.dump(), "message"); }

const std::string kOdd("\xff\0 it's\n$HOME", 13);

TEST(HostMessages, GreetingsAndOrdersArriveAsTheyWere) {
  const HostGreeting greeting{.version = "1.2", .address = "10.0.0.2", .caller = "10.0.0.1"};
  EXPECT_EQ(*greeting_from_json(sent(to_json(greeting))), greeting);
  const HostOrder order{.argv = {"/bin/prog", kOdd, ""},
                        .environment = {{"FI_X", kOdd}, {"\xfe", ""}},
                        .folder = "/tmp/\xff",
                        .address = "10.0.0.2",
                        .job_id = "7-9",
                        .first_rank = 2,
                        .ranks = 3,
                        .job_ranks = 9,
                        .bind = false,
                        .records_points = true,
                        .label = true,
                        .input = true,
                        .silence_limit_s = 1.5};
  EXPECT_EQ(*order_from_json(sent(to_json(order))), order);
}

TEST(HostMessages, EventsOfRanksArriveAsTheyWere) {
  RankEvent joined;
  joined.kind = RankEvent::Kind::joined;
  joined.rank = 3;
  joined.address = kOdd;
  joined.host = "node7";
  RankEvent got = *event_from_json(sent(to_json(joined)));
  EXPECT_EQ(got.kind, RankEvent::Kind::joined);
  EXPECT_EQ(got.rank, 3U);
  EXPECT_EQ(got.address, kOdd);
  EXPECT_EQ(got.host, "node7");
  EXPECT_FALSE(got.error.has_value());

  RankEvent failed;
  failed.kind = RankEvent::Kind::failed;
  failed.error = Error(ErrorCode::not_found, "no such model");
  got = *event_from_json(sent(to_json(failed)));
  EXPECT_EQ(got.kind, RankEvent::Kind::failed);
  EXPECT_EQ(got.error->code(), ErrorCode::not_found);
  EXPECT_EQ(got.error->message(), "no such model");

  RankEvent exited;
  exited.kind = RankEvent::Kind::exited;
  exited.status = {.exit_code = 0, .signal = 9};
  exited.last_operation = "barrier";
  exited.points = 5;
  got = *event_from_json(sent(to_json(exited)));
  EXPECT_EQ(got.status.signal, 9);
  EXPECT_EQ(got.last_operation, "barrier");
  EXPECT_EQ(got.points, 5U);

  RankEvent said;
  said.message = {{"type", "samples"}, {"n", 1}};
  EXPECT_EQ(event_from_json(sent(to_json(said)))->message, said.message);
}

TEST(HostMessages, SightsArriveAsTheyWere) {
  RankSight sight;
  sight.pid = 4711;
  sight.state = 'T';
  sight.cpu_ticks = 12;
  sight.waits = 7;
  sight.points = 8;
  sight.operation = "barrier (solver.cc:40)";
  const auto got = *sights_from_json(sent(sights_message({RankSight{}, sight})));
  ASSERT_EQ(got.size(), 2U);
  EXPECT_EQ(got[0].state, 0);
  EXPECT_EQ(got[1].pid, 4711);
  EXPECT_TRUE(got[1].stopped());
  EXPECT_EQ(got[1].cpu_ticks, 12U);
  EXPECT_EQ(got[1].waits, 7U);
  EXPECT_EQ(got[1].points, 8U);
  EXPECT_EQ(got[1].operation, sight.operation);
}

TEST(HostMessages, NonsenseIsRefused) {
  const auto refused = [](const auto& result) {
    return !result.ok() && result.error().code() == ErrorCode::data_loss;
  };
  Json order = to_json(HostOrder{});
  for (const char* member : {"argv", "environment", "folder", "ranks", "silence_limit_s"}) {
    Json without = order;
    without.erase(member);
    EXPECT_TRUE(refused(order_from_json(without))) << member;
    without[member] = "no hexadecimal digits";
    EXPECT_TRUE(refused(order_from_json(without))) << member;
  }
  order["ranks"] = -1;
  EXPECT_TRUE(refused(order_from_json(order)));
  Json event = to_json(RankEvent{});
  event["event"] = "vanished";
  EXPECT_TRUE(refused(event_from_json(event)));
  EXPECT_TRUE(refused(sights_from_json({{"ranks", {{1, 2, 3}}}})));
  EXPECT_TRUE(refused(bytes_from_json({{"bytes", "0"}})));
  EXPECT_TRUE(refused(bytes_from_json(Json::object())));
  EXPECT_EQ(type_of({{"type", 3}}), "");
}

}  // namespace
}  // namespace stripline::bootstrap
