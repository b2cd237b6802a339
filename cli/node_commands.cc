#include "cli/node_commands.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <thread>

#include "base/exit_codes.h"
#include "base/printable.h"
#include "base/table.h"
#include "cli/console.h"
#include "cli/names.h"
#include "cli/server_notes.h"
#include "cli/service.h"
#include "stripline/v1/access.pb.h"
#include "stripline/v1/fleet.pb.h"

namespace stripline::cli {
namespace {

constexpr std::chrono::milliseconds kDrainLook{200};

std::string state_text(const v1::Node& node) {
  std::string state = v1::Node::State_Name(node.state());
  if (!node.has_hold()) return state;
  return state + (node.assignment().empty() ? " cordoned" : " draining");
}

std::string hold_text(const v1::Node& node) {
  if (!node.has_hold()) return "-";
  const std::string& reason = node.hold().reason();
  return (reason.empty() ? "" : reason + ", ") + "by " + node.hold().actor();
}

// "27 d": what is left of it.
std::string certificate_text(const v1::Node& node) {
  if (!node.has_certificate_days_left()) return "-";
  const double days = node.certificate_days_left();
  return days < 0 ? "ended" : std::to_string(static_cast<int64_t>(days)) + " d";
}

Result<int> report(const Global& global, const Result<v1::Node>& node, const std::string& what) {
  if (!node.ok()) return node.error();
  print(global.json ? json_line(*node) : node->name() + " " + what + "\n");
  return kExitOk;
}

}  // namespace

Result<int> run(const Global& global, const NodeList& /*command*/) {
  constexpr int kPageSize = 100;
  Service service(global);
  Table table({{"NODE"},
               {"CLUSTER"},
               {"STATE"},
               {"AGENT"},
               {"LAST SEEN"},
               {"WORKS ON"},
               {"HELD"},
               {"CERTIFICATE", Table::Align::right},
               {"FABRICS"}});
  std::string token;
  do {
    STRIPLINE_ASSIGN_OR_RETURN(
        const auto page,
        service.call<v1::ListNodesResponse>(page_request<v1::ListNodesRequest>(kPageSize, token)));
    for (const v1::Node& node : page.nodes()) {
      if (global.json) {
        print(json_line(node));
        continue;
      }
      std::string fabrics;
      for (const std::string& fabric : node.fabrics())
        fabrics += (fabrics.empty() ? "" : " ") + fabric;
      table.add({short_name(node.name()), node.cluster(), state_text(node), node.agent_version(),
                 node.last_seen_time(), node.assignment().empty() ? "-" : node.assignment(),
                 hold_text(node), certificate_text(node), fabrics});
    }
    token = page.next_page_token();
  } while (!token.empty());
  if (!global.json) {
    print(table.empty()
              ? "no nodes yet; start an agent with 'stripline-agent --server " + service.server() +
                    "', the first time with --enroll FILE ('stripline token create --role "
                    "agent -o FILE'), unless the server has no certificates\n"
              : table.text());
    print_server_notes(service, true);
  }
  return kExitOk;
}

Result<int> run(const Global& global, const NodeCordon& command) {
  v1::CordonNodeRequest request;
  request.set_name(command.name);
  request.set_reason(command.reason);
  return report(global, Service(global).call<v1::Node>(request), "gets no new runs");
}

Result<int> run(const Global& global, const NodeUncordon& command) {
  return report(global,
                Service(global).call<v1::Node>(named<v1::UncordonNodeRequest>(command.name)),
                "gets runs again");
}

Result<int> run(const Global& global, const NodeDrain& command) {
  v1::DrainNodeRequest request;
  request.set_name(command.name);
  request.set_reason(command.reason);
  if (command.time_limit_s >= 0) request.set_time_limit_s(command.time_limit_s);
  Service service(global);
  auto node = service.call<v1::Node>(request);
  if (node.ok() && !command.detach && !node->assignment().empty()) {
    catch_interrupts();
    print_note("waiting for " + printable_line(node->assignment()) + " on " + command.name + "\n");
    while (node.ok() && !node->assignment().empty()) {
      if (interrupted()) {
        print_note(command.name + " goes on draining; 'stripline node uncordon " +
                   short_name(command.name) + "' gives it runs again\n");
        return kExitCancelled;
      }
      std::this_thread::sleep_for(kDrainLook);
      node = service.call<v1::Node>(named<v1::GetNodeRequest>(command.name));
    }
  }
  const bool idle = node.ok() && node->assignment().empty();
  return report(global, node, idle ? "is drained" : "is draining");
}

Result<int> run(const Global& global, const NodeRemove& command) {
  STRIPLINE_RETURN_IF_ERROR(
      Service(global).call<v1::RemoveNodeResponse>(named<v1::RemoveNodeRequest>(command.name)));
  print_note(command.name + " is removed\n");
  return kExitOk;
}

Result<int> run(const Global& global, const NodeRevoke& command) {
  STRIPLINE_RETURN_IF_ERROR(
      Service(global).call<v1::RevokeNodeResponse>(named<v1::RevokeNodeRequest>(command.name)));
  print_note(command.name + " is revoked\n");
  return kExitOk;
}

}  // namespace stripline::cli
