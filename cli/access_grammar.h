// The commands of users, tokens and the audit trail: their options and help.
#pragma once

#include "base/command_line_fwd.h"
#include "cli/command.h"

namespace stripline::cli {

class AccessGrammar {
 public:
  /// Adds them to a program; choosing one makes it the `result`. This object and `result` must
  /// outlive the parsing.
  void define(CLI::App& app, Action& result);

 private:
  void define_login(CLI::App& app, Action& result);
  void define_tokens(CLI::App& app, Action& result);

  Login login_;
  Logout logout_;
  TokenCreate create_;
  TokenList list_;
  TokenRevoke revoke_;
  AuditList audit_;
};

}  // namespace stripline::cli
