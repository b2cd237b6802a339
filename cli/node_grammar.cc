#include <string>

#include "cli/grammar_parts.h"
#include "cli/grammars.h"

namespace stripline::cli {
namespace {

void take_name(CLI::App& command, std::string& name) {
  add_required(&command, "node", name, "Name, e.g. a", "NAME");
}

void take_reason(CLI::App& command, std::string& reason) {
  add_value(command, "--reason", reason, "Why, for those who look at 'stripline nodes'", "TEXT");
}

void define_holds(CLI::App& node, Action& result) {
  constexpr const char* kExits =
      "Needs the role operator.\n\n"
      "Exit codes: 0, 2 no such node, 3 not allowed, 4 no server.\n";
  const auto cordon = leaf_command<NodeCordon>(node, "cordon", "Give a node no new runs", result);
  take_name(*cordon.command, cordon->name);
  take_reason(*cordon.command, cordon->reason);
  end_help(cordon.command,
           std::string("What it is measuring goes on. 'uncordon' takes it back.\n") + kExits);
  const auto uncordon = leaf_command<NodeUncordon>(node, "uncordon", "Give it runs again", result);
  take_name(*uncordon.command, uncordon->name);
  end_help(uncordon.command, std::string("After 'cordon' and 'drain'.\n") + kExits);
  const auto drain =
      leaf_command<NodeDrain>(node, "drain", "Cordon it and wait until it is idle", result);
  take_name(*drain.command, drain->name);
  take_reason(*drain.command, drain->reason);
  add_value(*drain.command, "--time-limit", drain->time_limit_s,
            "What it measures then is measured again elsewhere (default: it goes on to its "
            "end)",
            "TIME")
      ->transform(time_within({.least_s = 0, .most_s = 30.0 * 86400}));
  drain.command->add_flag("--detach", drain->detach, "Do not wait");
  end_help(drain.command,
           "Ctrl-C ends the waiting, not the draining: 'uncordon' does.\n"
           "Needs the role operator.\n\n"
           "Exit codes: 0 idle, 2 no such node, 3 not allowed, 4 no server,\n"
           "7 stopped waiting.\n");
}

void define_farewells(CLI::App& node, Action& result) {
  const auto remove =
      leaf_command<NodeRemove>(node, "remove", "Forget a node whose agent has ended", result);
  take_name(*remove.command, remove->name);
  end_help(remove.command,
           "Its samples stay. It comes back when an agent connects from it: 'revoke' prevents\n"
           "that. Needs the role admin.\n\n"
           "Exit codes: 0, 2 no such node, 3 not allowed, 4 no server, 9 it is connected.\n");
  const auto revoke =
      leaf_command<NodeRevoke>(node, "revoke", "Accept a node's certificate no more", result);
  take_name(*revoke.command, revoke->name);
  end_help(revoke.command,
           "Its session ends at once; what it was measuring is measured again elsewhere. It\n"
           "may be enrolled again. Needs the role admin.\n\n"
           "Exit codes: 0, 2 never enrolled, 3 not allowed, 4 no server.\n");
}

}  // namespace

void define_nodes(CLI::App& app, Action& result) {
  const auto nodes =
      leaf_command<NodeList>(app, "nodes", "List the nodes whose agents have connected", result);
  end_help(nodes.command,
           "States: IDLE, BUSY (measuring, or installing settings of another runtime), OFFLINE\n"
           "(its agent is not connected); 'cordoned' and 'draining' nodes get no new runs, HELD\n"
           "says why, and by whom. FABRICS are those that its workers can open, each usable with\n"
           "'campaign run --fabric'. A node appears when 'stripline-agent' first connects from\n"
           "it.\n\n"
           "Exit codes: 0, 4 no server, 6 no answer in time.\n");
  CLI::App* node = app.add_subcommand("node", "Keep a node from runs, or take it out");
  node->require_subcommand(1);
  node->fallthrough();
  node->footer(
      "For maintenance: 'drain', work, 'uncordon'. For good: 'drain', stop the agent, 'remove'.\n"
      "When a node is not to be trusted any more: 'revoke'.\n");
  define_holds(*node, result);
  define_farewells(*node, result);
}

}  // namespace stripline::cli
