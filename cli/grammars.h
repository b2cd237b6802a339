// Groups of commands with their options and help. Each function adds one to the program, `app`, or
// to its command `model`; choosing a command makes it the `result`, which must outlive the parsing.
#pragma once

#include "base/command_line_fwd.h"
#include "cli/command.h"

namespace stripline::cli {

/// `login`, `logout`, `token ...` and `audit`.
void define_access(CLI::App& app, Action& result);
/// `nodes` and `node ...`.
void define_nodes(CLI::App& app, Action& result);
/// `feedback ...`: what runs report about models.
void define_feedback(CLI::App& app, Action& result);
/// `model fit` and `operation ...`.
void define_operations(CLI::App& app, CLI::App& model, Action& result);
/// Commands in `model` that say which versions are to be used, and `rollout status`.
void define_publishing(CLI::App& app, CLI::App& model, Action& result);
/// Models and campaigns as pictures, pages and side by side: `model diff`, `model plot`, `report`.
void define_reports(CLI::App& app, CLI::App& model, Action& result);

}  // namespace stripline::cli
