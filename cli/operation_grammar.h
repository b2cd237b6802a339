// The commands of operations: their options and help.
#pragma once

#include "base/command_line_fwd.h"
#include "cli/command.h"

namespace stripline::cli {

class OperationGrammar {
 public:
  /// Adds `fit` to `model`, and `operation ...` to the program; choosing one makes it the `result`.
  /// This object and `result` must outlive the parsing.
  void define(CLI::App& app, CLI::App& model, Action& result);

 private:
  ModelFit fit_;
  OperationList list_;
  OperationShow show_;
  OperationCancel cancel_;
};

}  // namespace stripline::cli
