#include "suites/targets/launcher.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <poll.h>
#include <string_view>
#include <utility>
#include <vector>

#include "base/atomic_file.h"
#include "base/cut_text.h"
#include "base/quantity.h"
#include "base/subprocess.h"
#include "base/unguessable.h"
#include "base/whole_file.h"
#include "suites/targets/leftovers.h"

namespace stripline::suites::tune {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kLookS = 0.05;
// Processes may take longer to start than to measure anything.
constexpr double kStartLimitS = 60;
// A program that has reported everything needs no more than this to exit. Where it does not, that
// is the end of its library: MPICH before 4.2 on UCX over TCP may wait in MPI_Finalize for a peer
// that no longer makes progress (https://github.com/pmodels/mpich/pull/6596), with any settings.
constexpr double kExitLimitS = 3;
constexpr size_t kMostSaid = 2000;
// Hundreds of cells with all their alternatives and repetitions take tens of MiB.
constexpr size_t kMostPrinted = size_t{1} << 30;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

bool is_readable(int fd) {
  if (fd < 0) return false;
  pollfd one{fd, POLLIN, 0};
  return ::poll(&one, 1, 0) > 0;
}

// True if the last line of a driver's output, which has this size, says that the plan has been
// carried out.
bool ends_with_done(const std::filesystem::path& file, uintmax_t size) {
  const size_t looked_at = std::min<uintmax_t>(size, 32);  // more than that line has
  std::ifstream in(file, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(size - looked_at));
  std::string end(looked_at, '\0');
  if (!in.read(end.data(), static_cast<std::streamsize>(looked_at))) return false;
  if (!end.ends_with('\n')) return false;
  const size_t before = end.size() > 1 ? end.rfind('\n', end.size() - 2) : std::string::npos;
  const auto last = read_driver_output(DriverPlan{}, std::string_view(end).substr(before + 1));
  return last.ok() && last->done;
}

// Prefixes of files that may be there before a launch, when its processes are not known yet.
std::vector<std::string_view> prefixes_before(const Adapter& adapter) {
  auto prefixes = adapter.shared_memory_prefixes();
  if (adapter.names_memory_by_process()) {
    prefixes.insert(prefixes.end(), {"1", "2", "3", "4", "5", "6", "7", "8", "9"});
  }
  return prefixes;
}

Result<DriverOutput> output_in(const std::filesystem::path& file, const DriverPlan& plan) {
  STRIPLINE_ASSIGN_OR_RETURN(const std::string printed, read_whole_file(file, kMostPrinted));
  return read_driver_output(plan, printed);
}

uint32_t most_ranks(const DriverPlan& plan) {
  uint32_t ranks = 1;
  for (const DriverCell& cell : plan.cells) ranks = std::max(ranks, cell.ranks);
  return ranks;
}

}  // namespace

Launcher::Launcher(const Adapter& adapter, std::string program, const WorkFolder& folder,
                   targets::Path path, int cancel_fd)
    : adapter_(adapter),
      program_(std::move(program)),
      folder_(folder),
      path_(path),
      cancel_fd_(cancel_fd) {}

void Launcher::end_within(double seconds) {
  end_ = Clock::now() +
         std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

double Launcher::left_s() const {
  return end_ ? -seconds_since(*end_) : std::numeric_limits<double>::infinity();
}

Result<const targets::Renumbering*> Launcher::renumbering() {
  if (!renumbering_) {
    STRIPLINE_ASSIGN_OR_RETURN(renumbering_, adapter_.renumbering());
  }
  return &*renumbering_;
}

Result<Launched> Launcher::run(DriverPlan& plan, const Environment& environment) {
  if (left_s() <= 0) return Launched{.out_of_time = true};
  ++launches_;
  STRIPLINE_ASSIGN_OR_RETURN(const targets::Renumbering* numbers, renumbering());
  const std::string text = plan_text(plan, *numbers);
  const auto plan_file = folder_ / "plan";
  STRIPLINE_RETURN_IF_ERROR(write_atomically(plan_file, text));
  STRIPLINE_ASSIGN_OR_RETURN(const UniqueFd out, folder_.open_for_writing("out"));
  STRIPLINE_ASSIGN_OR_RETURN(const UniqueFd err, folder_.open_for_writing("err"));

  const std::string token = unguessable_text();
  SubprocessOptions options{
      .argv = adapter_.launch(most_ranks(plan), program_, {plan_file.string()}),
      .stdout_fd = out.get(),
      .stderr_fd = err.get()};
  if (!environment_) {
    STRIPLINE_ASSIGN_OR_RETURN(environment_, adapter_.environment(path_, folder_.path()));
  }
  options.environment = *environment_;
  for (const auto& [name, value] : environment) options.environment[name] = value;
  options.environment[kLaunchVariable] = token;
  const auto shared_before = shared_memory_files(prefixes_before(adapter_));

  Launched launched;
  bool cancelled = false;
  bool killed = false;
  const auto start = Clock::now();
  {
    STRIPLINE_ASSIGN_OR_RETURN(Subprocess process, Subprocess::spawn(options));
    uintmax_t size = 0;
    bool done = false;
    auto grown = start;
    while (true) {
      const auto status = process.wait(kLookS);
      if (status.ok()) {
        if (!status->ok()) launched.failure = status->describe();
        break;
      }
      std::error_code error;
      const uintmax_t now = std::filesystem::file_size(folder_ / "out", error);
      if (now != size) {
        size = now;
        grown = Clock::now();
        done = ends_with_done(folder_ / "out", size);
      }
      cancelled = is_readable(cancel_fd_);
      double limit_s = size == 0 ? std::max(stall_limit_s_, kStartLimitS) : stall_limit_s_;
      if (done) limit_s = std::min(limit_s, kExitLimitS);
      const bool hung = seconds_since(grown) > limit_s;
      launched.out_of_time = !done && left_s() <= 0;
      if (!hung && !cancelled && !launched.out_of_time) continue;
      process.terminate(2);
      killed = true;
      if (hung && !done && !launched.out_of_time) {
        launched.failure = "hung for " + exact_seconds_text(limit_s);
      }
      break;
    }
  }
  auto output = output_in(folder_ / "out", plan);
  if (!launched.failure.empty() || killed) {
    kill_processes_of(token);
    std::vector<std::string> by_process;
    for (const int64_t process : output.ok() ? output->processes : std::vector<int64_t>()) {
      by_process.push_back(std::to_string(process) + ":");
    }
    auto prefixes = adapter_.shared_memory_prefixes();
    if (adapter_.names_memory_by_process()) {
      prefixes.insert(prefixes.end(), by_process.begin(), by_process.end());
    }
    remove_shared_memory_files(prefixes, shared_before);
  }
  if (cancelled) return Error(ErrorCode::cancelled, "stopped on request");
  if (!output.ok()) return output.error();
  launched.output = std::move(*output);
  if (const auto said = read_whole_file(folder_ / "err"); said.ok()) {
    launched.said = said->size() > kMostSaid ? said->substr(said->size() - kMostSaid) : *said;
  }
  if (launched.failure.empty() && !launched.output.done && !launched.out_of_time) {
    launched.failure = "ended without a result";
  }
  return launched;
}

Result<std::set<std::string>> unsettable_variables(Launcher& launcher) {
  const targets::Target& target = launcher.adapter().target();
  if (target.candidates == nullptr) return std::set<std::string>();
  DriverPlan plan;
  for (const Collective collective : targets::kCollectives) {
    for (const Candidate& one : target.candidates(collective)) plan.variant(one.select);
  }
  STRIPLINE_ASSIGN_OR_RETURN(Launched launched, launcher.run(plan, launcher.adapter().selecting()));
  if (launched.out_of_time) {
    return Error(ErrorCode::deadline_exceeded,
                 "the time was up before anything was measured; give it more by --minutes");
  }
  STRIPLINE_ASSIGN_OR_RETURN(const targets::Renumbering* numbers, launcher.renumbering());
  launched.output.unsettable.insert(numbers->unknown.begin(), numbers->unknown.end());
  if (launched.failure.empty()) return std::move(launched.output.unsettable);
  return Error(ErrorCode::aborted,
               std::string(target.title) + "'s program " + launched.failure + ": " + launched.said);
}

}  // namespace stripline::suites::tune
