// Conveyors on OpenSHMEM: oshrun -n N conveyors BATCHES ITEMS.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <shmem.h>

#include "suites/compare/irregular_conveyors.h"

namespace {

/// All processes of an OpenSHMEM program.
class ShmemRanks {
 public:
  size_t rank() const { return static_cast<size_t>(shmem_my_pe()); }
  size_t ranks() const { return static_cast<size_t>(shmem_n_pes()); }
  double now_s() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }
  void barrier() { shmem_barrier_all(); }

  /// Rank 0 gets the maximum over the ranks of each element.
  void longest(std::span<double> times) {
    auto* const mine = static_cast<double*>(shmem_malloc(times.size_bytes()));
    std::ranges::copy(times, mine);
    shmem_barrier_all();
    for (int pe = 1; pe < shmem_n_pes() && shmem_my_pe() == 0; ++pe) {
      for (size_t i = 0; i < times.size(); ++i) {
        times[i] = std::max(times[i], shmem_double_g(mine + i, pe));
      }
    }
    shmem_barrier_all();
    shmem_free(mine);
  }
};

}  // namespace

int main(int argc, char** argv) {
  shmem_init();
  const bool good =
      stripline::suites::compare::print_conveyor_times<ShmemRanks>(argc, argv, "SHMEM");
  shmem_barrier_all();
  // Open MPI 4.1 does not survive shmem_finalize() where UCX carries it; all is done here.
  std::fflush(nullptr);
  std::_Exit(good ? 0 : 1);
}
