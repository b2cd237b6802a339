#include "base/point_record.h"

#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <unistd.h>

#include <gtest/gtest.h>

namespace stripline {
namespace {

TEST(PointRecord, WhatTheWorkerBeginsIsReadByWhoeverStartedIt) {
  auto own = PointRecord::create();
  ASSERT_TRUE(own.ok()) << own.error().message();
  EXPECT_EQ(own->begun(), 0U);
  ::setenv(kPointRecordVariable, std::to_string(::dup(own->file())).c_str(), 1);
  {
    PointRecord workers = PointRecord::from_environment();
    EXPECT_EQ(workers.file(), -1);
    workers.begin(7);
    EXPECT_EQ(workers.begun(), 7U);
  }
  ::unsetenv(kPointRecordVariable);
  EXPECT_EQ(own->begun(), 7U);  // also when the worker is gone
}

TEST(PointRecord, AVariableThatNamesSomethingElseRecordsNothing) {
  ASSERT_EQ(::getenv(kPointRecordVariable), nullptr);
  const int other = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const std::string& text : {std::string(), std::string("x"), std::string("1"),
                                  std::string("987654"), std::to_string(other)}) {
    ::setenv(kPointRecordVariable, text.c_str(), 1);
    PointRecord record = PointRecord::from_environment();
    record.begin(3);
    EXPECT_EQ(record.begun(), 0U) << text;
  }
  ::unsetenv(kPointRecordVariable);
  EXPECT_EQ(::close(other), 0);  // it was left alone
}

}  // namespace
}  // namespace stripline
