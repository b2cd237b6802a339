#include "base/daemon/configuration.h"

#include <fstream>
#include <optional>

#include <CLI/CLI.hpp>
#include <gtest/gtest.h>

#include "base/command_line.h"
#include "base/testing/processes.h"

namespace stripline {
namespace {

using Variables = Configuration::Environment;

// A daemon with a setting of each kind.
struct Daemon {
  explicit Daemon(const Configuration::Environment& environment,
                  std::vector<std::string> arguments = {}) {
    app.add_option("--server", server, "")->type_name("HOST")->capture_default_str();
    app.add_option("--lease", lease_s, "")
        ->transform(time_within({.least_s = 0.1, .most_s = 60}))
        ->capture_default_str();
    app.add_option("--runs", runs, "")->transform(whole_number(1, 10))->capture_default_str();
    app.add_option("--note", note, "");
    app.add_option("--host", hosts, "");
    app.add_flag("--dev", dev, "");
    app.add_option("--backup", backup, "");
    configuration.emplace(app, ConfigurationNames{"DAEMON_", {"backup"}, {{"server", "HEAD"}}});
    std::reverse(arguments.begin(), arguments.end());
    app.parse(std::move(arguments));
    settled = configuration->settle(environment);
  }

  std::string error() const { return settled.ok() ? "" : settled.error().message(); }

  CLI::App app{"", "daemon"};
  std::string server = "here";
  double lease_s = 15;
  uint32_t runs = 3;
  std::string note;
  std::vector<std::string> hosts;
  bool dev = false;
  std::string backup;
  std::optional<Configuration> configuration;
  Status settled;
};

std::string write(const TempFolder& folder, const std::string& text) {
  const auto path = folder / "a.toml";
  std::ofstream(path) << text;
  return path.string();
}

TEST(Configuration, TheCommandLineComesBeforeTheEnvironmentAndThatBeforeTheFile) {
  const TempFolder folder;
  const std::string file = write(folder,
                                 "server = \"file\"\nlease = 10\nruns = 5\ndev = true\n"
                                 "host = [\"a\", \"b\"]\n");
  const Daemon daemon({{"DAEMON_SERVER", "environment"}, {"DAEMON_LEASE", "20"}},
                      {"--config", file, "--server", "option"});
  ASSERT_EQ(daemon.error(), "");
  EXPECT_EQ(daemon.server, "option");
  EXPECT_EQ(daemon.lease_s, 20);
  EXPECT_EQ(daemon.runs, 5U);
  EXPECT_TRUE(daemon.dev);
  EXPECT_EQ(daemon.hosts, (std::vector<std::string>{"a", "b"}));
}

TEST(Configuration, SaysWhereEachValueComesFrom) {
  const TempFolder folder;
  const std::string file = write(folder, "# ours\nruns = 5\nnote = 'a \"b\"'\n");
  const Daemon daemon({{"DAEMON_CONFIG", file}, {"DAEMON_LEASE", "500ms"}}, {"--host", "a"});
  ASSERT_EQ(daemon.error(), "");
  const std::string text = daemon.configuration->text();
  EXPECT_NE(text.find("# server = 'here'  # default\n"), std::string::npos) << text;
  EXPECT_NE(text.find("lease = '0.5'  # DAEMON_LEASE\n"), std::string::npos) << text;
  EXPECT_NE(text.find("runs = '5'  # '" + file + "', line 2, runs\n"), std::string::npos) << text;
  EXPECT_NE(text.find("host = ['a']  # command line\n"), std::string::npos) << text;
  EXPECT_NE(text.find("# dev = false  # default\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("backup"), std::string::npos) << text;

  // What is printed says the same when it is read.
  const std::string again = write(folder, text);
  const Daemon other({}, {"--config", again});
  ASSERT_EQ(other.error(), "");
  EXPECT_EQ(other.lease_s, 0.5);
  EXPECT_EQ(other.note, "a \"b\"");
  EXPECT_EQ(other.hosts, std::vector<std::string>{"a"});
}

TEST(Configuration, NamesTheNearestOfAnUnknownName) {
  const TempFolder folder;
  const std::string file = write(folder, "runs = 1\nleese = 3\n");
  EXPECT_EQ(Daemon({}, {"--config", file}).error(),
            "'" + file + "', line 2, leese: there is no such setting; did you mean lease?");
  EXPECT_EQ(Daemon(Variables{{"DAEMON_LEESE", "3"}}).error(),
            "unknown variable DAEMON_LEESE in the environment; did you mean DAEMON_LEASE?");
  EXPECT_EQ(Daemon({}, {"--config", write(folder, "backup = 'x'\n")}).error(),
            "'" + file + "', line 1, backup: this is an option of the command line alone");
  EXPECT_EQ(Daemon(Variables{{"DAEMON", "3"}, {"OTHER", "x"}}).error(), "");
}

TEST(Configuration, SaysWhereAWrongValueStands) {
  const TempFolder folder;
  const auto complaint = [&](const std::string& text) {
    const std::string file = write(folder, text);
    const std::string error = Daemon({}, {"--config", file}).error();
    const std::string start = "'" + file + "', line ";
    EXPECT_TRUE(error.starts_with(start)) << error;
    return error.substr(std::min(error.size(), start.size()));
  };
  EXPECT_EQ(complaint("\nruns = 99\n"), "2, runs: '99' is not a whole number from 1 to 10");
  EXPECT_EQ(complaint("dev = 1\n"), "1, dev: true or false is needed");
  EXPECT_EQ(complaint("lease = 1979-05-27\n"),
            "1, lease: expected a string, number, boolean, or list of them");
  EXPECT_EQ(complaint("runs = [1, 2]\n").substr(0, 7), "1, runs");
  EXPECT_EQ(complaint("a = [\n").substr(0, 1), "1");
  EXPECT_EQ(Daemon(Variables{{"DAEMON_RUNS", "0"}}).error(),
            "DAEMON_RUNS: '0' is not a whole number from 1 to 10");
  EXPECT_NE(Daemon({}, {"--config", "/nowhere/a.toml"}).error().find("/nowhere/a.toml"),
            std::string::npos);
}

TEST(Configuration, AnEmptyVariableIsNone) {
  const Daemon daemon(Variables{{"DAEMON_SERVER", ""}, {"HEAD", "alias"}});
  ASSERT_EQ(daemon.error(), "");
  EXPECT_EQ(daemon.server, "alias");
  EXPECT_EQ(Daemon(Variables{{"DAEMON_SERVER", "own"}, {"HEAD", "alias"}}).server, "own");
}

}  // namespace
}  // namespace stripline
