// The commands that say which versions of a model are to be used: their options and help.
#pragma once

#include "base/command_line_fwd.h"
#include "cli/command.h"

namespace stripline::cli {

class PublishingGrammar {
 public:
  /// Adds them to `model`, and `rollout status` to the program; choosing one makes it the `result`.
  /// This object and `result` must outlive the parsing.
  void define(CLI::App& app, CLI::App& model, Action& result);

 private:
  void define_labels(CLI::App& model, Action& result);

  ModelValidate validate_;
  ModelCheck check_;
  ModelPromote promote_;
  ModelRollback rollback_;
  ModelImport import_;
  RolloutStatus rollout_;
  ModelWithdraw withdraw_{"", "withdrawn on request"};
};

}  // namespace stripline::cli
