// Times of MPI's collective operations: mpirun -n N stripline-collectives-mpi [REPS].
#include <cstdlib>
#include <mpi.h>
#include <span>
#include <vector>

#include "suites/compare/collective_times.h"

namespace {

using stripline::suites::compare::TimedCollective;

class Mpi {
 public:
  Mpi() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    input_.resize(stripline::suites::compare::kTimedBytes.back() / sizeof(double) * ranks());
    output_.resize(input_.size());
  }

  size_t rank() const { return static_cast<size_t>(rank_); }
  size_t ranks() const { return static_cast<size_t>(ranks_); }
  double now_s() { return MPI_Wtime(); }
  std::span<double> input() { return input_; }
  std::span<double> output() { return output_; }
  void barrier() { MPI_Barrier(MPI_COMM_WORLD); }

  void perform(TimedCollective operation, std::span<double> in, std::span<double> out,
               size_t elements) {
    const int n = static_cast<int>(elements);
    double* from = in.data();
    double* to = out.data();
    const MPI_Comm all = MPI_COMM_WORLD;
    switch (operation) {
      case TimedCollective::barrier:
        MPI_Barrier(all);
        return;
      case TimedCollective::broadcast:
        MPI_Bcast(from, n, MPI_DOUBLE, 0, all);
        return;
      case TimedCollective::reduce:
        MPI_Reduce(from, to, n, MPI_DOUBLE, MPI_SUM, 0, all);
        return;
      case TimedCollective::allreduce:
        MPI_Allreduce(from, to, n, MPI_DOUBLE, MPI_SUM, all);
        return;
      case TimedCollective::gather:
        MPI_Gather(from, n, MPI_DOUBLE, to, n, MPI_DOUBLE, 0, all);
        return;
      case TimedCollective::allgather:
        MPI_Allgather(from, n, MPI_DOUBLE, to, n, MPI_DOUBLE, all);
        return;
      case TimedCollective::all_to_all:
        MPI_Alltoall(from, n, MPI_DOUBLE, to, n, MPI_DOUBLE, all);
        return;
      case TimedCollective::scan:
        MPI_Scan(from, to, n, MPI_DOUBLE, MPI_SUM, all);
        return;
    }
  }

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
  std::vector<double> input_;
  std::vector<double> output_;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Mpi mpi;
  const int repetitions = argc > 1 ? std::atoi(argv[1]) : 500;
  const bool good = stripline::suites::compare::print_collective_times(mpi, repetitions, "mpi");
  MPI_Finalize();
  return good ? 0 : 1;
}
