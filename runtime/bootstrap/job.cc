#include "runtime/bootstrap/job.h"

#include <algorithm>
#include <chrono>
#include <initializer_list>
#include <optional>
#include <poll.h>
#include <signal.h>
#include <string_view>
#include <sys/epoll.h>
#include <utility>
#include <vector>

#include "base/cancel_signals.h"
#include "base/quantity.h"
#include "base/subprocess.h"

namespace stripline::bootstrap {
namespace {

using Clock = std::chrono::steady_clock;

// After the first sign of trouble, the time in which the other ranks' accounts of it are collected.
// A peer may notice a death before this process does.
constexpr double kSettleSeconds = 0.2;

bool is_readable(int descriptor) {
  if (descriptor < 0) return false;
  pollfd readable{descriptor, POLLIN, 0};
  return ::poll(&readable, 1, 0) > 0;
}

/// A descriptor that is readable when one of these is; -1 is none.
UniqueFd wakes_on(std::initializer_list<int> descriptors) {
  UniqueFd all(::epoll_create1(EPOLL_CLOEXEC));
  for (const int descriptor : descriptors) {
    if (descriptor < 0) continue;
    epoll_event readable{};
    readable.events = EPOLLIN;
    ::epoll_ctl(all.get(), EPOLL_CTL_ADD, descriptor, &readable);
  }
  return all;
}

constexpr const char* kCancelled = "cancelled";

std::string time_limit_text(const JobOptions& options) {
  return "the job has reached its time limit of " + exact_seconds_text(options.time_limit_s);
}

Result<std::unique_ptr<StartedRanks>> start_here(const LaunchOptions& options) {
  STRIPLINE_ASSIGN_OR_RETURN(Launcher launcher, Launcher::start(options));
  return std::unique_ptr<StartedRanks>(std::make_unique<Launcher>(std::move(launcher)));
}

/// How a rank ends the job, if that is what it says.
std::optional<JobOutcome> end_of_job(const Json& message) {
  if (!message.is_object() || message.value("type", Json()) != Json("end")) return std::nullopt;
  const Json status = message.value("status", Json());
  const Json why = message.value("message", Json());
  if (!status.is_number_integer() || !why.is_string()) return std::nullopt;
  JobOutcome outcome{.exit_code = status.get<int>(), .message = ""};
  if (outcome.exit_code != kExitOk) outcome.message = why.get<std::string>();
  return outcome;
}

/// What is known of one rank.
struct RankRecord {
  std::string host;
  std::string address;
  bool joined = false;
  bool left = false;
  std::optional<Error> failed;     // its own account
  std::optional<Error> closed;     // what was wrong with its channel
  std::optional<Error> lost;       // why nothing is known of it any more
  std::optional<ExitStatus> exit;  // how its process ended
  std::string last_operation;      // if it was killed
  uint64_t points = 0;             // that it had begun, if it failed or was killed
};

class Job {
 public:
  Job(const JobOptions& options, std::unique_ptr<StartedRanks> ranks, Clock::time_point start)
      : options_(options),
        ranks_(std::move(ranks)),
        start_(start),
        launched_s_(elapsed()),
        records_(ranks_->ranks()),
        watch_(ranks_->first_rank(), ranks_->ranks(), options.watch),
        wake_(wakes_on({options.cancel_fd, options.suspend_fd})) {}

  JobOutcome run() {
    std::optional<JobOutcome> cause;
    while (ranks_->running() > 0 && !cause) {
      const double now = elapsed();
      introduce();
      const bool joining = !introduced_;
      const double join_limit = launched_s_ + options_.join_timeout_s;
      const double limit =
          joining ? std::min(join_limit, options_.time_limit_s) : options_.time_limit_s;
      if (now >= limit) {
        cause = joining && limit == join_limit ? join_timeout() : time_limit();
        break;
      }
      if (is_readable(options_.cancel_fd)) {
        cause = JobOutcome{kExitCancelled, kCancelled};
        break;
      }
      if (is_readable(options_.suspend_fd)) suspend();
      if (now >= next_look_s_) cause = look(now);
      if (cause) break;
      const double wait_s = std::min(limit, next_look_s_) - elapsed();
      const auto event = ranks_->next(std::max(wait_s, 0.0), wake_.get());
      if (!event) continue;
      if (handle(*event)) cause = settle();
    }
    // The last events of ranks that have all ended by now.
    while (!cause) {
      const auto event = ranks_->next(0);
      if (!event) return regular_outcome();
      if (handle(*event)) cause = settle();
    }
    if (tells_where(*cause)) cause->where = where();
    end(*cause);
    if (explained_by_) cause->message += others_alike(*explained_by_);
    if (ended_ && !killed_.empty()) {
      cause->message += (cause->message.empty() ? "" : "; ") + some(killed_) +
                        " had to be killed, being stopped or deaf to SIGTERM";
    }
    return *cause;
  }

 private:
  double elapsed() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  void suspend() {
    ranks_->signal(SIGSTOP);
    suspend_process(options_.suspend_fd);
    ranks_->signal(SIGCONT);
  }

  /// What is seen of the ranks now; what they are in only if it is asked for.
  std::vector<RankSight> sights(bool with_operations) {
    std::vector<RankSight> all = ranks_->look(with_operations);
    for (size_t i = 0; i < all.size(); ++i) {
      if (records_[i].joined) all[i].stage = RankSight::Stage::joined;
      if (records_[i].left) all[i].stage = RankSight::Stage::left;
      if (records_[i].exit || records_[i].lost) all[i].stage = RankSight::Stage::ended;
      if (records_[i].failed) all[i].stage = RankSight::Stage::failed;
    }
    return all;
  }

  /// Looks at the ranks. Returns the end of the job if one has been stopped for too long, or
  /// on_look ends it.
  std::optional<JobOutcome> look(double now) {
    next_look_s_ = now + watch_.interval_s();
    const std::vector<RankSight> seen = sights(false);
    const auto stopped = watch_.look(now, seen);
    if (stopped) return JobOutcome{kExitRankDied, *stopped};
    if (watch_.has_stalled() && options_.on_stall) options_.on_stall(watch_.where(sights(true)));
    return options_.on_look ? options_.on_look(seen) : std::nullopt;
  }

  std::string where() {
    const std::vector<RankSight> now = sights(true);
    [[maybe_unused]] const auto stopped = watch_.look(elapsed(), now);
    return watch_.where(now);
  }

  /// True if how the job ended leaves open what its ranks were waiting for.
  bool tells_where(const JobOutcome& cause) const {
    if (ended_) return false;
    if (cause.exit_code == kExitTimeout || cause.exit_code == kExitCancelled) return true;
    if (cause.exit_code != kExitRankDied) return false;
    return std::ranges::none_of(
        records_, [](const RankRecord& record) { return depth(record) < kDepthOfLostPeer; });
  }

  std::string name(size_t index) const {
    const RankRecord& record = records_[index];
    const auto rank = static_cast<uint32_t>(ranks_->first_rank() + index);
    return "rank " + std::to_string(rank) + " on " +
           (record.host.empty() ? ranks_->host_of(rank) : record.host);
  }

  /// Notes an event. True if the job cannot go on.
  bool handle(const RankEvent& event) {
    RankRecord& record = records_[event.rank - ranks_->first_rank()];
    switch (event.kind) {
      case RankEvent::Kind::joined:
        return !join(record, event);
      case RankEvent::Kind::message:
        if (auto asked = end_of_job(event.message)) {
          if (!asked->message.empty()) {
            asked->message =
                name(event.rank - ranks_->first_rank()) + " has ended the job: " + asked->message;
          }
          if (!ended_) ended_ = std::move(asked);
          record.left = true;
          return true;
        }
        if (options_.on_message) options_.on_message(event.rank, event.message, *ranks_);
        return false;
      case RankEvent::Kind::left:
        record.left = true;
        return false;
      case RankEvent::Kind::failed:
        record.failed = event.error;
        record.points = event.points;
        return true;
      case RankEvent::Kind::closed:
        record.closed = event.error;
        return true;
      case RankEvent::Kind::exited:
        record.exit = event.status;
        record.last_operation = event.last_operation;
        record.points = event.points;
        // After leaving, an exit code is the program's own affair; a crash is not.
        return event.status.signal != 0 || !record.left;
      case RankEvent::Kind::lost:
        record.lost = event.error;
        return true;
    }
    return false;
  }

  bool join(RankRecord& record, const RankEvent& event) {
    if (record.joined) {
      record.closed = Error(
          ErrorCode::failed_precondition,
          "a second program has joined in its place; a rank is one program, so start the next one "
          "by another 'stripline run'");
      return false;
    }
    record.joined = true;
    record.host = event.host;
    record.address = event.address;
    if (++joined_ < records_.size()) return true;
    std::vector<std::string> addresses;
    for (const RankRecord& member : records_) addresses.push_back(member.address);
    // A rank that is gone by now shows up as an event of its own.
    all_told_ = ranks_->send_ready(addresses).ok();
    introduce();
    return true;
  }

  /// Once all ranks have joined and read that they have: calls on_ready.
  void introduce() {
    if (introduced_ || joined_ < records_.size() || !ranks_->unread().empty()) return;
    introduced_ = true;
    if (all_told_ && options_.on_ready) options_.on_ready(*ranks_);
  }

  /// Something failed: hears the others for a moment, then says what it was.
  JobOutcome settle() {
    const auto until = Clock::now() + std::chrono::duration<double>(kSettleSeconds);
    while (ranks_->running() > 0) {
      const double left = std::chrono::duration<double>(until - Clock::now()).count();
      if (left <= 0) break;
      if (const auto event = ranks_->next(left)) handle(*event);
    }
    while (const auto event = ranks_->next(0)) handle(*event);
    return failure();
  }

  /// What a rank says of its failure, without its own name in front.
  std::string_view account(size_t index) const {
    const std::string_view message = records_[index].failed->message();
    if (!message.starts_with("rank " + std::to_string(ranks_->first_rank() + index) + " ")) {
      return message;
    }
    const size_t name_end = message.find(": ");
    return name_end == std::string_view::npos ? message : message.substr(name_end + 2);
  }

  /// Counts the ranks that failed for the same reason as this one: a mistake of the user's is
  /// mostly everybody's.
  std::string others_alike(size_t index) const {
    size_t count = 0;
    for (size_t other = 0; other < records_.size(); ++other) {
      if (other != index && records_[other].failed && account(other) == account(index)) ++count;
    }
    if (count == 0) return {};
    return " (the same on " + std::to_string(count) + " other rank" + (count > 1 ? "s)" : ")");
  }

  /// How far a record explains the failure of others; smaller is deeper.
  static constexpr int kDepthOfEnd = 2;
  static constexpr int kDepthOfLostPeer = 4;
  static int depth(const RankRecord& record) {
    if (record.lost || (record.exit && record.exit->signal != 0)) return 0;
    const bool lost_peer = record.failed && (record.failed->code() == ErrorCode::aborted ||
                                             record.failed->code() == ErrorCode::unavailable);
    if (record.failed && !lost_peer) return 1;
    if (record.exit && !record.left && !record.failed) return kDepthOfEnd;
    if (record.closed && record.closed->code() != ErrorCode::unavailable) return 3;
    if (lost_peer) return kDepthOfLostPeer;
    if (record.closed) return 5;
    return 6;
  }

  JobOutcome failure() {
    const auto deepest = std::min_element(
        records_.begin(), records_.end(),
        [](const RankRecord& a, const RankRecord& b) { return depth(a) < depth(b); });
    const auto index = static_cast<size_t>(deepest - records_.begin());
    const RankRecord& record = *deepest;
    // A rank that has ended the job explains others that end, but none that crashed before.
    if (ended_ && depth(record) >= kDepthOfEnd) return *ended_;
    if (record.lost) return {exit_code_for(record.lost->code()), record.lost->message()};
    if (record.exit && record.exit->signal != 0) {
      return {
          kExitRankDied,
          name(index) + " " + record.exit->describe() +
              (record.last_operation.empty() ? ""
                                             : "; its last operation was " + record.last_operation),
          {},
          record.points};
    }
    if (record.failed) {
      explained_by_ = index;
      const int own = record.exit ? record.exit->exit_code : kExitOk;
      return {own != kExitOk ? own : exit_code_for(record.failed->code()),
              record.failed->message(),
              {},
              depth(record) < kDepthOfLostPeer ? record.points : 0};
    }
    if (record.exit) {
      const std::string what = name(index) + " " + record.exit->describe();
      if (!record.joined) {
        return {record.exit->exit_code != kExitOk ? record.exit->exit_code : kExitRankDied,
                what + " before it joined the job" +
                    (record.exit->exit_code == kExitOk
                         ? "; is '" + options_.launch.argv.front() + "' a Stripline program?"
                         : "")};
      }
      return {record.exit->exit_code != kExitOk ? record.exit->exit_code : kExitRankDied,
              what + " before it left the job; destroy the Context on every rank before main ends"};
    }
    if (record.closed && record.closed->code() == ErrorCode::failed_precondition) {
      return {kExitRankDied, name(index) + ": " + record.closed->message()};
    }
    return {kExitRankDied,
            name(index) + " broke its control channel: " +
                (record.closed ? record.closed->message() : std::string("reason unknown"))};
  }

  /// "2 of 5 ranks (1, 4)".
  std::string some(const std::vector<uint32_t>& ranks) const {
    constexpr size_t kShown = 8;
    std::string list;
    for (size_t i = 0; i < std::min(ranks.size(), kShown); ++i) {
      list += (i == 0 ? "" : ", ") + std::to_string(ranks[i]);
    }
    if (ranks.size() > kShown) list += ", ...";
    return std::to_string(ranks.size()) + " of " + std::to_string(records_.size()) + " ranks (" +
           list + ")";
  }

  JobOutcome join_timeout() const {
    std::vector<uint32_t> missing;
    for (uint32_t i = 0; i < records_.size(); ++i) {
      if (!records_[i].joined) missing.push_back(ranks_->first_rank() + i);
    }
    // All have joined, but not all have read that they are complete.
    const bool deaf = missing.empty();
    return {kExitTimeout, some(deaf ? ranks_->unread() : missing) +
                              (deaf ? " have joined but not read who the others are within "
                                    : " have not joined within ") +
                              exact_seconds_text(options_.join_timeout_s) +
                              (deaf ? "; they are stopped or hang in Context::init, or need longer "
                                    : "; they hang before or in Context::init, or need longer ") +
                              "('stripline run --join-timeout')"};
  }

  JobOutcome time_limit() const {
    const std::vector<uint32_t> deaf = ranks_->unread();
    return {kExitTimeout,
            time_limit_text(options_) +
                (deaf.empty() ? "" : "; " + some(deaf) + " do not read what the launcher sends")};
  }

  /// Ends every rank that still runs: a word, SIGTERM, SIGKILL.
  void end(const JobOutcome& cause) {
    const ErrorCode code = cause.exit_code == kExitCancelled ? ErrorCode::cancelled
                           : cause.exit_code == kExitTimeout ? ErrorCode::deadline_exceeded
                                                             : ErrorCode::aborted;
    ranks_->send_abort(Error(code, cause.message));
    ranks_->signal(SIGTERM);
    const auto until = Clock::now() + std::chrono::duration<double>(options_.grace_s);
    while (ranks_->running() > 0) {
      const double left = std::chrono::duration<double>(until - Clock::now()).count();
      if (left <= 0) break;
      if (const auto event = ranks_->next(left)) handle(*event);
    }
    for (uint32_t i = 0; i < records_.size(); ++i) {
      if (!records_[i].exit && !records_[i].lost) killed_.push_back(ranks_->first_rank() + i);
    }
    ranks_->signal(SIGKILL);
    while (ranks_->running() > 0) ranks_->next(-1);
  }

  /// All ranks have left and exited.
  JobOutcome regular_outcome() const {
    for (const RankRecord& record : records_) {
      if (record.exit && record.exit->exit_code != 0) {
        return {.exit_code = record.exit->exit_code, .message = ""};
      }
    }
    return {};
  }

  const JobOptions& options_;
  std::unique_ptr<StartedRanks> ranks_;
  Clock::time_point start_;
  double launched_s_;  ///< from then until the ranks had been started
  std::vector<RankRecord> records_;
  JobWatch watch_;
  UniqueFd wake_;  // readable when the job is to be cancelled or suspended
  double next_look_s_ = 0;
  size_t joined_ = 0;
  bool all_told_ = false;               // that they have
  bool introduced_ = false;             // and all have read it
  std::optional<size_t> explained_by_;  // the rank whose account the outcome tells
  std::optional<JobOutcome> ended_;     // by a rank that asked for it
  std::vector<uint32_t> killed_;        // ranks that did not end otherwise
};

}  // namespace

JobOutcome run_job(const JobOptions& options) {
  const auto start = Clock::now();
  LaunchOptions launch = options.launch;
  launch.interrupted = [&options, start] {
    const double passed_s = std::chrono::duration<double>(Clock::now() - start).count();
    return is_readable(options.cancel_fd) || passed_s >= options.time_limit_s;
  };
  auto ranks = options.start ? options.start(launch) : start_here(launch);
  if (ranks.ok()) return Job(options, std::move(*ranks), start).run();
  if (is_readable(options.cancel_fd)) return {kExitCancelled, kCancelled};
  if (launch.interrupted()) return {kExitTimeout, time_limit_text(options)};
  return {.exit_code = exit_code_for(ranks.error().code()), .message = ranks.error().message()};
}

}  // namespace stripline::bootstrap
