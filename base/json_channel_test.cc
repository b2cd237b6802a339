#include "base/json_channel.h"

#include <csignal>
#include <string>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

namespace stripline {
namespace {

struct Ends {
  JsonChannel a;
  JsonChannel b;
};

Ends make_ends() {
  auto pair = socket_pair();
  EXPECT_TRUE(pair.ok());
  return {JsonChannel(std::move(pair->first)), JsonChannel(std::move(pair->second))};
}

TEST(JsonChannel, DeliversInOrder) {
  Ends ends = make_ends();
  ASSERT_TRUE(ends.a.write({{"n", 1}}).ok());
  ASSERT_TRUE(ends.a.write({{"n", 2}}).ok());
  EXPECT_EQ((**ends.b.read(1))["n"], 1);
  EXPECT_EQ((**ends.b.read(1))["n"], 2);
  const auto nothing = ends.b.read(0);
  ASSERT_TRUE(nothing.ok());
  EXPECT_FALSE(nothing->has_value());
}

TEST(JsonChannel, LargeMessageCrossesInPieces) {
  Ends ends = make_ends();
  const std::string big(5'000'000, 'x');
  std::thread writer([&] { EXPECT_TRUE(ends.a.write({{"s", big}}).ok()); });
  const auto message = ends.b.read(20);
  writer.join();
  ASSERT_TRUE(message.ok() && message->has_value());
  EXPECT_EQ((**message)["s"].get<std::string>().size(), big.size());
}

// A rank may read only after another one has read and gone on, or never.
TEST(JsonChannel, OneThatDoesNotReadHoldsUpNobody) {
  Ends slow = make_ends();
  Ends fast = make_ends();
  const std::string big(5'000'000, 'x');
  JsonChannel* const all[] = {&slow.a, &fast.a};
  ASSERT_TRUE(JsonChannel::post_to_all(all, {{"s", big}}).ok());
  ASSERT_TRUE(JsonChannel::post_to_all(all, {{"n", 1}}).ok());
  for (Ends* ends : {&fast, &slow}) {
    EXPECT_TRUE(ends->a.unwritten());
    std::thread writer([ends] {
      // write() brings what was kept before it, in order.
      EXPECT_TRUE(ends->a.write({{"n", 2}}).ok());
    });
    const auto message = ends->b.read(20);
    const auto first = ends->b.read(20);
    const auto second = ends->b.read(20);
    writer.join();
    ASSERT_TRUE(message.ok() && message->has_value());
    EXPECT_EQ((**message)["s"].get<std::string>().size(), big.size());
    EXPECT_EQ((**first)["n"], 1);
    EXPECT_EQ((**second)["n"], 2);
    EXPECT_FALSE(ends->a.unwritten());
  }
}

TEST(JsonChannel, WhatIsKeptIsDroppedWhenThePeerCloses) {
  Ends ends = make_ends();
  ASSERT_TRUE(ends.a.post({{"s", std::string(5'000'000, 'x')}}).ok());
  EXPECT_TRUE(ends.a.flush().ok());
  EXPECT_TRUE(ends.a.unwritten());
  { const JsonChannel closing = std::move(ends.b); }
  EXPECT_EQ(ends.a.flush().error().code(), ErrorCode::unavailable);
  EXPECT_FALSE(ends.a.unwritten());
}

TEST(JsonChannel, AClosedOneIsAnErrorAfterTheOthersHaveTheirs) {
  Ends gone = make_ends();
  Ends here = make_ends();
  { const JsonChannel closing = std::move(gone.b); }
  JsonChannel* const all[] = {&gone.a, &here.a};
  EXPECT_EQ(JsonChannel::post_to_all(all, {{"n", 1}}).error().code(), ErrorCode::unavailable);
  EXPECT_EQ((**here.b.read(1))["n"], 1);
}

TEST(JsonChannel, PipesDoAsWell) {
  ::signal(SIGPIPE, SIG_IGN);
  int there[2];
  int back[2];
  ASSERT_EQ(::pipe(there), 0);
  ASSERT_EQ(::pipe(back), 0);
  JsonChannel a{UniqueFd(back[0]), UniqueFd(there[1])};
  const std::string big(1'000'000, 'x');
  {
    JsonChannel b{UniqueFd(there[0]), UniqueFd(back[1])};
    EXPECT_FALSE(b.read(0)->has_value());
    ASSERT_TRUE(a.post({{"s", big}}).ok());
    EXPECT_TRUE(a.unwritten());
    std::thread writer([&] { EXPECT_TRUE(a.write({{"n", 2}}).ok()); });
    EXPECT_EQ((**b.read(20))["s"].get<std::string>().size(), big.size());
    EXPECT_EQ((**b.read(20))["n"], 2);
    writer.join();
    ASSERT_TRUE(b.write({{"n", 3}}).ok());
  }
  EXPECT_EQ((**a.read(1))["n"], 3);
  EXPECT_EQ(a.read(1).error().code(), ErrorCode::unavailable);
  EXPECT_EQ(a.write({{"n", 4}}).error().code(), ErrorCode::unavailable);
}

TEST(JsonChannel, EndOfStreamAndGarbageAreErrors) {
  Ends ends = make_ends();
  ASSERT_EQ(::write(ends.a.fd(), "nonsense\n[1]\n", 13), 13);
  EXPECT_EQ(ends.b.read(1).error().code(), ErrorCode::data_loss);
  EXPECT_EQ(ends.b.read(1).error().code(), ErrorCode::data_loss);
  { const JsonChannel closing = std::move(ends.a); }
  EXPECT_EQ(ends.b.read(1).error().code(), ErrorCode::unavailable);
  EXPECT_EQ(ends.b.write({{"n", 1}}).error().code(), ErrorCode::unavailable);
}

}  // namespace
}  // namespace stripline
