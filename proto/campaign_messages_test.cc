#include "proto/campaign_messages.h"

#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include <google/protobuf/descriptor.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include "optimizer/campaign/spec_json.h"

namespace stripline {
namespace {

using campaign::Spec;
using campaign::SpecField;

template <typename Value>
void set_other(Value& value, int seed) {
  if constexpr (std::is_same_v<Value, std::string>) {
    value = "x" + std::to_string(seed);
  } else if constexpr (std::is_same_v<Value, std::vector<std::string>>) {
    value = {"a" + std::to_string(seed), "b"};
  } else if constexpr (std::is_same_v<Value, bool>) {
    value = true;
  } else if constexpr (std::is_same_v<Value, campaign::Effort>) {
    value = campaign::Effort::full;
  } else if constexpr (std::is_same_v<Value, campaign::WhenBusy>) {
    value = campaign::WhenBusy::refuse;
  } else {
    value = static_cast<Value>(seed);
  }
}

// No member has its default, and no two of a kind are equal.
Spec full_spec() {
  Spec spec;
  int seed = 1;
  for (const SpecField& field : campaign::spec_fields()) {
    std::visit([&](auto member) { set_other(spec.*member, ++seed); }, field.member);
  }
  return spec;
}

TEST(CampaignMessages, TheTableAndTheMessageNameTheSameMembers) {
  const auto& descriptor = *v1::CampaignSpec::descriptor();
  for (const SpecField& field : campaign::spec_fields()) {
    EXPECT_NE(descriptor.FindFieldByName(field.name), nullptr) << field.name;
  }
  EXPECT_EQ(campaign::spec_fields().size(), static_cast<size_t>(descriptor.field_count()));
}

TEST(CampaignMessages, EveryMemberIsCarried) {
  const v1::CampaignSpec message = to_message(full_spec());
  EXPECT_EQ(message.effort(), v1::CampaignSpec::FULL);
  EXPECT_EQ(message.when_busy(), "refuse");
  EXPECT_TRUE(message.race());
  EXPECT_EQ(message.only_nodes_size(), 2);
  EXPECT_EQ(to_json(from_message(message)), to_json(full_spec()));
}

TEST(CampaignMessages, EveryMemberIsStored) {
  const auto read = campaign::spec_from_json(to_json(full_spec()));
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(to_message(*read),
                                                                 to_message(full_spec())));
}

TEST(CampaignMessages, RetriesCarryTheBudgetsAlone) {
  v1::RetryCampaignRequest request;
  const Spec asked = full_spec();
  set_budgets(request, asked);
  // Its name and the budgets.
  EXPECT_EQ(static_cast<size_t>(request.GetDescriptor()->field_count()),
            campaign::spec_budgets().size() + 1);
  Spec changed;
  campaign::change_budgets(changed, budgets_of(request));
  for (const auto budget : campaign::spec_budgets()) {
    EXPECT_GT(changed.*budget, 0);
    EXPECT_EQ(changed.*budget, asked.*budget);
  }
  EXPECT_EQ(changed.width, 0);
}

TEST(CampaignMessages, WhatIsNotSaidOrNotKnownIsSeen) {
  v1::CampaignSpec message;
  EXPECT_EQ(from_message(message).effort, campaign::Effort::unspecified);
  EXPECT_EQ(from_message(message).when_busy, campaign::WhenBusy::wait);
  message.set_when_busy("sleep");
  EXPECT_EQ(from_message(message).when_busy, campaign::WhenBusy::unknown);
}

}  // namespace
}  // namespace stripline
