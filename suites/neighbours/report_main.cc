// Tables of what launches of stripline-neighbours measured:
//
//   stripline-neighbours-report [--markdown] FILE
#include <fstream>
#include <iostream>
#include <string>

#include <CLI/CLI.hpp>

#include "base/command_line.h"
#include "base/descriptors.h"
#include "base/exit_codes.h"
#include "suites/neighbours/report.h"

namespace {

using namespace stripline;
using namespace stripline::suites::neighbours;

Result<std::vector<Comparison>> read_comparisons(const std::string& file) {
  std::ifstream lines(file);
  if (!lines) return Error(ErrorCode::not_found, "cannot read '" + file + "'");
  STRIPLINE_ASSIGN_OR_RETURN(const std::vector<Sample> samples, read_samples(lines));
  return compare_samples(samples);
}

}  // namespace

int main(int argc, char** argv) {
  prepare_descriptors();
  CLI::App app("Shows what launches of stripline-neighbours measured, with verdicts.",
               "stripline-neighbours-report");
  std::string file;
  bool markdown = false;
  app.add_option("FILE", file, "lines of all launches")->required();
  app.add_flag("--markdown", markdown, "print the tables as Markdown");
  if (const auto end = read_command_line(app, argc, argv)) return *end;
  const auto comparisons = read_comparisons(file);
  if (!comparisons.ok()) {
    std::cerr << "stripline-neighbours-report: " << comparisons.error().message() << "\n";
    return exit_code_for(comparisons.error().code());
  }
  bool verified = true;
  for (const auto& [path, title] : {std::pair{"network", "TCP over loopback"},
                                    std::pair{"node", "Shared memory of one node"}}) {
    bool any = false;
    for (const Comparison& row : *comparisons) {
      any = any || row.path == path;
      verified = verified && row.verified;
    }
    if (!any) continue;
    std::cout << "\n" << title << "\n\n" << comparison_table(*comparisons, path, markdown);
  }
  return verified ? kExitOk : kExitVerification;
}
