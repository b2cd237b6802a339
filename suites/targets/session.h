// What the commands have in common: a target that is ready to be measured, and lines for people.
#pragma once

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

/// Detects a target, checks its version, and compiles its driver. Errors: those of these, each with
/// what to do.
Result<Session> open_session(const targets::Target& target, bool accept_untried);

/// Processors that this process may use.
uint32_t processors_here();

/// The release of the running kernel: "6.1.0-18-amd64".
std::string kernel_release();

/// "shm", "tcp" or "any". Errors: invalid_argument.
Result<targets::Path> path_from_string(const std::string& name);

/// A line on standard error.
void print_progress(const std::string& line);

/// Prints an error and returns its exit code.
int report_error(const Error& error);

}  // namespace stripline::suites::tune
