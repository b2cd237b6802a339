// Rules by which the sample table (sample_table.h) takes the series of an experiment: what the fits
// read of it, and what is checked.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "optimizer/experiment/catalogue.h"

namespace stripline::fit {

/// The largest count that a factor may be: integers up to 2^53 are exact in a double.
inline constexpr double kLargestCount = 9007199254740992.0;

/// A factor that the fit reads: a whole number, or one of some names.
struct FactorRule {
  const char* name;
  double least = 0;
  double most = kLargestCount;
  std::vector<std::string> names{};    ///< not empty: it is a name
  const char* only_variant = nullptr;  ///< of others it is not read
};

/// What a sample is, which others are left out for.
enum class SampleValues { times, positive_times, differences };

/// An experiment of the catalogue, whose variants are all read.
struct SampleRule {
  const experiment::Known* known;
  std::vector<FactorRule> factors;
  SampleValues values = SampleValues::times;
};

/// The names of the first `count` enumerators.
template <typename Enum>
std::vector<std::string> enumerator_names(size_t count) {
  std::vector<std::string> names;
  for (size_t i = 0; i < count; ++i) names.emplace_back(to_string(static_cast<Enum>(i)));
  return names;
}

}  // namespace stripline::fit
