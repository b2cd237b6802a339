#include "suites/targets/installation.h"

#include <algorithm>
#include <string_view>

#include "base/command_output.h"
#include "base/shell_words.h"
#include "base/subprocess.h"

namespace stripline::suites::tune {
namespace {

constexpr double kCompileLimitS = 120;
// It fails where it does not know a library, and is there for others.
constexpr std::string_view kPackages = "pkg-config";

}  // namespace

Result<Installation> detect(const targets::Target& target) {
  const std::string title(target.title);
  if (target.version_command.empty()) {
    return Error(ErrorCode::unimplemented,
                 title + " has no command that prints its version; its files can be exported");
  }
  STRIPLINE_ASSIGN_OR_RETURN(const auto argv, split_words(target.version_command));
  if (find_in_path(argv.front()).empty()) {
    return Error(ErrorCode::not_found,
                 title + " is not installed here: there is no '" + argv.front() + "' in PATH");
  }
  const auto output = output_of(argv);
  if (!output.ok() && argv.front() == kPackages) {
    return Error(ErrorCode::not_found, title + " is not installed here: '" + argv.front() +
                                           "' knows no " + argv.back() +
                                           "; PKG_CONFIG_PATH names its folder");
  }
  if (!output.ok()) return output.error();
  const auto version = targets::find_version(*output, target.version_marker);
  if (!version) {
    return Error(ErrorCode::data_loss, "'" + std::string(target.version_command) +
                                           "' has printed no version of " + title);
  }
  return Installation{&target, *version};
}

Result<std::filesystem::path> driver_sources() {
  const auto folder =
      std::filesystem::path(executable_folder()).parent_path() / "share/stripline/targets";
  std::error_code error;
  if (std::filesystem::exists(folder / "main.c", error)) return folder;
  return Error(ErrorCode::not_found, "there are no sources of the driver in '" + folder.string() +
                                         "'; install Stripline again");
}

Result<std::filesystem::path> compile_driver(const Adapter& adapter, const WorkFolder& folder) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto all_sources, driver_sources());
  const auto sources = all_sources / adapter.driver_folder();
  const std::string compiler = adapter.compiler();
  if (find_in_path(compiler).empty()) {
    return Error(ErrorCode::not_found, std::string(adapter.target().title) +
                                           " has no compiler here ('" + compiler +
                                           "'); install its development package");
  }
  const auto program = folder / "driver";
  std::vector<std::string> argv = {compiler, "-std=c99", "-O2", "-w", "-o", program.string()};
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(sources, error)) {
    if (entry.path().extension() == ".c") files.push_back(entry.path().string());
  }
  std::ranges::sort(files);
  argv.insert(argv.end(), files.begin(), files.end());
  STRIPLINE_ASSIGN_OR_RETURN(const auto libraries, adapter.libraries());
  argv.insert(argv.end(), libraries.begin(), libraries.end());
  const auto compiled = output_of(argv, kCompileLimitS);
  if (!compiled.ok()) return compiled.error().with_context("cannot compile the driver");
  return program;
}

}  // namespace stripline::suites::tune
