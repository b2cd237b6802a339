#include "runtime/rma/heap_log.h"

#include <string>

#include <gtest/gtest.h>

namespace stripline::rma {
namespace {

constexpr CallSite kMade{"made.cc", 10};
constexpr CallSite kOther{"other.cc", 20};
constexpr CallSite kFreed{"freed.cc", 30};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(HeapLog, AccessesWithinOneArrayAreFine) {
  HeapLog log;
  log.allocated(64, 100, kMade);
  log.allocated(192, 8, kMade);
  EXPECT_EQ(log.complaint(64, 100), "");
  EXPECT_EQ(log.complaint(64, 1), "");
  EXPECT_EQ(log.complaint(163, 1), "");
  EXPECT_EQ(log.complaint(192, 8), "");
}

TEST(HeapLog, WhatRunsOverAnEndIsNamedWithBothArrays) {
  HeapLog log;
  log.allocated(0, 100, kMade);
  log.allocated(128, 64, kOther);
  // The rest of the last cache line belongs to no one.
  const std::string little = log.complaint(96, 8);
  EXPECT_TRUE(has(little,
                  "begins in the array of 100 bytes at offset 0 that was allocated at "
                  "made.cc:10, and runs 4 bytes beyond its end"))
      << little;
  EXPECT_FALSE(has(little, "other.cc")) << little;
  const std::string across = log.complaint(0, 129);
  EXPECT_TRUE(has(across,
                  "runs 29 bytes beyond its end, into the array of 64 bytes at offset 128 "
                  "that was allocated at other.cc:20"))
      << across;
}

TEST(HeapLog, FreedMemoryIsNamedWithBothPlacesUntilItIsAllocatedAgain) {
  HeapLog log;
  log.allocated(0, 100, kMade);
  log.allocated(128, 100, kMade);
  EXPECT_EQ(log.freed(0, kFreed), 100U);
  EXPECT_EQ(log.freed(0, kFreed), 0U);
  EXPECT_EQ(log.freed(128, kFreed), 100U);
  const std::string gone = log.complaint(8, 8);
  EXPECT_TRUE(has(gone,
                  "lies in memory that was freed: in an array of 100 bytes at offset 0 that "
                  "was allocated at made.cc:10, and given back at freed.cc:30"))
      << gone;
  // Over the second half of the first and all of the second.
  log.allocated(64, 300, kOther);
  EXPECT_EQ(log.complaint(200, 8), "");
  EXPECT_TRUE(has(log.complaint(8, 8), "lies in no symmetric array"));
  log.freed(64, kFreed);
  EXPECT_TRUE(has(log.complaint(200, 8), "an array of 300 bytes at offset 64"));
}

TEST(HeapLog, WhatWasNeverAllocatedIsNamedByItsNeighbour) {
  HeapLog log;
  EXPECT_TRUE(has(log.complaint(0, 1), "lies in no symmetric array: there is none now"));
  log.allocated(64, 10, kMade);
  EXPECT_TRUE(has(log.complaint(0, 1), "the first one begins at offset 64"));
  EXPECT_TRUE(has(log.complaint(80, 1), "it begins 6 bytes behind the array of 10 bytes"));
  log.allocated(128, 0, kMade);
  EXPECT_TRUE(has(log.complaint(128, 1), "it begins 0 bytes behind the array of 0 bytes"));
}

}  // namespace
}  // namespace stripline::rma
