#include "agent/model_offer.h"

#include <gtest/gtest.h>

#include "base/pushed_models.h"
#include "base/testing/processes.h"
#include "optimizer/model/model_fixture.h"
#include "optimizer/model/model_json.h"

namespace stripline::agent {
namespace {

class ModelOfferTest : public testing::Test {
 protected:
  ModelOfferTest() {
    model_ = model::example_model();
    model_.fingerprint = {{"fabric", {"tcp", model::MatchRule::hard}},
                          {"fabric.provider", {"tcp;ofi_rxm", model::MatchRule::hard}},
                          {"cpu.architecture", {"x86_64", model::MatchRule::hard}},
                          {"cpu.model", {"another", model::MatchRule::soft}}};
    node_.fingerprint = {{"cpu.architecture", "x86_64"}, {"cpu.model", "this"}};
    node_.fabrics = {"tcp", "shm"};
  }

  ModelOffer offer() const {
    return {"models/my-tcp/versions/3", *model::content_sha256(model_), "stable", "tcp",
            std::make_shared<const std::string>(model::to_json(model_)->dump(2))};
  }

  std::string rejection(const ModelOffer& offer) {
    const Status accepted = accept_offer(offer, folder_.path(), node_, {});
    return accepted.ok() ? "" : accepted.error().message();
  }

  TempFolder folder_;
  model::TunedModel model_;
  Description node_;
};

TEST_F(ModelOfferTest, AGoodOneIsInForce) {
  ASSERT_EQ(rejection(offer()), "");
  const auto found = find_pushed_model({folder_.path()}, "tcp");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->name, "my-tcp@3");
  EXPECT_TRUE(model::load_model(found->file).ok());
  EXPECT_EQ(installed_models(folder_.path(), node_),
            (std::map<std::string, std::string>{{"tcp", offer().sha256.substr(0, 12)}}));
  // Where it is there, it need not come again.
  ModelOffer again = offer();
  again.content = std::make_shared<const std::string>();
  EXPECT_EQ(rejection(again), "");
  again.sha256 = std::string(64, '0');
  EXPECT_NE(rejection(again), "");
}

TEST_F(ModelOfferTest, OneThatIsAlteredIsRejected) {
  ModelOffer altered = offer();
  altered.sha256 = std::string(64, '0');
  EXPECT_NE(rejection(altered).find("hash"), std::string::npos);
  altered = offer();
  altered.content =
      std::make_shared<const std::string>(altered.content->substr(0, altered.content->size() / 2));
  EXPECT_NE(rejection(altered), "");
  EXPECT_FALSE(find_pushed_model({folder_.path()}, "tcp"));
}

TEST_F(ModelOfferTest, OneOfAnotherMachineIsRejected) {
  node_.fingerprint["cpu.architecture"] = "riscv64";
  const std::string why = rejection(offer());
  EXPECT_NE(why.find("cpu.architecture was 'x86_64', here it is 'riscv64'"), std::string::npos)
      << why;
  EXPECT_FALSE(find_pushed_model({folder_.path()}, "tcp"));
}

TEST_F(ModelOfferTest, OneOfAnotherNetworkIsRejected) {
  ModelOffer other = offer();
  other.fabric = "shm";
  EXPECT_NE(rejection(other).find("'shm'"), std::string::npos);
  other.fabric = "verbs";
  EXPECT_NE(rejection(other).find("cannot open"), std::string::npos);
}

TEST_F(ModelOfferTest, NamesThatAreNoNamesMakeNoFiles) {
  for (const char* name : {"", "tcp", "models/../x/versions/1", "models/tcp/versions/a/../b"}) {
    ModelOffer other = offer();
    other.version = name;
    EXPECT_NE(rejection(other), "") << name;
  }
}

}  // namespace
}  // namespace stripline::agent
