// The programs of docs/worked-examples.md: the naive and the tuned version of each verify their
// results, which are the same; and what a traced run says of its choices can be asked of `stripline
// explain`.
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/exit_codes.h"
#include "optimizer/model/model_fixture.h"
#include "optimizer/model/model_json.h"
#include "tests/e2e/processes.h"

namespace stripline::e2e {
namespace {

struct Example {
  std::string name;
  std::string size;
};
constexpr const char* kTimes = "6";

const std::vector<std::string> kEmulated = {
    "-n", "4", "--fabric", "emulated:opteron-vapi,compute=none", "--clock", "virtual"};
const std::vector<std::vector<std::string>> kPaths = {
    kEmulated, {"-n", "2", "--fabric", "tcp", "--same-node", "network"}};

// A model for any machine.
std::string model_in(const TempFolder& folder) {
  model::TunedModel m = model::example_model();
  m.fingerprint.clear();
  m.pack = model::example_pack();
  std::string path = (folder / "model.json").string();
  EXPECT_TRUE(model::save_model(m, path).ok());
  return path;
}

Finished run_example(const Example& example, const std::string& variant,
                     const std::vector<std::string>& options) {
  std::vector<std::string> argv = {program("stripline-run"), "--segment", "16M"};
  argv.insert(argv.end(), options.begin(), options.end());
  argv.insert(argv.end(), {"--", program(example.name + "_" + variant), example.size, kTimes});
  return run_program(argv, 60);
}

std::string line_with(const std::string& text, const std::string& begin) {
  const size_t at = text.find(begin);
  return at == std::string::npos ? "" : text.substr(at, text.find('\n', at) - at);
}

class Examples : public ::testing::TestWithParam<Example> {};

TEST_P(Examples, NaiveAndTunedGiveTheSame) {
  const TempFolder folder;
  const std::string model = model_in(folder);
  for (std::vector<std::string> options : kPaths) {
    const Finished naive = run_example(GetParam(), "naive", options);
    options.insert(options.end(), {"--model", model});
    const Finished tuned = run_example(GetParam(), "tuned", options);
    EXPECT_EQ(naive.exit_code, kExitOk) << naive.err;
    EXPECT_EQ(tuned.exit_code, kExitOk) << tuned.err;
    const std::string result = line_with(naive.out, "result ");
    EXPECT_TRUE(result.ends_with(", as expected")) << naive.out;
    EXPECT_EQ(line_with(tuned.out, "result "), result);
  }
}

TEST_P(Examples, AreLeftAloneByDebugMode) {
  const TempFolder folder;
  const std::string model = model_in(folder);
  for (std::vector<std::string> options : kPaths) {
    options.emplace_back("--debug");
    for (const char* variant : {"naive", "tuned"}) {
      const Finished checked = run_example(GetParam(), variant, options);
      EXPECT_EQ(checked.exit_code, kExitOk) << checked.err;
      EXPECT_TRUE(line_with(checked.out, "result ").ends_with(", as expected")) << checked.out;
      options.insert(options.end(), {"--model", model});
    }
  }
}

// One copy and paste from what a run shows to why it is so.
TEST_P(Examples, AreExplainedByTheCommandsOfTheirTrace) {
  if (!std::filesystem::exists(program("stripline"))) GTEST_SKIP() << "built without the service";
  const TempFolder folder;
  std::vector<std::string> options = kEmulated;
  options.insert(options.end(), {"--trace", "--model", model_in(folder)});
  const Finished traced = run_example(GetParam(), "tuned", options);
  ASSERT_EQ(traced.exit_code, kExitOk) << traced.err;
  const std::string command = line_with(traced.err, "stripline explain ");
  ASSERT_FALSE(command.empty()) << traced.err;
  const std::string bin = std::filesystem::path(program("stripline")).parent_path().string();
  const Finished explained = run_program({"/bin/sh", "-c", "PATH=" + bin + ":$PATH; " + command});
  EXPECT_EQ(explained.exit_code, kExitOk) << explained.err << command;
  EXPECT_NE(explained.out.find("\nwhy: "), std::string::npos) << explained.out;
  EXPECT_NE(explained.out.find("  * "), std::string::npos) << explained.out;
}

// A sweep's trace and its explanation say the same number of pieces.
TEST(TracedSweep, IsExplainedByTheCommandOfItsTrace) {
  if (!std::filesystem::exists(program("stripline"))) GTEST_SKIP() << "built without the service";
  const TempFolder folder;
  std::vector<std::string> argv = {program("stripline-run"), "--segment", "16M"};
  argv.insert(argv.end(), kEmulated.begin(), kEmulated.end());
  argv.insert(argv.end(),
              {"--trace", "--model", model_in(folder), "--", program("sweep"), "30", "100"});
  const Finished traced = run_program(argv, 60);
  ASSERT_EQ(traced.exit_code, kExitOk) << traced.err;
  const std::string row = line_with(traced.err, "crossing 0, 64 x 320 B    30       ");
  const size_t pieces = row.find(" pieces, tuned");
  ASSERT_NE(pieces, std::string::npos) << traced.err;
  const size_t count = row.rfind(' ', pieces - 1) + 1;
  const std::string command = line_with(traced.err, "stripline explain sweep ");
  EXPECT_TRUE(command.ends_with(" --kind pipeline --flag-with-data")) << traced.err;
  const std::string bin = std::filesystem::path(program("stripline")).parent_path().string();
  const Finished explained = run_program({"/bin/sh", "-c", "PATH=" + bin + ":$PATH; " + command});
  ASSERT_EQ(explained.exit_code, kExitOk) << explained.err << command;
  const std::string planned = "\nplan: " + row.substr(count, pieces - count) + " pieces of ";
  EXPECT_NE(explained.out.find(planned), std::string::npos) << row << "\n" << explained.out;
}

INSTANTIATE_TEST_SUITE_P(Programs, Examples,
                         ::testing::Values(Example{"reduction", "20000"}, Example{"stencil", "40"},
                                           Example{"redistribution", "5000"},
                                           Example{"histogram", "2000"}),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace stripline::e2e
