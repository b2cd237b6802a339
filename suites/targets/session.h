// What the commands have in common: a target that is ready to be measured, and lines for people.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

#include "base/result.h"
#include "optimizer/targets/target.h"
#include "suites/targets/installation.h"

namespace stripline::suites::tune {

struct Session {
  Installation installed;
  const Adapter* adapter = nullptr;
  WorkFolder folder;
  std::filesystem::path driver;
};

/// The time of a command, from when this is made. What one part of it leaves is for the next.
class TimeBudget {
 public:
  explicit TimeBudget(double seconds) : seconds_(seconds) {}
  /// Seconds until this share of it has passed; below zero afterwards.
  double left_s(double share = 1) const {
    const auto now = std::chrono::steady_clock::now();
    return share * seconds_ - std::chrono::duration<double>(now - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  double seconds_;
};

/// Detects a target, checks its version, and compiles its driver. Errors: those of these, each with
/// what to do.
Result<Session> open_session(const targets::Target& target, bool accept_untried);

/// Errors: unimplemented for a target that has no alternatives by operation.
Status check_has_alternatives(const targets::Target& target);

/// Processors that this process may use.
uint32_t processors_here();

/// What settings are validated with: they are stale when it is another one.
struct Basis {
  std::string version;        ///< of the target
  std::string kernel;         ///< the release of the running one: "6.1.0-18-amd64"
  std::string configuration;  ///< SHA-256 of Adapter::configuration()
};

/// Errors: those of detect() and of the adapter.
Result<Basis> basis_here(const Adapter& adapter);

/// "shm", "tcp" or "any". Errors: invalid_argument.
Result<targets::Path> path_from_string(const std::string& name);

/// A line on standard error.
void print_progress(const std::string& line);

/// Prints an error and returns its exit code.
int report_error(const Error& error);
/// The exit code of a command; that of its error, which is printed, where it has failed.
int exit_code_of(const Result<int>& code);

}  // namespace stripline::suites::tune
