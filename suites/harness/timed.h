// Times of an operation, for systems that measure it alike: each is a program of its own, started
// by its own launcher, and prints one JSON line per case. scripts/compare.py sets them beside each
// other.
//
// `Ranks` is a system's: rank(), ranks(), now_s(), barrier(), and longest(times), which makes the
// times of rank 0 the element-wise maximum over all ranks (ContextRanks, MpiRanks). Nothing here
// includes more than the standard library, so that compilers of others can build it.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace stripline::suites::harness {

/// What a program is asked for by its arguments: the nth, or `usual` where there are fewer. Ends
/// the program with exit status 2 where that is not a whole number from 1 on.
inline size_t argument(int argc, const char* const* argv, int nth, size_t usual) {
  if (argc <= nth) return usual;
  const std::string_view text = argv[nth];
  size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size() && number > 0) return number;
  (void)std::fprintf(stderr, "%s: argument %d is '%s' instead of a whole number from 1 on\n",
                     argv[0], nth, argv[nth]);
  std::exit(2);  // NOLINT(concurrency-mt-unsafe): one thread
}

/// Seconds of one of `operations` that follow each other, from where this rank has left a barrier.
/// `run(i)` carries out the i-th.
template <typename Ranks, typename Run>
double timed_s(Ranks& ranks, size_t operations, const Run& run) {
  ranks.barrier();
  const double start_s = ranks.now_s();
  for (size_t i = 0; i < operations; ++i) run(i);
  return (ranks.now_s() - start_s) / static_cast<double>(operations);
}

/// Collective: prints the median of the times, of which there are some, of the rank that took
/// longest. `fields` says what was timed, as members of an object:
/// R"("operation":"halo","cells":16)".
template <typename Ranks>
void print_median(Ranks& ranks, const std::string& system, const std::string& fields,
                  std::vector<double>& times) {
  ranks.longest(times);
  if (ranks.rank() != 0) return;
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  std::printf("{\"system\":\"%s\",%s,\"ranks\":%zu,\"median_s\":%.9g}\n", system.c_str(),
              fields.c_str(), static_cast<size_t>(ranks.ranks()), *middle);
}

/// "name":"text" and "name":number.
inline std::string field(const std::string& name, const std::string& text) {
  return "\"" + name + "\":\"" + text + "\"";
}
inline std::string field(const std::string& name, size_t number) {
  return "\"" + name + "\":" + std::to_string(number);
}

}  // namespace stripline::suites::harness
