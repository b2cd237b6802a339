#include "suites/kernels/kernels.h"

namespace stripline::suites {

std::vector<Benchmark> kernel_benchmarks() { return {}; }

}  // namespace stripline::suites
