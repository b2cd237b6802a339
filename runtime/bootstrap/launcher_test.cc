#include "runtime/bootstrap/launcher.h"

#include <algorithm>
#include <chrono>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <signal.h>
#include <sstream>
#include <string>
#include <sys/eventfd.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "base/testing/assert_ok.h"
#include "base/testing/processes.h"
#include "runtime/bootstrap/job.h"

namespace stripline::bootstrap {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// True if a process is there and not a zombie.
bool alive(pid_t pid) {
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(stat, text);
  const size_t name_end = text.rfind(')');
  return name_end != std::string::npos && text.size() > name_end + 2 && text[name_end + 2] != 'Z';
}

bool ends_within(pid_t pid, double seconds) {
  const auto start = Clock::now();
  while (alive(pid)) {
    if (seconds_since(start) > seconds) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

/// What a job prints.
class Capture {
 public:
  Capture() : fd_(::open(path().c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600)) {}

  int fd() const { return fd_.get(); }
  std::string text() const { return read_file(path()); }

 private:
  std::filesystem::path path() const { return folder_ / "output"; }

  TempFolder folder_;
  UniqueFd fd_;
};

// --- the protocol, with shell scripts for ranks --------------------------------------------------

/// A rank that joins, waits for the answer, and then does what `rest` says.
LaunchOptions scripted(uint32_t ranks, const std::string& rest) {
  LaunchOptions options;
  options.ranks = ranks;
  options.bind = Bind::none;
  options.argv = {"sh", "-c",
                  R"(say() { echo "$1" >&3; }
                     say "{\"type\":\"join\",\"rank\":$STRIPLINE_RANK,\"address\":\"0$STRIPLINE_RANK\",\"host\":\"here\",\"pid\":$$}"
                     read answer <&3
                     )" +
                      rest};
  return options;
}

const char* const kLeave = R"(say '{"type":"left"}')";

TEST(Launcher, ReportsWhatHappensInOrder) {
  LaunchOptions options = scripted(2, R"(say '{"type":"samples","n":1}'
    say '{"type":"samples","n":2}'
    read order <&3
    say "{\"type\":\"echo\",\"order\":$order}"
    say '{"type":"left"}'
    exit 4)");
  options.first_rank = 3;
  options.job_ranks = 9;
  ASSERT_OK_AND_ASSIGN(auto launcher, Launcher::start(options));
  std::map<uint32_t, std::string> addresses;
  std::map<uint32_t, std::vector<RankEvent>> rest;
  while (true) {
    std::optional<RankEvent> event = launcher.next(20);
    if (!event) break;
    if (event->kind == RankEvent::Kind::joined) {
      EXPECT_EQ(event->host, "here");
      addresses[event->rank] = event->address;
      if (addresses.size() < 2) continue;
      // The other ranks of the job would be on other hosts.
      ASSERT_TRUE(launcher.send_ready(std::vector<std::string>(9, "address")).ok());
      for (const uint32_t rank : {3U, 4U}) ASSERT_TRUE(launcher.send(rank, {{"go", rank}}).ok());
    } else {
      const uint32_t rank = event->rank;
      rest[rank].push_back(*std::move(event));
    }
  }
  EXPECT_EQ(launcher.running(), 0U);
  EXPECT_EQ(addresses, (std::map<uint32_t, std::string>{{3, "\x03"}, {4, "\x04"}}));
  for (const uint32_t rank : {3U, 4U}) {
    const auto& events = rest[rank];
    ASSERT_EQ(events.size(), 5U);
    EXPECT_EQ(events[0].message["n"], 1);
    EXPECT_EQ(events[1].message["n"], 2);
    EXPECT_EQ(events[2].message["order"]["go"], rank);
    EXPECT_EQ(events[3].kind, RankEvent::Kind::left);
    EXPECT_EQ(events[4].kind, RankEvent::Kind::exited);
    EXPECT_EQ(events[4].status.exit_code, 4);
  }
}

TEST(Launcher, DestructionLeavesNothingBehind) {
  pid_t pid = 0;
  {
    ASSERT_OK_AND_ASSIGN(auto launcher, Launcher::start(scripted(1, "sleep 100")));
    const auto event = launcher.next(20);
    ASSERT_TRUE(event && event->kind == RankEvent::Kind::joined);
    auto message = launcher.next(0.01);
    EXPECT_FALSE(message.has_value());
    ASSERT_TRUE(launcher.send(0, {{"type", "ready"}}).ok());
    pid = launcher.pid(0);
    EXPECT_TRUE(alive(pid));
  }
  EXPECT_TRUE(ends_within(pid, 5));
}

TEST(Launcher, RefusesImpossibleNumbersAndMissingPrograms) {
  EXPECT_EQ(Launcher::start({}).error().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(Launcher::start({.argv = {"true"}, .ranks = 0}).error().code(),
            ErrorCode::invalid_argument);
  EXPECT_EQ(Launcher::start({.argv = {"true"}, .ranks = 2, .first_rank = 1, .job_ranks = 2})
                .error()
                .code(),
            ErrorCode::invalid_argument);
  EXPECT_EQ(Launcher::start({.argv = {"/nonexistent/program"}}).error().code(),
            ErrorCode::not_found);
}

TEST(Job, ForwardsMessagesAndCallsReadyOnce) {
  JobOptions job;
  job.launch = scripted(3, std::string(R"(read order <&3
    say "{\"type\":\"samples\",\"got\":$order}"
    )") + kLeave);
  int ready = 0;
  std::map<uint32_t, Json> got;
  job.on_ready = [&](StartedRanks& launcher) {
    ++ready;
    for (uint32_t rank = 0; rank < 3; ++rank) {
      EXPECT_TRUE(launcher.send(rank, {{"type", "work"}, {"for", rank}}).ok());
    }
  };
  job.on_message = [&](uint32_t rank, const Json& message, StartedRanks&) { got[rank] = message; };
  const JobOutcome outcome = run_job(job);
  EXPECT_EQ(outcome.exit_code, kExitOk) << outcome.message;
  EXPECT_EQ(ready, 1);
  ASSERT_EQ(got.size(), 3U);
  for (const auto& [rank, message] : got) EXPECT_EQ(message["got"]["for"], rank);
}

TEST(Job, ProgramThatIsNotOfTheRuntime) {
  JobOptions job;
  job.launch = {.argv = {"true"}, .ranks = 2, .bind = Bind::none};
  const JobOutcome outcome = run_job(job);
  EXPECT_EQ(outcome.exit_code, kExitRankDied);
  EXPECT_NE(outcome.message.find("before it joined"), std::string::npos) << outcome.message;
  EXPECT_NE(outcome.message.find("'true' a Stripline program?"), std::string::npos);
}

TEST(Job, OwnAccountOfAFailureIsPassedOn) {
  JobOptions job;
  job.launch = scripted(2, R"(if [ $STRIPLINE_RANK = 1 ]; then
      say '{"type":"failed","code":"failed_precondition","message":"the model is of another machine"}'
      exit 3
    fi
    sleep 100)");
  const JobOutcome outcome = run_job(job);
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.message, "the model is of another machine");
}

TEST(Job, RanksThatFailAlikeAreCounted) {
  JobOptions job;
  job.grace_s = 20;
  // Ranks that ignore SIGTERM are heard however slow the host is.
  const auto failing_with = [&job](const std::string& what) {
    job.launch = scripted(3, "trap '' TERM; what=" + what + R"(
      say "{\"type\":\"failed\",\"code\":\"not_found\",\"message\":\"rank $STRIPLINE_RANK on here: $what\"}"
      exit 3)");
    const JobOutcome outcome = run_job(job);
    EXPECT_EQ(outcome.exit_code, 3);
    return outcome.message;
  };
  EXPECT_EQ(failing_with("'no: file'"), "rank 0 on here: no: file (the same on 2 other ranks)");
  EXPECT_EQ(failing_with("$((STRIPLINE_RANK / 2))"),
            "rank 0 on here: 0 (the same on 1 other rank)");
  EXPECT_EQ(failing_with("$STRIPLINE_RANK"), "rank 0 on here: 0");
}

TEST(Job, EndingWithoutLeavingIsDying) {
  JobOptions job;
  job.launch = scripted(2, "[ $STRIPLINE_RANK = 0 ] || sleep 100");
  const JobOutcome outcome = run_job(job);
  EXPECT_EQ(outcome.exit_code, kExitRankDied);
  EXPECT_NE(outcome.message.find("rank 0 on here exited with code 0 before it left"),
            std::string::npos)
      << outcome.message;
}

TEST(Job, ClosedOrGarbledChannelEndsTheJob) {
  JobOptions job;
  job.launch = scripted(2, "[ $STRIPLINE_RANK = 0 ] && exec 3>&-; sleep 100");
  auto start = Clock::now();
  JobOutcome outcome = run_job(job);
  EXPECT_EQ(outcome.exit_code, kExitRankDied);
  EXPECT_NE(outcome.message.find("rank 0 on here broke its control channel"), std::string::npos)
      << outcome.message;
  job.launch = scripted(2, "[ $STRIPLINE_RANK = 1 ] && say 'not json'; sleep 100");
  outcome = run_job(job);
  EXPECT_EQ(outcome.exit_code, kExitRankDied);
  EXPECT_NE(outcome.message.find("rank 1 on here broke its control channel"), std::string::npos)
      << outcome.message;
  EXPECT_LT(seconds_since(start), 30);
}

TEST(Job, ASecondProgramInTheSameSlotIsNamed) {
  JobOptions job;
  const std::string join =
      R"(say "{\"type\":\"join\",\"rank\":0,\"address\":\"00\",\"host\":\"here\",\"pid\":$$}")";
  job.launch = scripted(1, join + "; sleep 100");
  const JobOutcome outcome = run_job(job);
  EXPECT_EQ(outcome.exit_code, kExitRankDied);
  EXPECT_NE(outcome.message.find("rank 0 on here: a second program has joined in its place"),
            std::string::npos)
      << outcome.message;
}

// The deepest cause is named: a rank that was killed, not its peer that noticed first.
TEST(Job, KilledRankExplainsItsPeersFailure) {
  JobOptions job;
  job.launch = scripted(2, R"(if [ $STRIPLINE_RANK = 1 ]; then sleep 0.05; kill -9 $$; fi
    say '{"type":"failed","code":"aborted","message":"lost rank 1"}'
    exit 5)");
  const JobOutcome outcome = run_job(job);
  EXPECT_EQ(outcome.exit_code, kExitRankDied);
  EXPECT_EQ(outcome.message, "rank 1 on here was killed by signal 9 (SIGKILL)");
}

// Workers record which point they are at; the outcome has that of the rank that explains the end.
TEST(Job, TellsWhichPointsWorkersHaveBegun) {
  JobOptions job;
  job.launch = scripted(2, R"(printf "\00$((STRIPLINE_RANK + 3))\0\0\0\0\0\0\0" >&5
    while [ $STRIPLINE_RANK = 0 ] || [ ! -e "$go" ]; do sleep 0.02; done
    kill -9 $$)");
  job.launch.records_points = true;
  const TempFolder folder;
  job.launch.environment["go"] = (folder / "go").string();
  std::vector<uint64_t> seen;
  job.watch.peer_timeout_s = 2;  // looks ten times a second
  job.on_look = [&](std::span<const RankSight> ranks) -> std::optional<JobOutcome> {
    seen.clear();
    for (const RankSight& rank : ranks) seen.push_back(rank.points);
    if (std::ranges::count(seen, 0U) == 0) std::ofstream(folder / "go") << '\n';
    return std::nullopt;
  };
  JobOutcome outcome = run_job(job);
  EXPECT_EQ(outcome.exit_code, kExitRankDied);
  EXPECT_EQ(outcome.points, 4U);
  EXPECT_EQ(seen, (std::vector<uint64_t>{3, 4}));
  job.on_look = [](auto) { return JobOutcome{kExitTimeout, "enough"}; };
  outcome = run_job(job);
  EXPECT_EQ(outcome.exit_code, kExitTimeout);
  EXPECT_EQ(outcome.points, 0U);
}

// As the kernel ends it after the processor time that the shell allows.
TEST(Job, ALimitOfTheShellExplainsTheSignalThatEndsARank) {
  JobOptions job;
  job.launch = scripted(2, "ulimit -c 0; [ $STRIPLINE_RANK = 1 ] && kill -XCPU $$\nsleep 100");
  const JobOutcome outcome = run_job(job);
  EXPECT_EQ(outcome.exit_code, kExitRankDied);
  EXPECT_EQ(outcome.message,
            "rank 1 on here was killed by signal 24 (SIGXCPU): it has used the processor time "
            "that the shell allows a process ('ulimit -t unlimited' lifts the limit)");
}

// Ranks that leave by themselves do; the others are ended, and those that had to be killed named.
TEST(Job, EndsWhenARankAsksForIt) {
  for (const std::string status : {"0", "7"}) {
    JobOptions job;
    job.launch =
        scripted(3, "[ $STRIPLINE_RANK = 0 ] && say '{\"type\":\"left\"}' && exit " + status +
                        "\nif [ $STRIPLINE_RANK = 1 ]; then sleep 0.3; say "
                        "'{\"type\":\"end\",\"status\":" +
                        status + ",\"message\":\"enough\"}'; exit " + status +
                        "; fi\ntrap '' TERM; while :; do sleep 0.05; done");
    const auto start = Clock::now();
    const JobOutcome outcome = run_job(job);
    EXPECT_EQ(std::to_string(outcome.exit_code), status);
    const std::string killed =
        "1 of 3 ranks (2) had to be killed, being stopped or deaf to SIGTERM";
    EXPECT_EQ(outcome.message,
              status == "0" ? killed : "rank 1 on here has ended the job: enough; " + killed);
    EXPECT_LT(seconds_since(start), 20);
  }
  // What has crashed before explains more.
  JobOptions job;
  job.launch = scripted(2, R"([ $STRIPLINE_RANK = 1 ] && kill -9 $$
    sleep 0.1
    say '{"type":"end","status":0,"message":"enough"}')");
  const JobOutcome outcome = run_job(job);
  EXPECT_EQ(outcome.exit_code, kExitRankDied);
  EXPECT_NE(outcome.message.find("rank 1 on here was killed by signal 9"), std::string::npos)
      << outcome.message;
}

TEST(Job, RanksHearOfTheAbort) {
  const Capture output;
  JobOptions job;
  job.launch = scripted(2, R"([ $STRIPLINE_RANK = 1 ] && exit 9
    trap '' TERM
    read abort <&3
    echo "$abort")");
  job.launch.stdout_fd = output.fd();
  EXPECT_EQ(run_job(job).exit_code, 9);
  const auto abort = parse_json(output.text(), "abort");
  ASSERT_TRUE(abort.ok()) << output.text();
  EXPECT_EQ((*abort)["type"], "abort");
  EXPECT_EQ((*abort)["code"], "aborted");
  EXPECT_NE((*abort)["message"].get<std::string>().find("rank 1"), std::string::npos);
}

TEST(Job, TimeLimitEndsRanksThatIgnoreSigterm) {
  JobOptions job;
  job.launch = scripted(1, "trap '' TERM; while :; do sleep 0.05; done");
  job.time_limit_s = 0.3;
  const auto start = Clock::now();
  const JobOutcome outcome = run_job(job);
  EXPECT_EQ(outcome.exit_code, kExitTimeout);
  EXPECT_NE(outcome.message.find("time limit of 300 ms"), std::string::npos) << outcome.message;
  EXPECT_LT(seconds_since(start), 20);
}

// What does not fit the sockets of a stopped rank holds up neither the launcher nor other ranks.
TEST(Job, StoppedRankHoldsUpNobody) {
  const UniqueFd cancel(::eventfd(0, EFD_CLOEXEC));
  const Json large = {{"type", "work"}, {"points", std::string(1'000'000, 'x')}};
  JobOptions job;
  job.launch = scripted(3, R"([ $STRIPLINE_RANK = 1 ] && kill -STOP $$
    head -n 1 <&3 >/dev/null
    say '{"type":"samples"}'
    sleep 100)");
  job.on_ready = [&](StartedRanks& launcher) {
    EXPECT_TRUE(launcher.send_to_all(large).ok());
    EXPECT_TRUE(launcher.send(1, large).ok());
  };
  uint32_t served = 0;
  job.on_message = [&](uint32_t rank, const Json&, StartedRanks& launcher) {
    EXPECT_NE(rank, 1U);
    if (++served < 2) return;
    EXPECT_EQ(launcher.unread(), std::vector<uint32_t>{1});
    const uint64_t one = 1;
    ASSERT_EQ(::write(cancel.get(), &one, sizeof one), 8);
  };
  job.cancel_fd = cancel.get();
  EXPECT_EQ(run_job(job).exit_code, kExitCancelled);
  EXPECT_EQ(served, 2U);

  job.cancel_fd = -1;
  job.on_message = nullptr;
  job.time_limit_s = 1;
  const JobOutcome outcome = run_job(job);
  EXPECT_EQ(outcome.exit_code, kExitTimeout);
  EXPECT_NE(outcome.message.find("1 of 3 ranks (1) do not read"), std::string::npos)
      << outcome.message;
}

TEST(Job, RankThatStopsBeforeItKnowsTheOthersEndsTheJoining) {
  JobOptions job;
  job.launch = scripted(2, kLeave);
  // Too much for a socket at once.
  job.launch.argv.back() = R"(address=$(head -c 500000 /dev/zero | tr '\0' 0)
    echo "{\"type\":\"join\",\"rank\":$STRIPLINE_RANK,\"address\":\"$address\",\"host\":\"here\",\"pid\":$$}" >&3
    kill -STOP $$)";
  job.join_timeout_s = 1.5;
  bool ready = false;
  job.on_ready = [&](StartedRanks&) { ready = true; };
  const JobOutcome outcome = run_job(job);
  EXPECT_EQ(outcome.exit_code, kExitTimeout);
  EXPECT_NE(outcome.message.find("2 of 2 ranks (0, 1) have joined but not read"), std::string::npos)
      << outcome.message;
  EXPECT_FALSE(ready);
}

// A host that starts many ranks slowly must not make their user wait for all of them.
TEST(Job, AFailedRankEndsTheStartOfTheOthers) {
  const TempFolder folder;
  JobOptions job;
  job.launch = {.argv = {"sh", "-c", "echo x >>" + (folder / "started").string() + "; exit 3"},
                .ranks = 2000,
                .bind = Bind::none};
  const JobOutcome outcome = run_job(job);
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_NE(outcome.message.find("exited with code 3 before it joined"), std::string::npos)
      << outcome.message;
  EXPECT_LT(lines_with(read_file(folder / "started"), "x"), 1000U);
}

TEST(Job, ACancellationEndsTheStartOfRanks) {
  const TempFolder folder;
  const UniqueFd cancel(::eventfd(1, EFD_CLOEXEC));
  JobOptions job;
  job.launch = {.argv = {"sh", "-c", "echo x >>" + (folder / "started").string() + "; sleep 100"},
                .ranks = 2000,
                .bind = Bind::none};
  job.cancel_fd = cancel.get();
  EXPECT_EQ(run_job(job).exit_code, kExitCancelled);
  job.cancel_fd = -1;
  job.time_limit_s = 0.001;
  EXPECT_EQ(run_job(job).exit_code, kExitTimeout);
  EXPECT_LT(lines_with(read_file(folder / "started"), "x"), 1000U);
}

TEST(Job, CancelDescriptorEndsTheJob) {
  const UniqueFd cancel(::eventfd(0, EFD_CLOEXEC));
  JobOptions job;
  job.launch = scripted(2, "sleep 100");
  job.cancel_fd = cancel.get();
  job.on_ready = [&](StartedRanks&) {
    const uint64_t one = 1;
    ASSERT_EQ(::write(cancel.get(), &one, sizeof one), 8);
  };
  EXPECT_EQ(run_job(job).exit_code, kExitCancelled);
}

TEST(Job, RanksGetCoresOfTheirOwnWhileThereAreEnough) {
  // Where no other job of this host looks.
  const TempFolder folder;
  std::string why_unbound;
  const auto cores_of_ranks = [&](uint32_t ranks, Bind bind) {
    const Capture output;
    JobOptions job;
    job.launch = scripted(ranks, std::string(R"(grep Cpus_allowed_list /proc/self/status
      )") + kLeave);
    job.launch.stdout_fd = output.fd();
    job.launch.bind = bind;
    job.launch.claims_folder = folder.path().string();
    job.on_ready = [&](const StartedRanks& launcher) { why_unbound = launcher.why_unbound(); };
    EXPECT_EQ(run_job(job).exit_code, kExitOk);
    std::istringstream lines(output.text());
    std::vector<std::string> cores;
    for (std::string line; std::getline(lines, line);) cores.push_back(line);
    std::sort(cores.begin(), cores.end());
    return cores;
  };
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "needs two cores";
  const auto bound = cores_of_ranks(2, Bind::core);
  EXPECT_EQ(why_unbound, "");
  const auto unbound = cores_of_ranks(2, Bind::none);
  ASSERT_EQ(bound.size(), 2U);
  ASSERT_EQ(unbound.size(), 2U);
  EXPECT_NE(bound[0], bound[1]);
  EXPECT_EQ(unbound[0], unbound[1]);
  const uint32_t many = std::thread::hardware_concurrency() + 1;
  EXPECT_EQ(cores_of_ranks(many, Bind::core).back(), unbound[0]);
  EXPECT_EQ(why_unbound,
            std::to_string(many) + " ranks do not fit the processors that this job may use");

  LaunchOptions other = scripted(1, "sleep 100");
  other.bind = Bind::core;
  other.claims_folder = folder.path().string();
  {
    ASSERT_OK_AND_ASSIGN(const auto beside, Launcher::start(other));
    EXPECT_EQ(cores_of_ranks(std::thread::hardware_concurrency(), Bind::core).back(), unbound[0]);
    EXPECT_NE(why_unbound.find("of which other jobs have"), std::string::npos) << why_unbound;
  }
  EXPECT_NE(cores_of_ranks(2, Bind::core)[0], unbound[0]);
  EXPECT_EQ(why_unbound, "");
}

}  // namespace
}  // namespace stripline::bootstrap
