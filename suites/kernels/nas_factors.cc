#include "suites/kernels/nas_factors.h"

#include <string>

namespace stripline::suites {
namespace {

constexpr const char* kClassFactor = "class";

}  // namespace

experiment::Factor nas_class_factor() {
  experiment::Factor factor;
  factor.name = kClassFactor;
  factor.description = "Problem class of the NAS Parallel Benchmarks.";
  for (const nas::NasClass one : nas::kNasClasses) {
    factor.values.emplace_back(std::string(1, nas::letter(one)));
  }
  return factor;
}

nas::NasClass nas_class_of(const experiment::Point& point) {
  const std::string asked = experiment::text_param(point, kClassFactor).value_or("S");
  for (const nas::NasClass one : nas::kNasClasses) {
    if (asked.size() == 1 && asked[0] == nas::letter(one)) return one;
  }
  return nas::NasClass::s;
}

}  // namespace stripline::suites
