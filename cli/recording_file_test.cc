// What strategies make of the recordings that come with the sources: of emulated networks, made by
// 'stripline campaign export' of campaigns of 12 runs with all algorithms of a broadcast.
#include "cli/recording_file.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "base/testing/processes.h"
#include "base/whole_file.h"
#include "optimizer/campaign/replay.h"

namespace stripline::cli {
namespace {

using campaign::Strategy;

class RecordingFileTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const char* source = std::getenv("STRIPLINE_TEST_SOURCE");  // NOLINT(concurrency-mt-unsafe)
    if (source == nullptr) GTEST_SKIP() << "STRIPLINE_TEST_SOURCE is not set";
    path_ = std::filesystem::path(source) / "optimizer/campaign/recordings" / GetParam();
  }

  std::filesystem::path path_;
};

INSTANTIATE_TEST_SUITE_P(Emulated, RecordingFileTest,
                         testing::Values("modern-rdma.jsonl.zst", "cloud-ethernet.jsonl.zst"));

TEST_P(RecordingFileTest, RacingChoosesWellInFewSeconds) {
  const auto text = read_recording_file(path_.string());
  ASSERT_TRUE(text.ok()) << text.error().message();
  const auto recording = campaign::read_recording(*text);
  ASSERT_TRUE(recording.ok()) << recording.error().message();
  const auto play = [&](Strategy strategy) {
    return *campaign::replay(*recording, {.strategy = strategy});
  };
  const auto race = play(Strategy::race);
  EXPECT_LE(race.share, 0.15);
  EXPECT_EQ(race.near, race.choices);
  EXPECT_LE(race.mean_regret, 0.03);
  EXPECT_LE(race.mean_regret, play(Strategy::random).mean_regret);
  EXPECT_LE(race.mean_regret, play(Strategy::halving).mean_regret);
}

TEST_P(RecordingFileTest, DamageIsNoticed) {
  const std::string bytes = *read_whole_file(path_);
  const TempFolder folder;
  const auto read = [&](const std::string& content) {
    const auto path = folder.path() / "recording";
    std::ofstream(path, std::ios::binary) << content;
    return read_recording_file(path.string());
  };
  EXPECT_EQ(*read(bytes), *read_recording_file(path_.string()));
  const auto cut = read(bytes.substr(0, bytes.size() / 2));
  ASSERT_FALSE(cut.ok());
  EXPECT_NE(cut.error().message().find("is cut off"), std::string::npos) << cut.error().message();
  std::string damaged = bytes;
  for (size_t i = 1000; i < 1100; ++i) damaged[i] = static_cast<char>(~damaged[i]);
  EXPECT_FALSE(read(damaged).ok());
  EXPECT_EQ(*read("{}"), "{}");  // it is not compressed
  EXPECT_FALSE(read_recording_file((folder.path() / "none").string()).ok());
}

}  // namespace
}  // namespace stripline::cli
