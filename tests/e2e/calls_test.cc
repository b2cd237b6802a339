// RPCs between real processes, whose programs lie at different addresses.
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/exit_codes.h"
#include "base/testing/processes.h"

namespace stripline {
namespace {

Finished ask(const std::string& same_node, const std::string& argument = {}) {
  std::vector<std::string> command = {program("stripline-run"),
                                      "-n",
                                      "3",
                                      "--fabric",
                                      "tcp",
                                      "--same-node",
                                      same_node,
                                      "--segment",
                                      "1M",
                                      "--",
                                      program("ask")};
  if (!argument.empty()) command.push_back(argument);
  const TempFolder folder;
  return Program(folder, "job", std::move(command)).finish(60);
}

TEST(Calls, FunctionsAreFoundInOtherProcesses) {
  for (const char* const same_node : {"mapped", "network"}) {
    const Finished job = ask(same_node);
    EXPECT_EQ(job.exit_code, kExitOk) << job.err;
    EXPECT_EQ(lines_with(job.out, "addresses, all answers right"), 3U) << job.out;
  }
}

TEST(Calls, ExceptionsReachTheCallersProcess) {
  const Finished job = ask("mapped", "--throw");
  EXPECT_EQ(job.exit_code, kExitOk) << job.err;
  EXPECT_EQ(lines_with(job.out, "an rpc has thrown on rank 0: not today"), 3U) << job.out;
}

}  // namespace
}  // namespace stripline
