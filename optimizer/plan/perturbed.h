// A message with one parameter at another end of its interval. For the files of this folder.
#pragma once

#include <array>

#include "optimizer/cost/link_costs.h"
#include "optimizer/plan/decision.h"

namespace stripline::plan::detail {

/// What a computation may take longer, as a share, on strips or tiles than on all of its data at
/// once: a loop begins once for each of them, and neither caches nor compilers care for parts as
/// for the whole. No campaign knows the body of a loop; a site that measured both does (guard.h).
inline constexpr double kBodyDoubt = 0.05;
/// The same of tiles of many regions: their rows are shorter, and lie elsewhere than in the array.
inline constexpr double kScatteredBodyDoubt = 0.25;

/// By what factor an estimated computation may be off, beside what the primitives it is made of
/// are: how many operations a loop has does not say how they go together.
inline constexpr double kEstimateDoubt = 1.5;
constexpr double estimate_factor(cost::Corner corner) {
  return corner == cost::Corner::low    ? 1 / kEstimateDoubt
         : corner == cost::Corner::high ? kEstimateDoubt
                                        : 1;
}

/// Sources of a message that a rank sends; Source::serve is of those that it serves.
inline constexpr std::array kMessageSources = {Source::issue, Source::latency, Source::gap,
                                               Source::bandwidth, Source::retire};

/// `nominal` with one source at the end of its interval that `end` has.
inline cost::MessageCosts perturbed(const cost::MessageCosts& nominal,
                                    const cost::MessageCosts& end, Source source) {
  cost::MessageCosts message = nominal;
  switch (source) {
    case Source::issue:
      message.o_base = end.o_base;
      message.o_per_byte = end.o_per_byte;
      break;
    case Source::latency:
      message.L = end.L;
      break;
    case Source::gap:
      message.g = end.g;
      break;
    case Source::bandwidth:
      message.G = end.G;
      break;
    case Source::retire:
      message.r_base = end.r_base;
      message.r_per_byte = end.r_per_byte;
      message.r_saved = end.r_saved;
      break;
    case Source::serve:
      message.s_base = end.s_base;
      message.s_per_byte = end.s_per_byte;
      break;
    case Source::buffers:
    case Source::overhead:
    case Source::compute:
    case Source::regions:
    case Source::turns:
    case Source::body:
    case Source::composition:
      break;  // not of a message
  }
  return message;
}

/// A message's parameters at some ends of their intervals; `at_corner` has all of them there.
inline cost::MessageCosts at_ends(const cost::MessageCosts& nominal,
                                  const cost::MessageCosts& at_corner, const Ends& ends) {
  return ends.only ? perturbed(nominal, at_corner, *ends.only) : at_corner;
}

}  // namespace stripline::plan::detail
