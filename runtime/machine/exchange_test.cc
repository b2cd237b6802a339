#include "runtime/machine/exchange.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <sys/resource.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace stripline::machine {
namespace {

// Limits further memory of this process, as `ulimit -v` would.
bool allow_more(size_t bytes) {
  std::ifstream statm("/proc/self/statm");
  size_t pages = 0;
  rlimit limit{};
  if (!(statm >> pages) || getrlimit(RLIMIT_AS, &limit) != 0) return false;
  limit.rlim_cur = pages * static_cast<size_t>(sysconf(_SC_PAGESIZE)) + bytes;
  return setrlimit(RLIMIT_AS, &limit) == 0;
}

TEST(ExchangeDeathTest, AShortageOfMemoryIsNamedWithItsRemedy) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer itself ends a process without memory";
#endif
  const auto exchange_without_memory = [] {
    // There is room for the name here, and not for the copy that each rank makes.
    constexpr size_t kRoom = size_t{32} << 20;
    const std::string fabric(4 * kRoom, 'x');
    if (!allow_more(kRoom)) std::_Exit(1);
    const auto exchanged = exchange_between_processes(fabric, 20);
    if (exchanged.ok()) std::_Exit(2);
    std::fprintf(stderr, "%s\n", exchanged.error().message().c_str());
    std::_Exit(0);
  };
  EXPECT_EXIT(exchange_without_memory(), ::testing::ExitedWithCode(0),
              "out of memory; look at 'ulimit -v' and 'ulimit -d'");
}

}  // namespace
}  // namespace stripline::machine
