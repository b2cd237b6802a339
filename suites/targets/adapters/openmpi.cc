// Open MPI 4.1.
#include "optimizer/targets/openmpi/openmpi.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <unistd.h>

#include "base/command_output.h"
#include "base/whole_file.h"
#include "optimizer/targets/environment_file.h"
#include "optimizer/targets/lines.h"
#include "optimizer/targets/openmpi/algorithms.h"
#include "optimizer/targets/openmpi/han_rules.h"
#include "optimizer/targets/openmpi/json_rules.h"
#include "optimizer/targets/openmpi/other_versions.h"
#include "optimizer/targets/openmpi/params_file.h"
#include "optimizer/targets/openmpi/rules_file.h"
#include "optimizer/targets/sources.h"
#include "suites/targets/adapters/adapter.h"
#include "suites/targets/owned_files.h"

namespace stripline::suites::tune {
namespace {

namespace openmpi = targets::openmpi;
using targets::Path;
using targets::Setting;

constexpr const char* kParamsName = "stripline-mca-params.conf";
constexpr const char* kRulesName = "stripline-rules.conf";
constexpr const char* kHanName = "stripline-han-rules.conf";
constexpr const char* kRulesSetting = "coll_tuned_dynamic_rules_filename";
constexpr const char* kHanSetting = "coll_han_dynamic_rules_filename";
constexpr std::string_view kFilesParameter = "mca_base_param_files";
constexpr const char* kFilesVariable = "OMPI_MCA_mca_base_param_files";
constexpr const char* kVariablePrefix = "OMPI_MCA_";
// With an empty list of files Open MPI ends by a segmentation fault.
constexpr const char* kNoFile = "/dev/null";

// What an export says, read back.
struct Exported {
  std::vector<Setting> settings;
  openmpi::RulesFile rules;
  std::optional<openmpi::HanRules> levels;  // of HAN, in 5.0
};

Result<Exported> read_export(const std::filesystem::path& file) {
  Exported exported;
  STRIPLINE_ASSIGN_OR_RETURN(const std::string text, read_whole_file(file));
  STRIPLINE_ASSIGN_OR_RETURN(exported.settings,
                             openmpi::read_params(text, "'" + file.string() + "'"));
  for (const auto& [name, value] : exported.settings) {
    if (name == kHanSetting) {
      STRIPLINE_ASSIGN_OR_RETURN(const std::string levels, read_whole_file(value));
      STRIPLINE_ASSIGN_OR_RETURN(exported.levels,
                                 openmpi::read_han_rules(levels, "'" + value + "'"));
    }
    if (name != kRulesSetting) continue;
    STRIPLINE_ASSIGN_OR_RETURN(const std::string rules, read_whole_file(value));
    if (openmpi::is_json(rules)) {
      return Error(ErrorCode::unimplemented,
                   "'" + value + "' is read by Open MPI 6, which is not measured here");
    }
    STRIPLINE_ASSIGN_OR_RETURN(exported.rules, openmpi::read_rules(rules, "'" + value + "'"));
  }
  return exported;
}

// The texts of the files of rules; empty: there is none.
std::string text_of_rules(const openmpi::RulesFile& rules,
                          const std::vector<std::string>& comments = {}) {
  return rules.collectives.empty() ? "" : openmpi::write_rules(rules, comments);
}
std::string text_of_levels(const Exported& exported) {
  return exported.levels ? openmpi::write_han_rules(*exported.levels, {}) : std::string();
}

// Settings of knobs: all but what names a rules file.
std::vector<Setting> knobs_of(const Exported& exported) {
  std::vector<Setting> settings = exported.settings;
  std::erase_if(settings, [](const Setting& one) {
    return one.name.starts_with("coll_tuned_") || one.name.starts_with("coll_han_");
  });
  return settings;
}

// The files of these knobs and of the texts of rules files, those of them that are not empty.
Result<std::vector<ExportFile>> files_with(std::vector<Setting> settings, std::string rules,
                                           std::string levels, const std::filesystem::path& folder,
                                           const std::vector<std::string>& comments) {
  std::vector<ExportFile> files;
  if (!rules.empty()) {
    for (auto& setting : openmpi::rules_settings((folder / kRulesName).string())) {
      settings.push_back(std::move(setting));
    }
    files.push_back({kRulesName, std::move(rules)});
  }
  if (!levels.empty()) {
    for (auto& setting : openmpi::han_settings((folder / kHanName).string())) {
      settings.push_back(std::move(setting));
    }
    files.push_back({kHanName, std::move(levels)});
  }
  STRIPLINE_ASSIGN_OR_RETURN(std::string text, openmpi::write_params(settings, comments));
  files.insert(files.begin(), {kParamsName, std::move(text)});
  return files;
}

constexpr double kInfoLimitS = 30;

Result<std::string> info_here(const Environment& environment) {
  return output_of({"ompi_info", "--all", "--parsable", "--level", "9"}, kInfoLimitS, environment);
}

Result<std::vector<openmpi::Parameter>> parameters_here(const Environment& environment = {}) {
  STRIPLINE_ASSIGN_OR_RETURN(const std::string info, info_here(environment));
  return openmpi::parse_ompi_info(info);
}

// Files and variables that beat a file of the user's, the strongest first.
Result<std::vector<targets::Source>> stronger_sources() {
  STRIPLINE_ASSIGN_OR_RETURN(const auto parameters, parameters_here());
  // ompi_info says for each parameter which source has won here.
  targets::Source override{"openmpi-mca-params-override.conf", {}};
  targets::Source environment{"the environment", {}};
  for (const openmpi::Parameter& one : parameters) {
    if (one.source.find("override") != std::string::npos) {
      override.settings.push_back({one.name, one.value});
      if (const std::string file = openmpi::file_of(one); !file.empty()) override.name = file;
    }
    if (one.source.starts_with("environment") || one.source == "command line") {
      environment.settings.push_back({one.name, one.value});
    }
  }
  return std::vector<targets::Source>{std::move(override), std::move(environment)};
}

// The files of parameters that programs read here: where the site's is depends on how Open MPI was
// built.
Result<std::vector<std::filesystem::path>> usual_files() {
  STRIPLINE_ASSIGN_OR_RETURN(const auto parameters, parameters_here());
  const auto found = std::ranges::find(parameters, kFilesParameter, &openmpi::Parameter::name);
  if (found == parameters.end() || found->value.empty()) {
    return Error(ErrorCode::failed_precondition,
                 "ompi_info does not say which files of parameters Open MPI reads here (" +
                     std::string(kFilesParameter) + ")");
  }
  std::vector<std::filesystem::path> files;
  std::istringstream names(found->value);
  for (std::string name; std::getline(names, name, ',');) files.emplace_back(name);
  return files;
}

// Adds the files that programs read before that of a place, if they read that, as of two files the
// first to name a parameter counts: a file of the user's beats that of the site. `unread`: a
// sentence for each that does not read well.
Status add_files_before(const std::filesystem::path& place, std::vector<targets::Source>& sources,
                        std::vector<std::string>& unread) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto usual, usual_files());
  const auto at = std::ranges::find_if(
      usual, [&](const std::filesystem::path& file) { return is_same_file(file, place); });
  if (at == usual.end()) return {};
  for (auto file = usual.begin(); file != at; ++file) {
    const auto text = read_whole_file(*file);
    if (!text.ok()) continue;
    auto settings = openmpi::read_params(*text, "'" + file->string() + "'");
    if (settings.ok()) {
      sources.push_back({file->string(), std::move(*settings)});
    } else {
      unread.push_back(settings.error().message());
    }
  }
  return {};
}

// All but ours, with commas, behind `first`.
std::string files_value(const std::string& first, const std::vector<std::filesystem::path>& usual) {
  std::string value = first;
  for (const auto& file : usual) {
    if (!is_ours(file)) value.append(value.empty() ? "" : ",").append(file.string());
  }
  return value.empty() ? kNoFile : value;
}

// What leaves installed files of ours out; nothing where there are none.
Result<Environment> without_ours() {
  STRIPLINE_ASSIGN_OR_RETURN(const auto usual, usual_files());
  if (std::ranges::none_of(usual, is_ours)) return Environment();
  return Environment{{kFilesVariable, files_value("", usual)}};
}

std::string command(const std::string& name) {
  return has_suffixed("ompi_info", "mpirun.openmpi") ? name + ".openmpi" : name;
}

// The BTL for shared memory: "vader" became "sm" in 5.0.
std::string shared_memory_btl(const std::vector<openmpi::Parameter>& parameters) {
  const auto has = [&](std::string_view prefix) {
    return std::ranges::any_of(
        parameters, [&](const openmpi::Parameter& one) { return one.name.starts_with(prefix); });
  };
  return has("btl_sm_") && !has("btl_vader_") ? "sm" : "vader";
}

// HAN is above coll/tuned from 5.0 on: the text of its file beside these rules; empty: it needs
// none.
Result<std::string> levels_here(const openmpi::RulesFile& rules,
                                const std::vector<std::string>& comments) {
  const openmpi::HanRules levels = openmpi::han_rules_of(rules);
  if (levels.collectives.empty()) return std::string();
  STRIPLINE_ASSIGN_OR_RETURN(const auto parameters, parameters_here());
  if (shared_memory_btl(parameters) != "sm") return std::string();
  return openmpi::write_han_rules(levels, comments);
}

class OpenMpi : public Adapter {
 public:
  const targets::Target& target() const override { return openmpi::target(); }

  std::string compiler() const override { return command("mpicc"); }

  std::vector<std::string> launch(uint32_t ranks, const std::string& program,
                                  const std::vector<std::string>& arguments) const override {
    std::vector<std::string> argv = {command("mpirun"), "--oversubscribe", "-n",
                                     std::to_string(ranks), program};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    return argv;
  }

  Result<Environment> environment(Path path, const std::filesystem::path& folder) const override {
    // It cannot be kept from a child, and would be part of the default.
    for (const targets::Knob& knob : target().knobs) {
      const std::string name = kVariablePrefix + std::string(knob.name);
      if (std::getenv(name.c_str()) == nullptr) continue;  // NOLINT(concurrency-mt-unsafe)
      return Error(ErrorCode::failed_precondition,
                   name +
                       " is set in this environment, so that the default cannot be measured; "
                       "unset it");
    }
    Environment variables = {{"TMPDIR", folder.string()}, {"OMPI_MCA_orte_abort_timeout", "2"}};
    // Open MPI refuses to run as root unless it is asked twice.
    if (::geteuid() == 0) {
      variables["OMPI_ALLOW_RUN_AS_ROOT"] = "1";
      variables["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1";
    }
    // With a network that UCX or an MTL knows, these carry all messages, and no BTL does.
    if (path != Path::any) variables["OMPI_MCA_pml"] = "ob1";
    switch (path) {
      case Path::any:
        break;
      case Path::shared_memory: {
        STRIPLINE_ASSIGN_OR_RETURN(const auto parameters, parameters_here());
        variables["OMPI_MCA_btl"] = shared_memory_btl(parameters) + ",self";
        break;
      }
      case Path::tcp:
        variables["OMPI_MCA_btl"] = "tcp,self";
        variables["OMPI_MCA_btl_tcp_if_include"] = "lo";
        break;
    }
    STRIPLINE_ASSIGN_OR_RETURN(Environment files, without_ours());
    variables.merge(files);
    return variables;
  }

  Environment selecting() const override {
    return {{"OMPI_MCA_coll_tuned_use_dynamic_rules", "1"}};
  }

  Environment knobs(const std::vector<Setting>& settings) const override {
    Environment variables;
    for (const auto& [name, value] : settings) variables[kVariablePrefix + name] = value;
    return variables;
  }

  // "status:read-only" of ompi_info is of control variables (MPI_T): most of what it is said of can
  // be set by the environment and by files. What cannot keeps "default" as its source.
  Result<std::set<std::string>> unsettable(const std::vector<Setting>& settings) const override {
    STRIPLINE_ASSIGN_OR_RETURN(const auto parameters, parameters_here(knobs(settings)));
    std::set<std::string> names;
    for (const Setting& one : settings) {
      const auto found = std::ranges::find(parameters, one.name, &openmpi::Parameter::name);
      const bool taken = found != parameters.end() && found->source.starts_with("environment");
      if (!taken) names.insert(one.name);
    }
    return names;
  }

  Result<std::vector<std::string>> differences() const override {
    STRIPLINE_ASSIGN_OR_RETURN(const Environment others, without_ours());
    STRIPLINE_ASSIGN_OR_RETURN(const auto parameters, parameters_here(others));
    return openmpi::differences(parameters);
  }

  std::vector<std::string_view> shared_memory_prefixes() const override {
    return {"vader_segment.", "sm_segment."};
  }

  std::vector<std::string> file_names() const override {
    return {kParamsName, kRulesName, kHanName};
  }

  Result<std::string> referring(const std::string& text, const std::filesystem::path& folder,
                                const std::vector<std::string>& others) const override {
    STRIPLINE_ASSIGN_OR_RETURN(auto settings, openmpi::read_params(text, "the exported file"));
    STRIPLINE_RETURN_IF_ERROR(set_path(settings, kRulesSetting, folder, kRulesName, others));
    STRIPLINE_RETURN_IF_ERROR(set_path(settings, kHanSetting, folder, kHanName, others));
    STRIPLINE_RETURN_IF_ERROR(targets::check_settings(target(), settings));
    return openmpi::write_params(settings, targets::leading_comments(text));
  }

  Result<std::vector<std::filesystem::path>> read_files() const override { return usual_files(); }

  Result<std::string> configuration() const override {
    // An installed file of ours would hide what those behind it say.
    STRIPLINE_ASSIGN_OR_RETURN(const Environment others, without_ours());
    STRIPLINE_ASSIGN_OR_RETURN(const std::string info, info_here(others));
    STRIPLINE_ASSIGN_OR_RETURN(const auto parameters, openmpi::parse_ompi_info(info));
    std::string text;
    std::istringstream lines(info);
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("mca:")) text += line + "\n";
    }
    for (const openmpi::Parameter& one : parameters) {
      const bool set = !openmpi::file_of(one).empty() || one.source.starts_with("environment");
      // That leaves files of ours out.
      if (set && one.name != kFilesParameter) text += one.name + "=" + one.value + "\n";
    }
    return text;
  }

  Result<std::vector<ExportFile>> files(const Decisions& decisions, const targets::Safety& safety,
                                        const std::filesystem::path& folder,
                                        const std::vector<std::string>& comments) const override {
    STRIPLINE_ASSIGN_OR_RETURN(const auto rules, openmpi::rules_file(decisions.rules, safety));
    STRIPLINE_ASSIGN_OR_RETURN(std::string levels, levels_here(rules, comments));
    return files_with(decisions.settings, text_of_rules(rules, comments), std::move(levels), folder,
                      comments);
  }

  Result<Environment> loading(const std::filesystem::path& file) const override {
    STRIPLINE_RETURN_IF_ERROR(read_all(file));
    // In front of the files that Open MPI reads anyway.
    STRIPLINE_ASSIGN_OR_RETURN(const auto usual, usual_files());
    return Environment{{kFilesVariable, files_value(file.string(), usual)}};
  }

  Result<std::vector<ExportFile>> with_probe(const std::filesystem::path& file, const Probe& probe,
                                             const std::filesystem::path& folder) const override {
    STRIPLINE_ASSIGN_OR_RETURN(const Exported exported, read_export(file));
    if (probe.setting) {
      std::vector<Setting> settings = knobs_of(exported);
      targets::put_setting(settings, *probe.setting);
      return files_with(std::move(settings), text_of_rules(exported.rules),
                        text_of_levels(exported), folder, {});
    }
    const auto probed = openmpi::with_probe(exported.rules, probe.cell.collective, probe.cell.ranks,
                                            probe.candidate);
    return files_with(knobs_of(exported), openmpi::write_rules(probed, {}),
                      text_of_levels(exported), folder, {});
  }

  Result<OtherVersion> for_version(const std::filesystem::path& file,
                                   const targets::Version& version,
                                   const std::filesystem::path& folder,
                                   std::vector<std::string> comments) const override {
    STRIPLINE_ASSIGN_OR_RETURN(const Exported exported, read_export(file));
    STRIPLINE_ASSIGN_OR_RETURN(auto other, openmpi::for_version(knobs_of(exported), exported.rules,
                                                                version, std::move(comments)));
    OtherVersion result{.left_out = std::move(other.left_out)};
    STRIPLINE_ASSIGN_OR_RETURN(result.files,
                               files_with(std::move(other.settings), std::move(other.rules),
                                          std::move(other.han_rules), folder, other.comments));
    return result;
  }

  Result<std::vector<std::string>> complaints(const std::filesystem::path& file,
                                              const targets::Safety& safety,
                                              const std::filesystem::path& place) const override {
    STRIPLINE_ASSIGN_OR_RETURN(const Exported exported, read_export(file));
    std::vector<std::string> found = openmpi::hazards(exported.rules, safety);
    if (exported.levels) {
      for (std::string& one : openmpi::hazards(*exported.levels, exported.rules)) {
        found.push_back(std::move(one));
      }
    }
    STRIPLINE_ASSIGN_OR_RETURN(auto stronger, stronger_sources());
    STRIPLINE_RETURN_IF_ERROR(add_files_before(place, stronger, found));
    for (std::string& one : targets::overridden(exported.settings, stronger)) {
      found.push_back(std::move(one));
    }
    // What is overridden does not get the exported value either.
    if (!found.empty()) return found;
    STRIPLINE_ASSIGN_OR_RETURN(const auto names, unsettable(exported.settings));
    for (const std::string& name : names) {
      found.push_back(name + " cannot be set in the version that is installed here");
    }
    return found;
  }

 private:
  static Status read_all(const std::filesystem::path& file) {
    STRIPLINE_RETURN_IF_ERROR(read_export(file));
    return {};
  }
};

}  // namespace

const Adapter& openmpi_adapter() {
  static const OpenMpi kAdapter;
  return kAdapter;
}

}  // namespace stripline::suites::tune
