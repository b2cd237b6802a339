#include "base/subprocess.h"

#include <array>
#include <signal.h>
#include <string>
#include <sys/resource.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace stripline {
namespace {

TEST(Subprocess, ReportsExitCode) {
  auto child = Subprocess::spawn({.argv = {"sh", "-c", "exit 7"}});
  ASSERT_TRUE(child.ok());
  const auto status = child->wait(10);
  ASSERT_TRUE(status.ok());
  EXPECT_EQ(status->exit_code, 7);
  EXPECT_EQ(status->describe(), "exited with code 7");
}

TEST(Subprocess, ReportsSignal) {
  auto child = Subprocess::spawn({.argv = {"sh", "-c", "kill -9 $$"}});
  ASSERT_TRUE(child.ok());
  const auto status = child->wait(10);
  ASSERT_TRUE(status.ok());
  EXPECT_EQ(status->signal, SIGKILL);
  EXPECT_NE(status->describe().find("SIGKILL"), std::string::npos);
}

TEST(Subprocess, MissingProgramIsAnError) {
  const auto child = Subprocess::spawn({.argv = {"/nonexistent/program"}});
  ASSERT_FALSE(child.ok());
  EXPECT_EQ(child.error().code(), ErrorCode::not_found);
}

TEST(Subprocess, TooFewDescriptorsAreAnError) {
  const auto starting_fails = [] {
    rlimit few{};
    few.rlim_cur = few.rlim_max = 50;
    ::setrlimit(RLIMIT_NOFILE, &few);
    const auto child = Subprocess::spawn({.argv = {"/nonexistent/program"}});
    ::_exit(!child.ok() && child.error().code() == ErrorCode::resource_exhausted ? 0 : 1);
  };
  EXPECT_EXIT(starting_fails(), ::testing::ExitedWithCode(0), "");
}

TEST(Subprocess, InheritsDescriptorsAndEnvironment) {
  auto pair = socket_pair();
  ASSERT_TRUE(pair.ok());
  auto child = Subprocess::spawn({.argv = {"sh", "-c", "echo \"$GREETING\" >&5"},
                                  .environment = {{"GREETING", "hello"}},
                                  .inherit = {{pair->second.get(), 5}}});
  ASSERT_TRUE(child.ok());
  pair->second.reset();
  std::array<char, 64> buffer{};
  const ssize_t n = ::read(pair->first.get(), buffer.data(), buffer.size());
  EXPECT_EQ(std::string(buffer.data(), static_cast<size_t>(std::max<ssize_t>(n, 0))), "hello\n");
  EXPECT_TRUE(child->wait(10).ok());
}

TEST(Subprocess, DestructionKillsTheGroup) {
  pid_t pid = 0;
  {
    auto child = Subprocess::spawn({.argv = {"sh", "-c", "sleep 100 & wait"}});
    ASSERT_TRUE(child.ok());
    pid = child->pid();
    EXPECT_FALSE(child->poll().has_value());
    EXPECT_EQ(child->wait(0.05).error().code(), ErrorCode::deadline_exceeded);
  }
  EXPECT_EQ(::kill(pid, 0), -1);
}

}  // namespace
}  // namespace stripline
