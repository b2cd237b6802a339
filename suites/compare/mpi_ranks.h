// The ranks of an MPI program that is timed beside ours.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <mpi.h>
#include <span>

namespace stripline::suites::compare {

/// MPI_COMM_WORLD, as print_halo_times() and print_collective_times() ask for it. Between
/// MPI_Init() and MPI_Finalize().
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
    if (rank_ == 0) {
      MPI_Reduce(MPI_IN_PLACE, times.data(), n, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    } else {
      MPI_Reduce(times.data(), nullptr, n, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    }
  }

 private:
  int rank_ = 0;
  int ranks_ = 0;
};

/// The main() of such a program: `print(ranks, repetitions)` says whether all went well. Its only
/// argument is the number of repetitions.
template <typename Ranks, typename Print>
int mpi_main(int argc, char** argv, int usual_repetitions, const Print& print) {
  MPI_Init(&argc, &argv);
  bool good = false;
  {
    Ranks ranks;  // gone before MPI is
    good = print(ranks, argc > 1 ? std::atoi(argv[1]) : usual_repetitions);
  }
  MPI_Finalize();
  return good ? 0 : 1;
}

}  // namespace stripline::suites::compare
