#include "suites/targets/adapters/ucx_files.h"

#include <cstdlib>
#include <optional>
#include <string_view>
#include <unistd.h>

#include "base/whole_file.h"
#include "optimizer/targets/ucx/ucx.h"
#include "suites/targets/adapters/adapter.h"

namespace stripline::suites::tune {
namespace {

namespace fs = std::filesystem;

// Says where UCX looks for files, and is no setting.
constexpr std::string_view kFolderVariable = "UCX_CONFIG_DIR";

fs::path file_in(const char* variable) {
  const char* const folder = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe)
  return folder == nullptr || *folder == '\0' ? fs::path() : fs::path(folder) / kUcxFileName;
}

targets::Source environment_here() {
  targets::Source source{"the environment", {}};
  for (char** one = environ; *one != nullptr; ++one) {
    const std::string_view entry = *one;
    const size_t equals = entry.find('=');
    if (!entry.starts_with("UCX_") || equals == std::string_view::npos) continue;
    const std::string_view name = entry.substr(0, equals);
    if (name == kFolderVariable) continue;
    source.settings.push_back({std::string(name), std::string(entry.substr(equals + 1))});
  }
  return source;
}

std::optional<targets::Source> source_of(const fs::path& file, std::vector<std::string>& unread) {
  const auto text = read_whole_file(file);
  if (!text.ok()) return std::nullopt;
  auto settings = targets::ucx::read_conf(*text, "'" + file.string() + "'");
  if (!settings.ok()) {
    unread.push_back(settings.error().message());
    return std::nullopt;
  }
  return targets::Source{file.string(), std::move(*settings)};
}

}  // namespace

fs::path ucx_file_of_user() { return file_in("HOME"); }

fs::path ucx_file_of_variable() {
  const fs::path file = file_in("UCX_CONFIG_DIR");
  std::error_code error;
  return !file.empty() && fs::exists(file, error) ? file : fs::path();
}

fs::path ucx_file_of_working_folder() {
  std::error_code error;
  const fs::path file = fs::current_path(error) / kUcxFileName;
  return fs::exists(file, error) ? file : fs::path();
}

std::vector<targets::Source> ucx_sources_above(const fs::path& file,
                                               std::vector<std::string>& unread) {
  std::vector<targets::Source> sources = {environment_here()};
  std::vector<fs::path> above;
  if (const fs::path here = ucx_file_of_working_folder(); !here.empty()) {
    if (is_same_file(file, here)) return sources;
    above.push_back(here);
  }
  const fs::path of_variable = ucx_file_of_variable();
  if (!of_variable.empty() && is_same_file(file, ucx_file_of_user())) above.push_back(of_variable);
  for (const fs::path& one : above) {
    if (auto source = source_of(one, unread)) sources.push_back(std::move(*source));
  }
  return sources;
}

}  // namespace stripline::suites::tune
