#include "base/exception_text.h"

#include <stdexcept>

#include <gtest/gtest.h>

namespace stripline {
namespace {

TEST(ExceptionText, IsWhatAnExceptionSays) {
  EXPECT_EQ(exception_text(std::make_exception_ptr(std::runtime_error("lost"))), "lost");
  EXPECT_EQ(exception_text(std::make_exception_ptr(3)), "something that is not a std::exception");
}

TEST(ExceptionText, IsThatOfTheOneThatIsHandled) {
  std::string text;
  try {
    throw std::logic_error("no such row");
  } catch (...) {
    text = exception_text();
  }
  EXPECT_EQ(text, "no such row");
}

}  // namespace
}  // namespace stripline
