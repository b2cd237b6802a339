#include "server/store/storage_health.h"

#include <gtest/gtest.h>

namespace stripline::server {
namespace {

constexpr size_t kLarge = size_t{1} << 20;
const Error kFull(ErrorCode::resource_exhausted, "disk full");
const Error kGone(ErrorCode::unavailable, "no connection");

TEST(StorageHealth, BeginsWithTheFirstStepThatCannotBeStored) {
  StorageHealth health;
  EXPECT_EQ(health.outage(), std::nullopt);
  health.note_step(kGone, 10, 5);
  health.note_step(kFull, 10, 9);
  EXPECT_EQ(health.outage(), (StorageOutage{5, "disk full"}));
}

TEST(StorageHealth, EndsWithAnyStepWhereRoomIsNotWhatIsMissing) {
  StorageHealth health;
  health.note_step(kGone, kLarge, 5);
  health.note_step({}, 10, 6);
  EXPECT_EQ(health.outage(), std::nullopt);
}

// A heartbeat fits where a campaign does not.
TEST(StorageHealth, LastsBeyondSmallStepsWhereRoomIsMissing) {
  StorageHealth health;
  health.note_step(kFull, kLarge, 5);
  health.note_step({}, 10, 6);
  EXPECT_EQ(health.outage(), (StorageOutage{5, "disk full"}));
  EXPECT_EQ(health.trial_bytes(), kLarge);
  health.note_trial(kFull);
  EXPECT_TRUE(health.outage());
  health.note_trial({});
  EXPECT_EQ(health.outage(), std::nullopt);
  health.note_step({}, 10, 8);
  EXPECT_EQ(health.outage(), std::nullopt);
}

TEST(StorageHealth, EndsWithAStepAsLargeAsTheOneThatFailed) {
  StorageHealth health;
  health.note_step(kFull, kLarge, 5);
  health.note_step({}, kLarge - 1, 6);
  EXPECT_TRUE(health.outage());
  health.note_step({}, kLarge, 7);
  EXPECT_EQ(health.outage(), std::nullopt);
}

TEST(StorageHealth, DoesNotCountWhatIsStoredAlready) {
  StorageHealth health;
  health.note_step(Error(ErrorCode::already_exists, "a batch of that name"), 10, 5);
  EXPECT_EQ(health.outage(), std::nullopt);
}

TEST(StorageHealth, TriesATextOfTheSizeAskedFor) { EXPECT_EQ(trial_text(1000).size(), 1000U); }

}  // namespace
}  // namespace stripline::server
