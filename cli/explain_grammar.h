// The commands of `stripline explain`: their options and help.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "cli/command.h"

namespace stripline::cli {

class ExplainGrammar {
 public:
  /// Adds `explain` to a program; choosing one of its commands makes it the `result`. This object
  /// and `result` must outlive the parsing.
  void define(CLI::App& app, Action& result);

 private:
  void define_loop(CLI::App& explain, Action& result);
  void define_nest(CLI::App& explain, Action& result);
  void define_call(CLI::App& explain, Action& result);
  void define_sweep(CLI::App& explain, Action& result);

  ExplainLoop loop_;
  ExplainNest nest_;
  ExplainCall call_;
  ExplainSweep sweep_;
};

}  // namespace stripline::cli
