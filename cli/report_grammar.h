// The commands that show models as pictures, pages and side by side: their options and help.
#pragma once

#include "base/command_line_fwd.h"
#include "cli/command.h"

namespace stripline::cli {

class ReportGrammar {
 public:
  /// Adds `model diff` and `model plot` to `model`, and `report` to the program; choosing one makes
  /// it the `result`. This object and `result` must outlive the parsing.
  void define(CLI::App& app, CLI::App& model, Action& result);

 private:
  ModelDiff diff_;
  ModelPlot plot_;
  Report report_;
};

}  // namespace stripline::cli
