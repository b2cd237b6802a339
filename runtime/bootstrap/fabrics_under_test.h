// The fabrics that tests of the layers above run on: each test is written once and proves itself on
// a real provider and on the emulated fabric's virtual clock.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "runtime/bootstrap/thread_group.h"

namespace stripline::bootstrap {

struct FabricUnderTest {
  std::string label;
  std::string fabric;
  std::string clock;
};

inline std::vector<FabricUnderTest> fabrics_under_test() {
  return {{"tcp", "tcp", "real"},
          {"emulated_vapi", "emulated:opteron-vapi,compute=none", "virtual"},
          {"emulated_lapi", "emulated:power5-lapi,compute=none", "virtual"}};
}

inline void PrintTo(const FabricUnderTest& fabric, std::ostream* out) { *out << fabric.label; }

/// A group on this fabric with a small segment.
inline ThreadGroupOptions group_on(const FabricUnderTest& fabric, rank_t ranks) {
  ThreadGroupOptions options;
  options.ranks = ranks;
  options.context.fabric = fabric.fabric;
  options.context.clock = fabric.clock;
  options.context.segment_bytes = size_t{8} << 20;
  return options;
}

/// gtest's name for the parameter.
struct FabricLabel {
  template <typename Info>
  std::string operator()(const Info& info) const {
    return info.param.label;
  }
};

}  // namespace stripline::bootstrap
