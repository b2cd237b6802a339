// stripline-doctor: what this host can do, what limits it, and what to fix.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/command_line.h"
#include "base/command_output.h"
#include "base/descriptors.h"
#include "base/exit_codes.h"
#include "base/json.h"
#include "base/quantity.h"
#include "base/standard_output.h"
#include "base/subprocess.h"
#include "runtime/fabric/ofi/ofi_fabric.h"
#include "runtime/machine/exchange.h"
#include "runtime/machine/findings.h"

namespace stripline::machine {
namespace {

constexpr double kExchangeSeconds = 15;
constexpr double kListSeconds = 60;

Finding check_exchange(const std::string& fabric) {
  Finding finding{.check = "exchange." + fabric};
  const Result<Trial> trial = exchange_between_processes(fabric, kExchangeSeconds);
  if (trial.ok()) {
    finding.detail =
        "two processes verified " + trial->operations + " in " + seconds_text(trial->seconds);
    return finding;
  }
  finding.severity = Severity::error;
  finding.detail =
      "two processes could not do all that the runtime needs: " + trial.error().message();
  finding.fix = "do not use --fabric " + fabric +
                " on this host until this passes; docs/fabrics.md lists causes";
  return finding;
}

void print_table(const std::vector<Finding>& findings) {
  size_t width = 0;
  for (const Finding& finding : findings) width = std::max(width, finding.check.size());
  for (const Finding& finding : findings) {
    std::printf("%-8s %-*s  %s\n", std::string(to_string(finding.severity)).c_str(),
                static_cast<int>(width), finding.check.c_str(), finding.detail.c_str());
    if (!finding.fix.empty()) {
      std::printf("%-8s %-*s  fix: %s\n", "", static_cast<int>(width), "", finding.fix.c_str());
    }
  }
}

void print_json(const std::vector<Finding>& findings, bool usable) {
  for (const Finding& finding : findings) {
    const Json line = {{"check", finding.check},
                       {"severity", std::string(to_string(finding.severity))},
                       {"detail", finding.detail},
                       {"fix", finding.fix}};
    std::printf("%s\n", line.dump().c_str());
  }
  std::printf("%s\n", Json{{"usable", usable}}.dump().c_str());
}

/// Fabrics that nearly every host has, and what else this one offers.
std::vector<std::string> all_fabrics() {
  std::vector<std::string> fabrics = {"tcp", "shm"};
  // Without libfabric, the exchanges say so.
  const auto usable = usable_fabrics(kExchangeSeconds);
  if (!usable.ok()) return fabrics;
  for (const std::string& fabric : *usable) {
    if (std::ranges::find(fabrics, fabric) == fabrics.end()) fabrics.push_back(fabric);
  }
  return fabrics;
}

// Other runtimes that are installed here, and settings of theirs that Stripline has written.
std::vector<Finding> other_runtimes() {
  std::vector<Finding> findings;
  // Without that program nothing is known of them.
  const auto program = std::filesystem::path(executable_folder()) / "stripline-tune";
  const auto listed = output_of({program.string(), "list", "--json"}, kListSeconds);
  if (!listed.ok() && listed.error().code() != ErrorCode::not_found) {
    findings.push_back(
        {.check = "targets",
         .severity = Severity::info,
         .detail = "which other runtimes are here is not known: " + listed.error().message()});
  }
  std::istringstream lines(listed.ok() ? *listed : "");
  for (std::string line; std::getline(lines, line);) {
    const auto parsed = parse_json(line, "the list of runtimes");
    if (!parsed.ok()) continue;
    const std::string target = parsed->value("target", "");
    if (const auto file = parsed->find("export"); file != parsed->end() && file->is_string()) {
      Finding finding{.check = "export." + target, .detail = file->get<std::string>()};
      for (const Json& reason : parsed->value("stale", Json::array())) {
        finding.severity = Severity::warning;
        finding.detail += (finding.fix.empty() ? " is stale: " : "; ") + reason.get<std::string>();
        finding.fix = "stripline export verify " + file->get<std::string>();
      }
      if (finding.fix.empty()) finding.detail += " is as it was validated";
      findings.push_back(std::move(finding));
      continue;
    }
    const auto version = parsed->find("installed");
    if (version == parsed->end() || !version->is_string()) continue;
    const std::string number = version->get<std::string>();
    const Json tried = parsed->value("tried", Json::array());
    const bool known = std::find(tried.begin(), tried.end(), Json(number)) != tried.end();
    findings.push_back({.check = "target." + target,
                        .severity = known ? Severity::ok : Severity::info,
                        .detail = parsed->value("title", target) + " " + number +
                                  (known ? "" : ", a version that was not tried") +
                                  (parsed->value("tuned", false)
                                       ? ": 'stripline tune " + target +
                                             (known ? "" : " --accept-untried") + "' measures it"
                                       : ": its settings can be written")});
  }
  return findings;
}

int run(std::vector<std::string> fabrics, bool json) {
  // First, while this process is a single thread without libfabric: the ranks are forked from it.
  if (fabrics.empty()) fabrics = all_fabrics();
  std::vector<Finding> exchanges;
  exchanges.reserve(fabrics.size());
  for (const std::string& fabric : fabrics) exchanges.push_back(check_exchange(fabric));

  const auto providers = fabric::list_ofi_providers();
  std::vector<Finding> findings =
      judge_host(HostFacts::read(), providers.ok() && any_registering(*providers));
  if (const auto version = fabric::ofi_version(); version.ok()) {
    findings.push_back({.check = "libfabric", .detail = "version " + *version});
  }
  for (Finding& finding : judge_variables(fabric::libfabric_variables())) {
    findings.push_back(std::move(finding));
  }
  for (Finding& finding : judge_providers(providers)) findings.push_back(std::move(finding));
  for (Finding& finding : exchanges) findings.push_back(std::move(finding));
  for (Finding& finding : other_runtimes()) findings.push_back(std::move(finding));

  const Verdict verdict = conclude(findings);
  if (json) {
    print_json(findings, verdict.usable);
  } else {
    print_table(findings);
    std::printf("\n%s\n", verdict.text.c_str());
  }
  if (const Status written = flush_standard_output(); !written.ok()) {
    std::fprintf(stderr, "stripline-doctor: error: %s\n", written.error().message().c_str());
    return exit_code_for(written.error().code());
  }
  return verdict.usable ? kExitOk : kExitUnavailable;
}

}  // namespace
}  // namespace stripline::machine

int main(int argc, char** argv) {
  stripline::prepare_descriptors();
  CLI::App app{
      "Says what this host can do, what limits it, and what to fix: processors, memory and its\n"
      "limits, libfabric's providers, whether two processes can really communicate, which other\n"
      "runtimes are installed, and which settings of theirs are no longer what was validated."};
  app.name("stripline-doctor");
  bool json = false;
  std::vector<std::string> fabrics;
  app.add_flag("--json", json, "One JSON object per line: the findings, then {\"usable\": ...}");
  app.add_option("--fabric", fabrics,
                 "Fabrics to try an exchange on; may be repeated. Default: tcp, shm, and\nall "
                 "others that libfabric offers here")
      ->allow_extra_args(false);
  app.footer(
      "Exit status: 0 if at least one of the fabrics works and nothing else is an error, 4 "
      "otherwise, 2 for\nwrong usage.");
  if (const auto end = stripline::read_command_line(app, argc, argv)) return *end;
  return stripline::machine::run(fabrics, json);
}
