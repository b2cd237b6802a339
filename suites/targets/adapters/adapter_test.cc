// What adapters take from PATH and from the environment.
#include "suites/targets/adapters/adapter.h"

#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "base/testing/assert_ok.h"
#include "base/testing/processes.h"
#include "optimizer/targets/mpich/mpich.h"
#include "optimizer/targets/mpich/selection_file.h"
#include "optimizer/targets/openmpi/rules_file.h"

namespace stripline::suites::tune {
namespace {

class AdapterHere : public ::testing::Test {
 protected:
  void SetUp() override {
    former_ = std::getenv("PATH");                 // NOLINT(concurrency-mt-unsafe)
    const char* const home = std::getenv("HOME");  // NOLINT(concurrency-mt-unsafe)
    former_home_ = home == nullptr ? "" : home;
    ::setenv("PATH", folder_.path().c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
  }
  void TearDown() override {
    ::setenv("PATH", former_.c_str(), 1);       // NOLINT(concurrency-mt-unsafe)
    ::setenv("HOME", former_home_.c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
  }

  void add_command(const std::string& name) {
    ASSERT_TRUE(write_atomically(folder_ / name, "#!/bin/sh\n").ok());
    std::filesystem::permissions(folder_ / name, std::filesystem::perms::owner_all);
  }

  TempFolder folder_;
  std::string former_;
  std::string former_home_;
};

TEST_F(AdapterHere, TakesTheCompilerOfTheMpiThatStartsPrograms) {
  add_command("mpicc");
  const Adapter& openmpi = openmpi_adapter();
  EXPECT_EQ(openmpi.compiler(), "mpicc");
  EXPECT_EQ(openmpi.launch(2, "program", {}).front(), "mpirun");
  EXPECT_EQ(mpich_adapter().compiler(), "mpicc");
  EXPECT_EQ(mpich_adapter().launch(2, "program", {}).front(), "mpiexec.hydra");
  // Their development packages are missing: "mpicc" is of another MPI.
  add_command("mpirun.openmpi");
  add_command("mpiexec.mpich");
  EXPECT_EQ(openmpi.compiler(), "mpicc.openmpi");
  EXPECT_EQ(openmpi.launch(2, "program", {}).front(), "mpirun.openmpi");
  EXPECT_EQ(mpich_adapter().compiler(), "mpicc.mpich");
  EXPECT_EQ(mpich_adapter().launch(2, "program", {}).front(), "mpiexec.mpich");
}

TEST_F(AdapterHere, TakesTheCommandsBesideThatWhichPrintsTheVersion) {
  // Debian's, and behind it in PATH one that was built by hand; then the other order.
  std::filesystem::create_directory(folder_ / "debian");
  std::filesystem::create_directory(folder_ / "own");
  for (const char* name : {"debian/ompi_info", "debian/mpirun.openmpi", "debian/mpichversion",
                           "debian/mpiexec.mpich", "own/ompi_info", "own/mpichversion"}) {
    add_command(name);
  }
  const auto in = [&](const char* first, const char* second) {
    const std::string path = (folder_ / first).string() + ":" + (folder_ / second).string();
    ::setenv("PATH", path.c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
  };
  in("debian", "own");
  EXPECT_EQ(openmpi_adapter().compiler(), "mpicc.openmpi");
  EXPECT_EQ(mpich_adapter().compiler(), "mpicc.mpich");
  in("own", "debian");
  EXPECT_EQ(openmpi_adapter().compiler(), "mpicc");
  EXPECT_EQ(openmpi_adapter().launch(2, "program", {}).front(), "mpirun");
  EXPECT_EQ(mpich_adapter().compiler(), "mpicc");
}

TEST_F(AdapterHere, RanksThatMustNotShareMemoryAreOnANodeEach) {
  for (const Adapter* const one : {&mpich_adapter(), &gasnet_adapter()}) {
    EXPECT_TRUE(one->is_one_node(targets::Path::shared_memory));
    EXPECT_FALSE(one->is_one_node(targets::Path::tcp));
  }
  EXPECT_TRUE(openmpi_adapter().is_one_node(targets::Path::tcp));
}

TEST_F(AdapterHere, GasnetIsTakenWithTheConduitThatIsThere) {
  const Adapter& gasnet = gasnet_adapter();
  // No pkg-config, which is one that knows no library: the conduit for one node.
  EXPECT_EQ(gasnet.launch(3, "program", {"plan"}),
            (std::vector<std::string>{"env", "GASNET_PSHM_NODES=3", "program", "plan"}));
  EXPECT_FALSE(gasnet.libraries().ok());
  EXPECT_FALSE(gasnet.environment(targets::Path::tcp, folder_.path()).ok());
  EXPECT_EQ(*gasnet.unsettable({{"GASNET_NETWORKDEPTH", "8"}, {"GASNET_BARRIER", "AMDISSEM"}}),
            (std::set<std::string>{"GASNET_NETWORKDEPTH"}));
  const std::string script = "#!/bin/sh\necho '-I/opt/gasnet -lgasnet-udp-par'\n";
  ASSERT_TRUE(write_atomically(folder_ / "pkg-config", script).ok());
  std::filesystem::permissions(folder_ / "pkg-config", std::filesystem::perms::owner_all);
  EXPECT_EQ(gasnet.launch(3, "program", {"plan"}),
            (std::vector<std::string>{"amudprun", "-np", "3", "program", "plan"}));
  const auto libraries = gasnet.libraries();
  ASSERT_TRUE(libraries.ok()) << libraries.error().message();
  EXPECT_EQ(*libraries, (std::vector<std::string>{"-std=gnu99", "-I/opt/gasnet", "-lgasnet-udp-par",
                                                  "-lstdc++"}));
  const auto variables = gasnet.environment(targets::Path::tcp, folder_.path());
  ASSERT_TRUE(variables.ok()) << variables.error().message();
  EXPECT_EQ(variables->at("GASNET_SUPERNODE_MAXSIZE"), "1");
  EXPECT_TRUE(gasnet.unsettable({{"GASNET_NETWORKDEPTH", "8"}})->empty());
  EXPECT_FALSE(gasnet.unsettable({{"GASNET_OFI_MAX_MEDIUM", "4096"}})->empty());
}

// Before it is installed: MPICH aborts on what its installed version does not know.
TEST_F(AdapterHere, TheSelectionThatAFileOfMpichNamesIsRead) {
  namespace mpich = targets::mpich;
  const std::string script = "#!/bin/sh\necho 'MPICH Version: 4.0.2'\n";
  ASSERT_TRUE(write_atomically(folder_ / "mpichversion", script).ok());
  std::filesystem::permissions(folder_ / "mpichversion", std::filesystem::perms::owner_all);
  const auto file = folder_ / "stripline-mpich.env";
  const auto selection_file = folder_ / "selection.json";
  ASSERT_TRUE(write_atomically(file, "export " + std::string(mpich::kSelectionVariable) + "=" +
                                         selection_file.string() + "\n")
                  .ok());
  mpich::Selection selection = mpich::Selection::object();
  for (const std::string_view name : mpich::all_collectives()) {
    std::string algorithm = "algorithm=MPIR_" + std::string(name) + "_a";
    const size_t first = algorithm.find('_') + 1;
    algorithm[first] = static_cast<char>(std::toupper(algorithm[first]));
    selection["collective=" + std::string(name)][algorithm] = mpich::Selection::object();
  }
  const auto complaints = [&] {
    EXPECT_TRUE(write_atomically(selection_file, mpich::write_selection(selection)).ok());
    return mpich_adapter().complaints(file, {}, file);
  };
  const auto good = complaints();
  ASSERT_TRUE(good.ok()) << good.error().message();
  EXPECT_TRUE(good->empty());
  // What beats it is named: the variable of an algorithm, or another file.
  for (const auto& [name, value] : {std::pair("MPIR_CVAR_BCAST_INTRA_ALGORITHM", "binomial"),
                                    std::pair(mpich::kSelectionVariable, "/other.json")}) {
    ::setenv(name, value, 1);  // NOLINT(concurrency-mt-unsafe)
    const auto beaten = complaints();
    ::unsetenv(name);  // NOLINT(concurrency-mt-unsafe)
    ASSERT_TRUE(beaten.ok()) << beaten.error().message();
    ASSERT_EQ(beaten->size(), 1U);
    EXPECT_EQ(beaten->front().find(std::string(name) + " is set to '" + value + "'"), 0U)
        << beaten->front();
  }
  selection.erase("collective=iscan");
  const auto bad = complaints();
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().code(), ErrorCode::data_loss);
  EXPECT_NE(bad.error().message().find("iscan"), std::string::npos) << bad.error().message();
}

TEST_F(AdapterHere, AProbeOfASettingLeavesRulesAsTheyAre) {
  const auto write = [&](const std::vector<ExportFile>& files) {
    for (const ExportFile& one : files) {
      EXPECT_TRUE(write_atomically(folder_ / one.name, one.text).ok());
    }
  };
  targets::Candidate binomial;
  for (const auto& one : openmpi_adapter().target().candidates(Collective::bcast)) {
    if (one.name == "binomial") binomial = one;
  }
  const targets::CollectiveRules bcast{Collective::bcast, {{4, {{8, 128, binomial}}}}};
  ASSERT_OK_AND_ASSIGN(const auto rules, targets::openmpi::rules_file({bcast}, targets::Safety()));
  const std::string text = targets::openmpi::write_rules(rules, {});
  const auto file = folder_ / "stripline-mca-params.conf";
  const std::string rules_path = (folder_ / "stripline-rules.conf").string();
  const std::string names_rules =
      "coll_tuned_use_dynamic_rules = 1\ncoll_tuned_dynamic_rules_filename = " + rules_path + "\n";
  write({{file.filename().string(), "btl_vader_eager_limit = 8192\n" + names_rules},
         {"stripline-rules.conf", text}});
  const Probe probe{.cell = {Collective::allreduce, 2, 2, 8},
                    .setting = targets::Setting{"btl_vader_eager_limit", "1024"},
                    .operation = "latency"};
  ASSERT_OK_AND_ASSIGN(const auto probed,
                       openmpi_adapter().with_probe(file, probe, folder_.path()));
  ASSERT_EQ(probed.size(), 2U);
  EXPECT_EQ(probed[0].text, "btl_vader_eager_limit = 1024\n" + names_rules);
  EXPECT_EQ(probed[1].text, text);
  // Without rules none are added.
  write({{file.filename().string(), "btl_vader_fbox_size = 16384\n"}});
  ASSERT_OK_AND_ASSIGN(const auto alone, openmpi_adapter().with_probe(file, probe, folder_.path()));
  ASSERT_EQ(alone.size(), 1U);
  EXPECT_EQ(alone[0].text, "btl_vader_fbox_size = 16384\nbtl_vader_eager_limit = 1024\n");

  const auto variables = folder_ / "stripline-mpich.env";
  write({{variables.filename().string(), "export MPIR_CVAR_ALLTOALL_THROTTLE=4\n"}});
  const Probe variable{.cell = {Collective::allreduce, 2, 2, 8},
                       .setting = targets::Setting{"MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM", "nb"},
                       .operation = "allreduce"};
  ASSERT_OK_AND_ASSIGN(const auto sourced,
                       mpich_adapter().with_probe(variables, variable, folder_.path()));
  ASSERT_EQ(sourced.size(), 1U);
  EXPECT_NE(sourced[0].text.find("export MPIR_CVAR_ALLTOALL_THROTTLE=4\n"), std::string::npos);
  EXPECT_NE(sourced[0].text.find("export MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM=nb\n"),
            std::string::npos);
}

TEST_F(AdapterHere, AnMpichOnUcxIsConfiguredByItsFileToo) {
  ::setenv("HOME", folder_.path().c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
  const auto changes_with_file = [&](const char* device) {
    const std::string script = std::string("#!/bin/sh\necho 'MPICH Device: ") + device + "'\n";
    EXPECT_TRUE(write_atomically(folder_ / "mpichversion", script).ok());
    std::filesystem::permissions(folder_ / "mpichversion", std::filesystem::perms::owner_all);
    std::filesystem::remove(folder_ / "ucx.conf");
    const auto before = mpich_adapter().configuration();
    EXPECT_TRUE(write_atomically(folder_ / "ucx.conf", "UCX_RNDV_THRESH=8192\n").ok());
    const auto after = mpich_adapter().configuration();
    EXPECT_TRUE(before.ok() && after.ok());
    return before.ok() && after.ok() && *before != *after;
  };
  EXPECT_TRUE(changes_with_file("ch4:ucx"));
  EXPECT_FALSE(changes_with_file("ch4:ofi"));
}

TEST_F(AdapterHere, MpichIsNotMeasuredWithSettingsOfTheEnvironment) {
  const auto environment = [&] {
    return mpich_adapter().environment(targets::Path::any, folder_.path());
  };
  EXPECT_TRUE(environment().ok());
  for (const char* name :
       {"MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE", "MPIR_CVAR_BCAST_SHORT_MSG_SIZE"}) {
    ::setenv(name, "4096", 1);  // NOLINT(concurrency-mt-unsafe)
    const auto refused = environment();
    ::unsetenv(name);  // NOLINT(concurrency-mt-unsafe)
    ASSERT_FALSE(refused.ok()) << name;
    EXPECT_EQ(refused.error().code(), ErrorCode::failed_precondition);
    EXPECT_NE(refused.error().message().find(name), std::string::npos) << refused.error().message();
    EXPECT_NE(refused.error().message().find("stripline-mpich.env"), std::string::npos);
  }
}

}  // namespace
}  // namespace stripline::suites::tune
