// What a planner knows of an emulated network when it knows all: the profile itself. For the tests
// of this folder.
#pragma once

#include <string>

#include <gtest/gtest.h>

#include "optimizer/plan/strip_costs.h"
#include "runtime/fabric/emulated/profile.h"

namespace stripline {

inline model::OperationModel exactly(const fabric::OperationProfile& profile,
                                     uint32_t queue_depth) {
  const auto parameter = [](double value) {
    return model::Parameter{value, value, value, 1, 1, "profile", false};
  };
  model::OperationModel operation;
  for (size_t i = 0; i < profile.segments.size(); ++i) {
    const fabric::ProfileSegment& p = profile.segments[i];
    model::Segment s;
    s.from_bytes = p.from_bytes;
    s.to_bytes =
        i + 1 < profile.segments.size() ? profile.segments[i + 1].from_bytes : uint64_t{1} << 40;
    s.o_base_s = parameter(p.o_base_s);
    s.o_per_byte_s = parameter(p.o_per_byte_s);
    s.L_s = parameter(p.L_s);
    s.g_s = parameter(p.g_s);
    s.G_s_per_byte = parameter(p.G_s_per_byte);
    s.r_base_s = parameter(p.r_base_s);
    s.r_per_byte_s = parameter(p.r_per_byte_s);
    if (profile.needs_target) {
      s.s_base_s = parameter(p.s_base_s);
      s.s_per_byte_s = parameter(p.s_per_byte_s);
    }
    operation.segments.push_back(s);
  }
  operation.queue_depth = parameter(queue_depth);
  return operation;
}

/// The path of a network without jitter.
inline model::PathModel exact_path(const std::string& fabric) {
  const auto profile = fabric::resolve_profile(fabric);
  EXPECT_TRUE(profile.ok());
  model::PathModel path;
  path.get = exactly(profile->profile.get, profile->profile.queue_depth);
  path.put = exactly(profile->profile.put, profile->profile.queue_depth);
  return path;
}

/// The engines poll once for each strip or step.
inline model::StripModel exact_strip(const std::string& fabric) {
  const auto profile = fabric::resolve_profile(fabric);
  EXPECT_TRUE(profile.ok());
  model::StripModel strip;
  const double poll_s = profile->profile.poll_s;
  strip.strip_overhead_s = model::Parameter{poll_s, poll_s, poll_s, 1, 1, "profile", false};
  return strip;
}

inline plan::StripCosts exact_costs(const std::string& fabric) {
  return {exact_path(fabric), std::nullopt, exact_strip(fabric)};
}

}  // namespace stripline
