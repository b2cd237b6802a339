// Conveyors on MPI: mpirun -n N conveyors BATCHES ITEMS.
#include "suites/compare/irregular_conveyors.h"
#include "suites/harness/mpi_ranks.h"

// From their library: what they count their processes with, instead of MPI_Init().
extern "C" int xmpi_init(int argc, char** argv);

int main(int argc, char** argv) {
  using namespace stripline::suites;
  xmpi_init(argc, argv);
  const bool good = compare::print_conveyor_times<harness::MpiRanks>(argc, argv, "MPI");
  MPI_Finalize();
  return good ? 0 : 1;
}
