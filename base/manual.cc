#include "base/manual.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "base/bash_completion.h"
#include "base/command_line.h"
#include "base/exit_codes.h"

namespace stripline {
namespace {

bool write(const std::filesystem::path& file, const std::string& text) {
  std::error_code ignored;  // to open the file fails then, too
  std::filesystem::create_directories(file.parent_path(), ignored);
  errno = 0;
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  if (out) return true;
  std::fprintf(stderr, "error: cannot write '%s': %s\n", file.c_str(), std::strerror(errno));
  return false;
}

}  // namespace

std::optional<int> write_manual_if_asked(const CLI::App& program,
                                         const std::vector<std::string>& arguments,
                                         const Delegates& delegates) {
  if (arguments.size() != 3 || arguments[0] != kWriteManual) return std::nullopt;
  const std::filesystem::path folder = arguments[1];
  const bool daemon = arguments[2] == "8";
  if (!daemon && arguments[2] != "1") {
    std::fprintf(stderr, "error: the section of a manual is 1 or 8, not '%s'\n",
                 arguments[2].c_str());
    return kExitUsage;
  }
  for (const ManPage& page : man_pages(program, daemon ? 8 : 1, delegates)) {
    const std::string& section = arguments[2];
    if (!write(folder / "man" / ("man" + section) / (page.name + "." + section), page.text)) {
      return kExitUnavailable;
    }
  }
  const std::string& name = program.get_name();
  return write(folder / "bash-completion" / "completions" / name,
               bash_completion(program, delegates))
             ? kExitOk
             : kExitUnavailable;
}

}  // namespace stripline
