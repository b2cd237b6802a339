// The commands of campaigns: their options and help.
#pragma once

#include "base/command_line_fwd.h"
#include "base/result.h"
#include "cli/command.h"

namespace stripline::cli {

/// What is asked for, with names as they were written.
CampaignRun& request_of(CampaignRun& run);
CampaignRun& request_of(CampaignEstimate& estimate);
CampaignRun& request_of(CampaignExportPlan& plan);

class CampaignGrammar {
 public:
  /// Adds them to a program; choosing one makes it the `result`. This object and `result` must
  /// outlive the parsing.
  void define(CLI::App& app, Action& result);

  /// What CLI11 cannot say of a parsed request: its file is read, and it names fabrics. Errors:
  /// invalid_argument, those of read_toml_settings().
  Status complete(CampaignRun& run);
  Status complete(CampaignEstimate& estimate);
  Status complete(CampaignExportPlan& plan);

 private:
  void define_requests(CLI::App& campaign, Action& result);
  void define_views(CLI::App& campaign, Action& result);
  void define_comparison(CLI::App& campaign, Action& result);
  void define_changes(CLI::App& campaign, Action& result);
  void define_samples(CLI::App& campaign, Action& result);
  void define_offline(CLI::App& campaign, Action& result);

  CLI::App* run_command_ = nullptr;
  CLI::App* estimate_command_ = nullptr;
  CLI::App* export_plan_command_ = nullptr;
  CampaignRun run_;
  CampaignEstimate estimate_;
  CampaignExportPlan export_plan_;
};

}  // namespace stripline::cli
