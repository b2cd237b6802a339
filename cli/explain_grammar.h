// The commands of `stripline explain`: their options and help, made from what mechanisms say of
// themselves.
#pragma once

#include <tuple>

#include "base/command_line_fwd.h"
#include "cli/command.h"

namespace stripline::cli {

class ExplainGrammar {
 public:
  /// Adds `explain` to a program, with a command for each mechanism; choosing one makes it the
  /// `result`. This object and `result` must outlive the parsing.
  void define(CLI::App& app, Action& result);

 private:
  plan::OfEachMechanism<std::tuple, Explain> commands_;
  bool lists_ = false;
};

}  // namespace stripline::cli
