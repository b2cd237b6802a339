// What the runtime costs beside what it is built on: its operations through the public API, the
// same provider's bare calls, and a TCP socket, between one pair of processes, in alternating
// batches.
//
//   stripline-compare [--fabric tcp] [--rounds 60] [--launches 1] [--model FILE] [--markdown]
//                     [--json FILE]
//   stripline-compare --same-node ...   for ranks that map each other's segments, beside plain
//                                       loads, stores and memcpy
//   stripline-compare --vis ...
//
// With --vis: strided transfers by every method beside a loop and beside packing by hand, in MiB/s.
// Exit status 1 says that what the planner chose is slower than the better of these two by more
// than 5 % in some transfer, of which the table shows the intervals.
//
// A ratio is of times, ours to bare, and paired: both batches of a round follow one another. Rounds
// alternate which goes first. Each row is verified after it was measured. Of several launches, each
// counts once.
#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>
#include <sched.h>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include <stripline/context.h>

#include "base/command_line.h"
#include "base/descriptors.h"
#include "base/exit_codes.h"
#include "base/json.h"
#include "runtime/bootstrap/bootstrap.h"
#include "runtime/rma/context_state.h"
#include "suites/compare/board.h"
#include "suites/compare/row_table.h"
#include "suites/compare/rows.h"
#include "suites/compare/vis_section.h"
#include "suites/compare/vis_table.h"

namespace stripline::suites::compare {
namespace {

constexpr uint32_t kInitiator = 0;
// Batches before the first that counts: connections, caches, the peer's turn.
constexpr int kWarmUpRounds = 2;

/// The place of a Context in the job of two.
class BoardBootstrap final : public bootstrap::Bootstrap {
 public:
  BoardBootstrap(Board& board, uint32_t rank)
      : board_(board), rank_(rank), job_id_("compare-" + std::to_string(::getppid())) {}
  uint32_t rank() const override { return rank_; }
  uint32_t ranks() const override { return 2; }
  const std::string& job_id() const override { return job_id_; }
  Result<std::vector<std::string>> exchange(const std::string& address) override {
    if (!board_.publish(System::ours, rank_, address)) {
      return Error(ErrorCode::internal, "an address does not fit onto the board");
    }
    std::vector<std::string> addresses;
    for (uint32_t rank = 0; rank < 2; ++rank) {
      addresses.push_back(board_.read(System::ours, rank));
      if (addresses.back().empty()) return Error(ErrorCode::unavailable, "the peer has given up");
    }
    return addresses;
  }
  bool report_failure(const Error& /*error*/) override { return false; }
  void left() override {}
  JsonChannel* control() override { return nullptr; }

 private:
  Board& board_;
  uint32_t rank_;
  std::string job_id_;
};

/// What the command line asks for.
struct Order {
  std::string fabric = "tcp";
  bool same_node = false;
  bool vis = false;
  int rounds = 60;
  int launches = 1;
  bool markdown = false;
  std::string json_path;
  std::string model_path;

  /// As results name it.
  std::string path() const { return same_node ? fabric + ",same_node=mapped" : fabric; }
};

Result<Systems> open_systems(const Order& order, uint32_t rank, Board& board) {
  const std::string& fabric = order.fabric;
  STRIPLINE_ASSIGN_OR_RETURN(BareRank bare, BareRank::open(fabric, rank, kMemoryBytes));
  STRIPLINE_ASSIGN_OR_RETURN(SocketPair sockets, SocketPair::listen());
  board.publish(System::bare, rank, bare.address());
  board.publish(System::sockets, rank, sockets.address());
  Options options;
  options.fabric = fabric;
  options.same_node = order.same_node ? "mapped" : "network";
  options.model_path = order.model_path;
  options.segment_bytes = kMemoryBytes + (size_t{1} << 20);
  STRIPLINE_ASSIGN_OR_RETURN(
      auto ours,
      detail::ContextState::join(options, std::make_unique<BoardBootstrap>(board, rank)));
  STRIPLINE_RETURN_IF_ERROR(bare.set_peer(board.read(System::bare, 1 - rank)));
  STRIPLINE_RETURN_IF_ERROR(rank == kInitiator ? sockets.connect(board.read(System::sockets, 1))
                                               : sockets.accept());
  return Systems{std::move(ours), std::move(bare), std::move(sockets)};
}

/// Rank 1: makes progress for the system that is being measured.
void serve(Systems& systems, const Board& board) {
  while (true) {
    switch (board.served.load(std::memory_order_relaxed)) {
      case System::ours:
        systems.ours->progress();
        break;
      case System::bare:
        systems.bare.poll();
        break;
      case System::sockets:
        systems.sockets.answer();
        break;
      case System::none:
        break;
      case System::stop:
        return;
    }
  }
}

RowTimes measure(const Row& row, int rounds, Board& board) {
  RowTimes times{.name = row.name,
                 .metric = row.metric,
                 .unit = row.unit,
                 .amount = row.amount,
                 .most = row.most,
                 .baseline = row.baseline,
                 .first_s = {},
                 .second_s = {},
                 .verified = true,
                 .launch_ratios = {}};
  const auto run = [&](const Side& side) {
    board.served = side.system;
    return side.batch();
  };
  for (int round = -kWarmUpRounds; round < rounds; ++round) {
    double first_s = 0;
    double second_s = 0;
    for (const bool first : {round % 2 == 0, round % 2 != 0}) {
      const Side& side = first ? row.first : row.second;
      (first ? first_s : second_s) = run(side);
      times.verified = side.verified() && times.verified;
    }
    if (round < 0) continue;
    times.first_s.push_back(first_s);
    times.second_s.push_back(second_s);
  }
  return times;
}

/// Rank 0 of a launch: measures the rows and tells the parent through `rows_file`.
int measure_rows(const Order& order, RowWork& work, Board& board, std::FILE* rows_file) {
  std::vector<RowTimes> rows;
  for (const Row& row : work.rows()) rows.push_back(measure(row, order.rounds, board));
  const std::string text = to_json(rows).dump();
  if (std::fwrite(text.data(), 1, text.size(), rows_file) == text.size()) return kExitOk;
  return report(Error(ErrorCode::resource_exhausted,
                      "the measurements do not fit into a temporary file; make room in /tmp"));
}

/// What a launch has told.
Result<std::vector<RowTimes>> read_rows(std::FILE* rows_file) {
  std::rewind(rows_file);
  std::string text;
  std::array<char, 4096> part{};
  while (const size_t read = std::fread(part.data(), 1, part.size(), rows_file)) {
    text.append(part.data(), read);
  }
  STRIPLINE_ASSIGN_OR_RETURN(const Json json, parse_json(text, "measurements of a launch"));
  return rows_from_json(json);
}

int show_rows(const Order& order, const std::vector<std::vector<RowTimes>>& launches) {
  const auto rows = merge_launches(launches);
  if (!rows.ok()) return report(rows.error());
  const auto table = row_table(*rows, order.markdown);
  if (!table.ok()) return report(table.error());
  std::cout << "fabric " << order.path() << ", 2 processes, ";
  if (order.launches > 1) std::cout << order.launches << " launches of ";
  std::cout << order.rounds << " paired rounds\n\n" << *table << std::flush;
  if (!order.json_path.empty()) {
    std::ofstream json(order.json_path);
    if (!(json << row_json_lines(*rows, order.path())).flush()) {
      (void)std::fprintf(stderr, "stripline-compare: cannot write '%s'\n", order.json_path.c_str());
      return kExitUnavailable;
    }
  }
  const bool verified =
      std::all_of(rows->begin(), rows->end(), [](const RowTimes& row) { return row.verified; });
  return verified ? kExitOk : kExitVerification;
}

int compare_vis(const Order& order, VisSection& section, Board& board) {
  board.served = System::ours;
  const std::vector<VisCell> cells = section.run(order.rounds);
  const auto table = vis_table(cells, order.markdown);
  if (!table.ok()) {
    (void)std::fprintf(stderr, "stripline-compare: %s\n", table.error().message().c_str());
    return kExitFailure;
  }
  std::cout << "fabric " << order.path() << ", 2 processes, " << order.rounds
            << " rounds, strided transfers of 64 KiB at a density of 50 %, MiB/s, "
            << (order.model_path.empty() ? "without" : "with") << " a model\n\n"
            << table->text << "\n"
            << table->verdict() << "\n"
            << std::flush;
  if (!order.json_path.empty()) {
    std::ofstream json(order.json_path);
    if (!(json << vis_json_lines(cells, order.path())).flush()) {
      (void)std::fprintf(stderr, "stripline-compare: cannot write '%s'\n", order.json_path.c_str());
      return kExitUnavailable;
    }
  }
  const bool verified =
      std::all_of(cells.begin(), cells.end(), [](const VisCell& cell) { return cell.verified; });
  if (!verified) return kExitVerification;
  return table->not_met() == 0 ? kExitOk : kExitFailure;
}

void pin(unsigned cpu) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  CPU_SET(cpu, &mask);
  if (sched_setaffinity(0, sizeof mask, &mask) != 0) {
    (void)std::fprintf(stderr, "not pinned to core %u; figures will scatter\n", cpu);
  }
}

int run_rank(const Order& order, uint32_t rank, Board& board, std::FILE* rows_file) {
  auto systems = open_systems(order, rank, board);
  if (!systems.ok()) {
    if (!board.failed.exchange(true)) {
      (void)std::fprintf(stderr, "stripline-compare: %s\n", systems.error().message().c_str());
    }
    return exit_code_for(systems.error().code());
  }
  const auto array = systems->ours->new_symmetric_array<std::byte>(kMemoryBytes + 64);
  if (!array.ok()) return report(array.error());
  std::optional<VisSection> section;
  if (order.vis) section.emplace(*systems->ours, *array);
  if (rank != kInitiator) {
    serve(*systems, board);
    return kExitOk;
  }
  if (order.same_node && !systems->ours->is_local(1)) {
    board.served = System::stop;
    return report(
        Error(ErrorCode::unavailable, "the segment of rank 1 cannot be mapped here: " +
                                          systems->ours->state().job.fabric().info().same_node));
  }
  int code = kExitOk;
  if (section) {
    code = compare_vis(order, *section, board);
  } else {
    const auto work =
        order.same_node ? node_rows(*systems, *array) : network_rows(*systems, *array);
    code = measure_rows(order, *work, board, rows_file);
  }
  board.served = System::stop;
  return code;
}

/// Two processes that measure once.
int launch(const Order& order, std::FILE* rows_file) {
  void* memory =
      mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return report(Error(ErrorCode::resource_exhausted, "mmap failed"));
  Board* board = std::construct_at(static_cast<Board*>(memory));
  // Both ranks are children, so that neither the parent's state nor libfabric's is shared.
  std::vector<pid_t> children;
  for (uint32_t rank = 0; rank < 2; ++rank) {
    const pid_t child = fork();
    if (child < 0) return report(Error(ErrorCode::resource_exhausted, "fork failed"));
    if (child == 0) {
      pin(rank);
      const int code = run_rank(order, rank, *board, rows_file);
      (void)std::fflush(nullptr);
      ::_exit(code);
    }
    children.push_back(child);
  }
  int code = kExitOk;
  for (size_t left = children.size(); left > 0; --left) {
    int status = 0;
    ::waitpid(-1, &status, 0);
    const int ended = WIFEXITED(status) ? WEXITSTATUS(status) : kExitRankDied;
    if (ended == kExitOk || code != kExitOk) continue;
    // The other one may wait for what will never come.
    code = ended;
    board->failed = true;
    for (const pid_t child : children) ::kill(child, SIGKILL);
  }
  ::munmap(memory, sizeof(Board));
  return code;
}

int run(const Order& order) {
  if (order.vis) return launch(order, nullptr);
  std::vector<std::vector<RowTimes>> launches;
  for (int i = 0; i < order.launches; ++i) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> rows_file(std::tmpfile(), std::fclose);
    if (rows_file == nullptr) {
      return report(Error(ErrorCode::resource_exhausted,
                          "cannot create a temporary file; make room in /tmp"));
    }
    if (const int code = launch(order, rows_file.get()); code != kExitOk) return code;
    auto rows = read_rows(rows_file.get());
    if (!rows.ok()) return report(rows.error());
    launches.push_back(std::move(*rows));
  }
  return show_rows(order, launches);
}

}  // namespace
}  // namespace stripline::suites::compare

int main(int argc, char** argv) {
  stripline::prepare_descriptors();
  CLI::App app("Compares the runtime with bare libfabric and a TCP socket on this host.",
               "stripline-compare");
  stripline::suites::compare::Order order;
  app.add_option("--fabric", order.fabric, "provider, e.g. tcp, net, shm")->capture_default_str();
  app.add_flag("--same-node", order.same_node,
               "compare operations through mapped segments with plain loads, stores and memcpy");
  app.add_option("--rounds", order.rounds, "paired batches of each row")
      ->transform(stripline::whole_number(6, 100000))
      ->capture_default_str();
  auto* launches = app.add_option("--launches", order.launches,
                                  "pairs of processes, one after another: where memory lies "
                                  "differs between them, and figures with it")
                       ->transform(stripline::whole_number(1, 1000))
                       ->capture_default_str();
  app.add_flag("--vis", order.vis, "compare strided transfers instead, in one launch")
      ->excludes(launches);
  app.add_option("--model", order.model_path, "tuned model of the runtime's planners");
  app.add_flag("--markdown", order.markdown, "print the table as Markdown");
  app.add_option("--json", order.json_path, "write the rows as JSON lines, too");
  if (const auto end = stripline::read_command_line(app, argc, argv)) return *end;
  return stripline::suites::compare::run(order);
}
