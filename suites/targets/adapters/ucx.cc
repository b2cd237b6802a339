// UCX 1.13, below an MPICH that is built on it, as Debian's is.
#include "optimizer/targets/ucx/ucx.h"

#include <algorithm>
#include <cstdlib>

#include "base/command_output.h"
#include "base/whole_file.h"
#include "optimizer/targets/environment_file.h"
#include "optimizer/targets/lines.h"
#include "suites/targets/adapters/adapter.h"
#include "suites/targets/adapters/ucx_files.h"
#include "suites/targets/owned_files.h"

namespace stripline::suites::tune {
namespace {

namespace fs = std::filesystem;
namespace ucx = targets::ucx;
using targets::Path;
using targets::Setting;

constexpr const char* kFolderVariable = "UCX_CONFIG_DIR";

Result<std::vector<Setting>> read_export(const fs::path& file) {
  STRIPLINE_ASSIGN_OR_RETURN(const std::string text, read_whole_file(file));
  STRIPLINE_ASSIGN_OR_RETURN(auto settings, ucx::read_conf(text, "'" + file.string() + "'"));
  STRIPLINE_RETURN_IF_ERROR(targets::check_settings(ucx::target(), settings));
  return settings;
}

Result<std::vector<ExportFile>> file_with(const std::vector<Setting>& settings,
                                          const std::vector<std::string>& comments) {
  STRIPLINE_RETURN_IF_ERROR(targets::check_settings(ucx::target(), settings));
  STRIPLINE_ASSIGN_OR_RETURN(std::string text, ucx::write_conf(settings, comments));
  return std::vector<ExportFile>{{kUcxFileName, std::move(text)}};
}

// A file of ours that programs of this user read.
bool is_installed() {
  const fs::path file = ucx_file_of_user();
  std::error_code error;
  return !file.empty() && fs::exists(file, error) && is_ours(file);
}

class Ucx : public Adapter {
 public:
  const targets::Target& target() const override { return ucx::target(); }

  std::string compiler() const override { return mpich_adapter().compiler(); }

  std::vector<std::string> launch(uint32_t ranks, const std::string& program,
                                  const std::vector<std::string>& arguments) const override {
    return mpich_adapter().launch(ranks, program, arguments);
  }

  Result<Environment> environment(Path path, const fs::path& folder) const override {
    STRIPLINE_ASSIGN_OR_RETURN(Environment variables, mpich_adapter().environment(path, folder));
    // What this environment sets beats every file, and cannot be kept from a child.
    for (const targets::Knob& knob : target().knobs) {
      const std::string name(knob.name);
      if (std::getenv(name.c_str()) == nullptr) continue;  // NOLINT(concurrency-mt-unsafe)
      return Error(ErrorCode::failed_precondition,
                   name +
                       " is set in this environment, so that the default cannot be measured; "
                       "unset it");
    }
    if (const fs::path other = ucx_file_of_variable(); !other.empty()) {
      return Error(ErrorCode::failed_precondition,
                   "'" + other.string() + "' is read by " + kFolderVariable +
                       ", which also loads what is measured; unset it");
    }
    // It warns of the variable that it has just read.
    variables["UCX_WARN_UNUSED_ENV_VARS"] = "n";
    // Otherwise ranks of a node share MPICH's own memory.
    variables["MPIR_CVAR_NOLOCAL"] = "1";
    if (is_installed()) variables["HOME"] = folder.string();
    return variables;
  }

  Environment selecting() const override { return {}; }

  Environment knobs(const std::vector<Setting>& settings) const override {
    return mpich_adapter().knobs(settings);
  }

  // Settings that the installed version does not list.
  Result<std::set<std::string>> unsettable(const std::vector<Setting>& settings) const override {
    STRIPLINE_ASSIGN_OR_RETURN(const std::string listed, output_of({"ucx_info", "-c"}));
    std::set<std::string> names;
    for (const Setting& one : settings) {
      if (("\n" + listed).find("\n" + one.name + "=") == std::string::npos) names.insert(one.name);
    }
    return names;
  }

  std::vector<std::string_view> shared_memory_prefixes() const override {
    return mpich_adapter().shared_memory_prefixes();
  }

  std::vector<std::string> file_names() const override { return {kUcxFileName}; }

  Result<std::string> referring(const std::string& text, const fs::path& other) const override {
    STRIPLINE_ASSIGN_OR_RETURN(const auto settings, ucx::read_conf(text, "the exported file"));
    STRIPLINE_RETURN_IF_ERROR(targets::check_settings(target(), settings));
    if (other.empty()) return text;
    return Error(ErrorCode::data_loss, "an export for UCX has one file, not two");
  }

  Result<std::vector<fs::path>> read_files() const override {
    const fs::path file = ucx_file_of_user();
    return file.empty() ? std::vector<fs::path>() : std::vector<fs::path>{file};
  }

  Result<std::string> configuration() const override {
    STRIPLINE_ASSIGN_OR_RETURN(std::string text, output_of({"ucx_info", "-v"}));
    STRIPLINE_ASSIGN_OR_RETURN(const std::string carrier, mpich_adapter().configuration());
    text += carrier;
    const auto others = read_whole_file(ucx_file_of_user());
    if (others.ok() && !is_installed()) text += *others;
    return text;
  }

  Result<std::vector<ExportFile>> files(const Decisions& decisions,
                                        const targets::Safety& /*safety*/,
                                        const fs::path& /*folder*/,
                                        const std::vector<std::string>& comments) const override {
    return file_with(decisions.settings, comments);
  }

  Result<Environment> loading(const fs::path& file) const override {
    const auto settings = read_export(file);
    if (!settings.ok()) return settings.error();
    return Environment{{kFolderVariable, file.parent_path().string()}};
  }

  Result<std::vector<ExportFile>> with_probe(const fs::path& file, const Probe& probe,
                                             const fs::path& /*folder*/) const override {
    STRIPLINE_ASSIGN_OR_RETURN(auto settings, read_export(file));
    if (!probe.setting) {
      return Error(ErrorCode::data_loss, "a probe of UCX is a setting, and there is none");
    }
    std::erase_if(settings, [&](const Setting& one) { return one.name == probe.setting->name; });
    settings.push_back(*probe.setting);
    return file_with(settings, {});
  }

  Result<OtherVersion> for_version(const fs::path& /*file*/, const targets::Version& version,
                                   const fs::path& /*folder*/,
                                   std::vector<std::string> /*comments*/) const override {
    return Error(ErrorCode::unimplemented, "thresholds mean other things to the protocols of UCX " +
                                               to_string(version) + ": tune where it is installed");
  }

  Result<std::vector<std::string>> complaints(const fs::path& file,
                                              const targets::Safety& /*safety*/) const override {
    STRIPLINE_ASSIGN_OR_RETURN(const auto settings, read_export(file));
    std::vector<std::string> found;
    const auto stronger = ucx_sources_above(file, found);
    for (std::string& one : targets::overridden(settings, stronger)) {
      found.push_back(std::move(one));
    }
    return found;
  }
};

}  // namespace

const Adapter& ucx_adapter() {
  static const Ucx kAdapter;
  return kAdapter;
}

}  // namespace stripline::suites::tune
