#include "base/subprocess.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <fcntl.h>
#include <memory>
#include <signal.h>
#include <string>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/testing/assert_ok.h"
#include "base/testing/refused_calls.h"

namespace stripline {
namespace {

TEST(Subprocess, ReportsExitCode) {
  ASSERT_OK_AND_ASSIGN(auto child, Subprocess::spawn({.argv = {"sh", "-c", "exit 7"}}));
  ASSERT_OK_AND_ASSIGN(const auto status, child.wait(10));
  EXPECT_EQ(status.exit_code, 7);
  EXPECT_EQ(status.describe(), "exited with code 7");
}

TEST(Subprocess, ReportsSignal) {
  ASSERT_OK_AND_ASSIGN(auto child, Subprocess::spawn({.argv = {"sh", "-c", "kill -9 $$"}}));
  ASSERT_OK_AND_ASSIGN(const auto status, child.wait(10));
  EXPECT_EQ(status.signal, SIGKILL);
  EXPECT_NE(status.describe().find("SIGKILL"), std::string::npos);
}

TEST(Subprocess, ALimitOfTheShellIsNamedBesideItsSignal) {
  ASSERT_OK_AND_ASSIGN(auto child,
                       Subprocess::spawn({.argv = {"sh", "-c", "ulimit -c 0; kill -XCPU $$"}}));
  ASSERT_OK_AND_ASSIGN(const auto status, child.wait(10));
  EXPECT_EQ(status.describe(),
            "was killed by signal 24 (SIGXCPU): it has used the processor time that the shell "
            "allows a process ('ulimit -t unlimited' lifts the limit)");
}

TEST(Subprocess, MissingProgramIsAnError) {
  const auto child = Subprocess::spawn({.argv = {"/nonexistent/program"}});
  ASSERT_FALSE(child.ok());
  EXPECT_EQ(child.error().code(), ErrorCode::not_found);
}

// Wherever among the steps of a start they run out.
TEST(Subprocess, TooFewDescriptorsAreAnError) {
  const auto starting_fails = [] {
    const int first_free = ::dup(STDIN_FILENO);
    ::close(first_free);
    for (rlim_t more = 0; more < 5; ++more) {
      const rlimit few{.rlim_cur = static_cast<rlim_t>(first_free) + more, .rlim_max = 1024};
      ::setrlimit(RLIMIT_NOFILE, &few);
      const auto child = Subprocess::spawn(
          {.argv = {"/nonexistent/program"}, .inherit = {{0, 3}, {0, 4}}, .stdout_fd = 1});
      if (child.ok() || child.error().code() != ErrorCode::resource_exhausted) ::_exit(1);
    }
    ::_exit(0);
  };
  EXPECT_EXIT(starting_fails(), ::testing::ExitedWithCode(0), "");
}

// Root has no limit of processes: the kernel refuses as it does at one.
TEST(Subprocess, ALimitOfProcessesIsNamedWithItsRemedy) {
  const auto starting_fails = [] {
    if (!refuse_system_calls({SYS_clone, SYS_clone3}, EAGAIN)) ::_exit(1);
    const auto child = Subprocess::spawn({.argv = {"true"}});
    if (child.ok() || child.error().code() != ErrorCode::resource_exhausted) ::_exit(2);
    std::fputs(child.error().message().c_str(), stderr);
    ::_exit(0);
  };
  EXPECT_EXIT(starting_fails(), ::testing::ExitedWithCode(0), "cannot fork: .*'ulimit -u'");
}

TEST(Subprocess, ADescriptorThatIsNotOpenIsAnError) {
  const auto child = Subprocess::spawn({.argv = {"true"}, .inherit = {{9999, 3}}});
  ASSERT_FALSE(child.ok());
  EXPECT_EQ(child.error().code(), ErrorCode::internal);
}

TEST(Subprocess, RedirectsToTheNumberItHas) {
  const auto child_writes = [] {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) ::_exit(1);
    if (::dup3(ends[1], STDOUT_FILENO, O_CLOEXEC) != STDOUT_FILENO) ::_exit(2);
    // Both to what is this process's standard output, whichever of them is placed first.
    auto child = Subprocess::spawn({.argv = {"sh", "-c", "printf o; printf e >&2"},
                                    .stdout_fd = STDOUT_FILENO,
                                    .stderr_fd = STDOUT_FILENO});
    if (!child.ok() || !child->wait(10)->ok()) ::_exit(3);
    std::array<char, 2> text{};
    const ssize_t count = ::read(ends[0], text.data(), text.size());
    ::_exit(count == 2 && text[0] == 'o' && text[1] == 'e' ? 0 : 4);
  };
  EXPECT_EXIT(child_writes(), ::testing::ExitedWithCode(0), "");
}

TEST(Subprocess, InheritsDescriptorsAndEnvironment) {
  ASSERT_OK_AND_ASSIGN(auto pair, socket_pair());
  ASSERT_OK_AND_ASSIGN(auto child,
                       Subprocess::spawn({.argv = {"sh", "-c", "echo \"$GREETING\" >&5"},
                                          .environment = {{"GREETING", "hello"}},
                                          .inherit = {{pair.second.get(), 5}}}));
  pair.second.reset();
  std::array<char, 64> buffer{};
  const ssize_t n = ::read(pair.first.get(), buffer.data(), buffer.size());
  EXPECT_EQ(std::string(buffer.data(), static_cast<size_t>(std::max<ssize_t>(n, 0))), "hello\n");
  EXPECT_TRUE(child.wait(10).ok());
}

// A child in the background of a terminal that reads it, or writes to it after `stty tostop`.
TEST(Subprocess, ATerminalDoesNotStopAGroupOfItsOwn) {
  constexpr uint64_t kBoth = uint64_t{1} << (SIGTTIN - 1) | uint64_t{1} << (SIGTTOU - 1);
  for (const bool own_group : {true, false}) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    const UniqueFd reading(ends[0]);
    UniqueFd writing(ends[1]);
    SubprocessOptions options;
    options.argv = {"sed", "-n", "s/^SigIgn:[^0-9a-f]*//p", "/proc/self/status"};
    options.stdout_fd = writing.get();
    options.new_process_group = own_group;
    ASSERT_OK_AND_ASSIGN(auto child, Subprocess::spawn(options));
    writing.reset();
    std::array<char, 64> text{};
    ASSERT_GT(::read(reading.get(), text.data(), text.size() - 1), 0);
    const uint64_t ignored = std::stoull(text.data(), nullptr, 16);
    EXPECT_EQ((ignored & kBoth) == kBoth, own_group) << text.data();
    ASSERT_TRUE(child.wait(10).ok());
  }
}

// A debugger that does not wait for the end of what it traces withholds it from the parent, as the
// kernel withholds that of a process which hangs in a driver.
TEST(Subprocess, DestructionDoesNotWaitForEver) {
  auto child = std::make_unique<Subprocess>(*Subprocess::spawn({.argv = {"sleep", "100"}}));
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const UniqueFd reading(ends[0]);
  UniqueFd writing(ends[1]);
  const pid_t tracer = ::fork();
  if (tracer == 0) {
    const char traces = ::ptrace(PTRACE_SEIZE, child->pid(), nullptr, nullptr) == 0 ? 'y' : 'n';
    if (::write(writing.get(), &traces, 1) == 1) ::pause();
    ::_exit(0);
  }
  char traces = 0;
  ASSERT_EQ(::read(reading.get(), &traces, 1), 1);
  const auto start = std::chrono::steady_clock::now();
  child.reset();
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  ::kill(tracer, SIGKILL);
  ::waitpid(tracer, nullptr, 0);
  if (traces != 'y') GTEST_SKIP() << "no permission to trace";
  EXPECT_GT(taken.count(), 1);
}

TEST(Subprocess, DestructionKillsTheGroup) {
  pid_t pid = 0;
  {
    ASSERT_OK_AND_ASSIGN(auto child, Subprocess::spawn({.argv = {"sh", "-c", "sleep 100 & wait"}}));
    pid = child.pid();
    EXPECT_FALSE(child.poll().has_value());
    EXPECT_EQ(child.wait(0.05).error().code(), ErrorCode::deadline_exceeded);
  }
  EXPECT_EQ(::kill(pid, 0), -1);
}

}  // namespace
}  // namespace stripline
