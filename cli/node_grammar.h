// The commands of nodes: their options and help.
#pragma once

#include "base/command_line_fwd.h"
#include "cli/command.h"

namespace stripline::cli {

class NodeGrammar {
 public:
  /// Adds them to a program; choosing one makes it the `result`. This object and `result` must
  /// outlive the parsing.
  void define(CLI::App& app, Action& result);

 private:
  void define_holds(CLI::App& node, Action& result);
  void define_farewells(CLI::App& node, Action& result);

  NodeList list_;
  NodeCordon cordon_;
  NodeUncordon uncordon_;
  NodeDrain drain_;
  NodeRemove remove_;
  NodeRevoke revoke_;
};

}  // namespace stripline::cli
