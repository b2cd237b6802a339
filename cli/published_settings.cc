#include "cli/published_settings.h"

#include <cerrno>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

#include "base/packed_export.h"
#include "base/settings.h"
#include "base/subprocess.h"
#include "cli/find_model.h"

namespace stripline::cli {
namespace {

constexpr std::string_view kProgram = "stripline-tune";
// Where a name is in these commands.
constexpr size_t kNamed = 2;

bool names_version(const std::vector<std::string>& arguments) {
  if (arguments.size() <= kNamed || arguments[0] != "export") return false;
  if (arguments[1] != "install" && arguments[1] != "convert") return false;
  const std::string& name = arguments[kNamed];
  return !name.starts_with('-') && name.find('@') != std::string::npos && !names_file(name);
}

// The path of a file in memory that other programs can be given.
Result<std::string> in_memory(const std::string& text) {
  UniqueFd file(::memfd_create("stripline-settings", 0));
  size_t done = 0;
  while (file && done < text.size()) {
    const ssize_t written = ::write(file.get(), text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) break;
    done += static_cast<size_t>(written);
  }
  if (!file || done < text.size()) {
    return Error(ErrorCode::resource_exhausted,
                 "there is no memory or descriptor for settings of " + std::to_string(text.size()) +
                     " bytes");
  }
  return "/proc/self/fd/" + std::to_string(file.release());
}

}  // namespace

Result<std::vector<std::string>> with_published_settings(const Global& global,
                                                         const ExecHelper& command) {
  std::vector<std::string> arguments = command.arguments;
  if (command.program != kProgram || !names_version(arguments)) return arguments;
  Global asked = global;
  // Commands of other programs are not parsed here.
  if (std::string server = environment_value("STRIPLINE_SERVER"); !server.empty()) {
    asked.server = std::move(server);
  }
  const std::string name = arguments[kNamed];
  STRIPLINE_ASSIGN_OR_RETURN(const std::string text, find_file(asked, name));
  if (!is_packed_export(text)) {
    return Error(ErrorCode::failed_precondition,
                 "'" + name +
                     "' holds a model, not settings of another runtime: programs take it by "
                     "'stripline run --model'");
  }
  STRIPLINE_ASSIGN_OR_RETURN(arguments[kNamed], in_memory(text));
  arguments.emplace_back("--packed");
  return arguments;
}

}  // namespace stripline::cli
