#include "server/core/sessions/session_table.h"

#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace stripline::server {
namespace {

class RecordingLink : public AgentLink {
 public:
  void send(ServerMessage message) override { sent.push_back(std::move(message)); }
  void close(const Problem& /*problem*/) override { closed = true; }
  std::vector<ServerMessage> sent;
  bool closed = false;
};

Session session_of(const std::string& node, double last_heard_s) {
  Session session;
  session.record.name = node;
  session.link = std::make_shared<RecordingLink>();
  session.last_heard_s = last_heard_s;
  return session;
}

TEST(SessionTable, FindsSessionsByNumberAndNode) {
  SessionTable table;
  const uint64_t a = table.add(session_of("a", 0)).id;
  const uint64_t b = table.add(session_of("b", 0)).id;
  EXPECT_NE(a, b);
  EXPECT_EQ(table.of_node("b")->id, b);
  table.erase(a);
  EXPECT_EQ(table.find(a), nullptr);
  EXPECT_EQ(table.of_node("a"), nullptr);
  EXPECT_EQ(table.heard(a), nullptr);
  EXPECT_GT(table.heard(b)->last_heard_s, 0);
  table.clear();
  EXPECT_EQ(table.size(), 0U);
  EXPECT_EQ(table.of_node("b"), nullptr);
}

TEST(SessionTable, TheNextDeadlineIsTheEarliestAndCanBePostponed) {
  SessionTable table;
  EXPECT_EQ(table.next_deadline_s(15), std::nullopt);
  Session& a = table.add(session_of("a", 100));
  table.add(session_of("b", 110));
  EXPECT_EQ(table.next_deadline_s(15), 115);
  a.holding = Holding{{1, 1}, 3, 112};
  EXPECT_EQ(table.next_deadline_s(15), 112);
  const auto link = std::make_shared<RecordingLink>();
  table.await_hello(link, 111);
  EXPECT_EQ(table.next_deadline_s(15), 111);
  table.postpone(10);
  EXPECT_EQ(table.next_deadline_s(15), 121);
  table.has_said_hello(link);
  EXPECT_EQ(table.next_deadline_s(15), 122);
}

TEST(SessionTable, StreamsThatSayNoHelloInTimeAreNamedOnce) {
  SessionTable table;
  const auto link = std::make_shared<RecordingLink>();
  table.await_hello(link, 10);
  table.await_hello(std::make_shared<RecordingLink>(), 11);  // has ended meanwhile
  table.await_hello(link, 12);
  EXPECT_TRUE(table.late_streams(9).empty());
  EXPECT_EQ(table.late_streams(11).size(), 1U);
  EXPECT_TRUE(table.late_streams(11).empty());
}

TEST(Session, ACancelledAssignmentIsCancelledOnce) {
  Session session = session_of("a", 0);
  const auto& link = static_cast<const RecordingLink&>(*session.link);
  session.holding = Holding{{1, 1}, 3};
  session.send_cancel({1, 2}, 5, "stale", 15);  // something else
  EXPECT_EQ(link.sent.size(), 1U);
  EXPECT_FALSE(session.holding->cancel_deadline_s);
  session.send_cancel({1, 1}, 3, "it is over", 15);
  session.send_cancel({1, 1}, 3, "it is over", 15);
  EXPECT_EQ(link.sent.size(), 2U);
  EXPECT_TRUE(session.holding->cancel_deadline_s);
  EXPECT_TRUE(session.holds({1, 1}, 3));
}

}  // namespace
}  // namespace stripline::server
