#include "runtime/update/backlog.h"

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace stripline::update {
namespace {

// Receiver and buffer, as they were sent.
using Sent = std::vector<std::pair<rank_t, uint32_t>>;

Sent send_all(Backlog& backlog, const std::set<rank_t>& busy = {}) {
  Sent sent;
  backlog.send([&](rank_t receiver) { return !busy.contains(receiver); },
               [&](rank_t receiver, const Backlog::Filled& filled) {
                 sent.emplace_back(receiver, filled.buffer);
               });
  return sent;
}

TEST(Backlog, TakesReceiversInTurnBeginningWithTheNextRank) {
  Backlog backlog(2, 4);
  for (const auto& [receiver, buffer] :
       Sent{{0, 10}, {0, 11}, {1, 20}, {3, 30}, {3, 31}, {0, 12}}) {
    backlog.add(receiver, {buffer, {}, {}});
  }
  EXPECT_EQ(backlog.size(), 6U);
  EXPECT_EQ(send_all(backlog), (Sent{{3, 30}, {0, 10}, {1, 20}, {3, 31}, {0, 11}, {0, 12}}));
  EXPECT_TRUE(backlog.empty());
}

TEST(Backlog, KeepsWhatIsForABusyReceiver) {
  Backlog backlog(0, 3);
  backlog.add(1, {10, {}, {}});
  backlog.add(2, {20, {}, {}});
  backlog.add(1, {11, {}, {}});
  EXPECT_EQ(send_all(backlog, {1}), (Sent{{2, 20}}));
  EXPECT_FALSE(backlog.can_send([](rank_t receiver) { return receiver != 1; }));
  EXPECT_TRUE(backlog.can_send([](rank_t receiver) { return receiver == 1; }));
  EXPECT_EQ(send_all(backlog), (Sent{{1, 10}, {1, 11}}));
}

TEST(Backlog, IsSentOnceWhereSendingComesBack) {
  Backlog backlog(0, 4);
  for (const rank_t receiver : {1U, 2U, 3U}) backlog.add(receiver, {receiver, {}, {}});
  std::vector<uint32_t> sent;
  const auto always = [](rank_t) { return true; };
  backlog.send(always, [&](rank_t, const Backlog::Filled& filled) {
    sent.push_back(filled.buffer);
    backlog.send(always, [&](rank_t, const Backlog::Filled&) { ADD_FAILURE(); });
    if (filled.buffer == 1) backlog.add(3, {30, {}, {}});  // which the program does meanwhile
  });
  EXPECT_EQ(sent, (std::vector<uint32_t>{1, 2, 3, 30}));
}

}  // namespace
}  // namespace stripline::update
