#include "server/store/readers.h"

#include <chrono>
#include <future>

#include <gtest/gtest.h>

namespace stripline::server {
namespace {

std::vector<std::unique_ptr<int>> connections(int number) {
  std::vector<std::unique_ptr<int>> made;
  for (int i = 0; i < number; ++i) made.push_back(std::make_unique<int>(i));
  return made;
}

TEST(Readers, AllAreTakenWhenTheLastIsGivenBack) {
  Readers<int> readers(connections(2));
  auto one = readers.take();
  auto all = std::async(std::launch::async, [&] { return readers.take_all().size(); });
  EXPECT_EQ(all.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  one.reset();
  EXPECT_EQ(all.get(), 2U);
}

TEST(Readers, AllOrNoneAreTakenWithoutWaiting) {
  Readers<int> readers(connections(2));
  {
    const auto one = readers.take();
    EXPECT_TRUE(readers.try_take_all().empty());
    EXPECT_NE(*readers.take(), *one) << "the other one is free";
  }
  EXPECT_EQ(readers.try_take_all().size(), 2U);
  EXPECT_EQ(readers.try_take_all().size(), 2U) << "they were given back";
}

}  // namespace
}  // namespace stripline::server
