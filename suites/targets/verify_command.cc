#include <array>
#include <filesystem>
#include <iostream>

#include "base/exit_codes.h"
#include "base/json.h"
#include "optimizer/targets/registry.h"
#include "suites/targets/session.h"
#include "suites/targets/verifying.h"

namespace stripline::suites::tune {
namespace {

namespace fs = std::filesystem;

// Shares of the time by the end of which each stage has ended; the rest is for the proofs.
constexpr std::array kStageEnds = {0.48, 0.66, 0.8};

// What was validated with these is not stale with them. Other things of the record stay.
Status renew(const fs::path& record_file, const Basis& here, const std::vector<Proof>& proofs) {
  STRIPLINE_ASSIGN_OR_RETURN(Json record, read_json_file(record_file));
  record["validated"] = true;
  record["version"] = here.version;
  record["kernel"] = here.kernel;
  record["configuration"] = here.configuration;
  for (size_t i = 0; i < proofs.size(); ++i) record["proofs"][i]["factor"] = proofs[i].factor;
  return write_json_file(record_file, record);
}

}  // namespace

Result<ExportRecord> verify_export(const VerifyOptions& options, const Tell& tell) {
  const TimeBudget budget(options.minutes * 60);
  std::error_code error;
  const fs::path file = fs::absolute(options.file, error);
  STRIPLINE_ASSIGN_OR_RETURN(ExportRecord record, read_record_of(file));
  STRIPLINE_ASSIGN_OR_RETURN(const targets::Target* target, targets::find_target(record.target));
  STRIPLINE_ASSIGN_OR_RETURN(const Session session, open_session(*target, options.accept_untried));
  STRIPLINE_ASSIGN_OR_RETURN(const Basis here, basis_here(*session.adapter));
  const auto stale = stale_reasons(record, here);
  for (const std::string& one : stale) tell(one);
  const bool has_news = !stale.empty() || !record.validated;
  const targets::Safety safety{.commutative_only = record.commutative_only};
  STRIPLINE_ASSIGN_OR_RETURN(const auto complaints,
                             session.adapter->complaints(file, safety, file));
  for (const std::string& one : complaints) tell(one);
  if (!complaints.empty()) {
    return Error(ErrorCode::failed_precondition,
                 "'" + file.string() + "' is unsafe, or overridden: " + complaints.front());
  }
  Launcher launcher(*session.adapter, session.driver.string(), session.folder, record.path,
                    options.cancel_fd);
  ValidationOptions validation{
      .rule = {.margin = record.margin}, .processors = processors_here(), .seed = record.seed + 2};
  const auto checks = checks_of(*target, record.search.result.by_cell, record.search.settings,
                                record.ranks, record.processors, safety);
  for (size_t i = 0; i < kStages.size() && (i == 0 || record.stages.back().passed); ++i) {
    validation.budget_s = budget.left_s(kStageEnds[i]);
    STRIPLINE_ASSIGN_OR_RETURN(const auto checked,
                               validate(launcher, file, checks, kStages[i], validation, tell));
    record.stages.push_back(judge_stage(kStages[i], checked, validation));
    record.checked.insert(record.checked.end(), checked.begin(), checked.end());
  }
  record.validated = record.stages.back().passed;
  if (!record.validated) record.proofs.clear();
  for (Proof& proof : record.proofs) {
    validation.budget_s = budget.left_s();
    STRIPLINE_ASSIGN_OR_RETURN(proof.factor,
                               prove_reading(launcher, file, proof.probe, validation));
  }
  if (record.validated && has_news) {
    // It holds where its record cannot be written, too.
    const Status renewed = renew(file.parent_path() / kRecordName, here, record.proofs);
    if (!renewed.ok()) tell("not noted in its record: " + renewed.error().message());
  }
  record.search.result = {};
  return record;
}

namespace {

Result<int> verify(const VerifyOptions& options) {
  STRIPLINE_ASSIGN_OR_RETURN(const ExportRecord record, verify_export(options, print_progress));
  std::cout << (options.json ? to_json(record).dump() + "\n" : summary_of(record));
  return record.validated ? kExitOk : kExitFailure;
}

}  // namespace

int verify_command(const VerifyOptions& options) { return exit_code_of(verify(options)); }

}  // namespace stripline::suites::tune
