// How much long-running tests do: little in a test run, less under sanitizers, more by the commands
// of scripts/check.sh.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace stripline {

/// The number in this environment variable; without it, `otherwise`.
inline uint64_t test_size(const char* variable, uint64_t otherwise) {
  const char* const text = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): set by callers
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

/// True in builds that AddressSanitizer or ThreadSanitizer instruments. Computing takes ten to
/// thirty times as long there, and the faults that they look for show in fewer cases than wrong
/// results do.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kInstrumented = true;
#else
inline constexpr bool kInstrumented = false;
#endif

/// How many of `all` cases a test computes in this build: an eighth of them, and at least one,
/// where it is instrumented. A test that counts over its cases counts where they are complete
/// (!kInstrumented).
template <typename Count>
constexpr Count cases_here(Count all) {
  return kInstrumented ? (all + 7) / 8 : all;
}

}  // namespace stripline
