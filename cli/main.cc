// stripline: the command for people and scripts.

#include <filesystem>
#include <string>
#include <unistd.h>
#include <vector>

#include "base/command_line.h"
#include "base/descriptors.h"
#include "base/exit_codes.h"
#include "base/subprocess.h"
#include "cli/access_commands.h"
#include "cli/campaign_commands.h"
#include "cli/comparison_commands.h"
#include "cli/console.h"
#include "cli/contexts.h"
#include "cli/explain_commands.h"
#include "cli/feedback_commands.h"
#include "cli/model_commands.h"
#include "cli/node_commands.h"
#include "cli/offline_commands.h"
#include "cli/operation_commands.h"
#include "cli/parse.h"
#include "cli/published_settings.h"
#include "cli/publishing_commands.h"
#include "cli/replay_commands.h"
#include "cli/report_commands.h"
#include "proto/grpc_log.h"

namespace stripline::cli {
namespace {

// Becomes the helper program beside this one. Returns only when there is none.
Result<int> run(const Global& global, const ExecHelper& command) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto passed, with_published_settings(global, command));
  const std::string path = (std::filesystem::path(executable_folder()) / command.program).string();
  std::vector<std::string> strings = {path};
  strings.insert(strings.end(), passed.begin(), passed.end());
  std::vector<char*> arguments;
  arguments.reserve(strings.size() + 1);
  for (std::string& text : strings) arguments.push_back(text.data());
  arguments.push_back(nullptr);
  restore_descriptor_limit();  // it raises its own, and gives this one to the ranks
  ::execv(path.c_str(), arguments.data());
  return print_error(
      "cannot start '" + path + "'; it is part of Stripline: build or install it again",
      kExitUnavailable);
}

Result<int> run(const Global& global, const ShowVersion& /*command*/) {
  const std::string version(program_version());
  print(global.json ? "{\"version\":\"" + version + "\"}\n" : "stripline " + version + "\n");
  return kExitOk;
}

// A file that cannot be read is reported when its server is called.
void use_last_login(Global& global) {
  if (global.server_named) return;
  const auto contexts = read_contexts();
  if (contexts.ok() && !contexts->server.empty()) global.server = contexts->server;
}

}  // namespace
}  // namespace stripline::cli

int main(int argc, char** argv) {
  stripline::prepare_descriptors();
  stripline::silence_grpc();
  using namespace stripline::cli;  // NOLINT(google-build-using-namespace): one function
  Parsed parsed = parse_command_line({argv + 1, argv + argc});
  print(parsed.out);
  print_note(parsed.err);
  if (parsed.command) use_last_login(parsed.command->global);
  const int exit_code =
      parsed.command ? exit_code_from(std::visit(
                           [&](const auto& action) { return run(parsed.command->global, action); },
                           parsed.command->action))
                     : parsed.exit_code;
  const stripline::Status output = output_status();
  if (exit_code != stripline::kExitOk || output.ok()) return exit_code;
  return exit_code_from(output.error());
}
