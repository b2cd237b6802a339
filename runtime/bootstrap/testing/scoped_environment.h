// Environment variables for the length of one test.
#pragma once

#include <map>
#include <stdlib.h>
#include <string>
#include <utility>

namespace stripline::bootstrap {

/// Sets variables for one test and takes them away again.
class ScopedEnvironment {
 public:
  explicit ScopedEnvironment(std::map<std::string, std::string> variables)
      : variables_(std::move(variables)) {
    for (const auto& [name, value] : variables_) {
      ::setenv(name.c_str(), value.c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
    }
  }
  ~ScopedEnvironment() {
    for (const auto& [name, value] : variables_) {
      ::unsetenv(name.c_str());  // NOLINT(concurrency-mt-unsafe)
    }
  }
  ScopedEnvironment(const ScopedEnvironment&) = delete;
  ScopedEnvironment& operator=(const ScopedEnvironment&) = delete;

 private:
  std::map<std::string, std::string> variables_;
};

}  // namespace stripline::bootstrap
