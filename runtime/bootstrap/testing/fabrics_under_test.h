// The fabrics that tests of the layers above run on: each test is written once and proves itself on
// a real provider, through the mappings of one node, and on the emulated fabric's virtual clock.
#pragma once

#include <cstdlib>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "runtime/bootstrap/testing/scoped_environment.h"
#include "runtime/bootstrap/testing/thread_group.h"

namespace stripline::bootstrap {

struct FabricUnderTest {
  std::string label;
  std::string fabric;
  std::string clock;
  std::string same_node = "network";
  std::string progress = "manual";
};

inline std::vector<FabricUnderTest> fabrics_under_test() {
  return {{"tcp", "tcp", "real"},
          {"emulated_vapi", "emulated:opteron-vapi,compute=none", "virtual"},
          {"emulated_lapi", "emulated:power5-lapi,compute=none", "virtual"},
          {"mapped", "tcp", "real", "mapped"}};
}

/// The fabrics where data go from rank to rank through a network, for tests of how they do.
inline std::vector<FabricUnderTest> networks_under_test() {
  auto fabrics = fabrics_under_test();
  std::erase_if(fabrics, [](const FabricUnderTest& one) { return one.same_node == "mapped"; });
  return fabrics;
}

/// Those and the other networks and paths that this host has, for tests of everything together.
inline std::vector<FabricUnderTest> every_fabric() {
  auto fabrics = fabrics_under_test();
  fabrics.push_back({"net", "net", "real"});
  fabrics.push_back({"shm", "shm", "real"});
  fabrics.push_back({"cma", "tcp", "real", "cma"});
  return fabrics;
}

/// Nodes of two ranks each: some ranks reach each other by loads and stores, and some do not.
inline FabricUnderTest nodes_of_two() { return {"nodes_of_two", "tcp", "real", "mapped:2"}; }

/// every_fabric() and such nodes.
inline std::vector<FabricUnderTest> every_fabric_and_nodes() {
  auto fabrics = every_fabric();
  fabrics.push_back(nodes_of_two());
  return fabrics;
}

inline void PrintTo(const FabricUnderTest& fabric, std::ostream* out) { *out << fabric.label; }

/// A group on this fabric with a small segment. STRIPLINE_TEST_DEBUG=1 runs every test so in debug
/// mode, which correct programs must not notice (scripts/check.sh debug).
inline ThreadGroupOptions group_on(const FabricUnderTest& fabric, rank_t ranks) {
  ThreadGroupOptions options;
  options.ranks = ranks;
  options.context.fabric = fabric.fabric;
  options.context.clock = fabric.clock;
  options.context.same_node = fabric.same_node;
  options.context.progress = fabric.progress;
  options.context.segment_bytes = size_t{8} << 20;
  const char* debug = std::getenv("STRIPLINE_TEST_DEBUG");  // NOLINT(concurrency-mt-unsafe)
  options.context.debug = debug != nullptr && *debug == '1';
  return options;
}

/// For a test that debug mode would change, and no correct program: one that counts what is sent,
/// is about a choice that debug mode does not leave, or makes a mistake. While it lives, group_on()
/// has debug mode off. The reason stands beside it.
class WithoutDebugMode {
 public:
  WithoutDebugMode()
      : environment_(std::map<std::string, std::string>{{"STRIPLINE_TEST_DEBUG", "0"}}) {}

 private:
  const ScopedEnvironment environment_;
};

/// gtest's name for the parameter.
struct FabricLabel {
  template <typename Info>
  std::string operator()(const Info& info) const {
    return info.param.label;
  }
};

}  // namespace stripline::bootstrap
