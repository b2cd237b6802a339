#include "agent/leftovers.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace stripline::agent {
namespace {

TEST(Leftovers, RemovesThoseOfTheJobOnly) {
  // Process ids beyond the kernel's largest, so that no other program's are touched.
  const std::filesystem::path of_job = "/dev/shm/stripline-agent-leftovers-test";
  const std::filesystem::path of_rank = "/dev/shm/999999998:0:1";
  const std::filesystem::path of_other = "/dev/shm/9999999981:0:1";
  for (const auto& path : {of_job, of_rank, of_other}) std::ofstream(path) << "x";
  remove_leftovers("agent-leftovers-test", {999999998});
  EXPECT_FALSE(std::filesystem::exists(of_job));
  EXPECT_FALSE(std::filesystem::exists(of_rank));
  EXPECT_TRUE(std::filesystem::remove(of_other));
  remove_leftovers("agent-leftovers-test", {999999998});  // nothing left: nothing happens
}

}  // namespace
}  // namespace stripline::agent
