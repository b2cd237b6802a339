// The program as users run it.
#include <array>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/exit_codes.h"
#include "base/json.h"
#include "base/subprocess.h"

namespace stripline::machine {
namespace {

struct Outcome {
  int exit_code = -1;
  std::string output;
};

Outcome doctor(const std::vector<std::string>& arguments,
               const std::map<std::string, std::string>& environment = {}) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) return {};
  const UniqueFd reading(ends[0]);
  UniqueFd writing(ends[1]);
  SubprocessOptions options;
  options.argv = {executable_folder() + "/stripline-doctor"};
  options.argv.insert(options.argv.end(), arguments.begin(), arguments.end());
  options.environment = environment;
  options.stdout_fd = writing.get();
  auto process = Subprocess::spawn(options);
  if (!process.ok()) return {};
  writing.reset();
  Outcome outcome;
  std::array<char, 4096> buffer{};
  for (ssize_t count = 0; (count = read(reading.get(), buffer.data(), buffer.size())) > 0;) {
    outcome.output.append(buffer.data(), static_cast<size_t>(count));
  }
  const auto status = process->wait(60);
  if (status.ok() && status->signal == 0) outcome.exit_code = status->exit_code;
  return outcome;
}

TEST(DoctorTest, TriesEveryOperationOnEveryProvider) {
  const Outcome outcome = doctor({"--json"});
  EXPECT_EQ(outcome.exit_code, kExitOk) << outcome.output;
  std::istringstream lines(outcome.output);
  std::set<std::string> ok;
  Json last;
  for (std::string line; std::getline(lines, line);) {
    last = Json::parse(line);
    if (last.value("severity", "") == "ok") ok.insert(last.at("check").get<std::string>());
  }
  EXPECT_EQ(last, (Json{{"usable", true}}));
  EXPECT_TRUE(ok.contains("exchange.tcp")) << outcome.output;
  EXPECT_NE(outcome.output.find("atomic operations, signals, notified puts, messages"),
            std::string::npos)
      << outcome.output;
  EXPECT_TRUE(ok.contains("exchange.shm")) << outcome.output;
  EXPECT_TRUE(ok.contains("exchange.sockets")) << outcome.output;  // as every other that is usable
  EXPECT_TRUE(ok.contains("provider.tcp")) << outcome.output;
}

TEST(DoctorTest, NamesWhatLibfabricsVariablesDo) {
  const Outcome outcome =
      doctor({"--fabric", "tcp"}, {{"FI_PROVIDER", "^tcp"}, {"FI_UNIVERSE_SIZE", "99"}});
  EXPECT_EQ(outcome.exit_code, kExitUnavailable) << outcome.output;
  for (const char* text :
       {"in force: FI_PROVIDER=^tcp, FI_UNIVERSE_SIZE=99", "measure without FI_UNIVERSE_SIZE=99",
        "not offered: excluded by FI_PROVIDER=^tcp",
        "the fabric 'tcp' is excluded by FI_PROVIDER=^tcp, which leaves"}) {
    EXPECT_NE(outcome.output.find(text), std::string::npos) << text << "\n" << outcome.output;
  }
}

// It offers all that the runtime asks for, and shows ranks their own puts as arrivals.
TEST(DoctorTest, RefusesAProviderThatLiesByItsName) {
  const Outcome outcome =
      doctor({"--fabric", "lying"}, {{"FI_PROVIDER_PATH", executable_folder() + "/providers"}});
  if (outcome.output.find("unknown fabric") != std::string::npos) {
    GTEST_SKIP() << "this libfabric loads no providers from folders";
  }
  EXPECT_EQ(outcome.exit_code, kExitUnavailable) << outcome.output;
  EXPECT_NE(outcome.output.find("a put of 8 B that tells its target was reported to the rank that "
                                "made it: provider lying shows own operations as arrivals"),
            std::string::npos)
      << outcome.output;
  EXPECT_NE(outcome.output.find("do not use --fabric lying"), std::string::npos) << outcome.output;
}

TEST(DoctorTest, OutputThatIsLostIsAnError) {
  const std::string doctor = executable_folder() + "/stripline-doctor";
  for (const char* arguments : {" --fabric tcp", " --help", " --version"}) {
    auto process = Subprocess::spawn({.argv = {"sh", "-c", doctor + arguments + " >/dev/full"}});
    ASSERT_TRUE(process.ok());
    const auto status = process->wait(60);
    ASSERT_TRUE(status.ok());
    EXPECT_EQ(status->exit_code, kExitUnavailable) << arguments;
  }
}

// Exchanges take small segments, and pass.
TEST(DoctorTest, TheVerdictFollowsTheLimitsOfTheShell) {
  const std::string doctor = executable_folder() + "/stripline-doctor --fabric tcp";
  std::vector limits = {std::pair("-f 65536", "limit.file_size")};
#ifndef __SANITIZE_ADDRESS__  // It takes more addresses than any limit leaves.
  limits.emplace_back("-v 700000", "limit.address_space");
#endif
  for (const auto& [limit, check] : limits) {
    std::array<int, 2> ends{};
    ASSERT_EQ(pipe(ends.data()), 0);
    const UniqueFd reading(ends[0]);
    UniqueFd writing(ends[1]);
    SubprocessOptions options;
    options.argv = {"sh", "-c", std::string("ulimit ") + limit + "; exec " + doctor};
    options.stdout_fd = writing.get();
    auto process = Subprocess::spawn(options);
    ASSERT_TRUE(process.ok());
    writing.reset();
    std::string output;
    std::array<char, 4096> buffer{};
    for (ssize_t count = 0; (count = read(reading.get(), buffer.data(), buffer.size())) > 0;) {
      output.append(buffer.data(), static_cast<size_t>(count));
    }
    const auto status = process->wait(60);
    ASSERT_TRUE(status.ok());
    EXPECT_EQ(status->exit_code, kExitUnavailable) << output;
    EXPECT_NE(output.find(std::string("This host is not ready: mend ") + check), std::string::npos)
        << output;
  }
}

TEST(DoctorTest, SaysSoWhenNothingWorks) {
  const Outcome outcome = doctor({"--fabric", "nonsense"});
  EXPECT_EQ(outcome.exit_code, kExitUnavailable);
  EXPECT_NE(outcome.output.find("exchange.nonsense"), std::string::npos) << outcome.output;
  EXPECT_NE(outcome.output.find("not ready"), std::string::npos) << outcome.output;
}

TEST(DoctorTest, RefusesUnknownOptions) {
  EXPECT_EQ(doctor({"--nonsense"}).exit_code, kExitUsage);
  const Outcome help = doctor({"--help"});
  EXPECT_EQ(help.exit_code, kExitOk);
  EXPECT_NE(help.output.find("Exit status"), std::string::npos);
}

}  // namespace
}  // namespace stripline::machine
