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
#include <optional>
#include <string>
#include <vector>

#include "base/exit_codes.h"
#include "tests/edges/edges.h"

int main(int argc, char** argv) {
  using namespace stripline::edges;
  const std::vector<Call> calls = all_calls();
  uint64_t trials = 0;
  uint64_t failures = 0;
  // `by` says before the description of a case how to make it again.
  const auto run = [&](const std::vector<Case>& cases, const auto& by) {
    trials += cases.size();
    run_trials(cases, calls, [&](size_t index, const std::optional<std::string>& failure) {
      if (!failure) return;
      ++failures;
      const Case& one = cases[index];
      std::printf("%s%s: %s\n", by(index).c_str(), text(one, calls[one.call]).c_str(),
                  failure->c_str());
      std::fflush(stdout);
    });
  };
  if (argc <= 2) {
    std::vector<Case> cases = systematic_cases(calls);
    std::erase_if(cases, [&](const Case& one) {
      return argc == 2 && text(one, calls[one.call]).find(argv[1]) == std::string::npos;
    });
    run(cases, [](size_t) { return std::string(); });
  } else if (argc == 3) {
    const uint64_t first = std::strtoull(argv[1], nullptr, 10);
    const uint64_t count = std::strtoull(argv[2], nullptr, 10);
    std::vector<Case> cases;
    for (uint64_t i = 0; i < count; ++i) cases.push_back(random_case(calls, first + i));
    run(cases, [&](size_t index) { return "seed " + std::to_string(first + index) + ": "; });
  } else {
    std::fprintf(stderr, "edges [WORD | SEED COUNT]\n");
    return stripline::kExitUsage;
  }
  std::printf("%llu trials of %zu calls, %llu failures\n", static_cast<unsigned long long>(trials),
              calls.size(), static_cast<unsigned long long>(failures));
  return failures == 0 ? stripline::kExitOk : stripline::kExitFailure;
}
