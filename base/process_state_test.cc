#include "base/process_state.h"

#include <signal.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/subprocess.h"
#include "base/testing/processes.h"

namespace stripline {
namespace {

char state_of(pid_t pid) {
  const auto found = process_state(pid);
  return found ? found->state : '?';
}

TEST(ProcessState, TellsRunningStoppedAndEndedProcessesApart) {
  const auto own = process_state(::getpid());
  ASSERT_TRUE(own);
  EXPECT_EQ(own->state, 'R');
  EXPECT_EQ(own->group, ::getpgrp());

  // As long as it takes: other processes may want the processor.
  EXPECT_TRUE(
      eventually([&] { return process_state(::getpid())->cpu_ticks > own->cpu_ticks; }, 60));

  SubprocessOptions options;
  options.argv = {"sleep", "100"};
  auto child = Subprocess::spawn(options);
  ASSERT_TRUE(child.ok()) << child.error().message();
  const pid_t pid = child->pid();
  EXPECT_EQ(process_state(pid)->group, pid);
  EXPECT_FALSE(process_state(pid)->stopped());
  ::kill(pid, SIGSTOP);
  EXPECT_TRUE(eventually([&] { return process_state(pid)->stopped(); }, 20)) << state_of(pid);
  ::kill(pid, SIGKILL);
  EXPECT_TRUE(eventually([&] { return state_of(pid) == 'Z'; }, 20)) << state_of(pid);
  ASSERT_TRUE(child->wait(20).ok());
  EXPECT_FALSE(process_state(pid));
}

}  // namespace
}  // namespace stripline
