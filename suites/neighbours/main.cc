// One launch of a comparison with neighbouring systems: the runtime, bare libfabric, Open MPI and
// UCX in the same two processes, in rounds that run a batch of each.
//
//   mpirun -n 2 --bind-to none [settings] stripline-neighbours [--same-node] [--rounds 10]
//       [--mpi-settings NAME] [--ucx-settings NAME] [--launch NAME]
//
// prints one JSON line per row and system: the seconds per operation of each round.
// scripts/compare.py neighbours starts several and compares (stripline-neighbours-report).
#include <algorithm>
#include <cstdio>
#include <fcntl.h>
#include <iostream>
#include <memory>
#include <mpi.h>
#include <sched.h>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include <stripline/context.h>

#include "base/command_line.h"
#include "base/descriptors.h"
#include "base/exit_codes.h"
#include "base/json.h"
#include "suites/neighbours/system.h"

namespace stripline::suites::neighbours {
namespace {

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
  return static_cast<Turns*>(memory);  // zeros are its initial state
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

using Systems = std::vector<std::unique_ptr<System>>;

Result<Systems> open_systems(const Order& order, int rank) {
  Place place{rank, order.same_node,
              [rank](const std::vector<std::byte>& mine) { return swap_with_peer(rank, mine); }};
  Systems systems(5);
  STRIPLINE_ASSIGN_OR_RETURN(systems[0], open_stripline(place));
  STRIPLINE_ASSIGN_OR_RETURN(systems[1], open_libfabric(place));
  STRIPLINE_ASSIGN_OR_RETURN(systems[2], open_mpi_one_sided(place));
  STRIPLINE_ASSIGN_OR_RETURN(systems[3], open_mpi_two_sided(place));
  STRIPLINE_ASSIGN_OR_RETURN(systems[4], open_mpi_packed(place));
  for (const bool by_pieces : {false, true}) {
    STRIPLINE_ASSIGN_OR_RETURN(systems.emplace_back(), open_ucx(place, by_pieces));
  }
  return systems;
}

/// Rank 1: attends to what rank 0 asks for, until it stops.
void serve(Systems& systems, const std::vector<Row>& rows, Turns& turns) {
  for (uint64_t turn = 1;; ++turn) {
    Turns::wait_for(turns.begun, turn);
    if (turns.system == Turns::kStop) return;
    System& system = *systems[turns.system];
    const Row& row = rows[turns.row];
    prepare_target(row, turns.salt, system.memory());
    turns.ready.store(turn, std::memory_order_release);
    system.attend(row, turns);
    Turns::wait_for(turns.ended, turn);
    turns.right = target_is_right(row, turns.salt, system.memory());
    turns.left.store(turn, std::memory_order_release);
  }
}

/// Rank 0.
class Measurement {
 public:
  Measurement(const Order& order, Systems& systems, Turns& turns)
      : order_(order), systems_(systems), turns_(turns) {}

  /// True if all data were right.
  bool measure(const std::vector<Row>& rows) {
    bool all_right = true;
    for (size_t row = 0; row < rows.size(); ++row) {
      if (rows[row].name().find(order_.only) == std::string::npos) continue;
      all_right = measure_row(rows[row], row) && all_right;
    }
    return all_right;
  }
  void stop() {
    turns_.system = Turns::kStop;
    turns_.begun.store(++turn_, std::memory_order_release);
  }

 private:
  bool measure_row(const Row& row, size_t index) {
    std::vector<size_t> taking;
    for (size_t i = 0; i < systems_.size(); ++i) {
      if (systems_[i]->offers(row)) taking.push_back(i);
    }
    std::vector<std::vector<double>> seconds(systems_.size());
    std::vector<bool> right(systems_.size(), true);
    for (int round = -kWarmUpRounds; round < order_.rounds; ++round) {
      // The order changes as well as which is first.
      std::rotate(taking.begin(), taking.begin() + 1, taking.end());
      if (round % 2 != 0) std::reverse(taking.begin(), taking.end());
      for (const size_t i : taking) {
        const auto [one_s, good] = batch(*systems_[i], i, row, index);
        right[i] = right[i] && good;
        if (round >= 0) seconds[i].push_back(one_s);
      }
    }
    bool all_right = true;
    for (size_t i = 0; i < systems_.size(); ++i) {
      if (seconds[i].empty()) continue;
      all_right = all_right && right[i];
      const Json line = {{"path", order_.same_node ? "node" : "network"},
                         {"row", row.name()},
                         {"metric", row.metric()},
                         {"amount", row.amount()},
                         {"family", systems_[i]->family()},
                         {"way", systems_[i]->way()},
                         {"settings", settings_of(systems_[i]->family())},
                         {"launch", order_.launch},
                         {"seconds", seconds[i]},
                         {"verified", static_cast<bool>(right[i])}};
      std::cout << line.dump() << std::endl;
    }
    return all_right;
  }

  const std::string& settings_of(const std::string& family) const {
    static const std::string none;
    if (family == "Open MPI") return order_.mpi_settings;
    return family == "UCX" ? order_.ucx_settings : none;
  }

  std::pair<double, bool> batch(System& system, size_t number, const Row& row, size_t index) {
    data_.salt = ++turn_;
    prepare_initiator(row, data_);
    turns_.system = number;
    turns_.row = index;
    turns_.salt = data_.salt;
    turns_.begun.store(turn_, std::memory_order_release);
    Turns::wait_for(turns_.ready, turn_);
    const double seconds = system.initiate(row, data_);
    turns_.ended.store(turn_, std::memory_order_release);
    Turns::wait_for(turns_.left, turn_);
    return {seconds, turns_.right && initiator_is_right(row, data_)};
  }

  const Order& order_;
  Systems& systems_;
  Turns& turns_;
  Data data_;
  uint64_t turn_ = 0;
};

/// Threads that libraries start later inherit it.
void pin(int rank) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  CPU_SET(static_cast<unsigned>(rank), &mask);
  if (sched_setaffinity(0, sizeof mask, &mask) != 0) {
    (void)std::fprintf(stderr, "not pinned to core %d; figures will scatter\n", rank);
  }
}

int run(const Order& order) {
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks != 2) {
    return report(Error(ErrorCode::invalid_argument, "needs two ranks: mpirun -n 2 ..."));
  }
  pin(rank);
  const auto turns = share_turns(rank);
  if (!turns.ok()) return report(turns.error());
  auto systems = open_systems(order, rank);
  if (!systems.ok()) return report(systems.error());
  const std::vector<Row> rows = all_rows(order.same_node);
  int code = kExitOk;
  if (rank == kInitiator) {
    Measurement measurement(order, *systems, **turns);
    if (!measurement.measure(rows)) code = kExitVerification;
    measurement.stop();
  } else {
    serve(*systems, rows, **turns);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  // In reverse, while the peer does the same: some of them leave together.
  while (!systems->empty()) systems->pop_back();
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
