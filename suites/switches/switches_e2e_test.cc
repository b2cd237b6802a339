// stripline-switches as a job of real ranks, on a network that tells its switches.
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/exit_codes.h"
#include "base/testing/processes.h"
#include "runtime/fabric/network_place.h"

namespace stripline::suites {
namespace {

constexpr const char* kTree = "emulated:congested-tree,compute=declared";

std::vector<std::string> command(int ranks, const std::string& fabric,
                                 const std::vector<std::string>& arguments) {
  std::vector<std::string> argv = {program("stripline"),  "run",      "-n",
                                   std::to_string(ranks), "--fabric", fabric};
  if (fabric.starts_with("emulated:")) argv.insert(argv.end(), {"--clock", "virtual"});
  argv.insert(argv.end(), {"--", program("stripline-switches")});
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return argv;
}

Finished job(int ranks, const std::string& fabric, const std::vector<std::string>& arguments,
             const std::map<std::string, std::string>& environment = {}) {
  return run_program(command(ranks, fabric, arguments), 120, environment);
}

TEST(Switches, AreFoundByTheirLatencies) {
  const TempFolder folder;
  const std::string path = folder / "switches.txt";
  const Finished found = job(20, kTree, {"--repetitions", "100", "--out", path});
  ASSERT_EQ(found.exit_code, kExitOk) << found.err;
  EXPECT_NE(found.err.find("20 nodes, 3 distances; of 190 pairs, 190 are as far from each other"),
            std::string::npos)
      << found.err;
  EXPECT_EQ(found.out, "");
  // Four nodes at a switch, four of those at the next one.
  const std::string text = read_file(path);
  const auto switches_of = [&](int node) {
    return fabric::switches_of_host(text, "node" + std::to_string(node), path).value();
  };
  for (const auto& [node, switches] : std::map<int, std::string>{
           {0, "0.0.0"}, {3, "0.0.0"}, {4, "0.0.1"}, {15, "0.0.3"}, {16, "0.1.0"}, {19, "0.1.0"}}) {
    EXPECT_EQ(switches_of(node), switches) << node;
  }
  EXPECT_NE(text.find("# distance 0: 30 pairs"), std::string::npos) << text;

  // Without --out it is the output, the same in every run.
  const Finished printed = job(20, kTree, {"--repetitions", "100"});
  EXPECT_EQ(printed.out, text);
}

TEST(Switches, CannotBeFoundOnOneNode) {
  const Finished alone = job(2, "tcp", {});
  EXPECT_EQ(alone.exit_code, kExitUsage);
  EXPECT_NE(alone.err.find("all ranks are on one node"), std::string::npos) << alone.err;
  EXPECT_EQ(alone.out, "");
}

TEST(Switches, AreNotLostInSilence) {
  const Finished unwritten = job(2, kTree, {"--out", "/no/such/folder/switches.txt"});
  EXPECT_EQ(unwritten.exit_code, kExitUnavailable);
  EXPECT_NE(unwritten.err.find("cannot write '/no/such/folder/switches.txt': No such file"),
            std::string::npos)
      << unwritten.err;
  EXPECT_EQ(job(1, kTree, {"--repetitions", "0"}).exit_code, kExitUsage);
  std::vector<std::string> full = {"/bin/sh", "-c", "exec \"$0\" \"$@\" >/dev/full"};
  for (const std::string& argument : command(2, kTree, {})) full.push_back(argument);
  const Finished lost = run_program(full, 120);
  EXPECT_EQ(lost.exit_code, kExitUnavailable);
  EXPECT_NE(lost.err.find("cannot write to the output"), std::string::npos) << lost.err;
}

TEST(Switches, AreFoundAnewWhateverWasFoundBefore) {
  const TempFolder folder;
  const std::string path = folder / "switches.txt";
  std::ofstream(path) << "half of\n a line";
  const Finished anew = job(3, kTree, {"--out", path}, {{"STRIPLINE_SWITCHES_FILE", path}});
  EXPECT_EQ(anew.exit_code, kExitOk) << anew.err;
  EXPECT_NE(read_file(path).find("node2 0\n"), std::string::npos) << read_file(path);
}

TEST(Switches, AreReadWhenAJobStarts) {
  const TempFolder folder;
  const std::string path = folder / "switches.txt";
  std::ofstream(path) << "node1 0.0\nnode2\n";
  const Finished malformed = run_program({program("stripline-bench"), "run", "micro.latency",
                                          "--variant", "get", "--runs", "1", "--fabric", "tcp"},
                                         120, {{"STRIPLINE_SWITCHES_FILE", path}});
  EXPECT_EQ(malformed.exit_code, kExitBadInput);
  EXPECT_NE(malformed.err.find(path + ", line 2: expected a host"), std::string::npos)
      << malformed.err;
}

}  // namespace
}  // namespace stripline::suites
