// That docs/cli.md and the grammar name the same options.
#include <cstdlib>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cli/parse.h"

namespace stripline::cli {
namespace {

std::set<std::string> options_in(const std::string& text) {
  const std::regex option("--[a-z][a-z-]*");
  std::set<std::string> found;
  for (auto match = std::sregex_iterator(text.begin(), text.end(), option);
       match != std::sregex_iterator(); ++match) {
    found.insert(match->str());
  }
  return found;
}

std::set<std::string> options_of_all_commands() {
  const std::vector<std::vector<std::string>> commands = {{},
                                                          {"campaign", "run"},
                                                          {"campaign", "watch"},
                                                          {"campaign", "list"},
                                                          {"campaign", "show"},
                                                          {"campaign", "estimate"},
                                                          {"campaign", "cancel"},
                                                          {"campaign", "pause"},
                                                          {"campaign", "resume"},
                                                          {"campaign", "compare"},
                                                          {"campaign", "retry"},
                                                          {"campaign", "delete"},
                                                          {"campaign", "points"},
                                                          {"campaign", "export"},
                                                          {"campaign", "export-plan"},
                                                          {"campaign", "import"},
                                                          {"campaign", "replay"},
                                                          {"model", "list"},
                                                          {"model", "show"},
                                                          {"model", "fetch"},
                                                          {"model", "withdraw"},
                                                          {"model", "validate"},
                                                          {"model", "check"},
                                                          {"model", "promote"},
                                                          {"model", "rollback"},
                                                          {"model", "import"},
                                                          {"model", "fit"},
                                                          {"operation", "list"},
                                                          {"operation", "show"},
                                                          {"operation", "cancel"},
                                                          {"rollout", "status"},
                                                          {"feedback", "send"},
                                                          {"feedback", "list"},
                                                          {"model", "diff"},
                                                          {"model", "plot"},
                                                          {"report"},
                                                          {"explain"},
                                                          {"explain", "loop"},
                                                          {"explain", "nest"},
                                                          {"explain", "call"},
                                                          {"explain", "sweep"},
                                                          {"explain", "gather"},
                                                          {"explain", "indirect"},
                                                          {"explain", "product"},
                                                          {"explain", "update"},
                                                          {"explain", "encoding"},
                                                          {"explain", "shared"},
                                                          {"explain", "collective"},
                                                          {"explain", "atomic"},
                                                          {"explain", "put"},
                                                          {"explain", "progress"},
                                                          {"explain", "bulk"},
                                                          {"explain", "fine"},
                                                          {"nodes"},
                                                          {"login"},
                                                          {"logout"},
                                                          {"token", "create"},
                                                          {"token", "list"},
                                                          {"token", "revoke"},
                                                          {"node", "cordon"},
                                                          {"node", "uncordon"},
                                                          {"node", "drain"},
                                                          {"node", "remove"},
                                                          {"node", "revoke"},
                                                          {"audit"},
                                                          {"version"}};
  std::set<std::string> found;
  for (std::vector<std::string> command : commands) {
    command.emplace_back("--help");
    found.merge(options_in(parse_command_line(command).out));
  }
  return found;
}

TEST(Documentation, NamesTheOptionsThatThereAre) {
  const char* source = std::getenv("STRIPLINE_TEST_SOURCE");  // NOLINT(concurrency-mt-unsafe)
  if (source == nullptr) GTEST_SKIP() << "STRIPLINE_TEST_SOURCE is not set";
  std::ostringstream text;
  text << std::ifstream(std::string(source) + "/docs/cli.md").rdbuf();
  std::set<std::string> documented = options_in(text.str());
  // The page also speaks of options of the agent, the server and `stripline run`.
  for (const char* other :
       {"--worker", "--identity", "--host", "--drain-time", "--job", "--job-idle", "--job-end",
        "--profile", "--relay", "--dev", "--insecure-listen", "--trace", "--verbose", "--hosts",
        "--hosts-file", "--ssh", "--export", "--tune"})
    documented.erase(other);
  std::set<std::string> known = options_of_all_commands();
  // The help of a command may speak of options of `stripline run` and of the server.
  for (const char* other : {"--trace", "--dev", "--sentinel-interval"}) known.erase(other);
  EXPECT_EQ(documented, known);
}

}  // namespace
}  // namespace stripline::cli
