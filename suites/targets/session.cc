#include "suites/targets/session.h"

#include <algorithm>
#include <iostream>
#include <sched.h>
#include <sys/utsname.h>

#include "base/exit_codes.h"
#include "base/printable.h"
#include "base/sha256.h"

namespace stripline::suites::tune {

Result<Session> open_session(const targets::Target& target, bool accept_untried) {
  STRIPLINE_ASSIGN_OR_RETURN(const Adapter* adapter, find_adapter(target));
  STRIPLINE_ASSIGN_OR_RETURN(Installation installed, detect(target));
  STRIPLINE_RETURN_IF_ERROR(
      targets::check_version(target.title, installed.version, target.tried, accept_untried));
  STRIPLINE_ASSIGN_OR_RETURN(WorkFolder folder, WorkFolder::create());
  STRIPLINE_ASSIGN_OR_RETURN(auto driver, compile_driver(*adapter, folder));
  return Session{std::move(installed), adapter, std::move(folder), std::move(driver)};
}

Status check_has_alternatives(const targets::Target& target) {
  if (target.candidates != nullptr) return {};
  return Error(
      ErrorCode::unimplemented,
      std::string(target.title) + " has no alternatives by operation, only knobs: tune it");
}

uint32_t processors_here() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return static_cast<uint32_t>(std::max(CPU_COUNT(&set), 1));
}

Result<Basis> basis_here(const Adapter& adapter) {
  STRIPLINE_ASSIGN_OR_RETURN(const Installation installed, detect(adapter.target()));
  STRIPLINE_ASSIGN_OR_RETURN(const std::string configuration, adapter.configuration());
  utsname names{};
  return Basis{.version = to_string(installed.version),
               .kernel = ::uname(&names) == 0 ? names.release : "unknown",
               .configuration = sha256_hex(configuration)};
}

Result<targets::Path> path_from_string(const std::string& name) {
  for (const auto path : {targets::Path::any, targets::Path::shared_memory, targets::Path::tcp}) {
    if (to_string(path) == name) return path;
  }
  return Error(ErrorCode::invalid_argument,
               "'" + name + "' is not a path between ranks; there are shm, tcp and any");
}

void print_progress(const std::string& line) {
  std::cerr << "stripline-tune: " << printable_line(line) << '\n' << std::flush;
}

int report_error(const Error& error) {
  std::cerr << "stripline-tune: error: " << printable(error.message()) << '\n';
  return exit_code_for(error.code());
}

int exit_code_of(const Result<int>& code) { return code.ok() ? *code : report_error(code.error()); }

}  // namespace stripline::suites::tune
