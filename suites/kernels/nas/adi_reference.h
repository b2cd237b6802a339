// The problem classes of the NAS benchmarks BT and SP, and the results that verify a run.
#pragma once

#include <span>

#include "suites/kernels/nas/adi_equations.h"
#include "suites/kernels/nas/nas_class.h"

namespace stripline::suites::nas {

/// Root mean squares over the grid's inner points, of each component.
struct AdiNorms {
  AdiVector residual{};  ///< Norms of the right-hand side, a unit of time.
  AdiVector error{};     ///< Norms of u minus the exact solution.
};

struct AdiClass {
  NasClass problem_class;
  int points;      ///< In each direction.
  int iterations;  ///< Time steps.
  double dt;
  AdiNorms reference;
};

/// In the order of their sizes. The values are those of the specification's implementation, NPB 3.
std::span<const AdiClass> bt_classes();
std::span<const AdiClass> sp_classes();

/// The class among these; nothing where none is listed.
const AdiClass* find_class(std::span<const AdiClass> classes, NasClass problem_class);

/// The largest relative deviation from the reference among the ten norms; infinity where one is no
/// number.
double largest_deviation(const AdiClass& expected, const AdiNorms& norms);

/// True if no norm deviates by more than the 1e-8 that the specification allows.
bool verify(const AdiClass& expected, const AdiNorms& norms);

}  // namespace stripline::suites::nas
