#include "suites/targets/adapters/knobs_adapter.h"

#include <cstdlib>
#include <utility>

#include "base/whole_file.h"
#include "optimizer/targets/environment_file.h"

namespace stripline::suites::tune {

using targets::Setting;

Environment KnobsAdapter::knobs(const std::vector<Setting>& settings) const {
  Environment variables;
  for (const auto& [name, value] : settings) variables[name] = value;
  return variables;
}

Result<std::vector<Setting>> KnobsAdapter::read_export(const std::filesystem::path& file) const {
  STRIPLINE_ASSIGN_OR_RETURN(const std::string text, read_whole_file(file));
  STRIPLINE_ASSIGN_OR_RETURN(auto settings, read(text, "'" + file.string() + "'"));
  STRIPLINE_RETURN_IF_ERROR(targets::check_settings(target(), settings));
  return settings;
}

Status KnobsAdapter::check_environment() const {
  for (const targets::Knob& knob : target().knobs) {
    const std::string name(knob.name);
    if (std::getenv(name.c_str()) == nullptr) continue;  // NOLINT(concurrency-mt-unsafe)
    return Error(ErrorCode::failed_precondition,
                 name +
                     " is set in this environment, so that the default cannot be measured; "
                     "unset it");
  }
  return {};
}

Result<std::vector<ExportFile>> KnobsAdapter::file_with(
    const std::vector<Setting>& settings, const std::vector<std::string>& comments) const {
  STRIPLINE_RETURN_IF_ERROR(targets::check_settings(target(), settings));
  STRIPLINE_ASSIGN_OR_RETURN(std::string text, write(settings, comments));
  std::vector<ExportFile> files;
  files.push_back({file_name(), std::move(text)});
  return files;
}

Result<std::string> KnobsAdapter::referring(const std::string& text,
                                            const std::filesystem::path& /*folder*/,
                                            const std::vector<std::string>& others) const {
  STRIPLINE_ASSIGN_OR_RETURN(const auto settings, read(text, "the exported file"));
  STRIPLINE_RETURN_IF_ERROR(targets::check_settings(target(), settings));
  if (others.empty()) return text;
  return Error(ErrorCode::data_loss,
               "an export for " + std::string(target().title) + " has one file alone");
}

Result<std::vector<ExportFile>> KnobsAdapter::files(
    const Decisions& decisions, const targets::Safety& /*safety*/,
    const std::filesystem::path& /*folder*/, const std::vector<std::string>& comments) const {
  return file_with(decisions.settings, comments);
}

Result<std::vector<ExportFile>> KnobsAdapter::with_probe(
    const std::filesystem::path& file, const Probe& probe,
    const std::filesystem::path& /*folder*/) const {
  STRIPLINE_ASSIGN_OR_RETURN(auto settings, read_export(file));
  if (!probe.setting) {
    return Error(ErrorCode::invalid_argument,
                 "the probe of a target that has knobs alone is a setting");
  }
  targets::put_setting(settings, *probe.setting);
  return file_with(settings, {});
}

Result<OtherVersion> KnobsAdapter::for_version(const std::filesystem::path& /*file*/,
                                               const targets::Version& version,
                                               const std::filesystem::path& /*folder*/,
                                               std::vector<std::string> /*comments*/) const {
  return Error(ErrorCode::unimplemented, "thresholds may mean other things to " +
                                             std::string(target().title) + " " +
                                             to_string(version) + ": tune where it is installed");
}

Result<Environment> VariablesAdapter::loading(const std::filesystem::path& file) const {
  STRIPLINE_ASSIGN_OR_RETURN(const auto settings, read_export(file));
  return knobs(settings);
}

Result<std::vector<std::string>> VariablesAdapter::complaints(
    const std::filesystem::path& file, const targets::Safety& /*safety*/,
    const std::filesystem::path& /*place*/) const {
  STRIPLINE_ASSIGN_OR_RETURN(const auto settings, read_export(file));
  std::vector<std::string> found;
  for (const auto& [name, value] : settings) {
    const char* const here = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe)
    if (here == nullptr || value == here) continue;
    found.push_back(name + " is set to '" + here + "' in this environment, not to '" + value +
                    "' as in the exported file");
  }
  return found;
}

std::string VariablesAdapter::file_name() const {
  return "stripline-" + std::string(target().name) + ".env";
}

Result<std::vector<Setting>> VariablesAdapter::read(std::string_view text,
                                                    std::string_view what) const {
  return targets::read_environment(text, what);
}

Result<std::string> VariablesAdapter::write(const std::vector<Setting>& settings,
                                            const std::vector<std::string>& comments) const {
  return targets::write_environment(settings, comments);
}

}  // namespace stripline::suites::tune
