// Results that a test cannot go on without. Both end the function they are in, which returns
// nothing, when there is an error, which the failure names.
#pragma once

#include <utility>

#include <gtest/gtest.h>

#include "base/result.h"

/// Fails if `expr`, a Status or a Result, is an error.
#define ASSERT_OK(expr)                                                       \
  do {                                                                        \
    const auto asserted_status_ = (expr);                                     \
    ASSERT_TRUE(asserted_status_.ok()) << asserted_status_.error().message(); \
  } while (false)

/// `ASSERT_OK_AND_ASSIGN(const auto x, f());` binds the value of a Result.
#define ASSERT_OK_AND_ASSIGN(lhs, expr) \
  ASSERT_OK_AND_ASSIGN_(STRIPLINE_CONCAT_(asserted_result_, __LINE__), lhs, expr)
// `lhs` is a declaration and cannot be parenthesised. NOLINTBEGIN(bugprone-macro-parentheses)
#define ASSERT_OK_AND_ASSIGN_(tmp, lhs, expr)     \
  auto tmp = (expr);                              \
  ASSERT_TRUE(tmp.ok()) << tmp.error().message(); \
  lhs = std::move(tmp).value()
// NOLINTEND(bugprone-macro-parentheses)
