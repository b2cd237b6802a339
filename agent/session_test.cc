#include "agent/session.h"

#include <gtest/gtest.h>

namespace stripline::agent {
namespace {

const Error kRefused(ErrorCode::unavailable, "connection refused");

Session make_session() { return Session("head:7411", SessionLimits{}, 1); }

TEST(Session, ConnectsGreetsAndBeats) {
  Session session = make_session();
  EXPECT_TRUE(session.on_time(0).open_link);
  const SessionStep up = session.on_hello_ack(0.1, 1, 5);
  EXPECT_TRUE(up.became_live);
  ASSERT_TRUE(up.log);
  EXPECT_NE(up.log->find("head:7411"), std::string::npos);
  EXPECT_DOUBLE_EQ(*session.next_event_s(), 5.1);
  EXPECT_FALSE(session.on_time(5).heartbeat);
  EXPECT_TRUE(session.on_time(5.1).heartbeat);
  EXPECT_DOUBLE_EQ(*session.next_event_s(), 10.1);
}

TEST(Session, IsBegunAgainAtOnceWhereHelloHasNews) {
  Session session = make_session();
  EXPECT_FALSE(session.renew(0).close_link) << "the next one has them anyway";
  session.on_time(0);
  session.on_hello_ack(0.1, 1, 5);
  EXPECT_TRUE(session.renew(7).close_link);
  EXPECT_FALSE(session.live());
  EXPECT_DOUBLE_EQ(*session.next_event_s(), 7);
  EXPECT_TRUE(session.on_time(7).open_link);
}

TEST(Session, BacksOffWithinBoundsAndLogsOnce) {
  Session session = make_session();
  double now = 0;
  double last_delay = 0;
  int logs = 0;
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(session.on_time(now).open_link);
    const SessionStep step = session.on_closed(now, kRefused, "");
    logs += step.log ? 1 : 0;
    last_delay = *session.next_event_s() - now;
    EXPECT_GE(last_delay, 0.1);
    EXPECT_LE(last_delay, 12.5);
    now = *session.next_event_s();
  }
  EXPECT_EQ(logs, 1);
  EXPECT_GE(last_delay, 7.5);
  // Back for long enough: the next loss is news, and the backoff starts over.
  EXPECT_TRUE(session.on_time(now).open_link);
  session.on_hello_ack(now, 1, 5);
  const SessionStep lost = session.on_closed(now + 100, kRefused, "");
  EXPECT_TRUE(lost.log);
  EXPECT_TRUE(lost.log_is_warning);
  EXPECT_LE(*session.next_event_s() - (now + 100), 0.25);
}

TEST(Session, AgentsOfManyDoNotComeBackAtOnce) {
  double first = 100;
  double last = 0;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    Session session("h:1", {}, seed);
    session.on_time(0);
    session.on_hello_ack(0, 1, 5, 4);
    session.on_closed(0, kRefused, "");
    first = std::min(first, *session.next_event_s());
    last = std::max(last, *session.next_event_s());
  }
  EXPECT_LT(first, 0.6);
  EXPECT_GT(last, 3.5);
  EXPECT_LT(last, 4.3);
  Session kept("h:1", {}, 1);
  kept.on_time(0);
  kept.on_hello_ack(0, 1, 5, 1e9);
  kept.on_closed(0, kRefused, "");
  EXPECT_LE(*kept.next_event_s(), kLongestSpread_s + 1);
}

TEST(Session, ServerThatAcceptsAndDropsIsNotHammered) {
  Session session = make_session();
  double now = 0;
  for (int i = 0; i < 12; ++i) {
    EXPECT_TRUE(session.on_time(now).open_link);
    session.on_hello_ack(now, 1, 5);
    session.on_closed(now, kRefused, "");
    now = *session.next_event_s();
  }
  EXPECT_GT(now, 20);
}

TEST(Session, SilentServerIsGivenUp) {
  Session session = make_session();
  session.on_time(0);
  const SessionStep step = session.on_time(10);
  EXPECT_TRUE(step.close_link);
  EXPECT_TRUE(step.log);
  EXPECT_EQ(session.state(), Session::State::offline);
}

TEST(Session, NameInUseIsTriedForAWhileThenFinal) {
  Session session = make_session();
  const Error in_use(ErrorCode::already_exists, "nodes/a is in use");
  double now = 5;
  std::string said;
  while (session.state() != Session::State::refused && now < 1000) {
    session.on_time(now);
    const SessionStep step = session.on_closed(now, in_use, "NODE_IN_USE");
    said += step.log.value_or("");
    if (const auto next = session.next_event_s()) now = *next;
  }
  ASSERT_TRUE(session.refusal());
  EXPECT_EQ(session.refusal()->code(), ErrorCode::already_exists);
  EXPECT_EQ(now, 65) << "as long as it says";
  EXPECT_TRUE(said.ends_with("nodes/a is in use; trying again, at most 10 s apart, for 60 s"))
      << said;
  EXPECT_FALSE(session.next_event_s());
}

TEST(Session, ARefusalOfBeforeTheServerWasAwayDoesNotCount) {
  Session session = make_session();
  const Error in_use(ErrorCode::already_exists, "nodes/a is in use");
  session.on_time(0);
  session.on_closed(0, in_use, "NODE_IN_USE");
  session.on_time(30);
  session.on_closed(30, kRefused, "");
  session.on_time(90);
  session.on_closed(90, in_use, "NODE_IN_USE");
  EXPECT_NE(session.state(), Session::State::refused);
  session.on_time(150);
  session.on_closed(150, in_use, "NODE_IN_USE");
  EXPECT_EQ(session.state(), Session::State::refused);
}

TEST(Session, ACertificateThatIsNotTakenIsFinalAfterAWhile) {
  Session session = make_session();
  const Error expired(ErrorCode::failed_precondition, "the certificate has expired");
  double now = 0;
  for (; now < 59; now = *session.next_event_s()) {
    session.on_time(now);
    session.on_closed(now, expired, "UNAUTHENTICATED");
    ASSERT_NE(session.state(), Session::State::refused) << now;
  }
  session.on_time(now + 2);
  session.on_closed(now + 2, expired, "UNAUTHENTICATED");
  EXPECT_EQ(session.state(), Session::State::refused);
}

TEST(Session, OtherProtocolIsFinal) {
  Session refused = make_session();
  refused.on_time(0);
  refused.on_closed(0, Error(ErrorCode::failed_precondition, "speaks 7"), "PROTOCOL_VERSION");
  EXPECT_EQ(refused.state(), Session::State::refused);

  Session newer = make_session();
  newer.on_time(0);
  EXPECT_TRUE(newer.on_hello_ack(0, 2, 5).close_link);
  ASSERT_TRUE(newer.refusal());
  EXPECT_NE(newer.refusal()->message().find("version 2"), std::string::npos);
}

// Its kernel acknowledges heartbeats as long as there is room for them.
TEST(Session, AServerThatSendsNothingIsGivenUp) {
  SessionLimits limits;
  Session session("head:7411", limits, 1);
  session.on_time(0);
  session.on_hello_ack(0, 1, 25);
  EXPECT_TRUE(session.on_time(25).heartbeat);
  session.on_received(30);
  EXPECT_TRUE(session.on_time(50).heartbeat);
  EXPECT_TRUE(session.on_time(75).heartbeat);
  const SessionStep step = session.on_time(100);
  EXPECT_TRUE(step.close_link);
  EXPECT_FALSE(session.live());
  EXPECT_NE(step.log->find("it sent nothing for 60 s"), std::string::npos) << *step.log;
}

TEST(Session, NoServerKeepsAnAgentBusy) {
  Session session("head:7411", {}, 1);
  session.on_time(0);
  session.on_hello_ack(0, 1, 1e-9);
  EXPECT_EQ(session.next_event_s(), kLeastHeartbeat_s);
}

}  // namespace
}  // namespace stripline::agent
