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
// alternate which goes first. Each batch is verified after it was measured. Of several launches,
// each counts once.
#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <span>
#include <string>
#include <sys/mman.h>
#include <sys/prctl.h>
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
#include "suites/compare/network_rows.h"
#include "suites/compare/node_rows.h"
#include "suites/compare/row_table.h"
#include "suites/compare/vis_section.h"
#include "suites/compare/vis_table.h"
#include "suites/harness/alternate.h"
#include "suites/harness/batches.h"
#include "suites/harness/contender.h"

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
    const auto bytes = std::as_bytes(std::span(address));
    const std::vector<std::byte> other = board_.swap(rank_, {bytes.begin(), bytes.end()});
    if (other.empty()) return Error(ErrorCode::unavailable, "the peer has given up");
    std::vector<std::string> addresses(2, address);
    addresses[1 - rank_].assign(reinterpret_cast<const char*>(other.data()), other.size());
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

/// The runtime in a process of its own.
struct Ours {
  std::unique_ptr<Context> context;
  global_ptr<std::byte> array;
};

Result<Ours> join(const Order& order, uint32_t rank, Board& board) {
  Options options;
  options.fabric = order.fabric;
  options.same_node = order.same_node ? "mapped" : "network";
  options.model_path = order.model_path;
  options.segment_bytes = harness::kAllBytes + (size_t{1} << 20);
  Ours ours;
  STRIPLINE_ASSIGN_OR_RETURN(
      ours.context,
      detail::ContextState::join(options, std::make_unique<BoardBootstrap>(board, rank)));
  STRIPLINE_ASSIGN_OR_RETURN(ours.array,
                             ours.context->new_symmetric_array<std::byte>(harness::kAllBytes));
  return ours;
}

/// In the order of NetworkContender.
Result<harness::Contenders> open_contenders(const Order& order, uint32_t rank, Board& board,
                                            const Ours& ours) {
  const harness::Place place{
      static_cast<int>(rank), order.fabric, false,
      [&board, rank](const std::vector<std::byte>& mine) { return board.swap(rank, mine); }};
  harness::Contenders contenders;
  for (const AtomicPath atomics : {AtomicPath::provider, AtomicPath::message}) {
    contenders.push_back(harness::open_stripline(*ours.context, ours.array, atomics));
  }
  STRIPLINE_ASSIGN_OR_RETURN(contenders.emplace_back(), harness::open_libfabric(place));
  STRIPLINE_ASSIGN_OR_RETURN(contenders.emplace_back(), harness::open_sockets(place));
  return contenders;
}

/// What either side of each row does, side by side.
std::vector<harness::Row> rows_of_both_sides() {
  std::vector<harness::Row> rows;
  for (const NetworkRow& row : kNetworkRows) {
    rows.push_back(row.row);
    rows.push_back(row.beside);
  }
  return rows;
}

void add_times(std::vector<harness::Alternative> sides, RowTimes what,
               std::vector<RowTimes>& rows) {
  what.first_s = std::move(sides[0].seconds);
  what.second_s = std::move(sides[1].seconds);
  what.verified = sides[0].right && sides[1].right;
  rows.push_back(std::move(what));
}

/// Rank 0, while rank 1 attends.
std::vector<RowTimes> measure_network(const Order& order, const harness::Contenders& contenders,
                                      const std::vector<harness::Row>& rows, Board& board) {
  harness::Batches batches(contenders, rows, board.turns);
  std::vector<RowTimes> measured;
  for (size_t i = 0; i < kNetworkRows.size(); ++i) {
    const NetworkRow& row = kNetworkRows[i];
    // Without atomic operations of the provider there is nothing to compare with.
    if (!contenders[row.other]->offers(row.beside)) continue;
    const auto one = [&](size_t side, int /*round*/) {
      return batches.run(side == 0 ? row.ours : row.other, 2 * i + side);
    };
    add_times(harness::alternate(2, kWarmUpRounds, order.rounds, one),
              {.name = row.name,
               .metric = row.row.metric(),
               .amount = row.row.amount(),
               .most = row.most,
               .baseline = row.baseline},
              measured);
  }
  batches.stop();
  return measured;
}

/// Rank 0, to whose operations rank 1 contributes nothing.
std::vector<RowTimes> measure_node(const Order& order, const Ours& ours) {
  const auto work = node_rows(*ours.context, ours.array);
  std::vector<RowTimes> measured;
  for (const NodeRow& row : work->rows()) {
    const auto one = [&](size_t side, int /*round*/) {
      return side == 0 ? row.ours() : row.plain();
    };
    add_times(harness::alternate(2, kWarmUpRounds, order.rounds, one), row.what, measured);
  }
  return measured;
}

/// Rank 0 of a launch: gives the rows to the parent, in `rows_file`.
int write_rows(const std::vector<RowTimes>& rows, std::FILE* rows_file) {
  const std::string text = to_json(rows).dump();
  if (std::fwrite(text.data(), 1, text.size(), rows_file) == text.size()) return kExitOk;
  return report(Error(ErrorCode::resource_exhausted,
                      "the measurements do not fit into a temporary file; make room in /tmp"));
}

/// What a launch has written.
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

int write_lines(const Order& order, const std::string& lines) {
  if (order.json_path.empty()) return kExitOk;
  std::ofstream json(order.json_path);
  if ((json << lines).flush()) return kExitOk;
  (void)std::fprintf(stderr, "stripline-compare: cannot write '%s'\n", order.json_path.c_str());
  return kExitUnavailable;
}

int show_rows(const Order& order, const std::vector<std::vector<RowTimes>>& launches) {
  const auto rows = merge_launches(launches);
  if (!rows.ok()) return report(rows.error());
  const auto table = row_table(*rows, order.markdown);
  if (!table.ok()) return report(table.error());
  std::cout << "fabric " << order.path() << ", 2 processes, ";
  if (order.launches > 1) std::cout << order.launches << " launches of ";
  std::cout << order.rounds << " paired rounds\n\n" << *table << std::flush;
  if (const int code = write_lines(order, row_json_lines(*rows, order.path())); code != kExitOk) {
    return code;
  }
  const bool verified =
      std::all_of(rows->begin(), rows->end(), [](const RowTimes& row) { return row.verified; });
  return verified ? kExitOk : kExitVerification;
}

int compare_vis(const Order& order, VisSection& section) {
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
  if (const int code = write_lines(order, vis_json_lines(cells, order.path())); code != kExitOk) {
    return code;
  }
  const bool verified =
      std::all_of(cells.begin(), cells.end(), [](const VisCell& cell) { return cell.verified; });
  if (!verified) return kExitVerification;
  return table->not_met() == 0 ? kExitOk : kExitFailure;
}

/// What one rank does of a launch.
Result<int> run_rank(const Order& order, uint32_t rank, Board& board, std::FILE* rows_file) {
  STRIPLINE_ASSIGN_OR_RETURN(const Ours ours, join(order, rank, board));
  if (!order.vis && !order.same_node) {
    STRIPLINE_ASSIGN_OR_RETURN(const harness::Contenders contenders,
                               open_contenders(order, rank, board, ours));
    const std::vector<harness::Row> rows = rows_of_both_sides();
    if (rank == kInitiator) {
      return write_rows(measure_network(order, contenders, rows, board), rows_file);
    }
    harness::attend(contenders, rows, board.turns);
    return kExitOk;
  }
  std::unique_ptr<VisSection> section;
  if (order.vis) section = std::make_unique<VisSection>(*ours.context, ours.array);
  std::atomic<uint64_t>& ended = board.turns.ended;
  if (rank != kInitiator) {
    while (ended.load(std::memory_order_acquire) == 0) ours.context->progress();
    return kExitOk;
  }
  int code = kExitOk;
  if (order.same_node && !ours.context->is_local(1)) {
    code = report(
        Error(ErrorCode::unavailable, "the segment of rank 1 cannot be mapped here: " +
                                          ours.context->state().job.fabric().info().same_node));
  } else if (section) {
    code = compare_vis(order, *section);
  } else {
    code = write_rows(measure_node(order, ours), rows_file);
  }
  ended.store(1, std::memory_order_release);
  return code;
}

int run_pinned(const Order& order, uint32_t rank, Board& board, std::FILE* rows_file) {
  harness::pin_to(rank);
  const auto code = run_rank(order, rank, board, rows_file);
  if (code.ok()) return *code;
  if (!board.failed.exchange(true)) {
    (void)std::fprintf(stderr, "stripline-compare: %s\n", code.error().message().c_str());
  }
  return exit_code_for(code.error().code());
}

/// Two processes that measure once.
int launch(const Order& order, std::FILE* rows_file) {
  void* memory =
      mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return report(Error(ErrorCode::resource_exhausted, "mmap failed"));
  Board* board = std::construct_at(static_cast<Board*>(memory));
  // Both ranks are children, so that neither the parent's state nor libfabric's is shared.
  std::vector<pid_t> children;
  const pid_t parent = ::getpid();
  for (uint32_t rank = 0; rank < 2; ++rank) {
    const pid_t child = fork();
    if (child < 0) {
      // One rank alone would wait for the other one.
      for (const pid_t started : children) ::kill(started, SIGKILL);
      return report(Error(ErrorCode::resource_exhausted, "fork failed"));
    }
    if (child == 0) {
      // A rank that waits for what will never come does not outlive who would end it.
      (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() != parent) ::_exit(kExitRankDied);
      const int code = run_pinned(order, rank, *board, rows_file);
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
