#include "runtime/bootstrap/hosts_launcher.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <poll.h>
#include <signal.h>
#include <unistd.h>
#include <utility>

#include "base/command_line.h"
#include "base/hex.h"
#include "base/host_name.h"
#include "base/quantity.h"
#include "base/settings.h"
#include "base/unguessable.h"
#include "runtime/fabric/ofi/ofi_fabric.h"

namespace stripline::bootstrap {
namespace {

using Clock = std::chrono::steady_clock;

/// How long the slower of things may take that mostly take a millisecond: an answer of all hosts
/// about their ranks; the end of ranks that were killed; output that no one takes; programs that
/// end.
constexpr double kLookSeconds = 1;
constexpr double kKillSeconds = 5;
constexpr double kPatienceSeconds = 5;
constexpr double kCloseSeconds = 2;

/// Between two looks at whether the start is interrupted.
constexpr double kStartLookSeconds = 0.05;

double now_s() { return std::chrono::duration<double>(Clock::now().time_since_epoch()).count(); }

std::string ranks_text(const HostRanks& share) {
  const uint32_t last = share.first_rank + share.ranks - 1;
  return share.ranks == 1
             ? "rank " + std::to_string(share.first_rank)
             : "ranks " + std::to_string(share.first_rank) + "-" + std::to_string(last);
}

Error gone(const std::string& host) {
  return {ErrorCode::unavailable, "host " + host + " takes no part in the job any more"};
}

// Names shared memory, which no other user of the host must make first.
std::string new_job_id() { return std::to_string(::getpid()) + "-" + unguessable_text(); }

}  // namespace

HostsLauncher::HostsLauncher(const HostsOptions& options)
    : options_(options),
      out_(STDOUT_FILENO, [this](size_t owner, size_t bytes) { took(owner, true, bytes); }),
      err_(STDERR_FILENO, [this](size_t owner, size_t bytes) { took(owner, false, bytes); }),
      beat_s_(std::min(options.silence_limit_s, WatchSettings{}.peer_timeout_s) / kBeatsPerLimit) {}

Result<std::unique_ptr<StartedRanks>> HostsLauncher::start(const LaunchOptions& launch,
                                                           const HostsOptions& options) {
  sigset_t pipe;
  ::sigemptyset(&pipe);
  ::sigaddset(&pipe, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
  std::unique_ptr<HostsLauncher> launcher(new HostsLauncher(options));
  STRIPLINE_RETURN_IF_ERROR(launcher->call(launch));
  STRIPLINE_RETURN_IF_ERROR(launcher->prepare(launch));
  launcher->post_to_all({{"type", "start"}});
  for (Host& host : launcher->hosts_) {
    host.phase = Phase::started;
    launcher->running_ += host.share.ranks;
  }
  return std::unique_ptr<StartedRanks>(std::move(launcher));
}

Status HostsLauncher::call(const LaunchOptions& launch) {
  for (const HostRanks& share : options_.shares) {
    if (launch.interrupted && launch.interrupted()) break;
    STRIPLINE_ASSIGN_OR_RETURN(HostLink link,
                               HostLink::open(share.host, options_.ssh, options_.program));
    host_of_rank_.insert(host_of_rank_.end(), share.ranks, hosts_.size());
    hosts_.push_back(Host{.share = share, .link = std::move(link)});
    hosts_.back().ended.resize(share.ranks);
    hosts_.back().sights.resize(share.ranks);
  }
  return wait_for(Phase::greeted, launch, now_s() + options_.answer_limit_s);
}

Status HostsLauncher::prepare(const LaunchOptions& launch) {
  const std::string job_id = new_job_id();
  for (Host& host : hosts_) {
    if (host.greeting.version != program_version()) {
      return Error(ErrorCode::failed_precondition, "host " + host.share.host + " has Stripline " +
                                                       host.greeting.version + ", this one " +
                                                       std::string(program_version()) +
                                                       "; install the same on every host");
    }
    HostOrder order;
    order.argv = launch.argv;
    order.environment = launch.environment;
    order.folder = options_.folder;
    order.address = address_for(host);
    order.job_id = job_id;
    order.first_rank = host.share.first_rank;
    order.ranks = host.share.ranks;
    order.job_ranks = ranks();
    order.bind = launch.bind == Bind::core;
    order.records_points = launch.records_points;
    order.label = options_.label;
    order.input = ::isatty(STDIN_FILENO) == 0;
    order.silence_limit_s = options_.silence_limit_s;
    host.link.post(to_json(order));
  }
  return wait_for(Phase::prepared, launch, now_s() + options_.answer_limit_s);
}

/// Until all hosts are so far.
Status HostsLauncher::wait_for(Phase phase, const LaunchOptions& launch, double until_s) {
  while (true) {
    if (failure_) return *failure_;
    const auto late =
        std::ranges::find_if(hosts_, [phase](const Host& host) { return host.phase < phase; });
    if (launch.interrupted && launch.interrupted()) {
      return Error(ErrorCode::cancelled, "interrupted while the hosts were called");
    }
    if (late == hosts_.end()) return {};
    if (now_s() > until_s) {
      return Error(ErrorCode::deadline_exceeded,
                   "host " + late->share.host + " has not answered within " +
                       exact_seconds_text(options_.answer_limit_s) +
                       "; it is down or cut off, or needs longer ('stripline run --join-timeout')");
    }
    turn(kStartLookSeconds, -1);
  }
}

/// The address at which the other hosts reach this one: by which ssh has reached it, or of the
/// launcher's own host, from which it did.
std::string HostsLauncher::address_for(const Host& host) const {
  if (hosts_.size() == 1) return {};
  if (host.link.by_ssh()) return host.greeting.address;
  for (const Host& other : hosts_) {
    if (other.link.by_ssh() && is_this_host(other.greeting.caller)) return other.greeting.caller;
  }
  return {};
}

HostsLauncher::~HostsLauncher() {
  const auto unsaid = [](const Host& host) {
    return host.phase == Phase::started && std::ranges::all_of(host.ended, std::identity{});
  };
  double until_s = now_s() + kPatienceSeconds;
  for (uint64_t seen = progress_; now_s() < until_s; seen = progress_) {
    if (std::ranges::none_of(hosts_, unsaid) && out_.empty() && err_.empty()) break;
    turn(until_s - now_s(), -1);
    if (progress_ != seen) until_s = now_s() + kPatienceSeconds;
  }
  for (Host& host : hosts_) host.link.hang_up();
  const double closed_s = now_s() + kCloseSeconds;
  for (Host& host : hosts_) {
    // One that has not answered yet would not notice.
    const bool deaf = host.phase == Phase::calling || host.phase == Phase::gone;
    host.link.close(deaf ? 0 : std::max(closed_s - now_s(), 0.0));
    const std::string words = host.link.last_words();
    if (host.phase != Phase::calling && host.phase != Phase::gone && !words.empty()) {
      options_.warn("host " + host.share.host + ": " + words);
    }
  }
}

std::optional<RankEvent> HostsLauncher::next(double timeout_s, int wake_fd) {
  const double until_s = now_s() + timeout_s;
  while (true) {
    if (!events_.empty()) {
      RankEvent event = std::move(events_.front());
      events_.pop_front();
      return event;
    }
    if (running_ == 0 || std::exchange(all_read_, false)) return std::nullopt;
    const double wait_s = timeout_s < 0 ? beat_s_ : until_s - now_s();
    const bool woken = turn(std::max(wait_s, 0.0), wake_fd);
    if (!events_.empty()) continue;
    if (woken || (timeout_s >= 0 && now_s() >= until_s)) return std::nullopt;
  }
}

/// Waits for something to do, at most wait_s, and does it. Returns whether `wake_fd` is readable.
bool HostsLauncher::turn(double wait_s, int wake_fd) {
  std::vector<pollfd> watched;
  for (const Host& host : hosts_) {
    if (host.phase == Phase::gone) continue;
    watched.push_back(
        {host.link.fd(), static_cast<short>(host.link.unwritten() ? POLLIN | POLLOUT : POLLIN), 0});
    watched.push_back({host.link.error_fd(), POLLIN, 0});
  }
  watched.push_back(out_.wait());
  watched.push_back(err_.wait());
  watched.push_back({wants_input_ ? STDIN_FILENO : -1, POLLIN, 0});
  watched.push_back({wake_fd, POLLIN, 0});
  wait_s = std::min(wait_s, std::max(next_beat_s_ - now_s(), 0.0));
  if (killed_s_) wait_s = std::min(wait_s, kKillSeconds / kBeatsPerLimit);
  ::poll(watched.data(), watched.size(), static_cast<int>(std::ceil(wait_s * 1e3)));
  const bool input = watched[watched.size() - 2].revents != 0;
  const bool woken = wake_fd >= 0 && watched.back().revents != 0;
  size_t at = 0;
  for (Host& host : hosts_) {
    if (host.phase == Phase::gone) continue;
    if (watched[at].revents != 0 || watched[at + 1].revents != 0) hear(host);
    at += 2;
  }
  if (out_.flush()) ++progress_;
  if (err_.flush()) ++progress_;
  if (input) give_input();
  beat();
  return woken;
}

void HostsLauncher::hear(Host& host) {
  if (host.link.unwritten()) host.link.flush();
  host.link.read_errors();
  while (host.phase != Phase::gone) {
    const auto message = host.link.read();
    if (message.ok() && !message->has_value()) return;
    if (message.ok()) {
      host.heard_s = now_s();
      ++progress_;
      const Status handled = handle(host, **message);
      if (!handled.ok()) lose(host, handled.error());
    } else if (message.error().code() == ErrorCode::unavailable) {
      lose(host, host.link.ending());
    } else {
      lose(host, message.error());
    }
  }
}

Status HostsLauncher::handle(Host& host, const Json& message) {
  const std::string type = type_of(message);
  if (type == "host" && host.phase == Phase::calling) {
    STRIPLINE_ASSIGN_OR_RETURN(host.greeting, greeting_from_json(message));
    host.phase = Phase::greeted;
    host.link.expect_no_noise();
  } else if (type == "prepared" && host.phase == Phase::greeted) {
    STRIPLINE_ASSIGN_OR_RETURN(const Json* warnings, get_array(message, "warnings", "prepared"));
    for (const Json& warning : *warnings) {
      if (!warning.is_string()) continue;
      options_.warn("host " + host.share.host + ": " + warning.get<std::string>());
    }
    host.phase = Phase::prepared;
  } else if (type == "refused") {
    lose(host, error_from_json(message).with_context("host " + host.share.host));
  } else if (type == "started") {
    return handle_started(host, message);
  } else if (type == "rank") {
    return handle_event(host, message);
  } else if (type == "unread") {
    STRIPLINE_ASSIGN_OR_RETURN(const Json* ranks, get_array(message, "ranks", "unread"));
    host.unread.clear();
    for (const Json& rank : *ranks) {
      if (rank.is_number_unsigned()) host.unread.push_back(rank.get<uint32_t>());
    }
    all_read_ = unread().empty();
  } else if (type == "sights") {
    STRIPLINE_ASSIGN_OR_RETURN(std::vector<RankSight> sights, sights_from_json(message));
    sights.resize(host.share.ranks);
    for (RankSight& sight : sights) sight.host = host.share.host;
    host.sights = std::move(sights);
    host.looks_owed -= std::min(host.looks_owed, 1U);
  } else if (type == "bytes") {
    STRIPLINE_ASSIGN_OR_RETURN(const std::string stream, get_string(message, "stream", "bytes"));
    STRIPLINE_ASSIGN_OR_RETURN(std::string bytes, bytes_from_json(message));
    const auto owner = static_cast<size_t>(&host - hosts_.data());
    (stream == "err" ? err_ : out_).add(owner, std::move(bytes));
  } else if (type == "want_input") {
    wants_input_ = true;
  } else if (type == "done") {
    host.phase = Phase::done;
  }
  return {};
}

Status HostsLauncher::handle_started(Host& host, const Json& message) {
  STRIPLINE_ASSIGN_OR_RETURN(const uint32_t started, count_from_json(message, "ranks"));
  STRIPLINE_ASSIGN_OR_RETURN(host.why_unbound, get_string(message, "why_unbound", "started"));
  // Those after one that failed, or after the job's end.
  for (uint32_t i = started; i < host.share.ranks; ++i) end_rank(host, host.share.first_rank + i);
  return {};
}

Status HostsLauncher::handle_event(Host& host, const Json& message) {
  STRIPLINE_ASSIGN_OR_RETURN(RankEvent event, event_from_json(message));
  const uint32_t index = event.rank - host.share.first_rank;
  if (index >= host.share.ranks || event.kind == RankEvent::Kind::lost) {
    return Error(ErrorCode::data_loss,
                 "host " + host.share.host + " speaks of rank " + std::to_string(event.rank));
  }
  if (event.kind == RankEvent::Kind::exited) end_rank(host, event.rank);
  events_.push_back(std::move(event));
  return {};
}

void HostsLauncher::end_rank(Host& host, uint32_t rank) {
  const uint32_t index = rank - host.share.first_rank;
  if (host.ended[index]) return;
  host.ended[index] = true;
  host.sights[index] = {};
  --running_;
}

/// Gives a host up: ends the connection, and its ranks for the job.
void HostsLauncher::lose(Host& host, const Error& error) {
  if (host.phase == Phase::gone) return;
  const bool said_all = host.phase == Phase::done;
  const bool ran = host.phase == Phase::started;
  host.phase = Phase::gone;
  host.unread.clear();
  host.looks_owed = 0;
  host.link.close(0);
  if (said_all) return;
  // Errors of a start speak for themselves; it is of all hosts or of none.
  const Error why = ran && error.code() == ErrorCode::aborted
                        ? error.with_context("host " + host.share.host + " is lost with " +
                                             ranks_text(host.share))
                        : error;
  if (!failure_) failure_ = why;
  if (!ran) return;
  for (uint32_t i = 0; i < host.share.ranks; ++i) {
    if (host.ended[i]) continue;
    end_rank(host, host.share.first_rank + i);
    RankEvent event;
    event.kind = RankEvent::Kind::lost;
    event.rank = host.share.first_rank + i;
    event.error = why;
    events_.push_back(std::move(event));
  }
}

/// Lets the hosts know that the launcher is there, and gives up those that have gone silent.
void HostsLauncher::beat() {
  const double now = now_s();
  for (Host& host : hosts_) {
    const bool speaks = host.phase != Phase::calling && host.phase != Phase::gone;
    if (speaks && now - host.heard_s > options_.silence_limit_s) {
      lose(host, Error(ErrorCode::aborted, "nothing has been heard of it for " +
                                               exact_seconds_text(options_.silence_limit_s) +
                                               " (STRIPLINE_PEER_TIMEOUT)"));
    } else if (host.phase == Phase::started && killed_s_ && now - *killed_s_ > kKillSeconds) {
      lose(host, Error(ErrorCode::aborted, "it does not say that its ranks have ended"));
    }
  }
  if (now < next_beat_s_) return;
  next_beat_s_ = now + beat_s_;
  for (Host& host : hosts_) {
    if (host.phase != Phase::calling && host.phase != Phase::gone) {
      host.link.post({{"type", "alive"}});
    }
  }
}

void HostsLauncher::give_input() {
  const std::string piece = read_piece(STDIN_FILENO);
  wants_input_ = false;
  hosts_.front().link.post(bytes_message("in", piece));
}

void HostsLauncher::took(size_t owner, bool is_output, size_t bytes) {
  Host& host = hosts_[owner];
  if (host.phase == Phase::gone) return;
  Json message = {{"type", "taken"}, {"stream", is_output ? "out" : "err"}, {"bytes", bytes}};
  if ((is_output ? out_ : err_).closed()) message["closed"] = true;
  host.link.post(message);
}

void HostsLauncher::post_to_all(const Json& message) {
  for (Host& host : hosts_) {
    if (host.phase != Phase::gone) host.link.post(message);
  }
}

Status HostsLauncher::send_ready(std::span<const std::string> addresses) {
  Json list = Json::array();
  for (const std::string& address : addresses) list.push_back(to_hex(address));
  post_to_all({{"type", "ready"}, {"addresses", std::move(list)}});
  for (Host& host : hosts_) {
    if (host.phase == Phase::gone) return gone(host.share.host);
    for (uint32_t i = 0; i < host.share.ranks; ++i) {
      host.unread.push_back(host.share.first_rank + i);
    }
  }
  return {};
}

Status HostsLauncher::send(uint32_t rank, const Json& message) {
  Host& host = hosts_[host_of_rank_.at(rank)];
  if (host.phase == Phase::gone) return gone(host.share.host);
  host.link.post({{"type", "tell"}, {"rank", rank}, {"said", message}});
  return {};
}

Status HostsLauncher::send_to_all(const Json& message) {
  post_to_all({{"type", "tell"}, {"said", message}});
  const auto lost = std::ranges::find(hosts_, Phase::gone, &Host::phase);
  return lost == hosts_.end() ? Status() : gone(lost->share.host);
}

std::vector<uint32_t> HostsLauncher::unread() const {
  std::vector<uint32_t> ranks;
  for (const Host& host : hosts_) ranks.insert(ranks.end(), host.unread.begin(), host.unread.end());
  return ranks;
}

void HostsLauncher::send_abort(const Error& reason) { post_to_all(error_message("abort", reason)); }

void HostsLauncher::signal(int signal_number) {
  post_to_all({{"type", "signal"}, {"number", signal_number}});
  if (signal_number == SIGKILL && !killed_s_) killed_s_ = now_s();
}

std::vector<RankSight> HostsLauncher::look(bool with_operations) {
  const double until_s = now_s() + kLookSeconds;
  for (Host& host : hosts_) {
    if (host.phase != Phase::started) continue;
    host.link.post({{"type", "look"}, {"operations", with_operations}});
    ++host.looks_owed;
  }
  // One that owes an earlier answer, too, is not waited for again.
  const auto awaited = [](const Host& host) { return host.looks_owed == 1; };
  while (now_s() < until_s && std::ranges::any_of(hosts_, awaited)) turn(until_s - now_s(), -1);
  std::vector<RankSight> all;
  for (const Host& host : hosts_) all.insert(all.end(), host.sights.begin(), host.sights.end());
  return all;
}

std::string HostsLauncher::host_of(uint32_t rank) const {
  return hosts_[host_of_rank_.at(rank)].share.host;
}

std::string HostsLauncher::why_unbound() const {
  std::string all;
  for (const Host& host : hosts_) {
    if (host.why_unbound.empty()) continue;
    all += (all.empty() ? "host " : "; host ") + host.share.host + ": " + host.why_unbound;
  }
  return all;
}

}  // namespace stripline::bootstrap
