// One launch of a comparison with neighbouring systems: the runtime, bare libfabric, Open MPI and
// UCX in the same two processes, in rounds that run a batch of each.
//
//   mpirun -n 2 --bind-to none [settings] stripline-neighbours [--same-node] [--rounds 10]
//       [--mpi-settings NAME] [--ucx-settings NAME] [--launch NAME]
//
// prints one JSON line per row and system: the seconds per operation of each round.
// scripts/compare.py neighbours starts several and compares (stripline-neighbours-report).
#include <fcntl.h>
#include <iostream>
#include <memory>
#include <mpi.h>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

#include <CLI/CLI.hpp>

#include <stripline/context.h>

#include "base/command_line.h"
#include "base/descriptors.h"
#include "base/exit_codes.h"
#include "base/json.h"
#include "suites/harness/alternate.h"
#include "suites/harness/batches.h"
#include "suites/harness/contender.h"

namespace stripline::suites::neighbours {
namespace {

using harness::Contenders;
using harness::Row;
using harness::Turns;

constexpr int kInitiator = 0;
// Rounds before the first that counts: connections, caches, registrations.
constexpr int kWarmUpRounds = 2;

struct Order {
  bool same_node = false;
  int rounds = 10;
  std::string mpi_settings;  ///< what they are called in the report
  std::string ucx_settings;
  std::string launch;  ///< name of this one
  std::string only;    ///< rows whose name contains it

  std::string fabric() const { return same_node ? "shm" : "tcp"; }
};

/// Shared by both processes, which are on one host.
Result<Turns*> share_turns(int rank) {
  int id = rank == kInitiator ? ::getpid() : 0;
  MPI_Bcast(&id, 1, MPI_INT, kInitiator, MPI_COMM_WORLD);
  const std::string name = "/stripline-neighbours-" + std::to_string(id);
  if (rank != kInitiator) MPI_Barrier(MPI_COMM_WORLD);
  const int file = ::shm_open(name.c_str(), O_RDWR | (rank == kInitiator ? O_CREAT | O_EXCL : 0),
                              S_IRUSR | S_IWUSR);
  const bool sized = file >= 0 && (rank != kInitiator || ::ftruncate(file, sizeof(Turns)) == 0);
  if (rank == kInitiator) MPI_Barrier(MPI_COMM_WORLD);
  void* memory = sized ? ::mmap(nullptr, sizeof(Turns), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
                       : MAP_FAILED;
  if (file >= 0) ::close(file);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == kInitiator) ::shm_unlink(name.c_str());
  if (memory == MAP_FAILED) {
    return Error(ErrorCode::unavailable,
                 "the processes share no memory " + name + "; start both on one host");
  }
  return static_cast<Turns*>(memory);
}

std::vector<std::byte> swap_with_peer(int rank, const std::vector<std::byte>& mine) {
  const int peer = 1 - rank;
  int sent = static_cast<int>(mine.size());
  int received = 0;
  MPI_Sendrecv(&sent, 1, MPI_INT, peer, 0, &received, 1, MPI_INT, peer, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  std::vector<std::byte> theirs(static_cast<size_t>(received));
  MPI_Sendrecv(mine.data(), sent, MPI_BYTE, peer, 0, theirs.data(), received, MPI_BYTE, peer, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return theirs;
}

/// The runtime in these processes.
struct Ours {
  std::unique_ptr<Context> context;
  global_ptr<std::byte> array;
};

Result<Ours> join(const Order& order) {
  Options options;
  options.fabric = order.fabric();
  options.same_node = order.same_node ? "mapped" : "network";
  options.segment_bytes = harness::kAllBytes + (size_t{8} << 20);
  Ours ours;
  STRIPLINE_ASSIGN_OR_RETURN(ours.context, Context::init(options));
  if (ours.context->rank_n() != 2) {
    return Error(ErrorCode::failed_precondition,
                 "the runtime sees " + std::to_string(ours.context->rank_n()) +
                     " ranks instead of 2; start this program by 'mpirun -n 2'");
  }
  STRIPLINE_ASSIGN_OR_RETURN(ours.array,
                             ours.context->new_symmetric_array<std::byte>(harness::kAllBytes));
  return ours;
}

Result<Contenders> open_contenders(const Order& order, int rank, const Ours& ours) {
  const harness::Place place{
      rank, order.fabric(), order.same_node,
      [rank](const std::vector<std::byte>& mine) { return swap_with_peer(rank, mine); }};
  Contenders all;
  all.push_back(harness::open_stripline(*ours.context, ours.array));
  STRIPLINE_ASSIGN_OR_RETURN(all.emplace_back(), harness::open_libfabric(place));
  STRIPLINE_ASSIGN_OR_RETURN(all.emplace_back(), harness::open_mpi_one_sided(place));
  STRIPLINE_ASSIGN_OR_RETURN(all.emplace_back(), harness::open_mpi_two_sided(place));
  STRIPLINE_ASSIGN_OR_RETURN(all.emplace_back(), harness::open_mpi_packed(place));
  for (const bool by_pieces : {false, true}) {
    STRIPLINE_ASSIGN_OR_RETURN(all.emplace_back(), harness::open_ucx(place, by_pieces));
  }
  return all;
}

std::string settings_of(const Order& order, const std::string& family) {
  if (family == "Open MPI") return order.mpi_settings;
  return family == "UCX" ? order.ucx_settings : "";
}

/// Rank 0: a line for each contender that offers the row. True if all data were right.
bool measure(const Order& order, const Contenders& contenders, harness::Batches& batches,
             const Row& row, size_t number) {
  std::vector<size_t> taking;
  for (size_t i = 0; i < contenders.size(); ++i) {
    if (contenders[i]->offers(row)) taking.push_back(i);
  }
  const auto one = [&](size_t i, int /*round*/) { return batches.run(taking[i], number); };
  const auto measured = harness::alternate(taking.size(), kWarmUpRounds, order.rounds, one);
  bool all_right = true;
  for (size_t i = 0; i < taking.size(); ++i) {
    const harness::Contender& contender = *contenders[taking[i]];
    all_right = all_right && measured[i].right;
    const Json line = {{"path", order.same_node ? "node" : "network"},
                       {"row", row.name()},
                       {"metric", row.metric()},
                       {"amount", row.amount()},
                       {"family", contender.family()},
                       {"way", contender.method()},
                       {"settings", settings_of(order, contender.family())},
                       {"launch", order.launch},
                       {"seconds", measured[i].seconds},
                       {"verified", measured[i].right}};
    std::cout << line.dump() << std::endl;
  }
  return all_right;
}

int run(const Order& order) {
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks != 2) {
    return report(Error(ErrorCode::invalid_argument, "needs two ranks: mpirun -n 2 ..."));
  }
  harness::pin_to(static_cast<unsigned>(rank));
  const auto turns = share_turns(rank);
  if (!turns.ok()) return report(turns.error());
  const auto ours = join(order);
  if (!ours.ok()) return report(ours.error());
  auto contenders = open_contenders(order, rank, *ours);
  if (!contenders.ok()) return report(contenders.error());
  const std::vector<Row> rows = harness::all_rows(order.same_node);
  int code = kExitOk;
  if (rank == kInitiator) {
    harness::Batches batches(*contenders, rows, **turns);
    for (size_t i = 0; i < rows.size(); ++i) {
      if (rows[i].name().find(order.only) == std::string::npos) continue;
      if (!measure(order, *contenders, batches, rows[i], i)) code = kExitVerification;
    }
    batches.stop();
  } else {
    harness::attend(*contenders, rows, **turns);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  // In reverse, while the peer does the same: some of them leave together. The context is the last.
  while (!contenders->empty()) contenders->pop_back();
  ::munmap(*turns, sizeof(Turns));
  return code;
}

}  // namespace
}  // namespace stripline::suites::neighbours

int main(int argc, char** argv) {
  stripline::prepare_descriptors();
  CLI::App app("Measures the runtime, bare libfabric, Open MPI and UCX in the same processes.",
               "stripline-neighbours");
  stripline::suites::neighbours::Order order;
  app.add_flag("--same-node", order.same_node, "shared memory of one node instead of TCP");
  app.add_option("--rounds", order.rounds, "batches of each row and system")
      ->transform(stripline::whole_number(1, 100000))
      ->capture_default_str();
  app.add_option("--mpi-settings", order.mpi_settings, "what the settings of Open MPI are called");
  app.add_option("--ucx-settings", order.ucx_settings, "what the settings of UCX are called");
  app.add_option("--launch", order.launch, "name of this launch");
  app.add_option("--only", order.only, "rows whose name contains this");
  if (const auto end = stripline::read_command_line(app, argc, argv)) return *end;
  MPI_Init(nullptr, nullptr);
  const int code = stripline::suites::neighbours::run(order);
  // The other rank may wait for what will never come.
  if (code != stripline::kExitOk && code != stripline::kExitVerification) {
    MPI_Abort(MPI_COMM_WORLD, code);
  }
  MPI_Finalize();
  return code;
}
