#include "suites/targets/command_output.h"

#include "base/cut_text.h"
#include "base/whole_file.h"
#include "suites/targets/work_folder.h"

namespace stripline::suites::tune {

Result<std::string> output_of(const std::vector<std::string>& argv, double limit_s,
                              const std::map<std::string, std::string>& environment) {
  STRIPLINE_ASSIGN_OR_RETURN(const WorkFolder folder, WorkFolder::create());
  STRIPLINE_ASSIGN_OR_RETURN(const UniqueFd out, folder.open_for_writing("out"));
  STRIPLINE_ASSIGN_OR_RETURN(const UniqueFd err, folder.open_for_writing("err"));
  SubprocessOptions options{
      .argv = argv, .environment = environment, .stdout_fd = out.get(), .stderr_fd = err.get()};
  STRIPLINE_ASSIGN_OR_RETURN(Subprocess process, Subprocess::spawn(options));
  STRIPLINE_ASSIGN_OR_RETURN(const ExitStatus status, process.wait(limit_s));
  if (!status.ok()) {
    const auto said = read_whole_file(folder / "err");
    return Error(ErrorCode::failed_precondition,
                 "'" + argv.front() + "' " + status.describe() + ": " +
                     cut_text(said.ok() ? *said : "", kLongestQuoteBytes));
  }
  return read_whole_file(folder / "out");
}

}  // namespace stripline::suites::tune
