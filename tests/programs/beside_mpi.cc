// MPI and Stripline in one process: every rank writes to its neighbour through both, while both
// exist, and with MPI alone and Stripline alone where the order leaves that.
//
//   beside_mpi FIRST LAST   FIRST is initialised first, LAST is finalised last; each is "mpi" or
//                           "stripline"

#include <cstdio>
#include <memory>
#include <mpi.h>
#include <string>

#include <stripline/context.h>

namespace {

using stripline::Context;
using stripline::rank_t;

/// True if a value went round the ring of MPI_COMM_WORLD.
bool mpi_works() {
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int to = (rank + 1) % ranks;
  const int from = (rank + ranks - 1) % ranks;
  int received = -1;
  MPI_Sendrecv(&rank, 1, MPI_INT, to, 0, &received, 1, MPI_INT, from, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  const int right = received == from ? 1 : 0;
  int all_right = 0;
  MPI_Allreduce(&right, &all_right, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return all_right == ranks;
}

/// True if a value went round the ring of the job.
bool stripline_works(Context& context, stripline::global_ptr<rank_t> mine) {
  const rank_t me = context.rank_me();
  const rank_t ranks = context.rank_n();
  context.rput(me, context.on_rank(mine, (me + 1) % ranks));
  context.barrier();
  const bool right = *context.local(mine) == (me + ranks - 1) % ranks;
  return context.reduce_all(uint64_t{right ? 1U : 0U}, Context::ReduceOp::sum) == ranks;
}

/// True if both number the processes alike.
bool ranks_agree(const Context& context) {
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  return static_cast<rank_t>(rank) == context.rank_me() &&
         static_cast<rank_t>(ranks) == context.rank_n();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string first = argc > 1 ? argv[1] : "mpi";
  const std::string last = argc > 2 ? argv[2] : "mpi";
  if (first == "mpi") MPI_Init(nullptr, nullptr);
  auto joined = Context::init();
  if (!joined.ok()) return stripline::report(joined.error());
  std::unique_ptr<Context> context = std::move(*joined);
  if (first != "mpi") MPI_Init(nullptr, nullptr);

  const auto mine = context->new_symmetric_array<rank_t>(1);
  if (!mine.ok()) return stripline::report(mine.error());
  bool right = ranks_agree(*context);
  for (int round = 0; round < 10; ++round) {
    right = mpi_works() && right;
    right = stripline_works(*context, *mine) && right;
  }
  const rank_t me = context->rank_me();
  if (last == "mpi") {
    context.reset();
    right = mpi_works() && right;
    MPI_Finalize();
  } else {
    MPI_Finalize();
    right = stripline_works(*context, *mine) && right;
    context.reset();
  }
  std::printf("rank %u: %s\n", me, right ? "both work" : "wrong");
  return right ? 0 : 8;
}
