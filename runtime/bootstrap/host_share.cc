#include "runtime/bootstrap/host_share.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <poll.h>
#include <signal.h>
#include <sstream>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "base/command_line.h"
#include "base/exit_codes.h"
#include "base/hex.h"
#include "base/host_name.h"
#include "base/settings.h"
#include "runtime/bootstrap/host_messages.h"
#include "runtime/bootstrap/labelled_output.h"
#include "runtime/bootstrap/launcher.h"
#include "runtime/bootstrap/rank_streams.h"
#include "runtime/fabric/ofi/ofi_fabric.h"
#include "runtime/machine/preflight.h"

namespace stripline::bootstrap {
namespace {

using Clock = std::chrono::steady_clock;

/// What is read of each stream once all ranks have ended: a process that one has left behind may
/// write for ever.
constexpr size_t kMostAfterTheEnd = size_t{128} << 10;

double now_s() { return std::chrono::duration<double>(Clock::now().time_since_epoch()).count(); }

const char* variable(const char* name) {
  return std::getenv(name);  // NOLINT(concurrency-mt-unsafe): before there are threads
}

/// Descriptors to wait on, in one that is readable when one of them is ready.
class Waits {
 public:
  int fd() const { return all_.get(); }
  /// Waits on `fd` for these events of epoll only; with none, not at all. Before it is closed.
  void set(int fd, uint32_t events) {
    if (fd < 0) return;
    const auto known = events_.find(fd);
    if (known == events_.end() ? events == 0 : known->second == events) return;
    epoll_event event{.events = events, .data = {.fd = fd}};
    const int how = events == 0              ? EPOLL_CTL_DEL
                    : known == events_.end() ? EPOLL_CTL_ADD
                                             : EPOLL_CTL_MOD;
    ::epoll_ctl(all_.get(), how, fd, &event);
    if (events == 0) {
      events_.erase(fd);
    } else {
      events_[fd] = events;
    }
  }

 private:
  UniqueFd all_{::epoll_create1(EPOLL_CLOEXEC)};
  std::map<int, uint32_t> events_;
};

/// The addresses of this host and of the caller, as sshd says them: "CALLER PORT HOST PORT".
HostGreeting greeting() {
  HostGreeting own{.version = std::string(program_version()), .address = "", .caller = ""};
  if (const char* connection = variable("SSH_CONNECTION"); connection != nullptr) {
    std::istringstream words(connection);
    std::string port;
    words >> own.caller >> port >> own.address;
  }
  return own;
}

Status find_program(const std::string& name) {
  std::error_code none;
  const bool found = name.find('/') == std::string::npos
                         ? !find_in_path(name).empty()
                         : std::filesystem::is_regular_file(name, none);
  if (found) return {};
  return Error(ErrorCode::not_found, "there is no program '" + name +
                                         "'; it has to be under the same path on every host");
}

/// Has the ranks communicate from `address` unless something else was said of that.
void choose_address(const std::string& address, std::map<std::string, std::string>& environment) {
  std::string core = value_with(environment, "STRIPLINE_FABRIC");
  if (!fabric::uses_sockets(core) || !is_this_host(address)) return;
  core = core.substr(0, core.find(';'));
  std::ranges::transform(core, core.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  for (const std::string& name : {std::string("STRIPLINE_ADDRESS"), std::string("STRIPLINE_IFACE"),
                                  "FI_" + core + "_IFACE"}) {
    if (!value_with(environment, name).empty()) return;
  }
  environment["STRIPLINE_ADDRESS"] = address;
  environment[kOptionsVariable] += "STRIPLINE_ADDRESS ";
}

class HostShare {
 public:
  HostShare(UniqueFd in, UniqueFd out) : channel_(std::move(in), std::move(out)) {}

  int run() {
    // An own line, whatever the login shell has printed before.
    [[maybe_unused]] const ssize_t written = ::write(channel_.write_fd(), "\n", 1);
    post(to_json(greeting()));
    while (!over_) turn();
    // No one reads any more.
    ranks_.reset();
    for (OutputStream& stream : streams_) stream.close();
    return exit_code_;
  }

 private:
  void turn() {
    waits_.set(channel_.fd(), EPOLLIN);
    waits_.set(channel_.write_fd(), channel_.unwritten() ? uint32_t{EPOLLOUT} : 0);
    for (OutputStream& stream : streams_) watch(stream);
    if (input_) waits_.set(input_->write_fd(), EPOLLOUT);
    const double wait_s = std::max(next_beat_s_ - now_s(), 0.0);
    const bool running = ranks_ && ranks_->running() > 0;
    std::optional<RankEvent> event;
    if (ranks_) event = ranks_->next(running ? wait_s : 0, waits_.fd());
    if (event) post(to_json(*event));
    if (ranks_ && ranks_->running() == 0 && !event) end_streams();
    if (!running && !event) {
      pollfd ready{waits_.fd(), POLLIN, 0};
      ::poll(&ready, 1, static_cast<int>(std::ceil(wait_s * 1e3)));
    }
    hear();
    tell_unread();
    relay_streams();
    beat();
  }

  void watch(OutputStream& stream) {
    // What is not to be read now is not waited on, or the wait would end at once.
    const int own = stream.read_fd();
    int& watched = watched_[stream.name()];
    if (own < 0) waits_.set(watched, 0);
    if (own >= 0) waits_.set(own, EPOLLIN);
    watched = own;
  }

  void post(const Json& message) {
    if (!channel_.post(message).ok()) over_ = true;
  }

  /// Lets the launcher know that this host is there, and ends without it.
  void beat() {
    const double now = now_s();
    if (now - heard_s_ > silence_limit_s_) {
      std::fprintf(stderr, "nothing has been heard of the launcher for %g s\n", silence_limit_s_);
      exit_code_ = kExitRankDied;
      over_ = true;
    }
    if (now < next_beat_s_) return;
    next_beat_s_ = now + silence_limit_s_ / kBeatsPerLimit;
    post({{"type", "alive"}});
  }

  /// Does all that the launcher has said by now.
  void hear() {
    if (channel_.unwritten() && !channel_.flush().ok()) over_ = true;
    while (!over_) {
      const auto message = channel_.read(0);
      if (message.ok() && !message->has_value()) return;
      if (message.ok()) heard_s_ = now_s();
      const Status done = message.ok() ? obey(**message) : Status(message.error());
      if (done.ok()) continue;
      over_ = true;
      if (done.error().code() == ErrorCode::unavailable) return;  // the launcher has ended
      std::fprintf(stderr, "%s\n", done.error().message().c_str());
      exit_code_ = exit_code_for(done.error().code());
    }
  }

  Status obey(const Json& message) {
    const std::string type = type_of(message);
    if (type == "order") return take(message);
    if (type == "start") return start();
    if (type == "bytes") {
      STRIPLINE_ASSIGN_OR_RETURN(std::string bytes, bytes_from_json(message));
      if (input_) input_->give(std::move(bytes));
      return {};
    }
    if (type == "taken") return taken(message);
    if (type == "abort" || type == "signal") ends_ = true;
    if (type == "look") return show(message);
    if (!ranks_) return {};
    if (type == "ready") return introduce(message);
    if (type == "tell") return tell(message);
    if (type == "abort") ranks_->send_abort(error_from_json(message));
    if (type == "signal") {
      STRIPLINE_ASSIGN_OR_RETURN(const uint32_t number, count_from_json(message, "number"));
      ranks_->signal(static_cast<int>(number));
    }
    return {};
  }

  Status show(const Json& message) {
    STRIPLINE_ASSIGN_OR_RETURN(const bool operations, get_bool(message, "operations", "look"));
    // While ranks are being started there is nothing to see, but an answer is waited for.
    post(sights_message(ranks_ ? ranks_->look(operations) : std::vector<RankSight>()));
    return {};
  }

  /// Makes sure that the ranks can be started.
  Status take(const Json& message) {
    STRIPLINE_ASSIGN_OR_RETURN(order_, order_from_json(message));
    silence_limit_s_ = order_.silence_limit_s;
    next_beat_s_ = 0;
    std::vector<std::string> warnings;
    std::error_code wrong;
    std::filesystem::current_path(order_.folder, wrong);
    if (wrong) {
      std::error_code none;
      warnings.push_back("cannot work in '" + order_.folder + "' (" + wrong.message() +
                         "); ranks start in '" + std::filesystem::current_path(none).string() +
                         "'");
    }
    choose_address(order_.address, order_.environment);
    machine::JobPlan plan = machine::plan_job(order_.ranks, order_.environment);
    plan.job_ranks = order_.job_ranks;
    const machine::Preflight room = machine::check_host(plan, machine::HostRoom::read());
    warnings.insert(warnings.end(), room.warnings.begin(), room.warnings.end());
    const Status program = order_.argv.empty() ? Status() : find_program(order_.argv.front());
    if (!program.ok()) {
      post(error_message("refused", program.error()));
    } else if (room.refusal) {
      post(error_message("refused", *room.refusal));
    } else {
      post({{"type", "prepared"}, {"warnings", warnings}});
    }
    return {};
  }

  Status start() {
    if (const Status started = start_ranks(); !started.ok()) {
      post(error_message("refused", started.error()));
      return {};
    }
    post({{"type", "started"},
          {"ranks", ranks_->running()},
          {"why_unbound", ranks_->why_unbound()}});
    if (ends_) ranks_->signal(SIGKILL);
    return {};
  }

  Status start_ranks() {
    for (const char* name : {"out", "err"}) {
      STRIPLINE_ASSIGN_OR_RETURN(OutputStream stream, OutputStream::open(name, order_.label));
      streams_.push_back(std::move(stream));
    }
    LaunchOptions launch;
    launch.argv = order_.argv;
    launch.environment = order_.environment;
    launch.ranks = order_.ranks;
    launch.first_rank = order_.first_rank;
    launch.job_ranks = order_.job_ranks;
    launch.job_id = order_.job_id;
    launch.bind = order_.bind ? Bind::core : Bind::none;
    launch.records_points = order_.records_points;
    launch.stdout_fd = streams_[0].write_fd();
    launch.stderr_fd = streams_[1].write_fd();
    if (order_.input && order_.first_rank == 0) {
      STRIPLINE_ASSIGN_OR_RETURN(input_, InputStream::open());
      launch.stdin_fd = input_->read_end().get();
    }
    if (order_.label) {
      STRIPLINE_ASSIGN_OR_RETURN(LabelledOutput labels, LabelledOutput::start(order_.job_ranks));
      labels_.emplace(std::move(labels));
      launch.labels = &*labels_;
    }
    launch.interrupted = [this] {
      hear();
      beat();
      return over_ || ends_;
    };
    STRIPLINE_ASSIGN_OR_RETURN(Launcher ranks, Launcher::start(launch));
    ranks_.emplace(std::move(ranks));
    if (input_) input_->read_end().reset();
    return {};
  }

  Status introduce(const Json& message) {
    STRIPLINE_ASSIGN_OR_RETURN(const Json* list, get_array(message, "addresses", "ready"));
    std::vector<std::string> addresses;
    for (const Json& item : *list) {
      auto address = item.is_string() ? from_hex(item.get_ref<const std::string&>()) : std::nullopt;
      if (!address) return Error(ErrorCode::data_loss, "an address that is not hexadecimal");
      addresses.push_back(*std::move(address));
    }
    // A rank that is gone by now shows up as an event of its own.
    [[maybe_unused]] const Status sent = ranks_->send_ready(addresses);
    unread_.reset();
    told_ = true;
    return {};
  }

  Status tell(const Json& message) {
    STRIPLINE_ASSIGN_OR_RETURN(const Json* said, get_object(message, "said", "tell"));
    Status sent;
    if (message.contains("rank")) {
      STRIPLINE_ASSIGN_OR_RETURN(const uint32_t rank, count_from_json(message, "rank"));
      if (rank - order_.first_rank < order_.ranks) sent = ranks_->send(rank, *said);
    } else {
      sent = ranks_->send_to_all(*said);
    }
    told_ = true;
    return {};
  }

  Status taken(const Json& message) {
    STRIPLINE_ASSIGN_OR_RETURN(const std::string name, get_string(message, "stream", "taken"));
    STRIPLINE_ASSIGN_OR_RETURN(const uint32_t bytes, count_from_json(message, "bytes"));
    for (OutputStream& stream : streams_) {
      if (stream.name() != name) continue;
      stream.taken(bytes);
      if (!message.contains("closed")) continue;
      waits_.set(std::exchange(watched_[name], -1), 0);
      stream.close();
    }
    return {};
  }

  /// Says which ranks do not read, when that has changed.
  void tell_unread() {
    if (!told_ || !ranks_) return;
    std::vector<uint32_t> unread = ranks_->unread();
    if (unread_ == unread) return;
    post({{"type", "unread"}, {"ranks", unread}});
    unread_ = std::move(unread);
  }

  void relay_streams() {
    for (OutputStream& stream : streams_) {
      for (std::string piece = stream.take(); !piece.empty(); piece = stream.take()) {
        if (streams_end_) after_the_end_ += piece.size();
        post(bytes_message(stream.name(), piece));
      }
    }
    if (!input_) return;
    const int before = input_->write_fd();
    input_->flush();
    if (before != input_->write_fd()) waits_.set(before, 0);
    if (input_->wants_more()) post({{"type", "want_input"}});
  }

  /// All ranks have ended: brings what they have printed to its end, and says so.
  void end_streams() {
    if (said_all_) return;
    if (labels_ && !ending_labels_.joinable()) {
      // Its last lines need somebody who reads them meanwhile.
      waits_.set(labels_ended_.get(), EPOLLIN);
      ending_labels_ = std::jthread([this] {
        labels_.reset();
        const uint64_t one = 1;
        [[maybe_unused]] const ssize_t written = ::write(labels_ended_.get(), &one, sizeof one);
      });
    }
    pollfd ended{labels_ended_.get(), POLLIN, 0};
    if (order_.label && ::poll(&ended, 1, 0) == 0) return;
    waits_.set(labels_ended_.get(), 0);
    if (!std::exchange(streams_end_, true)) relay_streams();
    const bool empty = std::ranges::all_of(streams_, &OutputStream::empty);
    if (!empty && after_the_end_ < kMostAfterTheEnd) return;
    said_all_ = true;
    post({{"type", "done"}});
  }

  JsonChannel channel_;
  Waits waits_;
  std::map<std::string, int> watched_;  // descriptors of streams that are waited on
  HostOrder order_;
  std::vector<OutputStream> streams_;  // out, err
  std::optional<InputStream> input_;
  std::optional<LabelledOutput> labels_;
  std::optional<Launcher> ranks_;
  std::optional<std::vector<uint32_t>> unread_;  // as it was reported last
  bool told_ = false;                            // ranks were sent something
  bool ends_ = false;                            // the launcher ends the job
  bool over_ = false;
  bool streams_end_ = false;  // ranks and labels have ended
  bool said_all_ = false;
  size_t after_the_end_ = 0;
  int exit_code_ = kExitOk;
  double heard_s_ = now_s();
  double next_beat_s_ = 0;
  double silence_limit_s_ = WatchSettings{}.peer_timeout_s;
  UniqueFd labels_ended_{::eventfd(0, EFD_CLOEXEC)};
  std::jthread ending_labels_;  // ends before what it uses
};

}  // namespace

int serve_host_share(UniqueFd in, UniqueFd out) {
  sigset_t pipe;
  ::sigemptyset(&pipe);
  ::sigaddset(&pipe, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
  return HostShare(std::move(in), std::move(out)).run();
}

}  // namespace stripline::bootstrap
