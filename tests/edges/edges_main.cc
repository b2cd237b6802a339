// edges: calls of the public headers with arguments at the edges of their range (edges.h).
//
//   edges             each kind of each argument, while the others are usual
//   edges WORD        those of them whose description contains WORD
//   edges SEED COUNT  COUNT random combinations, with SEED, SEED + 1, ...
//
// Prints a line for each trial that fails; the exit code is 1 if there are any.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/exit_codes.h"
#include "tests/edges/edges.h"

int main(int argc, char** argv) {
  using namespace stripline::edges;
  constexpr uint64_t kMappedInterval = 4;
  const std::vector<Call> calls = all_calls();
  uint64_t trials = 0;
  uint64_t failures = 0;
  const auto take = [&](const Case& one, const char* by) {
    ++trials;
    const auto failure = failure_of(one, calls[one.call]);
    if (!failure) return;
    ++failures;
    std::printf("%s%s: %s\n", by, text(one, calls[one.call]).c_str(), failure->c_str());
    std::fflush(stdout);
  };
  if (argc <= 2) {
    for (const Case& one : systematic_cases(calls, kMappedInterval)) {
      if (argc == 1 || text(one, calls[one.call]).find(argv[1]) != std::string::npos) take(one, "");
    }
  } else if (argc == 3) {
    const uint64_t first = std::strtoull(argv[1], nullptr, 10);
    const uint64_t count = std::strtoull(argv[2], nullptr, 10);
    for (uint64_t seed = first; seed < first + count; ++seed) {
      take(random_case(calls, kMappedInterval, seed),
           ("seed " + std::to_string(seed) + ": ").c_str());
    }
  } else {
    std::fprintf(stderr, "edges [WORD | SEED COUNT]\n");
    return stripline::kExitUsage;
  }
  std::printf("%llu trials of %zu calls, %llu failures\n", static_cast<unsigned long long>(trials),
              calls.size(), static_cast<unsigned long long>(failures));
  return failures == 0 ? stripline::kExitOk : stripline::kExitFailure;
}
