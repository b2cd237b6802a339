#include "runtime/bootstrap/launcher.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include <stripline/global_ptr.h>

#include "base/hex.h"
#include "base/host_name.h"
#include "base/process_state.h"
#include "base/unguessable.h"
#include "runtime/bootstrap/labelled_output.h"
#include "runtime/fabric/ofi/ofi_fabric.h"

namespace stripline::bootstrap {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kRankControlFd = 3;
constexpr int kRankOperationFd = 4;
constexpr int kRankPointFd = 5;

/// Ranks that are started between two looks at whether to go on: some tens of milliseconds.
constexpr uint32_t kStartsBetweenLooks = 16;

// Names shared memory, which no other user of the host must make first.
std::string new_job_id() { return std::to_string(::getpid()) + "-" + unguessable_text(); }

/// While it lives, processes started by this thread inherit these processors; with none, nothing
/// changes.
class Binding {
 public:
  explicit Binding(std::span<const uint32_t> processors) : bound_(!processors.empty()) {
    if (!bound_) return;
    ::sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t mask;
    CPU_ZERO(&mask);
    for (const uint32_t processor : processors) CPU_SET(processor, &mask);
    ::sched_setaffinity(0, sizeof mask, &mask);
  }
  ~Binding() {
    if (bound_) ::sched_setaffinity(0, sizeof before_, &before_);
  }
  Binding(const Binding&) = delete;
  Binding& operator=(const Binding&) = delete;

 private:
  bool bound_;
  cpu_set_t before_{};
};

/// A descriptor that is readable once the process has ended. Through syscall(): glibc 2.36 declares
/// pidfd_open() without C linkage.
UniqueFd watch_exit(pid_t pid) {
  return UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
}

/// The job's region on this host (docs/worker-protocol.md), if its ranks ended too early to have
/// removed it themselves.
void remove_shared_memory(const std::string& job_id) {
  ::shm_unlink(("/stripline-" + job_id).c_str());
}

RankEvent event_of(RankEvent::Kind kind, uint32_t rank) {
  RankEvent event;
  event.kind = kind;
  event.rank = rank;
  return event;
}

Error closed(uint32_t rank) {
  return {ErrorCode::unavailable,
          "rank " + std::to_string(rank) + " has closed its control channel"};
}

}  // namespace

Result<Launcher> Launcher::start(const LaunchOptions& options) {
  const uint32_t job_ranks = options.job_ranks == 0 ? options.ranks : options.job_ranks;
  if (options.argv.empty()) {
    return Error(ErrorCode::invalid_argument, "no program to start; name one after '--'");
  }
  if (options.ranks == 0 || job_ranks > kMaxRanks || options.first_rank > job_ranks ||
      options.ranks > job_ranks - options.first_rank) {
    return Error(ErrorCode::invalid_argument,
                 "cannot start " + std::to_string(options.ranks) + " ranks from rank " +
                     std::to_string(options.first_rank) + " of a job of " +
                     std::to_string(job_ranks) + "; a job has 1 to " + std::to_string(kMaxRanks));
  }
  Launcher launcher(options.ranks);
  launcher.first_rank_ = options.first_rank;
  launcher.job_id_ = options.job_id.empty() ? new_job_id() : options.job_id;
  std::vector<std::vector<uint32_t>> placement;
  if (options.bind == Bind::core) {
    machine::Places places = machine::claim_places(options.ranks, options.claims_folder);
    placement = std::move(places.processors);
    launcher.claims_ = std::move(places.held);
    if (placement.empty()) {
      launcher.why_unbound_ =
          std::to_string(options.ranks) + " ranks do not fit the processors that this job may use" +
          (places.taken == 0 ? std::string()
                             : ", of which other jobs have " + std::to_string(places.taken));
    }
  }
  // As under other launchers, rank 0 alone reads what the job is given. A terminal would stop it:
  // ranks are in process groups of their own, in its background.
  const UniqueFd no_input(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const bool rank_0_reads = options.stdin_fd || ::isatty(STDIN_FILENO) == 0;
  placement.resize(options.ranks);  // without places ranks stay unbound
  for (uint32_t i = 0; i < options.ranks; ++i) {
    if (i % kStartsBetweenLooks == 0 && i > 0) {
      if (options.interrupted && options.interrupted()) break;
      if (launcher.has_bad_news()) break;
    }
    STRIPLINE_ASSIGN_OR_RETURN(auto sockets, socket_pair());
    SubprocessOptions child;
    child.argv = options.argv;
    child.environment = options.environment;
    child.environment["STRIPLINE_RANK"] = std::to_string(options.first_rank + i);
    child.environment["STRIPLINE_RANKS"] = std::to_string(job_ranks);
    child.environment["STRIPLINE_JOB_ID"] = launcher.job_id_;
    child.environment["STRIPLINE_CONTROL_FD"] = std::to_string(kRankControlFd);
    child.inherit = {{sockets.second.get(), kRankControlFd}};
    if (launcher.operations_.file() >= 0) {
      child.environment[kOperationRecordVariable] = OperationRecords::variable(kRankOperationFd, i);
      child.inherit.emplace_back(launcher.operations_.file(), kRankOperationFd);
    }
    PointRecord points;
    if (options.records_points) {
      STRIPLINE_ASSIGN_OR_RETURN(points, PointRecord::create());
      child.environment[kPointRecordVariable] = std::to_string(kRankPointFd);
      child.inherit.emplace_back(points.file(), kRankPointFd);
    }
    const bool reads = options.first_rank + i == 0 && rank_0_reads;
    if (reads) child.stdin_fd = options.stdin_fd;
    if (!reads && no_input) child.stdin_fd = no_input.get();
    child.stdout_fd = options.stdout_fd;
    child.stderr_fd = options.stderr_fd;
    std::array<UniqueFd, 2> labelled;  // closed here when the rank has them
    if (options.labels != nullptr) {
      const uint32_t rank = options.first_rank + i;
      STRIPLINE_ASSIGN_OR_RETURN(
          labelled[0], options.labels->pipe_of(rank, child.stdout_fd.value_or(STDOUT_FILENO)));
      STRIPLINE_ASSIGN_OR_RETURN(
          labelled[1], options.labels->pipe_of(rank, child.stderr_fd.value_or(STDERR_FILENO)));
      child.stdout_fd = labelled[0].get();
      child.stderr_fd = labelled[1].get();
    }
    const Binding binding(placement[i]);
    STRIPLINE_ASSIGN_OR_RETURN(Subprocess process, Subprocess::spawn(child));
    UniqueFd exit_fd = watch_exit(process.pid());
    if (!exit_fd) {
      return Error(ErrorCode::resource_exhausted,
                   "cannot watch process " + std::to_string(process.pid()) + ": " +
                       std::generic_category().message(errno) + "; raise 'ulimit -n'");
    }
    launcher.processes_.push_back(Rank{.process = std::move(process),
                                       .channel = JsonChannel(std::move(sockets.first)),
                                       .exit_fd = std::move(exit_fd),
                                       .points = std::move(points)});
    ++launcher.running_;
  }
  return launcher;
}

// True if a rank has failed or ended while others are being started. Keeps what it hears for
// next().
bool Launcher::has_bad_news() {
  std::deque<RankEvent> heard;
  bool bad = false;
  while (auto event = next(0)) {
    bad = bad || event->kind == RankEvent::Kind::failed || event->kind == RankEvent::Kind::closed ||
          event->kind == RankEvent::Kind::exited;
    heard.push_back(*std::move(event));
  }
  events_ = std::move(heard);
  return bad;
}

Launcher::~Launcher() {
  if (processes_.empty()) return;
  signal(SIGKILL);
  for (Rank& rank : processes_) {
    if (rank.done) continue;
    rank.process.terminate(0);
    fabric::remove_ofi_leftovers(rank.process.pid());
  }
  remove_shared_memory(job_id_);
}

std::optional<RankEvent> Launcher::next(double timeout_s, int wake_fd) {
  const auto deadline = Clock::now() + std::chrono::duration<double>(std::fmax(timeout_s, 0));
  while (true) {
    if (!events_.empty()) {
      RankEvent event = std::move(events_.front());
      events_.pop_front();
      return event;
    }
    if (running_ == 0) return std::nullopt;

    std::vector<pollfd> watched;
    std::vector<uint32_t> owner;
    bool unwritten = false;
    for (uint32_t i = 0; i < processes_.size(); ++i) {
      const Rank& rank = processes_[i];
      if (rank.done) continue;
      watched.push_back({rank.exit_fd.get(), POLLIN, 0});
      owner.push_back(i);
      if (!rank.open) continue;
      const bool waits = rank.channel.unwritten();
      unwritten = unwritten || waits;
      watched.push_back(
          {rank.channel.fd(), static_cast<short>(waits ? POLLIN | POLLOUT : POLLIN), 0});
      owner.push_back(i);
    }
    if (wake_fd >= 0) watched.push_back({wake_fd, POLLIN, 0});
    int wait_ms = -1;
    if (timeout_s >= 0) {
      const double left = std::chrono::duration<double>(deadline - Clock::now()).count();
      wait_ms = left > 0 ? static_cast<int>(std::fmin(std::ceil(left * 1e3), 1e9)) : 0;
    }
    const int ready = ::poll(watched.data(), watched.size(), wait_ms);
    if (ready == 0 && timeout_s >= 0 && Clock::now() >= deadline) return std::nullopt;
    if (ready <= 0) continue;  // interrupted
    // Channels before exits: the last words of a rank come before its end.
    for (size_t k = 0; k < owner.size(); ++k) {
      Rank& rank = processes_[owner[k]];
      if (watched[k].revents == 0 || watched[k].fd != rank.channel.fd()) continue;
      // A channel that is closed shows when it is read.
      if ((watched[k].revents & POLLOUT) != 0) {
        [[maybe_unused]] const Status written = rank.channel.flush();
      }
      if (watched[k].revents != POLLOUT) read_channel(owner[k]);
    }
    for (size_t k = 0; k < owner.size(); ++k) {
      if (watched[k].revents != 0 && watched[k].fd == processes_[owner[k]].exit_fd.get()) {
        read_exit(owner[k]);
      }
    }
    if (!events_.empty()) continue;
    if (wake_fd >= 0 && watched.back().revents != 0) return std::nullopt;
    if (unwritten && unread().empty()) return std::nullopt;
  }
}

void Launcher::read_channel(uint32_t index) {
  Rank& rank = processes_[index];
  const uint32_t number = first_rank_ + index;
  while (rank.open) {
    auto message = rank.channel.read(0);
    if (message.ok() && !message->has_value()) return;
    if (message.ok()) {
      auto event = to_event(number, std::move(**message));
      rank.excused = rank.excused || event->kind == RankEvent::Kind::left ||
                     event->kind == RankEvent::Kind::failed;
      rank.open = event->kind != RankEvent::Kind::closed;
      events_.push_back(*std::move(event));
      continue;
    }
    rank.open = false;
    if (rank.excused && message.error().code() == ErrorCode::unavailable) return;
    RankEvent event = event_of(RankEvent::Kind::closed, number);
    event.error = message.error();
    events_.push_back(std::move(event));
  }
}

std::optional<RankEvent> Launcher::to_event(uint32_t rank, Json message) {
  const auto text = [&message](const char* key) {
    const auto found = message.find(key);
    return found != message.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  const std::string type = text("type");
  if (type == "join") {
    auto address = from_hex(text("address"));
    const bool itself = message.value("rank", Json()) == Json(rank);
    if (!address || !itself) {
      RankEvent event = event_of(RankEvent::Kind::closed, rank);
      event.error = Error(ErrorCode::data_loss, "its join message is malformed");
      return event;
    }
    const Json pid = message.value("pid", Json());
    if (pid.is_number_integer()) {
      processes_[rank - first_rank_].joined_as = static_cast<pid_t>(pid.get<int64_t>());
    }
    RankEvent event = event_of(RankEvent::Kind::joined, rank);
    event.address = *std::move(address);
    event.host = text("host");
    return event;
  }
  if (type == "left") return event_of(RankEvent::Kind::left, rank);
  if (type == "failed") {
    RankEvent event = event_of(RankEvent::Kind::failed, rank);
    event.error =
        Error(error_code_from_string(text("code")).value_or(ErrorCode::internal), text("message"));
    event.points = processes_[rank - first_rank_].points.begun();
    return event;
  }
  RankEvent event = event_of(RankEvent::Kind::message, rank);
  event.message = std::move(message);
  return event;
}

void Launcher::read_exit(uint32_t index) {
  Rank& rank = processes_[index];
  const auto status = rank.process.poll();
  if (!status) return;
  read_channel(index);  // what it wrote between the poll and its end
  rank.open = false;
  rank.done = true;
  --running_;
  fabric::remove_ofi_leftovers(rank.process.pid());
  RankEvent event = event_of(RankEvent::Kind::exited, first_rank_ + index);
  event.status = *status;
  event.points = rank.points.begun();
  if (status->signal != 0) event.last_operation = operations_.last_operation(index);
  events_.push_back(std::move(event));
}

Status Launcher::send_ready(std::span<const std::string> addresses) {
  Json list = Json::array();
  for (const std::string& address : addresses) list.push_back(to_hex(address));
  const Json message = {{"type", "ready"}, {"addresses", std::move(list)}};
  for (uint32_t i = 0; i < processes_.size(); ++i) {
    if (!processes_[i].open) return closed(first_rank_ + i);
  }
  return send_to_all(message);
}

Status Launcher::send_to_all(const Json& message) {
  std::vector<JsonChannel*> channels;
  for (Rank& rank : processes_) {
    if (rank.open) channels.push_back(&rank.channel);
  }
  return JsonChannel::post_to_all(channels, message);
}

Status Launcher::send(uint32_t rank, const Json& message) {
  Rank& target = processes_.at(rank - first_rank_);
  if (!target.open) return closed(rank);
  return target.channel.post(message);
}

std::vector<uint32_t> Launcher::unread() const {
  std::vector<uint32_t> ranks;
  for (uint32_t i = 0; i < processes_.size(); ++i) {
    if (processes_[i].open && processes_[i].channel.unwritten()) ranks.push_back(first_rank_ + i);
  }
  return ranks;
}

void Launcher::send_abort(const Error& reason) {
  const Json message = {{"type", "abort"},
                        {"code", std::string(to_string(reason.code()))},
                        {"message", reason.message()}};
  for (Rank& rank : processes_) {
    if (!rank.open || rank.done) continue;
    // A rank that does not read is killed anyhow.
    [[maybe_unused]] const Status sent = rank.channel.post(message);
  }
}

// What the kernel says of the process that joined, if that is a child of the one started here.
void Launcher::see_process(uint32_t index, RankSight& sight) const {
  const Rank& rank = processes_[index];
  if (rank.done) return;
  const auto show = [&sight](pid_t pid, const ProcessState& state) {
    sight.pid = pid;
    sight.state = state.state;
    sight.cpu_ticks = state.cpu_ticks;
  };
  // Each rank leads a process group. Numbers of other PID namespaces mean other processes here.
  if (rank.joined_as > 0) {
    const auto joined = process_state(rank.joined_as);
    if (joined && joined->group == rank.process.pid()) return show(rank.joined_as, *joined);
  }
  const auto started = process_state(rank.process.pid());
  if (started) show(rank.process.pid(), *started);
}

std::vector<RankSight> Launcher::look(bool with_operations) {
  std::vector<RankSight> sights(ranks_);
  for (uint32_t i = 0; i < ranks_; ++i) {
    sights[i].waits = operations_.waits(i);
    if (with_operations) sights[i].operation = operations_.last_operation(i);
    if (i >= processes_.size()) continue;
    sights[i].points = processes_[i].points.begun();
    see_process(i, sights[i]);
  }
  return sights;
}

std::string Launcher::host_of(uint32_t) const { return host_name(); }

void Launcher::signal(int signal_number) {
  for (Rank& rank : processes_) rank.process.signal(signal_number);
}

}  // namespace stripline::bootstrap
