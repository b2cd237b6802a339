#include "cli/node_grammar.h"

#include <string>

#include "cli/grammar_parts.h"

namespace stripline::cli {
namespace {

void take_name(CLI::App& command, std::string& name) {
  add_required(&command, "node", name, "Name, e.g. a", "NAME");
}

void take_reason(CLI::App& command, std::string& reason) {
  command.add_option("--reason", reason, "Why, for those who look at 'stripline nodes'")
      ->type_name("TEXT");
}

}  // namespace

void NodeGrammar::define(CLI::App& app, Action& result) {
  CLI::App* nodes =
      leaf_command(app, "nodes", "List the nodes whose agents have connected", list_, result);
  end_help(nodes,
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

void NodeGrammar::define_holds(CLI::App& node, Action& result) {
  constexpr const char* kExits =
      "Needs the role operator.\n\n"
      "Exit codes: 0, 2 no such node, 3 not allowed, 4 no server.\n";
  CLI::App* cordon = leaf_command(node, "cordon", "Give a node no new runs", cordon_, result);
  take_name(*cordon, cordon_.name);
  take_reason(*cordon, cordon_.reason);
  end_help(cordon,
           std::string("What it is measuring goes on. 'uncordon' takes it back.\n") + kExits);
  CLI::App* uncordon = leaf_command(node, "uncordon", "Give it runs again", uncordon_, result);
  take_name(*uncordon, uncordon_.name);
  end_help(uncordon, std::string("After 'cordon' and 'drain'.\n") + kExits);
  CLI::App* drain =
      leaf_command(node, "drain", "Cordon it and wait until it is idle", drain_, result);
  take_name(*drain, drain_.name);
  take_reason(*drain, drain_.reason);
  drain
      ->add_option("--time-limit", drain_.time_limit_s,
                   "What it measures then is measured again elsewhere (default: it goes on to its "
                   "end)")
      ->type_name("TIME")
      ->transform(time_within({.least_s = 0, .most_s = 30.0 * 86400}));
  drain->add_flag("--detach", drain_.detach, "Do not wait");
  end_help(drain,
           "Ctrl-C ends the waiting, not the draining: 'uncordon' does.\n"
           "Needs the role operator.\n\n"
           "Exit codes: 0 idle, 2 no such node, 3 not allowed, 4 no server,\n"
           "7 stopped waiting.\n");
}

void NodeGrammar::define_farewells(CLI::App& node, Action& result) {
  CLI::App* remove =
      leaf_command(node, "remove", "Forget a node whose agent has ended", remove_, result);
  take_name(*remove, remove_.name);
  end_help(remove,
           "Its samples stay. It comes back when an agent connects from it: 'revoke' prevents\n"
           "that. Needs the role admin.\n\n"
           "Exit codes: 0, 2 no such node, 3 not allowed, 4 no server, 9 it is connected.\n");
  CLI::App* revoke =
      leaf_command(node, "revoke", "Accept a node's certificate no more", revoke_, result);
  take_name(*revoke, revoke_.name);
  end_help(revoke,
           "Its session ends at once; what it was measuring is measured again elsewhere. It\n"
           "may be enrolled again. Needs the role admin.\n\n"
           "Exit codes: 0, 2 never enrolled, 3 not allowed, 4 no server.\n");
}

}  // namespace stripline::cli
