#include "runtime/machine/exchange.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include "base/exit_codes.h"
#include "base/hex.h"
#include "base/json_channel.h"
#include "base/memory_limits.h"
#include "base/subprocess.h"
#include "runtime/fabric/fabric.h"
#include "runtime/fabric/ofi/ofi_fabric.h"

namespace stripline::machine {
namespace {

constexpr fabric::Rank kRanks = 2;

/// The part of the time there is for the operations of ranks that have connected.
constexpr double kOwnShare = 0.7;

Error no_answer() { return Error(ErrorCode::unavailable, "the checking process does not answer"); }

/// One rank: opens, tells its address to the parent, gets all, exchanges with the other.
Result<Trial> exchange(const std::string& name, fabric::Rank rank, double timeout_s,
                       JsonChannel& channel) {
  fabric::OpenOptions options;
  options.fabric = name;
  options.rank = rank;
  options.ranks = kRanks;
  options.job_id = "doctor-" + std::to_string(getppid());
  options.segment_bytes = kTrialSegmentBytes;
  STRIPLINE_ASSIGN_OR_RETURN(const std::unique_ptr<fabric::Fabric> mine,
                             fabric::open_fabric(options));
  mine->set_failure_handler([&](const Error& error) {
    // The parent only waits for this line.
    if (!channel.write({{"error", error.message()}}).ok()) std::_Exit(kExitFailure);
    std::_Exit(exit_code_for(error.code()));
  });
  STRIPLINE_RETURN_IF_ERROR(channel.write({{"address", to_hex(mine->local_address())}}));
  STRIPLINE_ASSIGN_OR_RETURN(const std::optional<Json> message, channel.read(timeout_s));
  if (!message) return no_answer();
  std::vector<std::string> addresses;
  for (const Json& address : message->at("addresses")) {
    addresses.push_back(from_hex(address.get<std::string>()).value_or(""));
  }
  STRIPLINE_RETURN_IF_ERROR(mine->connect(addresses, timeout_s));

  // The parent, which waits a little longer, cannot say what did not complete.
  return try_operations(*mine, rank, kOwnShare * timeout_s);
}

/// A child that loads libfabric, so that this process need not; killed and reaped on destruction.
class Child {
 public:
  Child(pid_t pid, UniqueFd fd) : pid_(pid), channel_(std::move(fd)) {}
  Child(Child&& other) noexcept
      : pid_(std::exchange(other.pid_, -1)), channel_(std::move(other.channel_)) {}
  Child& operator=(Child&&) = delete;
  ~Child() {
    if (pid_ < 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    fabric::remove_ofi_leftovers(pid_);
  }
  JsonChannel& channel() { return channel_; }
  /// How it ended, once it has closed its channel.
  std::string end() {
    int status = 0;
    if (pid_ < 0 || waitpid(pid_, &status, 0) != pid_) return "for an unknown reason";
    fabric::remove_ofi_leftovers(std::exchange(pid_, -1));
    if (WIFSIGNALED(status)) {
      const char* const name = sigdescr_np(WTERMSIG(status));
      const std::string limit = limit_behind(WTERMSIG(status), ShellLimits::read());
      return std::string("of signal ") + std::to_string(WTERMSIG(status)) + " (" +
             (name != nullptr ? name : "unknown") + ")" +
             (limit.empty() ? ", which libfabric or its provider has not survived"
                            : std::string(": ") + limit);
    }
    return "with exit status " + std::to_string(WEXITSTATUS(status));
  }

  /// `run` is called with the child's end of the channel and returns its last line, or an error.
  template <typename Run>
  static Result<Child> start(const Run& run) {
    STRIPLINE_ASSIGN_OR_RETURN(auto ends, socket_pair());
    const pid_t parent = getpid();
    const pid_t pid = fork();
    if (pid < 0) {
      return Error(ErrorCode::resource_exhausted,
                   "cannot start a process; raise their number ('ulimit -u'), or free memory");
    }
    if (pid > 0) return Child(pid, std::move(ends.first));
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) std::_Exit(kExitCancelled);
    ends.first.reset();
    JsonChannel channel(std::move(ends.second));
    // What the shell limits is no crash of the provider's.
    std::signal(SIGXFSZ, SIG_IGN);
    const Result<Json> last = [&]() -> Result<Json> {
      try {
        return run(channel);
      } catch (const std::bad_alloc&) {
        return Error(ErrorCode::resource_exhausted,
                     "out of memory; look at 'ulimit -v' and 'ulimit -d'");
      }
    }();
    const Status told = channel.write(last.ok() ? *last : Json{{"error", last.error().message()}});
    std::_Exit(told.ok() ? kExitOk : kExitFailure);
  }

 private:
  pid_t pid_;
  JsonChannel channel_;
};

/// The next line of a child, if it has this member.
Result<Json> expect(Child& rank, const char* member, double seconds_left) {
  auto line = rank.channel().read(std::max(0.0, seconds_left));
  if (!line.ok()) return Error(ErrorCode::aborted, "a checking process died " + rank.end());
  if (!*line) return Error(ErrorCode::deadline_exceeded, "the exchange did not finish in time");
  if ((*line)->contains("error")) {
    return Error(ErrorCode::unavailable, (*line)->at("error").get<std::string>());
  }
  if (!(*line)->contains(member)) return no_answer();
  return *std::move(*line);
}

}  // namespace

Result<Trial> exchange_between_processes(const std::string& fabric, double timeout_s) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(timeout_s);
  const auto left = [&] {
    return std::chrono::duration<double>(end - std::chrono::steady_clock::now()).count();
  };
  std::vector<Child> ranks;
  for (fabric::Rank rank = 0; rank < kRanks; ++rank) {
    STRIPLINE_ASSIGN_OR_RETURN(
        Child child, Child::start([&](JsonChannel& channel) -> Result<Json> {
          STRIPLINE_ASSIGN_OR_RETURN(const Trial trial, exchange(fabric, rank, timeout_s, channel));
          return Json{{"seconds", trial.seconds}, {"operations", trial.operations}};
        }));
    ranks.push_back(std::move(child));
  }
  Json addresses = Json::array();
  for (Child& rank : ranks) {
    STRIPLINE_ASSIGN_OR_RETURN(const Json line, expect(rank, "address", left()));
    addresses.push_back(line.at("address"));
  }
  for (Child& rank : ranks) {
    STRIPLINE_RETURN_IF_ERROR(rank.channel().write({{"addresses", addresses}}));
  }
  Trial trial;
  for (Child& rank : ranks) {
    STRIPLINE_ASSIGN_OR_RETURN(const Json line, expect(rank, "seconds", left()));
    trial.seconds = std::max(trial.seconds, line.at("seconds").get<double>());
    trial.operations = line.value("operations", "");
  }
  return trial;
}

Result<std::vector<std::string>> usable_fabrics(double timeout_s) {
  STRIPLINE_ASSIGN_OR_RETURN(Child child, Child::start([](JsonChannel&) -> Result<Json> {
                               STRIPLINE_ASSIGN_OR_RETURN(const auto providers,
                                                          fabric::list_ofi_providers());
                               Json names = Json::array();
                               for (const fabric::ProviderInfo& provider : providers) {
                                 if (provider.usable) names.push_back(provider.name);
                               }
                               return Json{{"fabrics", names}};
                             }));
  STRIPLINE_ASSIGN_OR_RETURN(const Json line, expect(child, "fabrics", timeout_s));
  return line.at("fabrics").get<std::vector<std::string>>();
}

}  // namespace stripline::machine
