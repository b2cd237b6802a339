// How much long-running tests do: little in a test run, more by the commands of scripts/check.sh.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace stripline {

/// The number in this environment variable; without it, `otherwise`.
inline uint64_t test_size(const char* variable, uint64_t otherwise) {
  const char* const text = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): set by callers
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

}  // namespace stripline
