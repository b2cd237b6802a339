// What the runtime costs beside what it is built on: its operations through the public API, the
// same provider's bare calls, and a TCP socket, between one pair of processes, in alternating
// batches.
//
//   stripline-compare [--fabric tcp] [--rounds 60] [--vis] [--model FILE] [--markdown] [--json
//   FILE] stripline-compare --same-node ...     the same for ranks that map each other's segments,
//   beside
//                                         plain loads, stores and memcpy
//
// With --vis: strided transfers by every method beside a loop and beside packing by hand, in MiB/s.
// Exit status 1 says that what the planner chose is slower than the better of these two by more
// than 5 % in some transfer, of which the table shows the intervals.
//
// A ratio is of times, ours to bare, and paired: both batches of a round follow one another. Rounds
// alternate which goes first. Each row is verified after it was measured.
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

#include "base/exit_codes.h"
#include "base/json.h"
#include "optimizer/stats/compare.h"
#include "optimizer/stats/interval.h"
#include "optimizer/stats/order.h"
#include "runtime/bootstrap/bootstrap.h"
#include "runtime/rma/context_state.h"
#include "suites/bench/text_table.h"
#include "suites/compare/board.h"
#include "suites/compare/rows.h"
#include "suites/compare/vis_section.h"
#include "suites/compare/vis_table.h"
#include "suites/results/markdown.h"

namespace stripline::suites::compare {
namespace {

using bench::interval_text;
using bench::ratio_text;
using bench::TextTable;
using bench::with_unit;

constexpr double kConfidence = 0.95;
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

struct Measured {
  std::vector<double> first_s;
  std::vector<double> second_s;
  bool verified = true;
};

Measured measure(const Row& row, int rounds, Board& board) {
  Measured measured;
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
      measured.verified = side.verified() && measured.verified;
    }
    if (round < 0) continue;
    measured.first_s.push_back(first_s);
    measured.second_s.push_back(second_s);
  }
  return measured;
}

/// A time as the row's metric: itself, or what passes per second.
double metric_of(const Row& row, double seconds) {
  return row.metric == "latency" ? seconds : row.amount / seconds;
}

Json json_of(const Row& row, const char* variant, const std::string& fabric,
             const std::vector<double>& seconds, bool verified) {
  std::vector<double> values;
  for (const double value : seconds) values.push_back(metric_of(row, value));
  const auto interval = stats::median_interval(values, kConfidence);
  return {{"experiment", "compare." + row.name},
          {"variant", variant},
          {"fabric", fabric},
          {"ranks", 2},
          {"params", Json::object()},
          {"metric", row.metric},
          {"unit", row.unit},
          {"median", stats::median(values)},
          {"ci_low", interval.ok() ? Json(interval->low) : Json()},
          {"ci_high", interval.ok() ? Json(interval->high) : Json()},
          {"runs", values.size()},
          {"verified", verified},
          {"plan", ""}};
}

std::string metric_text(const Row& row, double value) {
  if (row.metric == "latency") return with_unit(value, row.unit);
  const bool rate = row.metric == "rate";
  std::array<char, 32> text{};
  (void)std::snprintf(text.data(), text.size(), rate ? "%.3f Mop/s" : "%.2f GB/s",
                      value / (rate ? 1e6 : 1e9));
  return text.data();
}

int compare(const Order& order, RowWork& work, Board& board) {
  std::ofstream json;
  if (!order.json_path.empty()) json.open(order.json_path);
  const std::vector<std::string> headings = {"operation",   ">stripline",      ">baseline",
                                             "baseline is", ">ratio of times", ">95% interval",
                                             "criterion",   "verified"};
  TextTable table(headings);
  results::MarkdownTable markdown(headings);
  bool all_verified = true;
  for (const Row& row : work.rows()) {
    const Measured measured = measure(row, order.rounds, board);
    all_verified = all_verified && measured.verified;
    const auto ratio = stats::paired_ratio(measured.first_s, measured.second_s, kConfidence);
    if (!ratio.ok()) {
      (void)std::fprintf(stderr, "stripline-compare: %s\n", ratio.error().message().c_str());
      return kExitFailure;
    }
    std::string criterion;
    if (row.most > 0) {
      criterion = "at most " + ratio_text(row.most) + ": " + results::met(ratio->value <= row.most);
    }
    const std::vector<std::string> cells = {
        row.name,
        metric_text(row, metric_of(row, stats::median(measured.first_s))),
        metric_text(row, metric_of(row, stats::median(measured.second_s))),
        row.baseline,
        ratio_text(ratio->value),
        interval_text(ratio->interval.low, ratio->interval.high, ""),
        criterion,
        measured.verified ? "yes" : "NO"};
    table.add(cells);
    markdown.add(cells);
    json << json_of(row, "stripline", order.path(), measured.first_s, measured.verified).dump()
         << "\n"
         << json_of(row, row.baseline.c_str(), order.path(), measured.second_s, measured.verified)
                .dump()
         << "\n";
  }
  std::cout << "fabric " << order.path() << ", 2 processes, " << order.rounds
            << " paired rounds\n\n"
            << (order.markdown ? markdown.text() : table.text()) << std::flush;
  if (json.is_open() && !json.flush()) {
    (void)std::fprintf(stderr, "stripline-compare: cannot write '%s'\n", order.json_path.c_str());
    return kExitUnavailable;
  }
  return all_verified ? kExitOk : kExitVerification;
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

int run_rank(const Order& order, uint32_t rank, Board& board) {
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
                                          systems->ours->state().fabric->info().same_node));
  }
  int code = kExitOk;
  if (section) {
    code = compare_vis(order, *section, board);
  } else {
    const auto work =
        order.same_node ? node_rows(*systems, *array) : network_rows(*systems, *array);
    code = compare(order, *work, board);
  }
  board.served = System::stop;
  return code;
}

int run(const Order& order) {
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
      const int code = run_rank(order, rank, *board);
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
  return code;
}

}  // namespace
}  // namespace stripline::suites::compare

int main(int argc, char** argv) {
  CLI::App app{"Compares the runtime with bare libfabric and a TCP socket on this host."};
  stripline::suites::compare::Order order;
  app.add_option("--fabric", order.fabric, "provider, e.g. tcp, net, shm")->capture_default_str();
  app.add_flag("--same-node", order.same_node,
               "compare operations through mapped segments with plain loads, stores and memcpy");
  app.add_option("--rounds", order.rounds, "paired batches of each row")
      ->check(CLI::Range(6, 100000))
      ->capture_default_str();
  app.add_flag("--vis", order.vis, "compare strided transfers instead");
  app.add_option("--model", order.model_path, "tuned model of the runtime's planners");
  app.add_flag("--markdown", order.markdown, "print the table as Markdown");
  app.add_option("--json", order.json_path, "write the rows as JSON lines, too");
  CLI11_PARSE(app, argc, argv);
  return stripline::suites::compare::run(order);
}
