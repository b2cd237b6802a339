#include "suites/kernels/nas/exchanges/factors.h"

#include <algorithm>
#include <string>

#include "optimizer/experiment/catalogue.h"

namespace stripline::suites {
namespace {

constexpr const char* kClassFactor = "class";
constexpr std::string_view kFine = "fine";

}  // namespace

experiment::Factor nas_class_factor() {
  experiment::Factor factor;
  factor.name = kClassFactor;
  factor.description = "Problem class of the benchmark, from the smallest to the largest.";
  for (const nas::NasClass one : nas::kNasClasses) {
    factor.values.emplace_back(std::string(1, nas::letter(one)));
  }
  return factor;
}

nas::NasClass nas_class_of(const experiment::Point& point) {
  const std::string name = *experiment::text_param(point, kClassFactor);
  return *std::ranges::find(nas::kNasClasses, name.front(), nas::letter);
}

Status check_fine_class(const experiment::Point& point) {
  const nas::NasClass asked = nas_class_of(point);
  if (point.variant != kFine || asked == nas::NasClass::s) return {};
  return Error(ErrorCode::invalid_argument,
               std::string("variant 'fine' would move every element of class ") +
                   nas::letter(asked) +
                   " by an operation of its own and wait for it, millions of them; use class S");
}

bool only_by_name(const experiment::Experiment& experiment, std::string_view variant) {
  return variant == kFine && experiment.name.starts_with(experiment::kNasPrefix);
}

}  // namespace stripline::suites
