#include "base/command_output.h"

#include <gtest/gtest.h>

namespace stripline {
namespace {

TEST(CommandOutput, IsWhatAProgramPrints) {
  const auto text = output_of({"sh", "-c", "echo a; echo $X; echo c >&2"}, 30, {{"X", "b"}});
  ASSERT_TRUE(text.ok()) << text.error().message();
  EXPECT_EQ(*text, "a\nb\n");
  EXPECT_EQ(*output_of({"true"}), "");
}

TEST(CommandOutput, FailuresSayWhatTheProgramSays) {
  const auto failed = output_of({"sh", "-c", "echo a; echo wrong >&2; exit 3"});
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().code(), ErrorCode::failed_precondition);
  EXPECT_EQ(failed.error().message(), "'sh' exited with code 3: wrong\n");
  EXPECT_EQ(output_of({"/no/such/program"}).error().code(), ErrorCode::not_found);
  const auto late = output_of({"sleep", "60"}, 0.1);
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.error().code(), ErrorCode::deadline_exceeded);
  EXPECT_TRUE(late.error().message().starts_with("'sleep': ")) << late.error().message();
}

}  // namespace
}  // namespace stripline
