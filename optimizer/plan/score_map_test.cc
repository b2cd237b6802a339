#include "optimizer/plan/score_map.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

#include "optimizer/plan/gather.h"
#include "optimizer/plan/kinds.h"

namespace stripline::plan {
namespace {

ScoreMap map_of(std::initializer_list<const char*> rules) {
  ScoreMap map;
  for (const char* const rule : rules) {
    const Status added = map.add(rule);
    EXPECT_TRUE(added.ok()) << added.error().message();
  }
  return map;
}

TEST(ScoreMap, ForcesKindsBySize) {
  const ScoreMap map = map_of({"update:*:messages", "gather:4K-64K:bound", "gather:8-8:pull",
                               "sweep:1M-:4", "loop:100:baseline"});
  EXPECT_EQ(map.forced("update", 0), "messages");
  EXPECT_EQ(map.forced("update", UINT64_MAX), "messages");
  EXPECT_EQ(map.forced("gather", 4095), "");
  EXPECT_EQ(map.forced("gather", 4096), "bound");
  EXPECT_EQ(map.forced("gather", 65536), "bound");
  EXPECT_EQ(map.forced("gather", 65537), "");
  EXPECT_EQ(map.forced("gather", 8), "pull");
  EXPECT_EQ(number_forced(map.forced("sweep", 1 << 20)), 4U);
  EXPECT_EQ(map.forced("sweep", (1 << 20) - 1), "");
  EXPECT_EQ(map.forced("loop", 100), kForcedBaseline);
  EXPECT_EQ(map.forced("loop", 101), "");
  EXPECT_EQ(map.forced("nest", 100), "");
  EXPECT_EQ(method_named<GatherMethod>(map.forced("gather", 8), kGatherMethodNames),
            GatherMethod::pull);
}

TEST(ScoreMap, TheLastRuleThatHoldsCounts) {
  const ScoreMap map = map_of({"update:*:messages", "update:8:buffers"});
  EXPECT_EQ(map.forced("update", 8), "buffers");
  EXPECT_EQ(map.forced("update", 16), "messages");
}

TEST(ScoreMap, NotesWhichRulesAreApplied) {
  const ScoreMap map = map_of({"update:*:messages", "gather:4K-64K:bound", "gather:8-8:pull",
                               "loop:100:baseline", "update:8:buffers"});
  const auto applied = [&] {
    std::string rules;
    for (const ScoreMap::Use& use : map.uses()) rules += use.applied ? use.rule + " " : "";
    return rules;
  };
  EXPECT_EQ(applied(), "");
  const auto refuses = [](std::string_view) { return false; };
  EXPECT_EQ(map.forced("gather", 8, {}, refuses), "");
  EXPECT_EQ(map.forced("update", 8), "buffers");
  EXPECT_EQ(map.forced("loop", 99), "");
  EXPECT_EQ(applied(), "update:8:buffers ");
  // Everything has a baseline.
  EXPECT_EQ(map.forced("loop", 100, {}, refuses), kForcedBaseline);
  EXPECT_EQ(map.forced("gather", 8, {}, [](std::string_view one) { return one == "pull"; }),
            "pull");
  EXPECT_EQ(applied(), "gather:8-8:pull loop:100:baseline update:8:buffers ");
}

// Where another kind has the name of an operation, that is meant.
TEST(ScoreMap, OperationsAreVariantsOfAKind) {
  const ScoreMap map =
      map_of({"allreduce:0-4k:ring", "collective.gather:*:direct", "gather:*:pack"});
  EXPECT_EQ(map.forced("collective", 4096, "allreduce"), "reduce_scatter_allgather");
  EXPECT_EQ(map.forced("collective", 4097, "allreduce"), "");
  EXPECT_EQ(map.forced("collective", 8, "broadcast"), "");
  EXPECT_EQ(map.forced("collective", 8, "gather"), "direct");
  EXPECT_EQ(map.forced("gather", 8), "pack");
  EXPECT_EQ(map_of({"allgather:*:ring"}).forced("collective", 8, "allgather"), "ring");
  EXPECT_EQ(map_of({"collective:*:binomial"}).forced("collective", 8, "broadcast"), "binomial");
}

TEST(ScoreMap, RefusesWhatIsNotARule) {
  for (const char* const wrong :
       {"", "update", "update:*", "updates:*:buffers", "update:x:buffers", "update:8-4:buffers",
        "update:*:telepathy", "update:*:4", "sweep:*:pieces", "collective.update:*:ring",
        "atomic:*:telepathy", "put:*:baseline", "broadcast:*:ring", "allreduce:*:binomial"}) {
    ScoreMap map;
    const Status added = map.add(wrong);
    ASSERT_FALSE(added.ok()) << wrong;
    EXPECT_EQ(added.error().code(), ErrorCode::invalid_argument);
    EXPECT_NE(added.error().message().find("'stripline explain --list'"), std::string::npos)
        << added.error().message();
    EXPECT_TRUE(map.empty());
  }
}

TEST(Kinds, AreListedWithWhoDecidesAndWhatMayBeForced) {
  std::set<std::string> names;
  for (const Words* const kind : all_kinds()) {
    EXPECT_TRUE(names.insert(kind->command).second) << kind->command;
    EXPECT_TRUE(kind->sized_by != nullptr || kind->settings != nullptr) << kind->command;
  }
  EXPECT_GE(names.size(), 12U);
  const std::string text = kinds_text();
  for (const char* const part :
       {"update: Updates of cells of other ranks, until they are complete\n    decided by one rank "
        "for all, for a period of an epoch; baseline: buffers",
        "\n    forced by bytes of a cell: baseline cell_locks owner_locks provider messages "
        "buffers\n",
        "\n    of each of: broadcast reduce allreduce", "or a number (pieces)",
        "\n    forced by bytes of a variable: baseline provider message combined\n",
        "\n    set by put_combining.max_put_bytes and buffered_put.max_bytes in "
        "STRIPLINE_TUNING:"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is missing in\n" << text;
  }
  const Json json = kinds_json();
  ASSERT_EQ(json.size(), names.size());
  EXPECT_EQ(json[0]["kind"], "loop");
  EXPECT_EQ(json[0]["decides"], "each rank");
  EXPECT_TRUE(json[0]["number"].is_null());
}

}  // namespace
}  // namespace stripline::plan
