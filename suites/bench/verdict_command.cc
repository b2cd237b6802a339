#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "base/exit_codes.h"
#include "base/json.h"
#include "suites/bench/commands.h"
#include "suites/bench/failure.h"
#include "suites/bench/verdict.h"

namespace stripline::suites::bench {

int verdict_command(const VerdictOptions& options) {
  std::vector<Verdict> verdicts;
  for (const std::string& name : options.files) {
    std::ifstream file(name);
    if (!file) {
      return report(Error(ErrorCode::not_found,
                          "cannot read '" + name + "'; 'table --json FILE' writes such files"));
    }
    for (std::string line; std::getline(file, line);) {
      if (line.empty()) continue;
      const auto row = parse_json(line, "'" + name + "'");
      if (!row.ok()) return report(row.error());
      if (!row->is_object() || !row->contains("without_model")) continue;
      auto verdict = verdict_from_json(*row);
      if (!verdict.ok()) return report(verdict.error().with_context("'" + name + "'"));
      verdicts.push_back(*std::move(verdict));
    }
  }
  if (verdicts.empty()) {
    return report(Error(ErrorCode::invalid_argument,
                        "these rows compare nothing with and without a model; 'table --model FILE "
                        "--json FILE' writes rows that do"));
  }
  const auto closing = close(verdicts);
  if (!closing.ok()) return report(closing.error());
  std::fputs(closing->text.c_str(), stdout);
  return closing->lost ? kExitFailure : kExitOk;
}

}  // namespace stripline::suites::bench
