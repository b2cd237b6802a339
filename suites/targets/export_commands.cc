#include <iostream>

#include "base/atomic_file.h"
#include "base/exit_codes.h"
#include "base/json.h"
#include "base/whole_file.h"
#include "optimizer/targets/environment_file.h"
#include "optimizer/targets/mpich/mpich.h"
#include "optimizer/targets/mpich/selection_file.h"
#include "optimizer/targets/nccl/nccl.h"
#include "optimizer/targets/openmpi/han_rules.h"
#include "optimizer/targets/openmpi/json_rules.h"
#include "optimizer/targets/openmpi/params_file.h"
#include "optimizer/targets/openmpi/rules_file.h"
#include "optimizer/targets/registry.h"
#include "optimizer/targets/ucx/ucx.h"
#include "suites/targets/adapters/ucx_files.h"
#include "suites/targets/commands.h"
#include "suites/targets/export_record.h"
#include "suites/targets/session.h"

namespace stripline::suites::tune {
namespace {

namespace fs = std::filesystem;
using targets::Setting;

template <typename T>
Status status_of(const Result<T>& result) {
  if (result.ok()) return {};
  return result.error();
}

Result<std::vector<Setting>> settings_of(const std::vector<std::string>& texts) {
  std::vector<Setting> settings;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos) {
      return Error(ErrorCode::invalid_argument, "'" + text + "' is not NAME=VALUE");
    }
    settings.push_back({text.substr(0, equals), text.substr(equals + 1)});
  }
  return settings;
}

// Rules of NCCL's tuner, which the user gives as its file has them.
Result<std::string> tuner_file_of(const std::vector<std::string>& rules,
                                  const std::vector<std::string>& comments) {
  std::string lines;
  for (const std::string& one : rules) lines += one + "\n";
  const auto read = targets::nccl::read_tuner_file(lines, "the rules");
  if (!read.ok()) return Error(ErrorCode::invalid_argument, read.error().message());
  return targets::nccl::write_tuner_file(*read, comments);
}

Result<std::string> file_of(const targets::Target& target, const WriteOptions& options,
                            const std::vector<std::string>& comments) {
  if (target.name == "nccl") return tuner_file_of(options.settings, comments);
  STRIPLINE_ASSIGN_OR_RETURN(const auto settings, settings_of(options.settings));
  STRIPLINE_RETURN_IF_ERROR(targets::check_settings(target, settings));
  if (options.ranks > 0) {
    STRIPLINE_RETURN_IF_ERROR(
        targets::check_memory(target, settings, options.ranks, options.memory_bytes));
  }
  if (target.name == "openmpi") return targets::openmpi::write_params(settings, comments);
  if (target.name == "ucx") return targets::ucx::write_conf(settings, comments);
  return targets::write_environment(settings, comments);
}

Result<int> write(const WriteOptions& options) {
  STRIPLINE_ASSIGN_OR_RETURN(const targets::Target* target, targets::find_target(options.target));
  const std::vector<std::string> comments = {std::string(kMark) + ": settings of " +
                                             std::string(target->title) +
                                             ", as they were given: nothing was measured"};
  STRIPLINE_ASSIGN_OR_RETURN(const std::string written, file_of(*target, options, comments));
  const std::string text = sealed(written);
  if (options.output.empty()) {
    std::cout << text;
    return kExitOk;
  }
  STRIPLINE_RETURN_IF_ERROR(check_replaceable(options.output, "name another file"));
  STRIPLINE_RETURN_IF_ERROR(write_atomically(options.output, text));
  return kExitOk;
}

// A classic rules file, that of HAN, or that of Open MPI 6.
Result<std::vector<std::string>> hazards_of_rules(const std::string& text, const std::string& what,
                                                  const targets::Safety& safety) {
  if (targets::openmpi::is_json(text)) {
    STRIPLINE_ASSIGN_OR_RETURN(const auto rules, targets::openmpi::read_json_rules(text, what));
    return targets::openmpi::hazards(rules, safety);
  }
  if (targets::openmpi::is_han(text)) {
    STRIPLINE_ASSIGN_OR_RETURN(const auto rules, targets::openmpi::read_han_rules(text, what));
    return targets::openmpi::hazards(rules, targets::openmpi::RulesFile());
  }
  STRIPLINE_ASSIGN_OR_RETURN(const auto rules, targets::openmpi::read_rules(text, what));
  return targets::openmpi::hazards(rules, safety);
}

// A selection of algorithms of MPICH, as the installed version reads it; without one as 4.0 does,
// which knows least.
Status check_selection(const std::string& text, const std::string& what) {
  namespace mpich = targets::mpich;
  mpich::Grammar grammar = mpich::Grammar::v4_0;
  if (const auto installed = detect(mpich::target()); installed.ok()) {
    STRIPLINE_ASSIGN_OR_RETURN(grammar, mpich::grammar_of(installed->version));
  }
  return status_of(mpich::read_selection(text, what, grammar));
}

// Variables of a target, and the selection of algorithms that they name.
Status check_variables(const targets::Target& target, const std::string& text,
                       const std::string& what) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto settings, targets::read_environment(text, what));
  STRIPLINE_RETURN_IF_ERROR(targets::check_settings(target, settings));
  for (const auto& [name, value] : settings) {
    if (name != targets::mpich::kSelectionVariable) continue;
    STRIPLINE_ASSIGN_OR_RETURN(const std::string selection, read_whole_file(value));
    STRIPLINE_RETURN_IF_ERROR(check_selection(selection, "'" + value + "'"));
  }
  return {};
}

Result<int> check(const CheckOptions& options) {
  STRIPLINE_ASSIGN_OR_RETURN(const targets::Target* target, targets::find_target(options.target));
  STRIPLINE_ASSIGN_OR_RETURN(const std::string text, read_whole_file(options.file));
  const std::string what = "'" + options.file + "'";
  std::vector<std::string> found;
  if (options.rules && target->name == "mpich") {
    STRIPLINE_RETURN_IF_ERROR(check_selection(text, what));
  } else if (options.rules) {
    if (target->name != "openmpi") {
      return Error(ErrorCode::invalid_argument,
                   "only Open MPI and MPICH have files of rules, or of a selection");
    }
    const targets::Safety safety{.commutative_only = options.commutative_only};
    STRIPLINE_ASSIGN_OR_RETURN(found, hazards_of_rules(text, what, safety));
  } else if (target->name == "openmpi") {
    STRIPLINE_RETURN_IF_ERROR(status_of(targets::openmpi::read_params(text, what)));
  } else if (target->name == "ucx") {
    STRIPLINE_ASSIGN_OR_RETURN(const auto settings, targets::ucx::read_conf(text, what));
    std::error_code error;
    const auto stronger = ucx_sources_above(fs::absolute(options.file, error), found);
    for (std::string& one : targets::overridden(settings, stronger)) {
      found.push_back(std::move(one));
    }
  } else if (target->name == "nccl") {
    STRIPLINE_RETURN_IF_ERROR(status_of(targets::nccl::read_tuner_file(text, what)));
  } else {
    STRIPLINE_RETURN_IF_ERROR(check_variables(*target, text, what));
  }
  for (const std::string& one : found) std::cout << one << '\n';
  if (found.empty()) std::cout << options.file << ": nothing is wrong with it\n";
  return found.empty() ? kExitOk : kExitFailure;
}

}  // namespace

int write_command(const WriteOptions& options) { return exit_code_of(write(options)); }
int check_command(const CheckOptions& options) { return exit_code_of(check(options)); }

}  // namespace stripline::suites::tune
