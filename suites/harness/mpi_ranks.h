// The ranks of an MPI program that is timed beside others (timed.h).
#pragma once

#include <cstddef>
#include <mpi.h>
#include <span>

namespace stripline::suites::harness {

/// MPI_COMM_WORLD, as the functions of timed.h ask for it. Between MPI_Init() and MPI_Finalize().
class MpiRanks {
 public:
  MpiRanks() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
  }

  size_t rank() const { return static_cast<size_t>(rank_); }
  size_t ranks() const { return static_cast<size_t>(ranks_); }
  double now_s() { return MPI_Wtime(); }
  void barrier() { MPI_Barrier(MPI_COMM_WORLD); }

  /// Rank 0 gets the maximum over the ranks of each element.
  void longest(std::span<double> times) {
    const int n = static_cast<int>(times.size());
    const void* const mine = rank_ == 0 ? MPI_IN_PLACE : times.data();
    MPI_Reduce(mine, times.data(), n, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  }

 private:
  int rank_ = 0;
  int ranks_ = 0;
};

/// The main() of such a program: `print()` returns true if all results were right, and keeps
/// nothing of MPI.
template <typename Print>
int mpi_main(int argc, char** argv, const Print& print) {
  MPI_Init(&argc, &argv);
  const bool good = print();
  MPI_Finalize();
  return good ? 0 : 1;
}

}  // namespace stripline::suites::harness
