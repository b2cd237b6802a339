// Programs as users write them (tests/programs) take no longer with a model than without one, on
// emulated networks, whose clock is exact; hardly longer with the model of another network; and the
// guard takes no more than it promises. scripts/check_programs.sh does the same with models of
// campaigns, on real networks, too.
#include <array>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/exit_codes.h"
#include "base/json.h"
#include "base/whole_file.h"
#include "optimizer/model/model_fixture.h"
#include "optimizer/model/model_json.h"
#include "runtime/loop/testing/exact_costs.h"
#include "tests/e2e/processes.h"

namespace stripline::e2e {
namespace {

// What may be known of a network without measuring it.
std::string model_of(const TempFolder& folder, const std::string& network) {
  const std::string fabric = "emulated:" + network;
  const auto profile = fabric::resolve_profile(fabric);
  EXPECT_TRUE(profile.ok());
  model::TunedModel m = model::example_model();
  m.fingerprint.clear();
  m.pack = model::example_pack();
  m.compute.reset();
  model::PathModel path = exact_path(fabric);
  path.am = exactly(profile->profile.am, profile->profile.queue_depth);
  m.network["inter-node"] = path;
  m.strip = exact_strip(fabric);
  std::string file = (folder / (network + ".json")).string();
  EXPECT_TRUE(model::save_model(m, file).ok());
  return file;
}

struct Outcome {
  double seconds = 0;
  double share = 0;  // of the guard
};

Outcome run(const TempFolder& folder, const std::string& network, const std::string& name,
            const std::string& steps, const std::string& model) {
  const std::string report = (folder / "report.json").string();
  std::vector<std::string> argv = {program("stripline-run"),
                                   "-n",
                                   "4",
                                   "--fabric",
                                   "emulated:" + network + ",compute=declared,jitter=off",
                                   "--clock",
                                   "virtual",
                                   "--segment",
                                   "16M"};
  if (!model.empty()) argv.insert(argv.end(), {"--model", model, "--report", report});
  argv.insert(argv.end(), {"--", program(name), steps});
  const Finished finished = run_program(argv, 120);
  EXPECT_EQ(finished.exit_code, kExitOk) << finished.out << finished.err;
  Outcome outcome;
  const size_t at = finished.out.find("steps, ");
  if (at != std::string::npos) outcome.seconds = std::stod(finished.out.substr(at + 7));
  EXPECT_NE(finished.out.find(": right,"), std::string::npos) << finished.out;
  if (model.empty()) return outcome;
  const auto text = read_whole_file(report);
  EXPECT_TRUE(text.ok());
  if (text.ok()) outcome.share = Json::parse(*text)["guard"]["share"].get<double>();
  return outcome;
}

// Sanitizers look at the same code in few steps as in many.
#ifdef __SANITIZE_ADDRESS__
constexpr std::array kSteps = {"30"};
#else
constexpr std::array kSteps = {"30", "200"};
#endif

class Programs : public ::testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(All, Programs,
                         ::testing::Values("pagerank", "transpose", "heat", "histogram", "matvec"),
                         [](const auto& of) { return of.param; });

TEST_P(Programs, AreLeftAloneByDebugMode) {
  for (const char* same_node : {"network", "mapped"}) {
    const Finished checked =
        run_program({program("stripline-run"), "-n", "4", "--fabric", "tcp", "--same-node",
                     same_node, "--segment", "16M", "--debug", "--", program(GetParam()), "10"},
                    120);
    EXPECT_EQ(checked.exit_code, kExitOk) << same_node << ": " << checked.err;
    EXPECT_NE(checked.out.find(": right,"), std::string::npos) << checked.out;
  }
}

TEST_P(Programs, TakeNoLongerWithAModel) {
  const TempFolder folder;
  const std::vector<std::string> networks = {"cloud-ethernet", "opteron-vapi"};
  for (size_t i = 0; i < networks.size(); ++i) {
    const std::string right = model_of(folder, networks[i]);
    const std::string wrong = model_of(folder, networks[1 - i]);
    for (const char* steps : kSteps) {
      const Outcome without = run(folder, networks[i], GetParam(), steps, "");
      const Outcome with = run(folder, networks[i], GetParam(), steps, right);
      const Outcome astray = run(folder, networks[i], GetParam(), steps, wrong);
      const std::string what = networks[i] + ", " + steps + " steps";
      EXPECT_LE(with.seconds, 1.02 * without.seconds) << what;
      EXPECT_LE(astray.seconds, 1.05 * without.seconds) << what;
      EXPECT_LE(with.share, 0.01) << what;
    }
  }
}

}  // namespace
}  // namespace stripline::e2e
