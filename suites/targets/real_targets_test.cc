// The targets as Debian 12 has them: exported files are read, and their rules give right results
// for communicators of every size. Skipped where they are not installed (target_packages of
// scripts/common.sh).
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "base/command_output.h"
#include "base/exit_codes.h"
#include "base/json.h"
#include "base/testing/assert_ok.h"
#include "base/testing/processes.h"
#include "base/testing/test_size.h"
#include "optimizer/targets/mpich/mpich.h"
#include "optimizer/targets/registry.h"
#include "optimizer/targets/ucx/ucx.h"
#include "suites/targets/grid.h"
#include "suites/targets/knob_search.h"
#include "suites/targets/launcher.h"
#include "suites/targets/leftovers.h"
#include "suites/targets/owned_files.h"
#include "suites/targets/session.h"

namespace stripline::suites::tune {
namespace {

using targets::Cell;
using targets::Scope;

struct Real {
  const char* target;
  const char* version;
  const char* packages;
  std::set<std::string> unsettable;
  // An alternative that no call of three ranks may get, and that ends one which does.
  Collective fatal_collective;
  const char* fatal;
};

// Ranks are programs that are not instrumented, and take most of the time: where sanitizers look at
// what starts them, as many suffice as start it.
constexpr const char* kTriedRanks = kInstrumented ? "2" : "2,3";

// Segments of 64 KiB are smaller than the second one.
constexpr uint64_t kSizes[] = {1024, 131072};
constexpr double kLaunchLimitS = 200;
constexpr double kTryLimitS = 400;
constexpr double kTuneLimitS = 200;

// The largest number of ranks in 'scripts/check.sh targets', which has minutes; null in other runs.
const char* most_ranks_of_check() {
  return std::getenv("STRIPLINE_TEST_TARGET_RANKS");  // NOLINT(concurrency-mt-unsafe)
}

// Kinds of calls of a cell: all of them where there are minutes, else one, in turns by `at`.
std::vector<CallKind> kinds_to_call(Collective collective, size_t at) {
  const auto kinds = call_kinds(collective, false);
  if (most_ranks_of_check() != nullptr) return kinds;
  return {kinds[at % kinds.size()]};
}

// Numbers of ranks that files have rules for. More than two of them take minutes.
std::vector<uint32_t> ranks_with_rules() {
  const char* const most = most_ranks_of_check();
  if (most == nullptr) return {2, 4};
  std::vector<uint32_t> all;
  for (uint32_t ranks = 2; ranks <= static_cast<uint32_t>(std::atoi(most)); ++ranks) {
    all.push_back(ranks);
  }
  return all;
}

// What this user has set for the targets is not looked at.
void leave_settings_of_user_out(const std::filesystem::path& home) {
  std::vector<std::string> names;
  for (char** one = environ; *one != nullptr; ++one) {
    const std::string_view entry = *one;
    const bool is_setting = entry.starts_with("OMPI_MCA_") || entry.starts_with("MPIR_CVAR_") ||
                            entry.starts_with("UCX_") || entry.starts_with("FI_") ||
                            entry.starts_with("GASNET_");
    if (!is_setting) continue;
    names.emplace_back(entry.substr(0, entry.find('=')));
  }
  for (const std::string& name : names) ::unsetenv(name.c_str());  // NOLINT(concurrency-mt-unsafe)
  ::setenv("HOME", home.c_str(), 1);                               // NOLINT(concurrency-mt-unsafe)
}

class RealTarget : public ::testing::TestWithParam<Real> {
 protected:
  void SetUp() override {
    leave_settings_of_user_out(folder_.path());
    target_ = *targets::find_target(GetParam().target);
    const auto installed = detect(*target_);
    if (!installed.ok() || to_string(installed->version) != GetParam().version) {
      GTEST_SKIP() << target_->title << " " << GetParam().version
                   << " is not installed here: apt-get install " << GetParam().packages;
    }
    auto session = open_session(*target_, false);
    if (!session.ok() && session.error().code() == ErrorCode::not_found) {
      GTEST_SKIP() << session.error().message();
    }
    ASSERT_TRUE(session.ok()) << session.error().message();
    session_.emplace(std::move(*session));
    launcher_.emplace(*session_->adapter, session_->driver.string(), session_->folder,
                      targets::Path::shared_memory, -1);
    launcher_->set_stall_limit(100);
  }

  // Alternatives of a cell beside the default.
  std::vector<Candidate> allowed(const Cell& cell) const {
    std::vector<Candidate> all = target_->candidates(cell.collective);
    std::erase_if(all, [&](const Candidate& one) {
      return one.id == 0 || !targets::refusal(one, cell, {}).empty();
    });
    return all;
  }

  // Rules as a search of these ranks may find them: the alternative of this index, where there are
  // as many.
  Decisions decisions(size_t index) const {
    Decisions result;
    for (const Collective collective : targets::kCollectives) {
      const bool by_size = targets::scope_of(*target_, collective) == Scope::cell;
      std::vector<targets::Choice> choices;
      for (const uint32_t ranks : ranks_with_rules()) {
        for (const uint64_t bytes : kSizes) {
          const Cell cell{collective, ranks, ranks, bytes};
          // One for all sizes has to be allowed for the smallest.
          const auto all = allowed(by_size ? cell : Cell{collective, ranks, ranks, kSizes[0]});
          choices.push_back({cell, all.at(index % all.size())});
        }
      }
      result.rules.push_back(targets::closed_rules(collective, choices, by_size));
    }
    return result;
  }

  std::filesystem::path write(const std::vector<ExportFile>& files) {
    for (const ExportFile& one : files) {
      EXPECT_TRUE(write_atomically(folder_ / one.name, one.text).ok());
    }
    return folder_ / files.front().name;
  }

  // An exported file with such rules.
  std::filesystem::path exported(size_t index) {
    const auto files =
        session_->adapter->files(decisions(index), {}, folder_.path(), {"for a test"});
    EXPECT_TRUE(files.ok()) << files.error().message();
    return write(*files);
  }

  // What goes wrong in a launch with a file; empty: nothing does.
  std::string wrong_with(const std::filesystem::path& file, DriverPlan& plan) {
    const size_t usual = plan.variant({});
    for (DriverCell& cell : plan.cells) cell.variants = {usual};
    const auto environment = session_->adapter->loading(file);
    if (!environment.ok()) return environment.error().message();
    // All kinds are three times as many.
    const double kinds = most_ranks_of_check() != nullptr ? 3 : 1;
    launcher_->end_within(kLaunchLimitS * kinds * ranks_with_rules().back() / 4);
    const auto launched = launcher_->run(plan, *environment);
    if (!launched.ok()) return launched.error().message();
    std::string wrong;
    if (launched->out_of_time) wrong = "it takes too long";
    if (!launched->failure.empty()) wrong = "it " + launched->failure + ": " + launched->said;
    for (const DriverSeries& one : launched->output.series) {
      const DriverCell& cell = plan.cells[one.cell];
      if (one.verified) continue;
      wrong += cell.operation + ", " + std::to_string(cell.ranks) + " ranks, " +
               std::to_string(cell.bytes) + " B, " + cell.type +
               (cell.in_place ? ", in place: " : ": ") + one.note + "\n";
    }
    return wrong;
  }

  TempFolder folder_;
  const targets::Target* target_ = nullptr;
  std::optional<Session> session_;
  std::optional<Launcher> launcher_;
};

TEST_P(RealTarget, ExportedRulesGiveRightResultsForEveryCommunicator) {
  size_t files = 0;
  const uint32_t most_ranks = ranks_with_rules().back();
  for (const Collective collective : targets::kCollectives) {
    for (const uint64_t bytes : kSizes) {
      for (const uint32_t ranks : ranks_with_rules()) {
        files = std::max(files, allowed({collective, ranks, ranks, bytes}).size());
      }
    }
  }
  ASSERT_GE(files, 2U);
  // Calls of each collective, by type and whether they work in place.
  std::map<Collective, std::set<std::pair<std::string, bool>>> calls;
  for (size_t index = 0; index < cases_here(files); ++index) {
    DriverPlan plan{.repetitions = 3, .budget_s = 0.001};
    for (const Collective collective : targets::kCollectives) {
      // All but the largest are of a part of the ranks. No rule is of one, and by default none is
      // of three.
      for (uint32_t ranks = 1; ranks <= most_ranks; ++ranks) {
        for (const uint64_t bytes : kSizes) {
          for (const CallKind& kind :
               kinds_to_call(collective, index + ranks + bytes / kSizes[1])) {
            calls[collective].emplace(kind.type, kind.in_place);
            plan.cells.push_back({.operation = std::string(to_string(collective)),
                                  .ranks = ranks,
                                  .bytes = collective == Collective::barrier ? 0 : bytes,
                                  .type = kind.type,
                                  .in_place = kind.in_place});
          }
          if (collective == Collective::barrier) break;
        }
      }
    }
    EXPECT_EQ(wrong_with(exported(index), plan), "") << "file " << index;
  }
  for (const Collective collective : targets::kCollectives) {
    EXPECT_EQ(calls[collective].size(), call_kinds(collective, false).size())
        << to_string(collective);
  }
}

// Shown by what has no other cause: a call that the file makes fail.
TEST_P(RealTarget, ReadsTheFileThatIsExported) {
  const auto all = target_->candidates(GetParam().fatal_collective);
  const auto fatal = std::ranges::find(all, std::string(GetParam().fatal), &Candidate::name);
  ASSERT_NE(fatal, all.end());
  const Probe probe{{GetParam().fatal_collective, 3, 3, 1024}, *fatal};
  const auto call = [&] {
    DriverPlan plan{.repetitions = 3, .budget_s = 0.001};
    plan.cells.push_back({.operation = std::string(to_string(probe.cell.collective)),
                          .ranks = probe.cell.ranks,
                          .bytes = probe.cell.bytes});
    return plan;
  };
  const auto file = exported(0);
  DriverPlan plan = call();
  EXPECT_EQ(wrong_with(file, plan), "");
  ASSERT_OK_AND_ASSIGN(const auto files,
                       session_->adapter->with_probe(file, probe, folder_.path()));
  const auto probed = write(files);
  plan = call();
  EXPECT_NE(wrong_with(probed, plan), "");
}

// What knobs are looked at by, and programs that nothing is tuned for, with the default.
TEST_P(RealTarget, CarriesOutWhatKnobsAndProgramsNeed) {
  DriverPlan plan{.repetitions = 3, .budget_s = 0.001};
  plan.cells = knob_cells(*target_, {2, 4}, 4);
  for (const char* const name : {"outstanding", "halo", "reports", "sort"}) {
    plan.cells.push_back({.operation = name, .ranks = 3, .bytes = 64});
  }
  const size_t usual = plan.variant({});
  for (DriverCell& cell : plan.cells) cell.variants = {usual};
  launcher_->end_within(kLaunchLimitS);
  ASSERT_OK_AND_ASSIGN(const auto launched, launcher_->run(plan, {}));
  EXPECT_EQ(launched.failure, "") << launched.said;
  EXPECT_EQ(launched.output.series.size(), plan.cells.size());
  for (const DriverSeries& one : launched.output.series) {
    EXPECT_TRUE(one.verified) << plan.cells[one.cell].operation << ": " << one.note;
  }
}

TEST_P(RealTarget, NamesWhatCannotBeSet) {
  launcher_->end_within(kLaunchLimitS);
  ASSERT_OK_AND_ASSIGN(const auto found, unsettable_variables(*launcher_));
  EXPECT_EQ(found, GetParam().unsettable);
  ASSERT_OK_AND_ASSIGN(const auto knobs, session_->adapter->unsettable({{"btl_tcp_links", "2"}}));
  EXPECT_TRUE(knobs.empty());
  // The table has the defaults that are installed.
  ASSERT_OK_AND_ASSIGN(const auto differences, session_->adapter->differences());
  EXPECT_TRUE(differences.empty()) << differences.front();
}

TEST_P(RealTarget, EveryAlternativeThatRulesMayNameIsRight) {
  Program trying(folder_, "try",
                 {program("stripline-tune"), "try", GetParam().target, "--ranks", kTriedRanks,
                  "--stall", "100"});
  // Where it is asked to end, it ends the ranks of its launch.
  if (!trying.process().wait(kTryLimitS).ok()) trying.process().terminate(20);
  const Finished tried = trying.finish(0);
  EXPECT_EQ(tried.exit_code, kExitOk) << tried.err << tried.out;
  for (const std::string& name : GetParam().unsettable) {
    EXPECT_NE(tried.out.find(name + " cannot be set"), std::string::npos) << tried.out;
  }
}

// As a whole, in little time: whatever it finds here, its record says so, and what is exported was
// validated and seen to be read.
TEST_P(RealTarget, IsTunedFromBeginningToEnd) {
  const auto out = folder_ / "tuned";
  Program tuning(folder_, "tune",
                 {program("stripline-tune"), GetParam().target, "--ranks", "2", "--minutes", "0.7",
                  "--collectives", "allreduce,bcast", "--most-bytes", "4096", "--stall", "100",
                  "--output", out.string()});
  if (!tuning.process().wait(kTuneLimitS).ok()) tuning.process().terminate(20);
  const Finished tuned = tuning.finish(0);
  // 6: there was no time for a proof, as on a host where builds go on. Nothing is exported then.
  if (tuned.exit_code == kExitTimeout) {
    EXPECT_TRUE(!std::filesystem::exists(out) || std::filesystem::is_empty(out)) << tuned.err;
    return;
  }
  ASSERT_TRUE(tuned.exit_code == kExitOk || tuned.exit_code == kExitFailure) << tuned.err;
  ASSERT_OK_AND_ASSIGN(const Json record, read_json_file(out / kRecordName));
  EXPECT_EQ(record["version"], GetParam().version);
  EXPECT_TRUE(record["rejected"].empty()) << record["rejected"].dump();
  // 8 B, 128 B, 2 KiB and 4 KiB of two collectives, and sizes between them.
  EXPECT_GE(record["cells"].size(), 6U) << record["cells"].dump();
  EXPECT_FALSE(record["knobs"].empty());
  const bool validated = record["validated"].get<bool>();
  EXPECT_EQ(record["files"].empty(), !validated);
  for (const auto& [name, hash] : record["files"].items()) {
    EXPECT_TRUE(std::filesystem::exists(out / name)) << name;
  }
  for (const Json& proof : record["proofs"]) EXPECT_GE(proof["factor"].get<double>(), 1.2);
  if (!validated) {
    EXPECT_NE(tuned.out.find("Keep the default: "), std::string::npos) << tuned.out;
    EXPECT_TRUE(record["proofs"].empty());
  }
}

// Targets that have knobs alone.
class RealDriver : public ::testing::TestWithParam<const char*> {};

TEST_P(RealDriver, CarriesOutWhatKnobsAndProgramsNeed) {
  TempFolder folder;
  leave_settings_of_user_out(folder.path());
  const targets::Target& target = **targets::find_target(GetParam());
  const auto session = open_session(target, true);
  if (!session.ok() && session.error().code() == ErrorCode::not_found) {
    GTEST_SKIP() << session.error().message();
  }
  ASSERT_TRUE(session.ok()) << session.error().message();
  // The files of libfabric's provider shm begin with the number of a process.
  const std::vector<std::string_view> digits = {"1", "2", "3", "4", "5", "6", "7", "8", "9"};
  const auto files_before = shared_memory_files(digits);
  for (const targets::Path path : {targets::Path::shared_memory, targets::Path::tcp}) {
    Launcher launcher(*session->adapter, session->driver.string(), session->folder, path, -1);
    launcher.set_stall_limit(100);
    for (const uint32_t ranks : {2U, 3U}) {
      if (kInstrumented && ranks > 2) continue;
      DriverPlan plan{.repetitions = 3, .budget_s = 0.001};
      plan.cells = knob_cells(target, {ranks}, ranks);
      for (const char* const name : {"outstanding", "halo", "sort"}) {
        plan.cells.push_back({.operation = name, .ranks = ranks, .bytes = 8192});
      }
      const size_t usual = plan.variant({});
      for (DriverCell& cell : plan.cells) cell.variants = {usual};
      launcher.end_within(kLaunchLimitS);
      ASSERT_OK_AND_ASSIGN(const auto launched, launcher.run(plan, {}));
      EXPECT_EQ(launched.failure, "") << launched.said;
      EXPECT_EQ(launched.output.series.size(), plan.cells.size());
      for (const DriverSeries& one : launched.output.series) {
        EXPECT_TRUE(one.verified) << plan.cells[one.cell].operation << ": " << one.note;
      }
    }
  }
  EXPECT_EQ(shared_memory_files(digits), files_before);
}

INSTANTIATE_TEST_SUITE_P(OfDebian, RealDriver, ::testing::Values("oshmem", "libfabric", "ucx"),
                         [](const auto& info) { return std::string(info.param); });
// scripts/build_gasnet.sh, with PKG_CONFIG_PATH.
INSTANTIATE_TEST_SUITE_P(OfItsRepository, RealDriver, ::testing::Values("gasnet"),
                         [](const auto& info) { return std::string(info.param); });

TEST(RealMpich, NumbersOfAlgorithmsAreReadFromItsDescriptions) {
  const auto installed = detect(mpich_adapter().target());
  if (!installed.ok() || to_string(installed->version) != "4.0.2") {
    GTEST_SKIP() << "MPICH 4.0.2 is not installed here: apt-get install mpich";
  }
  ASSERT_OK_AND_ASSIGN(const auto variables, output_of({"mpivars"}));
  const targets::Renumbering found = targets::mpich::renumbering(variables);
  EXPECT_TRUE(found.numbers.empty());
  EXPECT_TRUE(found.unknown.empty());
}

TEST(RealUcx, ReadsTheFileThatIsExportedAndHasTheDefaultsOfTheTable) {
  TempFolder folder;
  leave_settings_of_user_out(folder.path());
  const targets::Target& target = ucx_adapter().target();
  const auto installed = detect(target);
  if (!installed.ok() || to_string(installed->version) != "1.13.1") {
    GTEST_SKIP() << "UCX 1.13.1 is not installed here: apt-get install ucx-utils";
  }
  ASSERT_OK_AND_ASSIGN(const auto files,
                       ucx_adapter().files({.settings = {{"UCX_RNDV_THRESH", "8192"}}}, {},
                                           folder.path(), {"for a test"}));
  std::filesystem::create_directory(folder / "export");
  const auto file = folder / "export" / files.front().name;
  ASSERT_TRUE(write_atomically(file, files.front().text).ok());
  ASSERT_OK_AND_ASSIGN(const auto loading, ucx_adapter().loading(file));
  ASSERT_OK_AND_ASSIGN(const auto with, output_of({"ucx_info", "-c"}, 30, loading));
  EXPECT_NE(with.find("\nUCX_RNDV_THRESH=8K\n"), std::string::npos);

  ASSERT_OK_AND_ASSIGN(const auto listed, output_of({"ucx_info", "-c", "-f"}));
  EXPECT_TRUE(targets::ucx::read_conf(listed, "what UCX lists").ok());
  ASSERT_OK_AND_ASSIGN(const auto usual, output_of({"ucx_info", "-c"}));
  for (const targets::Knob& knob : target.knobs) {
    // Variables of one program have a prefix, and are listed without it.
    constexpr std::string_view kOfOpenMpi = "UCX_MPI_";
    const std::string name = knob.name.starts_with(kOfOpenMpi)
                                 ? "UCX_" + std::string(knob.name.substr(kOfOpenMpi.size()))
                                 : std::string(knob.name);
    const std::string line = "\n" + name + "=" + std::string(knob.default_value) + "\n";
    EXPECT_NE(("\n" + usual).find(line), std::string::npos) << line;
  }
  ASSERT_OK_AND_ASSIGN(const auto unsettable,
                       ucx_adapter().unsettable({{"UCX_RNDV_THRESH", "1"}, {"UCX_NONE", "1"}}));
  EXPECT_EQ(unsettable, (std::set<std::string>{"UCX_NONE"}));
}

INSTANTIATE_TEST_SUITE_P(OfDebian, RealTarget,
                         ::testing::Values(Real{"openmpi",
                                                "4.1.4",
                                                "openmpi-bin libopenmpi-dev",
                                                {"coll_tuned_allgatherv_algorithm"},
                                                Collective::alltoall,
                                                "two_proc"},
                                           Real{"mpich",
                                                "4.0.2",
                                                "mpich libmpich-dev",
                                                {},
                                                Collective::allgather,
                                                "recursive_doubling"}),
                         [](const auto& info) { return std::string(info.param.target); });

}  // namespace
}  // namespace stripline::suites::tune
