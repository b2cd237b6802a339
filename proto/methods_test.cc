#include "proto/methods.h"

#include <set>
#include <string>

#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include "stripline/v1/access.pb.h"
#include "stripline/v1/agents.pb.h"
#include "stripline/v1/campaigns.pb.h"
#include "stripline/v1/fleet.pb.h"
#include "stripline/v1/models.pb.h"
#include "stripline/v1/operations.pb.h"

namespace stripline {
namespace {

TEST(Methods, ARequestSaysWhichIsMeant) {
  EXPECT_EQ(path_of(method_taking(*v1::GetNodeRequest::descriptor())),
            "/stripline.v1.Fleet/GetNode");
  EXPECT_EQ(path_of(method_taking(*v1::ResultsChunk::descriptor())),
            "/stripline.v1.Campaigns/ImportResults");
}

// What both sides of a call rely on: no two methods of a file take the same message.
TEST(Methods, NoTwoTakeTheSame) {
  for (const auto* file :
       {v1::AgentMessage::descriptor()->file(), v1::Campaign::descriptor()->file(),
        v1::Model::descriptor()->file(), v1::Operation::descriptor()->file(),
        v1::Node::descriptor()->file(), v1::Token::descriptor()->file()}) {
    std::set<std::string> taken;
    for (int s = 0; s < file->service_count(); ++s) {
      for (int m = 0; m < file->service(s)->method_count(); ++m) {
        const auto& method = *file->service(s)->method(m);
        EXPECT_EQ(method.input_type()->file(), file) << method.full_name();
        EXPECT_TRUE(taken.insert(method.input_type()->full_name()).second) << method.full_name();
      }
    }
    EXPECT_FALSE(taken.empty()) << file->name();
  }
}

TEST(MethodsDeathTest, AMessageThatNoneTakes) {
  EXPECT_DEATH(method_taking(*v1::Node::descriptor()), "");
}

}  // namespace
}  // namespace stripline
