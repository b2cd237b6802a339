// Repetitions of NAS MG over any exchange.
#pragma once

#include "suites/kernels/measure_kernel.h"
#include "suites/kernels/nas/mg_solver.h"

namespace stripline::suites {

/// Collective. A repetition is the whole benchmark; a sample the time of its iterations, without
/// the start, divided by how many they are. Verified if the norm was right in every repetition.
template <nas::MgExchange E>
experiment::SampleSeries measure_mg(Session& session, const experiment::StopRule& rule,
                                    nas::MgShare& share, E& exchange) {
  const size_t iterations = share.problem().iterations;
  KernelParts parts;
  parts.prepare = [&](uint64_t) { nas::start_mg(share, exchange); };
  parts.run = [&] {
    for (size_t i = 0; i < iterations; ++i) nas::iterate_mg(share, exchange);
  };
  parts.verify = [&](uint64_t) { return nas::finish_mg(share, exchange).verified; };
  parts.scale = 1 / static_cast<double>(iterations);
  return measure_kernel(session, rule, parts);
}

}  // namespace stripline::suites
