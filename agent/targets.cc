#include "agent/targets.h"

#include <algorithm>
#include <set>
#include <sstream>
#include <utility>

#include "base/atomic_file.h"
#include "base/command_output.h"
#include "base/json.h"
#include "optimizer/experiment/json.h"
#include "optimizer/experiment/tuning.h"

namespace stripline::agent {
namespace {

constexpr double kListLimitS = 60;
// The server hears nothing of this agent meanwhile.
constexpr double kInstallLimitS = 10;
constexpr size_t kConfigurationDigits = 12;
constexpr std::string_view kPutBack = "Put back";

// What is known of the targets here, by name.
Result<std::map<std::string, Json>> targets_here(const std::string& program) {
  STRIPLINE_ASSIGN_OR_RETURN(const std::string output,
                             output_of({program, "list", "--json"}, kListLimitS));
  std::map<std::string, Json> targets;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    STRIPLINE_ASSIGN_OR_RETURN(Json json, parse_json(line, "what stripline-tune lists"));
    if (!json.contains("tuned")) continue;  // an export
    STRIPLINE_ASSIGN_OR_RETURN(const std::string name,
                               get_string(json, "target", "what stripline-tune lists"));
    targets[name] = std::move(json);
  }
  return targets;
}

bool is_installed(const Json& target) {
  const auto installed = target.find("installed");
  return installed != target.end() && installed->is_string();
}

// Adds the facts of `target`, which is installed.
void add_facts(const std::string& name, const Json& target,
               std::map<std::string, std::string>& facts) {
  facts[experiment::version_fact(name)] = target["installed"].get<std::string>();
  if (const auto hash = target.find("configuration"); hash != target.end() && hash->is_string()) {
    facts[experiment::configuration_fact(name)] =
        hash->get<std::string>().substr(0, kConfigurationDigits);
  }
}

// What is known of a target that is installed, whose facts are added to `description`.
Result<const Json*> offered(const std::map<std::string, Json>& targets, const std::string& name,
                            Description& description) {
  const auto found = targets.find(name);
  if (found == targets.end()) {
    return Error(ErrorCode::failed_precondition,
                 "'" + name + "' is not a target; 'stripline tune list' shows those there are");
  }
  const Json& target = found->second;
  if (!is_installed(target)) {
    return Error(ErrorCode::failed_precondition,
                 "'" + name + "' is not installed here, or its command is not in PATH");
  }
  add_facts(name, target, description.fingerprint);
  return &target;
}

// No file of one target comes into the folder of another.
Status check_target(const std::string& packed, const std::string& target) {
  constexpr std::string_view kWhat = "packed export";
  STRIPLINE_ASSIGN_OR_RETURN(const Json whole, parse_json(packed, kWhat));
  STRIPLINE_ASSIGN_OR_RETURN(const Json* record, get_object(whole, "record", kWhat));
  STRIPLINE_ASSIGN_OR_RETURN(const std::string name, get_string(*record, "target", kWhat));
  if (name == target) return {};
  return Error(ErrorCode::data_loss, "it is of '" + name + "', not of '" + target + "'");
}

Result<std::string> folder_for(const TargetOptions& options, const std::string& target) {
  const auto folder = options.folders.find(target);
  if (folder != options.folders.end()) return folder->second;
  return Error(ErrorCode::failed_precondition,
               "the agent installs no settings of '" + target + "' (--install)");
}

}  // namespace

Status add_folder(const std::string& text, TargetOptions& options) {
  const size_t equals = text.find('=');
  const std::string folder = equals == std::string::npos ? "" : text.substr(equals + 1);
  if (equals == 0 || !std::filesystem::path(folder).is_absolute()) {
    return Error(ErrorCode::invalid_argument,
                 "'" + text +
                     "' is not TARGET=FOLDER with an absolute path, such as "
                     "openmpi=/etc/openmpi");
  }
  if (!options.folders.emplace(text.substr(0, equals), folder).second) {
    return Error(ErrorCode::invalid_argument,
                 "'" + text.substr(0, equals) + "' has a folder already; name one");
  }
  return {};
}

Status add_targets(const TargetOptions& options, Description& description) {
  if (options.tuned.empty() && options.folders.empty()) return {};
  STRIPLINE_ASSIGN_OR_RETURN(const auto targets, targets_here(options.program));
  for (const std::string& name : options.tuned) {
    STRIPLINE_ASSIGN_OR_RETURN(const Json* target, offered(targets, name, description));
    if (target->value("tuned", Json(false)) != Json(true)) {
      return Error(ErrorCode::failed_precondition,
                   "settings of '" + name + "' are written, but nothing here measures them");
    }
    description.fabrics.push_back(experiment::tuning_fabric(name));
  }
  for (const auto& [name, folder] : options.folders) {
    STRIPLINE_RETURN_IF_ERROR(offered(targets, name, description));
    description.fabrics.push_back(experiment::settings_fabric(name));
  }
  if (options.tuned.empty()) return {};
  experiment::Experiment tune = experiment::tune_declaration();
  description.experiments_json.push_back(experiment::to_json(tune).dump());
  description.experiments.push_back(std::move(tune));
  return {};
}

Result<std::map<std::string, std::string>> target_facts(const TargetOptions& options) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto targets, targets_here(options.program));
  std::set<std::string> names(options.tuned.begin(), options.tuned.end());
  for (const auto& [name, folder] : options.folders) names.insert(name);
  std::map<std::string, std::string> facts;
  for (const std::string& name : names) {
    const auto found = targets.find(name);
    if (found != targets.end() && is_installed(found->second)) {
      add_facts(name, found->second, facts);
    } else {
      facts[experiment::version_fact(name)] = "not installed";
    }
  }
  return facts;
}

std::vector<std::string> tuning_worker(const TargetOptions& options) {
  std::vector<std::string> command = {options.program, "work"};
  if (options.largest_job > 0) {
    command.insert(command.end(), {"--largest-job", std::to_string(options.largest_job)});
  }
  return command;
}

Status install_settings(const TargetOptions& options, const std::string& target,
                        const std::string& packed, const std::filesystem::path& work_folder) {
  STRIPLINE_ASSIGN_OR_RETURN(const std::string folder, folder_for(options, target));
  STRIPLINE_RETURN_IF_ERROR(check_target(packed, target));
  std::error_code error;
  std::filesystem::create_directories(work_folder, error);
  const std::filesystem::path file = work_folder / ("offered-" + target + ".json");
  STRIPLINE_RETURN_IF_ERROR(write_atomically(file, packed));
  std::vector<std::string> command = {options.program, "export", "install", file.string(),
                                      "--packed",      "--to",   folder};
  if (options.commutative_only) command.emplace_back("--commutative-only");
  const auto installed = output_of(command, kInstallLimitS);
  std::filesystem::remove(file, error);
  return installed.ok() ? Status() : installed.error();
}

// There may be two: what was installed, and what it has replaced, which does not hold any more
// either.
Status uninstall_settings(const TargetOptions& options, const std::string& target) {
  STRIPLINE_ASSIGN_OR_RETURN(const std::string folder, folder_for(options, target));
  // It may have been removed by hand, as may what was installed in it.
  std::error_code ignored;
  for (bool again = std::filesystem::exists(folder, ignored); again;) {
    const auto output = output_of({options.program, "export", "uninstall", folder}, kInstallLimitS);
    if (!output.ok()) return output.error();
    again = output->starts_with(kPutBack);
  }
  return {};
}

}  // namespace stripline::agent
