#include "cli/node_commands.h"

#include <string>

#include "base/exit_codes.h"
#include "base/table.h"
#include "cli/console.h"
#include "cli/names.h"
#include "cli/service.h"
#include "stripline/v1/fleet.pb.h"

namespace stripline::cli {

int run(const Global& global, const NodeList& /*command*/) {
  constexpr int kPageSize = 100;
  Service service(global);
  Table table({{"NODE"}, {"STATE"}, {"AGENT"}, {"LAST SEEN"}, {"WORKS ON"}, {"FABRICS"}});
  std::string token;
  do {
    const auto page = service.list_nodes(kPageSize, token);
    if (!page.ok()) return print_error(page.error().message(), exit_code_for(page.error().code()));
    for (const v1::Node& node : page->nodes()) {
      if (global.json) {
        print(json_line(node));
        continue;
      }
      std::string fabrics;
      for (const std::string& fabric : node.fabrics())
        fabrics += (fabrics.empty() ? "" : " ") + fabric;
      table.add({short_name(node.name()), v1::Node::State_Name(node.state()), node.agent_version(),
                 node.last_seen_time(), node.assignment().empty() ? "-" : node.assignment(),
                 fabrics});
    }
    token = page->next_page_token();
  } while (!token.empty());
  if (!global.json) {
    print(table.empty() ? "no nodes yet; start an agent with 'stripline-agent --server " +
                              service.server() + "'\n"
                        : table.text());
  }
  return kExitOk;
}

}  // namespace stripline::cli
