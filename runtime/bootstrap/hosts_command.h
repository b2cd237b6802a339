// The options of stripline-run for several hosts, and what goes to these along with the job.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/command_line_fwd.h"
#include "base/result.h"
#include "runtime/bootstrap/hosts_launcher.h"

namespace stripline::bootstrap {

/// Options of hosts as they stand on the command line.
struct HostsCommand {
  std::optional<std::string> hosts;
  std::optional<std::string> hosts_file;
  std::string ssh;
  std::vector<std::string> exported;  ///< NAME or NAME=VALUE

  bool given() const { return hosts || hosts_file; }
};

void add_hosts_options(CLI::App& app, HostsCommand& command);

/// The hosts with their ranks (nullopt: one for each slot), the command that reaches them
/// (STRIPLINE_SSH where the option is not given), and this program and folder for each of them.
/// Errors: invalid_argument, not_found, as of parse_host_list() and distribute().
Result<HostsOptions> hosts_options(const HostsCommand& command, std::optional<uint32_t> ranks);

/// The path of a program as all hosts get it: found in PATH here if it has no slash, and relative
/// to the working folder; a name that is not in PATH stays one.
std::string program_for_hosts(const std::string& program, const std::string& folder);

/// Adds the variables of this process that go to other hosts: STRIPLINE_* but for those of one host
/// only, FI_*, and those of `exported`. What `environment` has already stays. Errors:
/// invalid_argument for a variable to be exported that is not set.
Status add_environment_for_hosts(const std::vector<std::string>& exported,
                                 std::map<std::string, std::string>& environment);

}  // namespace stripline::bootstrap
