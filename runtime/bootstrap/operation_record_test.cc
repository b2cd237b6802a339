#include "runtime/bootstrap/operation_record.h"

#include <cstring>
#include <random>
#include <string>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/bootstrap/testing/scoped_environment.h"

namespace stripline::bootstrap {
namespace {

// Maps what a launcher has made, as a rank does.
RankRecords map_all(const OperationRecords& records, uint32_t index) {
  const int copy = ::dup(records.file());
  const ScopedEnvironment environment(
      {{kOperationRecordVariable, OperationRecords::variable(copy, index)}});
  return rank_records_from_environment();
}

OperationMemory* map(const OperationRecords& records, uint32_t index) {
  return map_all(records, index).own;
}

TEST(OperationRecord, TheLauncherReadsWhatTheRankIsIn) {
  const OperationRecords records(3);
  ASSERT_GE(records.file(), 0);
  EXPECT_EQ(records.last_operation(1), "");
  OperationMemory* const memory = map(records, 1);
  ASSERT_NE(memory, nullptr);
  OperationRecorder operation("start-up");
  operation.attach(memory);
  EXPECT_EQ(records.last_operation(1), "start-up");
  operation.start("rput", 7, 8);
  EXPECT_EQ(records.last_operation(1), "rput of 8 bytes with rank 7");
  operation = "wait";
  EXPECT_EQ(records.last_operation(1), "wait, after rput of 8 bytes with rank 7");
  EXPECT_STREQ(operation.name(), "wait");
  operation.start("rget", (1U << 20) - 1, uint64_t{1} << 40);
  EXPECT_EQ(records.last_operation(1), "rget of 34359738367 bytes with rank 1048575");
  EXPECT_EQ(records.last_operation(0), "");
  EXPECT_EQ(records.last_operation(2), "");
  EXPECT_EQ(records.last_operation(3), "");
}

TEST(OperationRecord, TheLauncherSeesWhereTheCallStandsAndWhetherTheRankWaits) {
  const OperationRecords records(2);
  OperationRecorder operation("start-up");
  operation.attach(map(records, 1));
  operation.start("rput", 0, 8);
  operation = "barrier";
  operation.at("barrier",
               {"/home/user/a/very/long/path/that/does/not/fit/into/a/name/solver.cc", 40});
  EXPECT_EQ(records.last_operation(1), "barrier (solver.cc:40)");
  // The place is that of one operation.
  operation = "wait";
  EXPECT_EQ(records.last_operation(1), "wait, after rput of 8 bytes with rank 0");
  operation.at("wait", {});
  EXPECT_EQ(records.last_operation(1), "wait, after rput of 8 bytes with rank 0");
  operation.at("wait", {"src/solver.cc", 44});
  EXPECT_EQ(records.last_operation(1), "wait (solver.cc:44), after rput of 8 bytes with rank 0");
  operation.at("wait", {});
  EXPECT_EQ(records.last_operation(1), "wait, after rput of 8 bytes with rank 0");
  EXPECT_EQ(records.waits(1), 0U);
  operation.waits().store(3);
  EXPECT_EQ(records.waits(1), 3U);
  EXPECT_EQ(records.waits(0), 0U);
  EXPECT_EQ(records.waits(2), 0U);
}

TEST(OperationRecord, RanksSeeWhichOthersOfTheirLauncherCompute) {
  const OperationRecords records(3);
  // Ranks 10 to 12 of a job.
  const RankRecords seen = map_all(records, 1);
  EXPECT_FALSE(seen.computes(11, 12)) << "it has recorded nothing yet";
  OperationRecorder other("start-up");
  other.attach(map(records, 2));
  EXPECT_TRUE(seen.computes(11, 12));
  other.waits().store(1);
  EXPECT_FALSE(seen.computes(11, 12));
  other.waits().store(2);
  EXPECT_TRUE(seen.computes(11, 12));
  EXPECT_FALSE(seen.computes(11, 13)) << "of another host";
  EXPECT_FALSE(seen.computes(11, 9));
  EXPECT_FALSE(seen.computes(11, 0));
  EXPECT_FALSE(RankRecords().computes(0, 1));
}

TEST(OperationRecord, WithoutMemoryOnlyTheNameIsKept) {
  OperationRecorder operation("start-up");
  operation = "barrier";
  operation.start("rput", 1, 1);
  operation.at("rput", CallSite::current());
  EXPECT_STREQ(operation.name(), "rput");
  operation.waits().store(1);
}

TEST(OperationRecord, ManyAndLongNamesDoNoHarm) {
  const OperationRecords records(1);
  OperationRecorder operation("start-up");
  operation.attach(map(records, 0));
  std::vector<std::string> names;
  for (size_t i = 0; i < 300; ++i) names.push_back("operation " + std::to_string(i));
  for (int turn = 0; turn < 2; ++turn) {
    for (size_t i = 0; i < names.size(); ++i) {
      operation = names[i].c_str();
      // Names beyond the last that fits are not known.
      EXPECT_EQ(records.last_operation(0), i < OperationMemory::kNames - 1 ? names[i] : "");
    }
  }
  const OperationRecords others(1);
  operation.attach(map(others, 0));
  const std::string longest(200, 'x');
  operation = longest.c_str();
  EXPECT_EQ(others.last_operation(0), std::string(OperationMemory::kNameBytes - 1, 'x'));
}

TEST(OperationRecord, OnlyWhatALauncherHandsDownIsMapped) {
  const OperationRecords records(1);
  const int pipe_end = [] {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    ::close(ends[1]);
    return ends[0];
  }();
  const std::string file = std::to_string(records.file());
  for (const std::string& text :
       {std::string(), std::string("x"), file, file + ":", file + ":x", file + ":8192", file + ":1",
        file + ":18446744073709543424", std::string("-1:0"), std::string("9999:0"),
        std::to_string(pipe_end) + ":0"}) {
    const ScopedEnvironment environment({{kOperationRecordVariable, text}});
    EXPECT_EQ(rank_records_from_environment().own, nullptr) << text;
  }
  ::close(pipe_end);
}

// A rank that dies of a wild store may leave anything.
TEST(OperationRecord, AnyBytesCanBeRead) {
  std::mt19937_64 random(3);
  std::vector<std::byte> bytes(sizeof(OperationMemory));
  const std::span<std::byte, sizeof(OperationMemory)> memory(bytes.data(), bytes.size());
  for (int turn = 0; turn < 2000; ++turn) {
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
    // Half of the time a number that there is.
    if (turn % 2 == 0) {
      const uint64_t number = random() % 130;
      std::memcpy(bytes.data(), &number, sizeof number);
    }
    if (turn % 4 == 0) std::memset(bytes.data() + 64, turn % 8 == 0 ? 'a' : 0, 8128);
    const std::string text = last_operation(memory);
    for (const char c : text) EXPECT_TRUE(c >= ' ' && c <= '~');
    EXPECT_LT(text.size(), 250U);
  }
}

}  // namespace
}  // namespace stripline::bootstrap
