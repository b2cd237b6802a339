// Times of MPI's collective operations: mpirun -n N stripline-collectives-mpi [REPS].
#include <mpi.h>
#include <span>
#include <vector>

#include "suites/compare/collective_times.h"
#include "suites/harness/mpi_ranks.h"

namespace {

namespace harness = stripline::suites::harness;
using stripline::suites::compare::TimedCollective;

class Mpi : public harness::MpiRanks {
 public:
  Mpi() {
    input_.resize(stripline::suites::compare::kTimedBytes.back() / sizeof(double) * ranks());
    output_.resize(input_.size());
  }

  std::span<double> input() { return input_; }
  std::span<double> output() { return output_; }

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

 private:
  std::vector<double> input_;
  std::vector<double> output_;
};

}  // namespace

int main(int argc, char** argv) {
  return harness::mpi_main(argc, argv, [&] {
    Mpi mpi;
    return stripline::suites::compare::print_collective_times(
        mpi, harness::argument(argc, argv, 1, 500), "mpi");
  });
}
