// Environment variables for the length of one test.
#pragma once

#include <cstdlib>
#include <map>
#include <optional>
#include <stdlib.h>
#include <string>

namespace stripline::bootstrap {

/// Sets variables for one test, and gives them back the values that they had.
class ScopedEnvironment {
 public:
  explicit ScopedEnvironment(const std::map<std::string, std::string>& variables) {
    for (const auto& [name, value] : variables) {
      const char* before = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe)
      before_[name] = before == nullptr ? std::nullopt : std::optional<std::string>(before);
      ::setenv(name.c_str(), value.c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
    }
  }
  ~ScopedEnvironment() {
    for (const auto& [name, value] : before_) {
      if (value) {
        ::setenv(name.c_str(), value->c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
      } else {
        ::unsetenv(name.c_str());  // NOLINT(concurrency-mt-unsafe)
      }
    }
  }
  ScopedEnvironment(const ScopedEnvironment&) = delete;
  ScopedEnvironment& operator=(const ScopedEnvironment&) = delete;

 private:
  std::map<std::string, std::optional<std::string>> before_;
};

}  // namespace stripline::bootstrap
