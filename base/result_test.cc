#include "base/result.h"

#include <string>
#include <tuple>

#include <gtest/gtest.h>

#include "base/exit_codes.h"

namespace stripline {
namespace {

Result<int> half(int n) {
  if (n % 2 != 0) return Error(ErrorCode::invalid_argument, "odd");
  return n / 2;
}

Result<int> quarter(int n) {
  STRIPLINE_ASSIGN_OR_RETURN(const int h, half(n));
  return half(h);
}

Status check(int n) {
  STRIPLINE_RETURN_IF_ERROR(quarter(n));
  return {};
}

TEST(Result, CarriesValueOrError) {
  EXPECT_EQ(*quarter(8), 2);
  EXPECT_EQ(quarter(6).error().message(), "odd");
  EXPECT_TRUE(check(4).ok());
  EXPECT_EQ(check(3).error().code(), ErrorCode::invalid_argument);
}

TEST(Result, ContextGoesInFront) {
  EXPECT_EQ(half(1).error().with_context("rank 3").message(), "rank 3: odd");
}

TEST(Result, RemembersThatAnErrorIsShown) {
  const Error error = half(1).error();
  EXPECT_FALSE(error.shown());
  EXPECT_TRUE(error.as_shown().with_context("rank 3").shown());
  EXPECT_EQ(error.as_shown().message(), "odd");
}

// What the program did not look at is what a person must see.
TEST(ResultDeathTest, WithoutAValueItEndsWithItsMessage) {
  EXPECT_EXIT(quarter(6).value(), ::testing::ExitedWithCode(kExitUsage),
              "error: odd \\(a Result was used without");
  EXPECT_EXIT([[maybe_unused]] const int value = *quarter(6), ::testing::ExitedWithCode(kExitUsage),
              "error: odd");
  EXPECT_EXIT(std::ignore = Result<std::string>(Error(ErrorCode::data_loss, "cut off"))->size(),
              ::testing::ExitedWithCode(kExitBadInput), "error: cut off");
  EXPECT_EXIT(std::ignore = quarter(8).error(), ::testing::ExitedWithCode(kExitFailure),
              "asked for its error");
  EXPECT_EXIT(std::ignore = Status().error(), ::testing::ExitedWithCode(kExitFailure),
              "asked for its error");
}

TEST(ErrorCode, NamesRoundTrip) {
  for (int i = 0; i <= static_cast<int>(ErrorCode::internal); ++i) {
    const auto code = static_cast<ErrorCode>(i);
    EXPECT_EQ(error_code_from_string(to_string(code)), code);
    EXPECT_NE(exit_code_for(code), kExitOk);
  }
  EXPECT_FALSE(error_code_from_string("nonsense").has_value());
}

}  // namespace
}  // namespace stripline
