#include "base/command_line.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/exit_codes.h"

namespace stripline {
namespace {

// A program with one option of each kind, and a command.
struct Example {
  Example() {
    app.add_option("--fabric", fabric, "")->required();
    app.add_option("-n,--ranks", ranks, "")->transform(whole_number_from<uint32_t>(1));
    app.add_option("--seed", seed, "")->transform(whole_number_from<uint64_t>(0));
    app.add_option("--segment", bytes, "")->transform(size_from(1));
    app.add_option("--timeout", seconds, "")->transform(time_within(kTimeLimits));
    app.add_option("--width", width, "")->transform(share());
    app.add_option("--clock", clock, "Time")->check(one_of({"real", "virtual"}));
    app.add_subcommand("measure", "");
    add_version(app);
  }

  // How it ends; with exit code -1 it goes on.
  CommandLineEnd parse(std::vector<std::string> arguments) {
    std::reverse(arguments.begin(), arguments.end());
    try {
      app.parse(arguments);
    } catch (const CLI::ParseError& error) {
      return command_line_end(app, error, "write '--' before the program");
    }
    return {.exit_code = -1};
  }

  CLI::App app{"An example", "example"};
  std::string fabric;
  std::string clock;
  uint32_t ranks = 0;
  uint64_t seed = 0;
  uint64_t bytes = 0;
  double seconds = 0;
  double width = 0;
};

std::string mistake(std::vector<std::string> arguments) {
  const CommandLineEnd end = Example().parse(std::move(arguments));
  EXPECT_EQ(end.exit_code, kExitUsage);
  EXPECT_EQ(end.out, "");
  return end.err;
}

TEST(CommandLine, WordsOfAListAreNamed) {
  Example example;
  EXPECT_EQ(example.parse({"--fabric", "tcp", "--clock", "virtual"}).exit_code, -1);
  EXPECT_EQ(example.clock, "virtual");
  EXPECT_EQ(mistake({"--fabric", "tcp", "--clock", "foo"}),
            "example: error: --clock: 'foo' is none of real, virtual; see 'example --help'\n");
  EXPECT_EQ(
      mistake({"--fabric", "tcp", "--clock", "vitrual"}),
      "example: error: --clock: 'vitrual' (did you mean 'virtual'?) is none of real, virtual; "
      "see 'example --help'\n");
  EXPECT_NE(Example().parse({"--help"}).out.find("{real, virtual}"), std::string::npos);
}

TEST(CommandLine, QuantitiesAreReadAsTheyAreWritten) {
  Example example;
  EXPECT_EQ(example
                .parse({"--fabric", "tcp", "-n", "010", "--seed", "18446744073709551615",
                        "--segment", "64KiB", "--timeout", "1:30", "--width", "2.5 %"})
                .exit_code,
            -1);
  EXPECT_EQ(example.ranks, 10U);
  EXPECT_EQ(example.seed, UINT64_MAX);
  EXPECT_EQ(example.bytes, 65536U);
  EXPECT_DOUBLE_EQ(example.seconds, 90);
  EXPECT_DOUBLE_EQ(example.width, 0.025);
}

TEST(CommandLine, QuantitiesOutOfRangeAreRefused) {
  for (const auto& [option, values] : std::vector<std::pair<std::string, std::vector<std::string>>>{
           {"--ranks", {"0", "-1", "4294967296", "0x10", "1e3", "2.5", "", "two", "1 "}},
           {"--seed", {"-1", "18446744073709551616", "99999999999999999999"}},
           {"--segment", {"0", "-1", "99999999999T", "12z"}},
           {"--width", {"0", "2", "101%", "-1%", "%", "nan", "5 %%", ""}},
           {"--timeout", {"0", "-1", "nan", "inf", "1e999", "5 M", "1:2"}}}) {
    for (const std::string& value : values) {
      const std::string text = mistake({"--fabric", "tcp", option + "=" + value});
      EXPECT_NE(text.find(option), std::string::npos) << text;
      EXPECT_LT(text.size(), 160U) << text;
    }
  }
}

TEST(CommandLine, UnknownOptionsComeBeforeWhatElseIsWrong) {
  EXPECT_EQ(mistake({"--fabrik", "tcp"}),
            "example: error: unknown option --fabrik; did you mean --fabric? See 'example "
            "--help'\n");
  EXPECT_NE(mistake({"--fabrik=tcp"}).find("did you mean --fabric?"), std::string::npos);
  EXPECT_NE(mistake({"-fabric", "tcp"}).find("did you mean --fabric?"), std::string::npos);
  EXPECT_EQ(mistake({"--zebra"}), "example: error: unknown option --zebra; see 'example --help'\n");
  EXPECT_NE(mistake({"--fabric", "tcp", "measure", "--rank"}).find("did you mean --ranks?"),
            std::string::npos);
}

TEST(CommandLine, WhatIsHugeIsNotRepeatedWhole) {
  const std::string huge(5000, 'x');
  std::vector<std::vector<std::string>> wrong = {{"--" + huge}, {huge}, {"measure", huge}};
  for (const char* option : {"--ranks", "--segment", "--timeout", "--width", "--clock"}) {
    wrong.push_back({option, huge});
  }
  for (std::vector<std::string>& arguments : wrong) {
    arguments.insert(arguments.begin(), {"--fabric", "tcp"});
    const std::string said = mistake(arguments);
    EXPECT_NE(said.find("xxx... (of 50"), std::string::npos) << said;
    EXPECT_LT(said.size(), 1000U) << said;
  }
}

TEST(CommandLine, AValueThatIsMissingIsSaidSo) {
  EXPECT_EQ(mistake({"--fabric"}),
            "example: error: --fabric needs a value; see 'example --help'\n");
}

TEST(CommandLine, WhatIsMissingIsNamedAsTheHelpNamesIt) {
  Example example;
  CLI::App* compare = example.app.add_subcommand("compare", "")->require_subcommand(0, 0);
  std::string candidate;
  compare->add_option("candidate", candidate, "What is compared")->required()->type_name("B");
  EXPECT_EQ(example.parse({"--fabric", "tcp", "compare"}).err,
            "example: error: B is missing (What is compared); see 'example compare --help'\n");
  Example other;
  other.app.require_subcommand(1);
  EXPECT_EQ(other.parse({"--fabric", "tcp"}).err,
            "example: error: the command is missing: measure; see 'example --help'\n");
  EXPECT_EQ(mistake({"measure"}),
            "example: error: --fabric is required; see 'example measure --help'\n");
}

TEST(CommandLine, UnknownCommandsAndArgumentsAreNamed) {
  EXPECT_NE(mistake({"--fabric", "tcp", "maesure"}).find("did you mean 'example measure'?"),
            std::string::npos);
  EXPECT_NE(mistake({"--fabric", "tcp", "measure", "./p"})
                .find("unexpected argument './p'; write '--' before the program"),
            std::string::npos);
}

TEST(CommandLine, HelpAndVersionGoToStandardOutput) {
  for (const char* option : {"--help", "--version"}) {
    const CommandLineEnd end = Example().parse({option});
    EXPECT_EQ(end.exit_code, kExitOk);
    EXPECT_EQ(end.err, "");
    EXPECT_NE(end.out, "");
  }
  EXPECT_EQ(Example().parse({"--version"}).out, "example " + std::string(program_version()) + "\n");
}

}  // namespace
}  // namespace stripline
