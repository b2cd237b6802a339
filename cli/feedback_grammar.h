// The commands about what runs saw of models: their options and help.
#pragma once

#include "base/command_line_fwd.h"
#include "cli/command.h"

namespace stripline::cli {

class FeedbackGrammar {
 public:
  /// Adds them to the program; choosing one makes it the `result`. This object and `result` must
  /// outlive the parsing.
  void define(CLI::App& app, Action& result);

 private:
  FeedbackSend send_;
  FeedbackList list_;
};

}  // namespace stripline::cli
