#include "runtime/rma/keepers.h"

#include <cstdint>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace stripline::rma {
namespace {

class Recorder final : public Keeper {
 public:
  explicit Recorder(Keepers& keepers) : Keeper(keepers) {}
  using Keeper::keep;
  using Keeper::keep_nothing;

  /// The stores that it was notified of since the last call: "rank:offset+bytes ...".
  std::string notices() { return std::exchange(notices_, {}); }

 private:
  void stored(rank_t rank, uint64_t offset, uint64_t bytes) override {
    notices_ += (notices_.empty() ? "" : " ") + std::to_string(rank) + ":" +
                std::to_string(offset) + "+" + std::to_string(bytes);
  }
  std::string notices_;
};

TEST(Keepers, LearnOfStoresIntoWhatTheyKeep) {
  Keepers keepers(4);
  Recorder one(keepers);
  Recorder other(keepers);
  keepers.stored(1, 0, 100);  // no one keeps anything
  EXPECT_FALSE(keepers.any());
  one.keep(1, 100, 200);
  one.keep(1, 400, 500);  // the range in between counts as kept, too
  other.keep(2, 0, 8);
  EXPECT_TRUE(keepers.any());
  keepers.stored(1, 0, 100);
  keepers.stored(1, 500, 8);
  keepers.stored(0, 150, 8);
  EXPECT_EQ(one.notices(), "");
  keepers.stored(1, 99, 2);
  keepers.stored(1, 300, 8);
  keepers.stored(2, 4, 100);
  EXPECT_EQ(one.notices(), "1:99+2 1:300+8");
  EXPECT_EQ(other.notices(), "2:4+100");
  one.keep_nothing();
  EXPECT_FALSE(one.keeps());
  EXPECT_TRUE(other.keeps());
  keepers.stored(1, 150, 8);
  EXPECT_EQ(one.notices(), "");
}

// What was there before may have been read while the store was in flight.
TEST(Keepers, LearnAgainWhenStoresMayBeComplete) {
  Keepers keepers(4);
  Recorder keeper(keepers);
  keeper.keep(0, 0, 1);
  keeper.keep_nothing();
  keepers.stored(1, 100, 8);
  keepers.stored(1, 200, 8);
  keepers.stored(3, 0, 8);
  keeper.keep(1, 0, 1000);
  EXPECT_EQ(keeper.notices(), "");
  keepers.stores_complete();
  EXPECT_EQ(keeper.notices(), "1:100+108");  // others may still be in flight
  keepers.stores_complete();
  EXPECT_EQ(keeper.notices(), "1:100+108");
  keepers.no_stores_pending();
  EXPECT_EQ(keeper.notices(), "1:100+108");
  keepers.stores_complete();
  EXPECT_EQ(keeper.notices(), "");
}

// Where stores of before the first copy went is not known.
TEST(Keepers, LearnOfAllThatMayHaveBeenStoredBeforeTheFirstCopy) {
  Keepers keepers(2);
  Recorder keeper(keepers);
  keepers.stored(1, 100, 8);
  keeper.keep(1, 500, 600);
  keepers.stores_complete();
  EXPECT_EQ(keeper.notices(), "1:0+" + std::to_string(INT64_MAX));
  keepers.no_stores_pending();
  EXPECT_EQ(keeper.notices(), "1:0+" + std::to_string(INT64_MAX));
  keepers.stored(1, 100, 8);
  keepers.stores_complete();
  EXPECT_EQ(keeper.notices(), "");
}

TEST(Keepers, KnowWhenNothingWasPendingAtTheFirstCopy) {
  Keepers keepers(2);
  Recorder keeper(keepers);
  keepers.stored(1, 100, 8);
  keepers.no_stores_pending();
  keeper.keep(1, 0, 1000);
  keepers.stores_complete();
  EXPECT_EQ(keeper.notices(), "");
}

TEST(Keepers, MayGo) {
  Keepers keepers(2);
  Recorder stays(keepers);
  {
    Recorder goes(keepers);
    goes.keep(1, 0, 10);
  }
  EXPECT_FALSE(keepers.any());
  stays.keep(1, 0, 10);
  keepers.stored(1, 0, 1);
  EXPECT_EQ(stays.notices(), "1:0+1");
}

}  // namespace
}  // namespace stripline::rma
