// edges: trials of calls at the edges of what they may be given (edges.h).
//
//   edges             every kind of each argument, one at a time
//   edges SEED COUNT  so many random combinations, from this seed on
//
// A line for each one whose result is neither right nor one clear line; exit code 1 if there is
// any.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/exit_codes.h"
#include "tests/edges/edges.h"

int main(int argc, char** argv) {
  using namespace stripline::edges;
  const std::vector<Call> calls = all_calls();
  uint64_t trials = 0;
  uint64_t wrong = 0;
  const auto take = [&](const Case& one, const char* by) {
    ++trials;
    const auto mistake = verdict_on(one, calls[one.call]);
    if (!mistake) return;
    ++wrong;
    std::printf("%s%s: %s\n", by, text(one, calls[one.call]).c_str(), mistake->c_str());
    std::fflush(stdout);
  };
  if (argc == 1) {
    for (const Case& one : systematic_cases(calls)) take(one, "");
  } else if (argc == 3) {
    const uint64_t first = std::strtoull(argv[1], nullptr, 10);
    const uint64_t count = std::strtoull(argv[2], nullptr, 10);
    for (uint64_t seed = first; seed < first + count; ++seed) {
      take(random_case(calls, seed), ("seed " + std::to_string(seed) + ": ").c_str());
    }
  } else {
    std::fprintf(stderr, "edges [SEED COUNT]\n");
    return stripline::kExitUsage;
  }
  std::printf("%llu trials of %zu calls, %llu of them wrong\n",
              static_cast<unsigned long long>(trials), calls.size(),
              static_cast<unsigned long long>(wrong));
  return wrong == 0 ? stripline::kExitOk : stripline::kExitFailure;
}
