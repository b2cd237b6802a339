#include "runtime/bootstrap/hosts_command.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <unistd.h>

#include "base/command_line.h"
#include "base/shell_words.h"
#include "base/subprocess.h"
#include "base/whole_file.h"

namespace stripline::bootstrap {
namespace {

constexpr const char* kSshVariable = "STRIPLINE_SSH";

/// Variables of one host, or of one rank and its launcher: they are not sent to others.
constexpr std::array<std::string_view, 9> kOfOneHost = {
    "STRIPLINE_ADDRESS", "STRIPLINE_SWITCHES",   "STRIPLINE_SSH",
    "STRIPLINE_RANK",    "STRIPLINE_RANKS",      "STRIPLINE_JOB_ID",
    "STRIPLINE_OPTIONS", "STRIPLINE_CONTROL_FD", "STRIPLINE_OPERATION_RECORD"};

// At start-up, before there are threads.
const char* variable(const char* name) {
  return std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
}

/// As the shell names it, where that is still the same folder: the name with which users know it on
/// all hosts, where an automounter may resolve it to different ones.
std::string working_folder() {
  std::error_code wrong;
  const std::filesystem::path folder = std::filesystem::current_path(wrong);
  const char* shown = variable("PWD");
  if (shown != nullptr && *shown == '/' && std::filesystem::equivalent(shown, folder, wrong)) {
    return shown;
  }
  return folder.string();
}

Result<HostList> read_list(const HostsCommand& command) {
  if (command.hosts) {
    auto list = parse_host_list(*command.hosts);
    if (!list.ok()) return list.error().with_context("--hosts");
    return list;
  }
  STRIPLINE_ASSIGN_OR_RETURN(const std::string text, read_whole_file(*command.hosts_file));
  return parse_hosts_file(text, *command.hosts_file);
}

}  // namespace

void add_hosts_options(CLI::App& app, HostsCommand& command) {
  auto* hosts =
      app.add_option("--hosts", command.hosts,
                     "Start the ranks on these hosts through ssh, in blocks: a,b shares them out "
                     "evenly, a:4,b:4 fills the slots of one host after the other (default: this "
                     "host)")
          ->type_name("LIST");
  auto* file = app.add_option("--hosts-file", command.hosts_file,
                              "The same from a file: a host a line, with its slots as host:4 or "
                              "host slots=4; # begins a comment")
                   ->type_name("FILE");
  hosts->excludes(file);
  app.add_option("--ssh", command.ssh,
                 "Command that reaches a host, with its options, e.g. 'ssh -p 2222' (default: "
                 "$STRIPLINE_SSH, else ssh)")
      ->type_name("COMMAND");
  app.add_option("-x,--export", command.exported,
                 "Take a variable along to the hosts, or set it there; may be repeated. "
                 "STRIPLINE_* and FI_* always go along")
      ->type_name("NAME[=VALUE]")
      ->allow_extra_args(false);
}

Result<HostsOptions> hosts_options(const HostsCommand& command, std::optional<uint32_t> ranks) {
  HostsOptions options;
  STRIPLINE_ASSIGN_OR_RETURN(const HostList list, read_list(command));
  STRIPLINE_ASSIGN_OR_RETURN(options.shares, distribute(list, ranks));
  const char* usual = variable(kSshVariable);
  const std::string ssh = !command.ssh.empty() ? command.ssh : usual != nullptr ? usual : "";
  auto words = split_words(ssh);
  if (!words.ok()) return words.error().with_context(command.ssh.empty() ? kSshVariable : "--ssh");
  if (!words->empty()) options.ssh = *std::move(words);
  options.program = executable_folder() + "/stripline-run";
  options.folder = working_folder();
  return options;
}

std::string program_for_hosts(const std::string& program, const std::string& folder) {
  if (program.find('/') != std::string::npos) {
    return (std::filesystem::path(folder) / program).lexically_normal().string();
  }
  const std::filesystem::path found = find_in_path(program);
  if (found.empty()) return program;
  return (std::filesystem::path(folder) / found).lexically_normal().string();
}

Status add_environment_for_hosts(const std::vector<std::string>& exported,
                                 std::map<std::string, std::string>& environment) {
  for (const std::string& one : exported) {
    const size_t equals = one.find('=');
    const std::string name = one.substr(0, equals);
    const char* value =
        equals != std::string::npos ? one.c_str() + equals + 1 : variable(name.c_str());
    if (name.empty() || value == nullptr) {
      return Error(ErrorCode::invalid_argument,
                   name.empty() ? "--export '" + one + "' names no variable"
                                : "--export " + name + ": it is not set here; set it, or write " +
                                      name + "=VALUE");
    }
    environment.try_emplace(name, value);
  }
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const size_t equals = text.find('=');
    const std::string_view name = text.substr(0, equals);
    if (equals == std::string_view::npos) continue;
    // The runtime's, libfabric's, and OpenSHMEM's by its new and its old names.
    const bool ours = name.starts_with("STRIPLINE_") || name.starts_with("FI_") ||
                      name.starts_with("SHMEM_") || name.starts_with("SMA_");
    if (!ours || std::ranges::find(kOfOneHost, name) != kOfOneHost.end()) continue;
    environment.try_emplace(std::string(name), text.substr(equals + 1));
  }
  return {};
}

}  // namespace stripline::bootstrap
