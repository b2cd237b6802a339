#include "suites/inner_session.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/testing/assert_ok.h"
#include "runtime/rma/context_state.h"
#include "suites/registry.h"
#include "suites/testing/ranks.h"

namespace stripline::suites {
namespace {

TEST(InnerSession, RanksOfANodeReachEachOtherAsTheyAreAskedTo) {
  on_ranks(3, "tcp", "real", [](Session& session) {
    Context& job = session.context();
    for (const std::string path : {"mapped", "cma", "mapped"}) {
      ASSERT_OK_AND_ASSIGN(const auto opened, session.on_node(path));
      ASSERT_NE(opened, nullptr);
      Context& node = opened->context();
      EXPECT_EQ(node.rank_n(), 3U);
      EXPECT_EQ(node.rank_me(), job.rank_me());
      const rank_t next = (job.rank_me() + 1) % 3;
      EXPECT_EQ(node.is_local(next), path == "mapped");
      EXPECT_EQ(node.state().job.path_to(next),
                path == "mapped" ? model::Path::mapped : model::Path::cma);
      ASSERT_OK_AND_ASSIGN(const auto mine, node.new_symmetric_array<uint64_t>(1));
      node.rput(uint64_t{job.rank_me()} + 7, node.on_rank(mine, next));
      node.barrier();
      EXPECT_EQ(*node.local(mine), (job.rank_me() + 2) % 3 + 7);
      node.delete_symmetric_array(mine);
    }
    // The job itself stays as it was.
    EXPECT_FALSE(job.is_local((job.rank_me() + 1) % 3));
    EXPECT_EQ(*session.on_node("mapped"), *session.on_node("mapped"));
  });
}

TEST(InnerSession, RanksAreServedAsTheyAreAskedTo) {
  on_ranks(2, "tcp", "real", [](Session& session) {
    for (const std::string progress : {"manual", "thread"}) {
      ASSERT_OK_AND_ASSIGN(const auto opened, session.served(progress));
      const detail::ContextState& state = opened->context().state();
      EXPECT_EQ(state.progress_thread() != nullptr, progress == "thread");
      EXPECT_EQ(state.job.path_to(1 - state.job.rank()), model::Path::network);
      EXPECT_EQ(*session.served(progress), opened);
    }
    EXPECT_EQ(session.context().state().progress_thread(), nullptr);
  });
  on_ranks(2, "emulated:opteron-vapi", "virtual", [](Session& session) {
    const auto opened = session.served("thread");
    ASSERT_FALSE(opened.ok());
    EXPECT_NE(opened.error().message().find("no thread can serve"), std::string::npos);
  });
}

TEST(InnerSession, SaysWhyThereIsNone) {
  const auto refusal = [](rank_t ranks, const std::string& fabric, const std::string& clock) {
    std::vector<std::string> messages(ranks);
    on_ranks(ranks, fabric, clock, [&](Session& session) {
      const auto opened = session.on_node("mapped");
      EXPECT_FALSE(opened.ok());
      EXPECT_FALSE(session.on_node("mapped").ok());  // and does not try again
      if (!opened.ok()) messages[session.context().rank_me()] = opened.error().message();
    });
    return messages.back();
  };
  EXPECT_NE(refusal(2, "emulated:opteron-vapi", "virtual").find("stands between all ranks"),
            std::string::npos);
  EXPECT_NE(refusal(1, "tcp", "real").find("no rank shares rank 0's node"), std::string::npos);
}

}  // namespace
}  // namespace stripline::suites
