#include "runtime/machine/exchange.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <poll.h>
#include <span>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "base/exit_codes.h"
#include "base/json_channel.h"
#include "base/subprocess.h"
#include "runtime/bootstrap/hex.h"
#include "runtime/fabric/fabric.h"
#include "runtime/fabric/ofi/ofi_fabric.h"

namespace stripline::machine {
namespace {

constexpr size_t kBytes = 1024;
constexpr fabric::Rank kRanks = 2;

class FlagSink final : public fabric::MessageSink {
 public:
  void on_message(fabric::Rank /*source*/, std::span<const std::byte> message) override {
    received = received || message.size() == kBytes;
  }
  bool received = false;
};

/// The byte that `rank` writes at position i.
std::byte byte_of(fabric::Rank rank, size_t i) {
  return static_cast<std::byte>((i * 7 + size_t{131} * rank + 1) & 0xff);
}

Error no_answer() { return Error(ErrorCode::unavailable, "the checking process does not answer"); }

/// One rank: opens, tells its address to the parent, gets all, exchanges with the other.
Result<double> exchange(const std::string& name, fabric::Rank rank, double timeout_s,
                        JsonChannel& channel) {
  fabric::OpenOptions options;
  options.fabric = name;
  options.rank = rank;
  options.ranks = kRanks;
  options.job_id = "doctor-" + std::to_string(getppid());
  options.segment_bytes = kBytes;
  STRIPLINE_ASSIGN_OR_RETURN(const std::unique_ptr<fabric::Fabric> mine,
                             fabric::open_fabric(options));
  mine->set_failure_handler([&](const Error& error) {
    // The parent only waits for this line.
    if (!channel.write({{"error", error.message()}}).ok()) std::_Exit(kExitFailure);
    std::_Exit(exit_code_for(error.code()));
  });
  FlagSink sink;
  mine->set_message_sink(&sink);
  STRIPLINE_RETURN_IF_ERROR(channel.write({{"address", bootstrap::to_hex(mine->local_address())}}));
  STRIPLINE_ASSIGN_OR_RETURN(const std::optional<Json> message, channel.read(timeout_s));
  if (!message) return no_answer();
  std::vector<std::string> addresses;
  for (const Json& address : message->at("addresses")) {
    addresses.push_back(bootstrap::from_hex(address.get<std::string>()).value_or(""));
  }
  STRIPLINE_RETURN_IF_ERROR(mine->connect(addresses, timeout_s));

  const double start = mine->now_s();
  const fabric::Rank other = 1 - rank;
  std::array<std::byte, kBytes> sent;
  for (size_t i = 0; i < kBytes; ++i) sent[i] = byte_of(rank, i);
  fabric::Counter counter;
  mine->put(other, 0, sent.data(), kBytes, counter);
  mine->wait_for(counter);
  std::array<std::byte, kBytes> back{};
  mine->get(back.data(), other, 0, kBytes, counter);
  mine->wait_for(counter);
  if (back != sent) {
    return Error(ErrorCode::data_loss, "what was read back is not what was written");
  }
  // The message comes after the put is visible, so it also announces the data.
  const double deadline = start + timeout_s;
  bool accepted = false;
  const bool done = mine->wait(
      [&] {
        if (!accepted) accepted = mine->try_send(other, sent);
        return accepted && sink.received;
      },
      deadline);
  if (!done) return Error(ErrorCode::deadline_exceeded, "the other rank's message did not arrive");
  for (size_t i = 0; i < kBytes; ++i) {
    if (mine->segment()[i] != byte_of(other, i)) {
      return Error(ErrorCode::data_loss, "the other rank's bytes arrived changed");
    }
  }
  return mine->now_s() - start;
}

/// A child that runs one rank; killed and reaped on destruction.
class RankProcess {
 public:
  RankProcess(pid_t pid, UniqueFd fd) : pid_(pid), channel_(std::move(fd)) {}
  RankProcess(RankProcess&& other) noexcept
      : pid_(std::exchange(other.pid_, -1)), channel_(std::move(other.channel_)) {}
  RankProcess& operator=(RankProcess&&) = delete;
  ~RankProcess() {
    if (pid_ < 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    fabric::remove_ofi_leftovers(pid_);
  }
  JsonChannel& channel() { return channel_; }

  static Result<RankProcess> start(const std::string& fabric, fabric::Rank rank, double timeout_s) {
    STRIPLINE_ASSIGN_OR_RETURN(auto ends, socket_pair());
    const pid_t parent = getpid();
    const pid_t pid = fork();
    if (pid < 0) return Error(ErrorCode::resource_exhausted, "cannot start a process");
    if (pid > 0) return RankProcess(pid, std::move(ends.first));
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) std::_Exit(kExitCancelled);
    ends.first.reset();
    JsonChannel channel(std::move(ends.second));
    const Result<double> seconds = exchange(fabric, rank, timeout_s, channel);
    const Status told = seconds.ok() ? channel.write({{"seconds", *seconds}})
                                     : channel.write({{"error", seconds.error().message()}});
    std::_Exit(told.ok() ? kExitOk : kExitFailure);
  }

 private:
  pid_t pid_;
  JsonChannel channel_;
};

/// The next line of a rank, which must have this member.
Result<Json> expect(RankProcess& rank, const char* member, double seconds_left) {
  auto line = rank.channel().read(std::max(0.0, seconds_left));
  if (!line.ok()) {
    return Error(ErrorCode::aborted, "a checking process died: the provider crashed it");
  }
  if (!*line) return Error(ErrorCode::deadline_exceeded, "the exchange did not finish in time");
  if ((*line)->contains("error")) {
    return Error(ErrorCode::unavailable, (*line)->at("error").get<std::string>());
  }
  if (!(*line)->contains(member)) return no_answer();
  return (*line)->at(member);
}

}  // namespace

Result<double> exchange_between_processes(const std::string& fabric, double timeout_s) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(timeout_s);
  const auto left = [&] {
    return std::chrono::duration<double>(end - std::chrono::steady_clock::now()).count();
  };
  std::vector<RankProcess> ranks;
  for (fabric::Rank rank = 0; rank < kRanks; ++rank) {
    STRIPLINE_ASSIGN_OR_RETURN(RankProcess process, RankProcess::start(fabric, rank, timeout_s));
    ranks.push_back(std::move(process));
  }
  Json addresses = Json::array();
  for (RankProcess& rank : ranks) {
    STRIPLINE_ASSIGN_OR_RETURN(Json address, expect(rank, "address", left()));
    addresses.push_back(std::move(address));
  }
  for (RankProcess& rank : ranks) {
    STRIPLINE_RETURN_IF_ERROR(rank.channel().write({{"addresses", addresses}}));
  }
  double seconds = 0;
  for (RankProcess& rank : ranks) {
    STRIPLINE_ASSIGN_OR_RETURN(const Json value, expect(rank, "seconds", left()));
    seconds = std::max(seconds, value.get<double>());
  }
  return seconds;
}

}  // namespace stripline::machine
