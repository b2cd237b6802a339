#include "proto/grpc_log.h"

#include <gtest/gtest.h>

#include "stripline/v1/agents.pb.h"

namespace stripline {
namespace {

TEST(SilenceGrpc, KeepsQuietAboutAMessageThatIsRefused) {
  silence_grpc();
  testing::internal::CaptureStderr();
  EXPECT_FALSE(v1::EnrollRequest().ParseFromString("\x0a\x02\xc3\x28"));  // no UTF-8
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace stripline
