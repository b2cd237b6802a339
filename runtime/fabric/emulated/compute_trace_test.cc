#include "runtime/fabric/emulated/compute_trace.h"

#include <filesystem>
#include <limits>
#include <string>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

namespace stripline::fabric {
namespace {

const std::vector<uint64_t> kNanoseconds = {
    0, 1, 127, 128, 300, 16383, 16384, 123456789, std::numeric_limits<uint64_t>::max()};

ComputeTrace example() {
  ComputeTrace trace(2, 5);
  for (const uint64_t ns : kNanoseconds) trace.append(ns);
  return trace;
}

std::string error_of(const std::string& bytes) {
  const auto parsed = ComputeTrace::parse(bytes, "trace");
  return parsed.ok() ? std::string() : parsed.error().message();
}

TEST(ComputeTrace, ReadsBackWhatItWrote) {
  const std::string bytes = example().to_bytes();
  auto trace = ComputeTrace::parse(bytes, "trace");
  ASSERT_TRUE(trace.ok()) << trace.error().message();
  EXPECT_EQ(trace->rank(), 2U);
  EXPECT_EQ(trace->ranks(), 5U);
  EXPECT_EQ(trace->entries(), kNanoseconds.size());
  for (const uint64_t ns : kNanoseconds) EXPECT_EQ(trace->next(), ns);
  EXPECT_TRUE(trace->at_end());
  EXPECT_EQ(trace->next(), std::nullopt);
  EXPECT_EQ(trace->to_bytes(), bytes);
}

TEST(ComputeTrace, AnEmptyOneIsComplete) {
  auto trace = ComputeTrace::parse(ComputeTrace(0, 1).to_bytes(), "trace");
  ASSERT_TRUE(trace.ok()) << trace.error().message();
  EXPECT_TRUE(trace->at_end());
}

TEST(ComputeTrace, IsRefusedWhenTruncatedAnywhere) {
  const std::string bytes = example().to_bytes();
  for (size_t n = 0; n < bytes.size(); ++n) EXPECT_NE(error_of(bytes.substr(0, n)), "") << n;
}

TEST(ComputeTrace, IsRefusedWhenAnyBitOfAnEntryHasChanged) {
  const std::string bytes = example().to_bytes();
  for (size_t at = bytes.find('\n') + 1; at < bytes.size(); ++at) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      std::string changed = bytes;
      changed[at] = static_cast<char>(static_cast<unsigned char>(changed[at]) ^ (1U << bit));
      EXPECT_NE(error_of(changed), "") << at << " " << bit;
    }
  }
}

TEST(ComputeTrace, SaysWhatIsWrong) {
  const std::string bytes = example().to_bytes();
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = bytes;
    return error_of(changed.replace(changed.find(from), from.size(), to));
  };
  EXPECT_NE(with("\"schema_version\":1", "\"schema_version\":2").find("version 1 only"),
            std::string::npos);
  EXPECT_NE(with("\"entries\":9", "\"entries\":10").find("9 of 10 entries"), std::string::npos);
  EXPECT_NE(with("\"rank\":2", "\"rank\":5").find("rank 5 of 5 does not exist"), std::string::npos);
  EXPECT_NE(with("\"rank\":2", "\"rank\":-1").find("does not exist"), std::string::npos);
  EXPECT_NE(with("\"rank\":2", "\"rank\":{}").find("rank"), std::string::npos);
  EXPECT_NE(error_of("12345\n").find("expected an object"), std::string::npos);
  // An entry of more than 64 bits.
  EXPECT_NE(error_of(bytes + std::string(10, '\x81') + '\1').find("corrupt"), std::string::npos);
  EXPECT_NE(error_of(std::string(100000, ' ')).find("not a compute trace"), std::string::npos);
}

class ComputeTraceFile : public testing::Test {
 protected:
  ComputeTraceFile()
      : file_(testing::TempDir() + "stripline_compute_trace_" + std::to_string(::getpid())) {}
  ~ComputeTraceFile() override { std::filesystem::remove(file_); }
  ComputeTraceFile(const ComputeTraceFile&) = delete;
  ComputeTraceFile& operator=(const ComputeTraceFile&) = delete;

  std::string file_;
};

TEST_F(ComputeTraceFile, IsOfOneRankOfSoMany) {
  ASSERT_TRUE(write_compute_trace(file_, example()).ok());
  EXPECT_TRUE(read_compute_trace(file_, 2, 5).ok());
  for (const Rank ranks : {4U, 6U}) {
    const auto other = read_compute_trace(file_, 2, ranks);
    ASSERT_FALSE(other.ok());
    EXPECT_EQ(other.error().code(), ErrorCode::failed_precondition);
    EXPECT_NE(other.error().message().find("rank 2 of 5, not of rank 2 of"), std::string::npos);
  }
  EXPECT_FALSE(read_compute_trace(file_, 3, 5).ok());
}

TEST_F(ComputeTraceFile, AnOldOneIsNotTakenForThatOfARunThatFailed) {
  ASSERT_TRUE(write_compute_trace(file_, example()).ok());
  ASSERT_TRUE(prepare_compute_trace(file_).ok());
  const auto missing = read_compute_trace(file_, 2, 5);
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code(), ErrorCode::not_found);
  EXPECT_NE(missing.error().message().find("compute=record"), std::string::npos);
}

TEST_F(ComputeTraceFile, AFolderThatCannotBeWrittenIsReportedBeforeTheRun) {
  const Status prepared = prepare_compute_trace(file_ + "/no/such/folder/trace.0");
  ASSERT_FALSE(prepared.ok());
  EXPECT_EQ(prepared.error().code(), ErrorCode::unavailable);
}

}  // namespace
}  // namespace stripline::fabric
