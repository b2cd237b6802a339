// MPICH 4.0.
#include "optimizer/targets/mpich/mpich.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "base/command_output.h"
#include "base/shell_words.h"
#include "base/whole_file.h"
#include "optimizer/targets/environment_file.h"
#include "optimizer/targets/lines.h"
#include "optimizer/targets/mpich/selection_file.h"
#include "suites/targets/adapters/adapter.h"
#include "suites/targets/adapters/ucx_files.h"

namespace stripline::suites::tune {
namespace {

namespace mpich = targets::mpich;
using targets::Path;
using targets::Setting;

constexpr const char* kFileName = "stripline-mpich.env";
constexpr const char* kSelectionName = "stripline-mpich-selection.json";
constexpr size_t kMostLibraryBytes = size_t{512} << 20;

Result<std::vector<Setting>> read_export(const std::filesystem::path& file) {
  STRIPLINE_ASSIGN_OR_RETURN(const std::string text, read_whole_file(file));
  STRIPLINE_ASSIGN_OR_RETURN(auto settings,
                             targets::read_environment(text, "'" + file.string() + "'"));
  STRIPLINE_RETURN_IF_ERROR(targets::check_settings(mpich::target(), settings));
  return settings;
}

Result<targets::Version> version_here() {
  STRIPLINE_ASSIGN_OR_RETURN(const std::string said, output_of({"mpichversion"}));
  const auto version = targets::find_version(said, mpich::target().version_marker);
  if (version) return *version;
  return Error(ErrorCode::data_loss, "'mpichversion' has printed no version of MPICH");
}

Result<mpich::Grammar> grammar_here() {
  STRIPLINE_ASSIGN_OR_RETURN(const targets::Version version, version_here());
  return mpich::grammar_of(version);
}

// The selection that settings name; nullopt: none.
Result<std::optional<mpich::Selection>> selection_of(const std::vector<Setting>& settings) {
  const auto named = std::ranges::find(settings, mpich::kSelectionVariable, &Setting::name);
  if (named == settings.end()) return std::optional<mpich::Selection>();
  STRIPLINE_ASSIGN_OR_RETURN(const std::string text, read_whole_file(named->value));
  STRIPLINE_ASSIGN_OR_RETURN(const mpich::Grammar grammar, grammar_here());
  STRIPLINE_ASSIGN_OR_RETURN(auto selection,
                             mpich::read_selection(text, "'" + named->value + "'", grammar));
  return std::optional(std::move(selection));
}

bool has_suffix() { return has_suffixed("mpichversion", "mpiexec.mpich"); }
std::string compiler_here() { return has_suffix() ? "mpicc.mpich" : "mpicc"; }

// The library of the installation, in the folders that its compiler links from.
Result<mpich::Selection> installed_selection() {
  STRIPLINE_ASSIGN_OR_RETURN(const mpich::Grammar grammar, grammar_here());
  const std::string compiler = compiler_here();
  STRIPLINE_ASSIGN_OR_RETURN(const std::string line, output_of({compiler, "-link_info"}));
  STRIPLINE_ASSIGN_OR_RETURN(const auto words, split_words(line));
  for (const std::string& word : words) {
    if (!word.starts_with("-L")) continue;
    const auto library = std::filesystem::path(word.substr(2)) / "libmpich.so";
    const auto bytes = read_whole_file(library, kMostLibraryBytes);
    if (!bytes.ok()) continue;
    STRIPLINE_ASSIGN_OR_RETURN(const std::string text, mpich::own_selection(*bytes, grammar));
    return mpich::read_selection(text, "the selection of '" + library.string() + "'", grammar);
  }
  return Error(ErrorCode::not_found,
               "there is no libmpich.so where '" + compiler + " -link_info' says");
}

class Mpich : public Adapter {
 public:
  const targets::Target& target() const override { return mpich::target(); }

  std::string compiler() const override { return compiler_here(); }

  std::vector<std::string> launch(uint32_t ranks, const std::string& program,
                                  const std::vector<std::string>& arguments) const override {
    std::vector<std::string> argv = {has_suffix() ? "mpiexec.mpich" : "mpiexec.hydra", "-n",
                                     std::to_string(ranks), program};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    return argv;
  }

  Result<Environment> environment(Path path, const std::filesystem::path& folder) const override {
    // What this environment sets cannot be kept from a child, and would be part of the default.
    for (const targets::Knob& knob : target().knobs) {
      const std::string name(knob.name);
      if (std::getenv(name.c_str()) == nullptr) continue;  // NOLINT(concurrency-mt-unsafe)
      return Error(ErrorCode::failed_precondition,
                   name +
                       " is set in this environment, so that the default cannot be measured; start "
                       "from a shell that has not read " +
                       kFileName);
    }
    Environment variables = {{"TMPDIR", folder.string()}};
    switch (path) {
      case Path::any:
        break;
      case Path::shared_memory:
        variables["UCX_TLS"] = "posix,sysv,cma,self";
        break;
      case Path::tcp:
        // Otherwise ranks of a node share memory, whatever UCX is given.
        variables["MPIR_CVAR_NOLOCAL"] = "1";
        variables["UCX_TLS"] = "tcp,self";
        variables["UCX_NET_DEVICES"] = "lo";
        break;
    }
    return variables;
  }

  // MPIR_CVAR_NOLOCAL.
  bool is_one_node(Path path) const override { return path != Path::tcp; }

  Environment selecting() const override { return {}; }

  // The table is of the versions that were tried.
  Result<targets::Renumbering> renumbering() const override {
    STRIPLINE_ASSIGN_OR_RETURN(const targets::Version version, version_here());
    if (targets::check_version(target().title, version, target().tried, false).ok()) {
      return targets::Renumbering();
    }
    STRIPLINE_ASSIGN_OR_RETURN(const std::string variables, output_of({"mpivars"}));
    return mpich::renumbering(variables);
  }

  Environment knobs(const std::vector<Setting>& settings) const override {
    Environment variables;
    for (const auto& [name, value] : settings) variables[name] = value;
    return variables;
  }

  std::vector<std::string_view> shared_memory_prefixes() const override {
    return {"mpich_shar_tmp", "ucx_shm_posix_"};
  }

  std::vector<std::string> file_names() const override { return {kFileName, kSelectionName}; }

  Result<std::string> referring(const std::string& text, const std::filesystem::path& folder,
                                const std::vector<std::string>& others) const override {
    STRIPLINE_ASSIGN_OR_RETURN(auto settings, targets::read_environment(text, "the exported file"));
    STRIPLINE_RETURN_IF_ERROR(
        set_path(settings, mpich::kSelectionVariable, folder, kSelectionName, others));
    STRIPLINE_RETURN_IF_ERROR(targets::check_settings(target(), settings));
    return targets::write_environment(settings, targets::leading_comments(text));
  }

  // An MPICH on UCX is set by its file, too.
  Result<std::string> configuration() const override {
    STRIPLINE_ASSIGN_OR_RETURN(std::string text, output_of({"mpichversion"}));
    const auto below = read_whole_file(ucx_file_of_user());
    if (text.find(":ucx") != std::string::npos && below.ok()) text += *below;
    return text;
  }

  Result<std::vector<ExportFile>> files(const Decisions& decisions,
                                        const targets::Safety& /*safety*/,
                                        const std::filesystem::path& folder,
                                        const std::vector<std::string>& comments) const override {
    if (!decisions.has_rules()) {
      return environment_and_selection(decisions.settings, {}, folder, comments);
    }
    STRIPLINE_ASSIGN_OR_RETURN(const auto own, installed_selection());
    STRIPLINE_ASSIGN_OR_RETURN(const mpich::Grammar grammar, grammar_here());
    STRIPLINE_ASSIGN_OR_RETURN(auto selection,
                               mpich::selection_with(own, decisions.rules, grammar));
    return environment_and_selection(decisions.settings, std::move(selection), folder, comments);
  }

  Result<Environment> loading(const std::filesystem::path& file) const override {
    STRIPLINE_ASSIGN_OR_RETURN(const auto settings, read_export(file));
    STRIPLINE_RETURN_IF_ERROR(selection_of(settings));
    return knobs(settings);
  }

  Result<std::vector<ExportFile>> with_probe(const std::filesystem::path& file, const Probe& probe,
                                             const std::filesystem::path& folder) const override {
    STRIPLINE_ASSIGN_OR_RETURN(auto settings, read_export(file));
    STRIPLINE_ASSIGN_OR_RETURN(auto selection, selection_of(settings));
    std::erase_if(settings,
                  [](const Setting& one) { return one.name == mpich::kSelectionVariable; });
    if (probe.setting) {
      targets::put_setting(settings, *probe.setting);
      return environment_and_selection(std::move(settings), std::move(selection), folder, {});
    }
    if (!selection) {
      STRIPLINE_ASSIGN_OR_RETURN(selection, installed_selection());
    }
    const targets::SizeRange all{0, std::numeric_limits<uint64_t>::max(), probe.candidate};
    const targets::CollectiveRules rules{
        probe.cell.collective, {{probe.cell.ranks, {all}}}, targets::is_one_node(probe.cell)};
    STRIPLINE_ASSIGN_OR_RETURN(const mpich::Grammar grammar, grammar_here());
    STRIPLINE_ASSIGN_OR_RETURN(auto probed, mpich::selection_with(*selection, {rules}, grammar));
    return environment_and_selection(settings, std::move(probed), folder, {});
  }

  Result<OtherVersion> for_version(const std::filesystem::path& file,
                                   const targets::Version& version,
                                   const std::filesystem::path& folder,
                                   std::vector<std::string> comments) const override {
    STRIPLINE_ASSIGN_OR_RETURN(const auto settings, read_export(file));
    const bool known = version.numbers[0] == 4 && version.numbers[1] <= 3;
    const auto selection = std::ranges::find(settings, mpich::kSelectionVariable, &Setting::name);
    if (!known || selection != settings.end()) {
      return Error(ErrorCode::unimplemented,
                   known ? "a selection of algorithms is made of that of the installed library: "
                           "tune where MPICH " +
                               to_string(version) + " is"
                         : "the variables of MPICH " + to_string(version) +
                               " are not known here; there are 4.0 to 4.3");
    }
    OtherVersion other;
    STRIPLINE_ASSIGN_OR_RETURN(other.files,
                               environment_and_selection(settings, {}, folder, comments));
    return other;
  }

  Result<std::vector<std::string>> complaints(
      const std::filesystem::path& file, const targets::Safety& /*safety*/,
      const std::filesystem::path& /*place*/) const override {
    STRIPLINE_ASSIGN_OR_RETURN(const auto settings, read_export(file));
    // MPICH aborts on one that it cannot read, or that lacks a collective.
    STRIPLINE_RETURN_IF_ERROR(selection_of(settings));
    std::vector<std::string> found;
    for (const auto& [name, value] : settings) {
      const char* const here = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe)
      if (here != nullptr && value != here) {
        found.push_back(name + " is set to '" + here + "' in this environment, not to '" + value +
                        "' as in the exported file");
      }
    }
    // Variables of single algorithms beat the file.
    for (const targets::Knob& knob : target().knobs) {
      if (knob.name.find("_INTRA_ALGORITHM") == std::string_view::npos) continue;
      const std::string name(knob.name);
      const char* const here = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe)
      if (here != nullptr && std::string_view(here) != knob.default_value) {
        found.push_back(name + " is set to '" + here +
                        "' in this environment, which beats the selection of the exported file");
      }
    }
    return found;
  }

 private:
  static Result<std::vector<ExportFile>> environment_and_selection(
      std::vector<Setting> settings, std::optional<mpich::Selection> selection,
      const std::filesystem::path& folder, const std::vector<std::string>& comments) {
    std::vector<ExportFile> files;
    if (selection) {
      settings.push_back({mpich::kSelectionVariable, (folder / kSelectionName).string()});
      files.push_back({kSelectionName, mpich::write_selection(*selection)});
    }
    STRIPLINE_RETURN_IF_ERROR(targets::check_settings(mpich::target(), settings));
    STRIPLINE_ASSIGN_OR_RETURN(std::string text, targets::write_environment(settings, comments));
    files.insert(files.begin(), {kFileName, std::move(text)});
    return files;
  }
};

}  // namespace

const Adapter& mpich_adapter() {
  static const Mpich kAdapter;
  return kAdapter;
}

}  // namespace stripline::suites::tune
