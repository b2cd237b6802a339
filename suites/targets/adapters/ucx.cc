// UCX 1.13, below an MPICH that is built on it, as Debian's is.
#include "optimizer/targets/ucx/ucx.h"

#include "base/command_output.h"
#include "base/whole_file.h"
#include "suites/targets/adapters/knobs_adapter.h"
#include "suites/targets/adapters/ucx_files.h"
#include "suites/targets/owned_files.h"

namespace stripline::suites::tune {
namespace {

namespace fs = std::filesystem;
namespace ucx = targets::ucx;
using targets::Path;
using targets::Setting;

constexpr const char* kFolderVariable = "UCX_CONFIG_DIR";

// A file of ours that programs of this user read.
bool is_installed() {
  const fs::path file = ucx_file_of_user();
  std::error_code error;
  return !file.empty() && fs::exists(file, error) && is_ours(file);
}

class Ucx : public KnobsAdapter {
 public:
  const targets::Target& target() const override { return ucx::target(); }

  std::string compiler() const override { return mpich_adapter().compiler(); }

  std::vector<std::string> launch(uint32_t ranks, const std::string& program,
                                  const std::vector<std::string>& arguments) const override {
    return mpich_adapter().launch(ranks, program, arguments);
  }

  Result<Environment> environment(Path path, const fs::path& folder) const override {
    STRIPLINE_ASSIGN_OR_RETURN(Environment variables, mpich_adapter().environment(path, folder));
    STRIPLINE_RETURN_IF_ERROR(check_environment());
    if (const fs::path other = ucx_file_of_variable(); !other.empty()) {
      return Error(ErrorCode::failed_precondition,
                   "'" + other.string() + "' is read by " + kFolderVariable +
                       ", which also loads what is measured; unset it");
    }
    // It would be part of the default, too, and an export that lies there be compared with itself.
    if (const fs::path here = ucx_file_of_working_folder(); !here.empty()) {
      return Error(ErrorCode::failed_precondition,
                   "'" + here.string() +
                       "' is read by every program that is started in this folder, and beats what "
                       "is measured; start from another folder");
    }
    // It warns of the variable that it has just read.
    variables["UCX_WARN_UNUSED_ENV_VARS"] = "n";
    // Otherwise ranks of a node share MPICH's own memory.
    variables["MPIR_CVAR_NOLOCAL"] = "1";
    if (is_installed()) variables["HOME"] = folder.string();
    return variables;
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

  Result<std::vector<fs::path>> read_files() const override {
    const fs::path file = ucx_file_of_user();
    return file.empty() ? std::vector<fs::path>() : std::vector<fs::path>{file};
  }

  Result<std::string> configuration() const override {
    STRIPLINE_ASSIGN_OR_RETURN(std::string text, output_of({"ucx_info", "-v"}));
    STRIPLINE_ASSIGN_OR_RETURN(const std::string carrier, output_of({"mpichversion"}));
    text += carrier;
    const auto others = read_whole_file(ucx_file_of_user());
    if (others.ok() && !is_installed()) text += *others;
    return text;
  }

  Result<Environment> loading(const fs::path& file) const override {
    STRIPLINE_RETURN_IF_ERROR(read_export(file));
    return Environment{{kFolderVariable, file.parent_path().string()}};
  }

  Result<std::vector<std::string>> complaints(const fs::path& file,
                                              const targets::Safety& /*safety*/,
                                              const fs::path& place) const override {
    STRIPLINE_ASSIGN_OR_RETURN(const auto settings, read_export(file));
    std::vector<std::string> found;
    const auto stronger = ucx_sources_above(place, found);
    for (std::string& one : targets::overridden(settings, stronger)) {
      found.push_back(std::move(one));
    }
    return found;
  }

 protected:
  std::string file_name() const override { return kUcxFileName; }
  Result<std::vector<Setting>> read(std::string_view text, std::string_view what) const override {
    return ucx::read_conf(text, what);
  }
  Result<std::string> write(const std::vector<Setting>& settings,
                            const std::vector<std::string>& comments) const override {
    return ucx::write_conf(settings, comments);
  }
};

}  // namespace

const Adapter& ucx_adapter() {
  static const Ucx kAdapter;
  return kAdapter;
}

}  // namespace stripline::suites::tune
