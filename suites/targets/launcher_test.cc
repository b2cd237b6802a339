#include "suites/targets/launcher.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/testing/assert_ok.h"
#include "optimizer/targets/registry.h"
#include "suites/targets/adapters/knobs_adapter.h"

namespace stripline::suites::tune {
namespace {

namespace fs = std::filesystem;

// A target whose driver is a shell script, and names files as libfabric's provider shm does.
class Scripted : public VariablesAdapter {
 public:
  explicit Scripted(std::string script) : script_(std::move(script)) {}

  const targets::Target& target() const override { return **targets::find_target("libfabric"); }
  std::string compiler() const override { return "cc"; }
  std::vector<std::string> launch(uint32_t /*ranks*/, const std::string& /*program*/,
                                  const std::vector<std::string>& /*arguments*/) const override {
    return {"sh", "-c", script_};
  }
  Result<Environment> environment(targets::Path /*path*/,
                                  const fs::path& /*folder*/) const override {
    return Environment();
  }
  std::vector<std::string_view> shared_memory_prefixes() const override { return {}; }
  bool names_memory_by_process() const override { return true; }
  Result<std::string> configuration() const override { return std::string(); }

 private:
  std::string script_;
};

Result<Launched> run(const std::string& script) {
  const Scripted adapter(script);
  STRIPLINE_ASSIGN_OR_RETURN(const WorkFolder folder, WorkFolder::create());
  Launcher launcher(adapter, "driver", folder, targets::Path::shared_memory, -1);
  DriverPlan plan;
  return launcher.run(plan, {});
}

// A rank crashes: its process number is the shell's, and another one's begins with the same digits.
constexpr const char* kLeaves =
    "echo \"{\\\"process\\\":$$}\"; : >\"/dev/shm/$$:0:0\"; : >\"/dev/shm/${$}0:0:0\"; ";

TEST(Launcher, FilesOfItsProcessesAreRemovedWhereOneCrashes) {
  for (const bool crashes : {true, false}) {
    const std::string end = crashes ? "exit 9" : "echo '{\"done\":true}'";
    ASSERT_OK_AND_ASSIGN(const auto launched, run(kLeaves + end));
    EXPECT_EQ(launched.failure, crashes ? "exited with code 9" : "");
    ASSERT_EQ(launched.output.processes.size(), 1U);
    const std::string process = std::to_string(launched.output.processes[0]);
    const fs::path own = "/dev/shm/" + process + ":0:0";
    const fs::path other = "/dev/shm/" + process + "0:0:0";
    // What ends well has removed what it does not need any more.
    EXPECT_EQ(fs::exists(own), !crashes);
    EXPECT_TRUE(fs::exists(other));
    fs::remove(own);
    fs::remove(other);
  }
}

}  // namespace
}  // namespace stripline::suites::tune
