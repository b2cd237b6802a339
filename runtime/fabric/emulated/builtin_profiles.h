// The profiles/*.json files, compiled in so that a program needs no data folder.
#pragma once

#include <span>
#include <string_view>

namespace stripline::fabric {

struct BuiltinProfile {
  std::string_view name;
  std::string_view json;
};

std::span<const BuiltinProfile> builtin_profiles();

}  // namespace stripline::fabric
