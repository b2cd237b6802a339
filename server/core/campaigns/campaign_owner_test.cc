#include "server/core/campaigns/campaign_owner.h"

#include <gtest/gtest.h>

namespace stripline::server {
namespace {

Caller caller(const std::string& name, Role role) {
  Caller made;
  made.name = name;
  made.role = role;
  return made;
}

CampaignRecord campaign_of(const std::string& owner) {
  CampaignRecord record;
  record.number = 7;
  record.owner = owner;
  return record;
}

std::string reason(const std::optional<Problem>& refusal) { return refusal ? refusal->reason : ""; }

TEST(CampaignOwner, AnOperatorChangesOwnCampaigns) {
  const Caller alice = caller("users/alice", Role::operator_);
  EXPECT_FALSE(refusal_of_change(alice, campaign_of("users/alice"), "cancel"));
  for (const char* owner : {"users/bob", "users/oidc:alice", "server", ""}) {
    EXPECT_EQ(reason(refusal_of_change(alice, campaign_of(owner), "cancel")), "NOT_OWNER") << owner;
  }
}

TEST(CampaignOwner, PublishersAndAdministratorsChangeAll) {
  for (const Role role : {Role::publisher, Role::admin}) {
    for (const char* owner : {"users/bob", "server", ""}) {
      EXPECT_FALSE(refusal_of_change(caller("users/p", role), campaign_of(owner), "delete"));
    }
  }
}

// A caller whose name were empty is not the owner of what has none.
TEST(CampaignOwner, WhatHasNoOwnerIsNobodys) {
  EXPECT_EQ(reason(refusal_of_change(caller("", Role::operator_), campaign_of(""), "label")),
            "NOT_OWNER");
}

TEST(CampaignOwner, TheMessageSaysWhoseItIsAndWhoMay) {
  const Caller alice = caller("users/alice", Role::operator_);
  const auto message = [&](const char* owner) {
    return refusal_of_change(alice, campaign_of(owner), "pause")->message;
  };
  EXPECT_EQ(
      message("users/bob"),
      "campaigns/c7 belongs to users/bob, and users/alice has the role operator, which "
      "may change only its own campaigns; users/bob, a publisher or an administrator may pause it");
  EXPECT_EQ(message("server"),
            "campaigns/c7 is the server's own, and users/alice has the role operator, which "
            "may change only its own campaigns; a publisher or an administrator may pause it");
  EXPECT_EQ(message(""),
            "campaigns/c7's owner is not recorded, and users/alice has the role operator, which "
            "may change only its own campaigns; a publisher or an administrator may pause it");
}

}  // namespace
}  // namespace stripline::server
