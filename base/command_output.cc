#include "base/command_output.h"

#include <sys/mman.h>

#include "base/cut_text.h"
#include "base/subprocess.h"
#include "base/whole_file.h"

namespace stripline {
namespace {

Result<std::string> printed_to(const UniqueFd& file) {
  return read_whole_file("/proc/self/fd/" + std::to_string(file.get()));
}

}  // namespace

Result<std::string> output_of(const std::vector<std::string>& argv, double limit_s,
                              const std::map<std::string, std::string>& environment) {
  const UniqueFd out(::memfd_create("stripline-stdout", MFD_CLOEXEC));
  const UniqueFd err(::memfd_create("stripline-stderr", MFD_CLOEXEC));
  if (!out || !err) {
    return Error(ErrorCode::resource_exhausted,
                 "there is no memory or descriptor for what '" + argv.front() + "' prints");
  }
  SubprocessOptions options{
      .argv = argv, .environment = environment, .stdout_fd = out.get(), .stderr_fd = err.get()};
  STRIPLINE_ASSIGN_OR_RETURN(Subprocess process, Subprocess::spawn(options));
  const Result<ExitStatus> status = process.wait(limit_s);
  if (!status.ok()) return status.error().with_context("'" + argv.front() + "'");
  if (!status->ok()) {
    const auto said = printed_to(err);
    return Error(ErrorCode::failed_precondition,
                 "'" + argv.front() + "' " + status->describe() + ": " +
                     cut_text(said.ok() ? *said : "", kLongestQuoteBytes));
  }
  return printed_to(out);
}

}  // namespace stripline
