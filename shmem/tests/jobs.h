// Jobs of OpenSHMEM programs, for the tests that start them: on mapped memory, on nodes whose PEs
// map each other's, over tcp, the provider shm, by copies of the kernel, and on an emulated
// network.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/exit_codes.h"
#include "base/testing/processes.h"
#include "base/testing/test_size.h"

namespace stripline {

using Arguments = std::vector<std::string>;
using Variables = std::map<std::string, std::string>;

inline const Arguments kMapped = {};
/// Nodes of two PEs each, for jobs of four.
inline const Arguments kNodes = {"--same-node", "mapped:2"};
inline const Arguments kTcp = {"--same-node", "network"};
inline const Arguments kCma = {"--same-node", "cma"};
inline const Arguments kShm = {"--fabric", "shm", "--same-node", "network"};
inline const Arguments kEmulated = {"--fabric", "emulated:modern-rdma,compute=none", "--clock",
                                    "virtual"};

inline Finished job(int pes, const Arguments& path, const Arguments& command,
                    const Variables& environment = {}) {
  Arguments all = {
      program("stripline-run"), "-n", std::to_string(pes), "--segment", "16M", "--bind", "none"};
  all.insert(all.end(), path.begin(), path.end());
  all.push_back("--");
  all.insert(all.end(), command.begin(), command.end());
  const auto limit_s = static_cast<double>(test_size("STRIPLINE_TEST_JOB_LIMIT_S", 120));
  return run_program(std::move(all), limit_s, environment);
}

/// The command of the program osh_NAME of this folder.
inline Arguments osh(const std::string& name, const Arguments& arguments = {}) {
  Arguments all = {program("osh_" + name)};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return all;
}

/// Programs end by passed() of check.h.
inline void expect_passed(const std::string& name, const Arguments& path,
                          const Arguments& arguments = {}, const Variables& environment = {},
                          const std::vector<int>& jobs_of = {1, 2, 3, 4}) {
  for (const int pes : jobs_of) {
    const Finished ended = job(pes, path, osh(name, arguments), environment);
    EXPECT_EQ(ended.exit_code, kExitOk)
        << name << " of " << pes << " PEs " << (path.empty() ? "" : path[1]) << ": " << ended.err;
    EXPECT_NE(ended.out.find(": passed"), std::string::npos) << ended.out;
    EXPECT_EQ(ended.err, "");
  }
}

inline void expect_passed_on_all(const std::string& name, const Arguments& arguments = {}) {
  for (const auto& path : {kMapped, kTcp, kEmulated}) expect_passed(name, path, arguments);
  expect_passed(name, kCma, arguments, {}, {1, 2, 3});
  expect_passed(name, kNodes, arguments, {}, {4});
  expect_passed(name, kShm, arguments, {}, {3});
}

}  // namespace stripline
