// Repetitions of NAS BT and SP over any exchange.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "suites/kernels/measure_kernel.h"
#include "suites/kernels/nas/adi_solver.h"

namespace stripline::suites {

/// Time steps whose norms are compared with those of one rank, because later ones undo what goes
/// wrong in these.
inline constexpr int kFirstTimeSteps = 3;

/// The relative deviation that is allowed there. Other orders of summation make up 1e-14.
inline constexpr double kFirstTolerance = 1e-12;

/// The exchange of one rank, which has nothing to exchange.
class AdiNoTransfers {
 public:
  void copy_faces(nas::AdiShare& share) {
    const int cells = share.layout().partition().cells_per_axis();
    for (int cell = 0; cell < cells; ++cell) share.rhs(cell);
  }
  template <typename Body>
  void sweep(const nas::AdiSweepStep& step, Body&& body) {
    body(size_t{0}, step.lines, nullptr, nullptr);
  }
  void sum(std::span<double>) {}
};

/// The norms after the first time steps, as one rank computes them. It takes the memory of the
/// whole problem.
template <nas::AdiSweeps Sweeps>
nas::AdiNorms first_norms(const nas::AdiClass& problem) {
  const nas::AdiLayout layout(nas::AdiPartition::create(problem.points, 1, 0).value(),
                              Sweeps::kWidths);
  std::vector<double> memory(layout.shared_doubles());
  nas::AdiShare share(layout, problem.dt, memory);
  Sweeps sweeps(share);
  AdiNoTransfers none;
  for (int step = 0; step < kFirstTimeSteps; ++step) nas::adi_iterate(share, sweeps, none);
  return nas::adi_norms(share, problem.dt, none);
}

/// Collective. A repetition is the whole benchmark; a sample the time of its time steps after the
/// first ones, divided by how many they are. Verified if the norms were right in every repetition:
/// after the first time steps those of one rank, which rank 0 computes once; in the end those that
/// are published.
template <nas::AdiSweeps Sweeps, nas::AdiExchange E>
experiment::SampleSeries measure_adi(Session& session, const experiment::StopRule& rule,
                                     const nas::AdiClass& problem, nas::AdiShare& share,
                                     E& exchange) {
  Context& ctx = session.context();
  Sweeps sweeps(share);
  nas::AdiNorms first;
  if (ctx.rank_me() == 0) first = first_norms<Sweeps>(problem);
  first = ctx.broadcast(first, 0);

  bool began_well = false;
  const int timed = problem.iterations - kFirstTimeSteps;
  KernelParts parts;
  parts.prepare = [&](uint64_t) {
    ctx.barrier();
    share.initialise();
    ctx.barrier();
    for (int step = 0; step < kFirstTimeSteps; ++step) {
      nas::adi_iterate(share, sweeps, exchange);
    }
    const nas::AdiNorms norms = nas::adi_norms(share, problem.dt, exchange);
    began_well = nas::largest_deviation({.reference = first}, norms) <= kFirstTolerance;
  };
  parts.run = [&] {
    for (int step = 0; step < timed; ++step) nas::adi_iterate(share, sweeps, exchange);
  };
  parts.verify = [&](uint64_t) {
    const nas::AdiNorms norms = nas::adi_norms(share, problem.dt, exchange);
    return began_well && nas::verify(problem, norms);
  };
  parts.scale = 1.0 / timed;
  return measure_kernel(session, rule, parts);
}

}  // namespace stripline::suites
