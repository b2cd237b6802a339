// stripline-tune from beginning to end, with programs that stand for Open MPI, UCX and GASNet-EX
// (testing/fake_*.py) and make times up, so that what is found does not depend on this host.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/exit_codes.h"
#include "base/json.h"
#include "base/json_channel.h"
#include "base/packed_export.h"
#include "base/sha256.h"
#include "base/subprocess.h"
#include "base/testing/assert_ok.h"
#include "base/testing/processes.h"
#include "optimizer/experiment/json.h"
#include "optimizer/experiment/tuning.h"

namespace stripline {
namespace {

namespace fs = std::filesystem;

class Tune : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* const source =
        std::getenv("STRIPLINE_TEST_SOURCE");  // NOLINT(concurrency-mt-unsafe)
    if (source == nullptr) GTEST_SKIP() << "STRIPLINE_TEST_SOURCE is not set";
    fs::create_directory(folder_ / "bin");
    fs::create_directory(home());
    fs::create_directory(site());
    for (const char* name : {"ompi_info", "mpicc.openmpi", "mpirun.openmpi"}) {
      fs::create_symlink(fs::path(source) / "suites/targets/testing/fake_openmpi.py",
                         folder_ / "bin" / name);
    }
    for (const char* name : {"ucx_info", "mpichversion", "mpicc.mpich", "mpiexec.mpich",
                             "oshmem_info", "oshcc", "oshrun"}) {
      fs::create_symlink(fs::path(source) / "suites/targets/testing/fake_ucx.py",
                         folder_ / "bin" / name);
    }
  }

  Finished run(std::vector<std::string> arguments, const std::string& wrongs = {}) {
    arguments.insert(arguments.begin(), program("stripline-tune"));
    return run_here(std::move(arguments), wrongs);
  }
  Finished run_doctor(const std::string& wrongs = {}) {
    return run_here({program("stripline-doctor"), "--fabric", "tcp"}, wrongs);
  }

  Finished run_here(std::vector<std::string> argv, const std::string& wrongs = {}) {
    return run_program(std::move(argv), 300, environment(wrongs));
  }
  std::map<std::string, std::string> environment(const std::string& wrongs) const {
    const char* const path = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe)
    return {{"PATH", (folder_ / "bin").string() + ":" + (path == nullptr ? "" : path)},
            {"FAKE_OPENMPI", wrongs},
            {"FAKE_UCX", wrongs},
            {"FAKE_GASNET", wrongs},
            {"FAKE_SITE", site().string()},
            {"HOME", home().string()},
            {"XDG_STATE_HOME", (folder_ / "state").string()}};
  }
  // The last export that is listed.
  Json listed_export(const std::string& wrongs = {}) {
    std::istringstream lines(run({"list", "--json"}, wrongs).out);
    Json found;
    for (std::string line; std::getline(lines, line);) {
      const Json json = Json::parse(line);
      if (json.contains("export")) found = json;
    }
    return found;
  }

  // Only what is to hang is given up soon: a busy host may keep any launch from printing.
  Finished tune(const std::string& wrongs = {}, std::vector<std::string> more = {},
                const std::string& stall = "100", const std::string& minutes = "1") {
    std::vector<std::string> arguments = {
        "openmpi",       "--ranks", ranks_,         "--minutes", minutes,
        "--collectives", "bcast",   "--most-bytes", "4096",      "--output",
        out().string(),  "--stall", stall};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments, wrongs);
  }

  Finished verify(const fs::path& file, const std::string& wrongs = {}) {
    return run({"export", "verify", file.string(), "--minutes", "1"}, wrongs);
  }

  // What tuning exports, in out(). It is measured once for all tests, and packed for the others.
  void make_export() {
    static std::string packed;
    const auto pack = (folder_ / "export.json").string();
    if (packed.empty()) {
      const Finished tuned = tune();
      ASSERT_EQ(tuned.exit_code, kExitOk) << tuned.err << tuned.out;
      ASSERT_EQ(run({"export", "pack", params().string(), "--output", pack}).exit_code, kExitOk);
      packed = read_file(pack);
    } else {
      std::ofstream(pack) << packed;
      const Finished unpacked = run({"export", "unpack", pack, "--output", out().string()});
      ASSERT_EQ(unpacked.exit_code, kExitOk) << unpacked.err;
    }
  }

  // The same settings in files with another first line, unpacked over what is in out().
  void make_another_export() {
    const auto pack = folder_ / "another.json";
    ASSERT_EQ(run({"export", "pack", params().string(), "--output", pack.string()}).exit_code,
              kExitOk);
    Json whole = *read_json_file(pack);
    for (auto& [name, text] : whole["files"].items()) {
      std::string changed = text.get<std::string>();
      changed.insert(changed.find('\n'), ", once more");
      whole["record"]["files"][name] = sha256_hex(changed);
      text = changed;
    }
    std::ofstream(pack) << whole.dump();
    const Finished unpacked = run({"export", "unpack", pack.string(), "--output", out().string()});
    ASSERT_EQ(unpacked.exit_code, kExitOk) << unpacked.err;
  }

  fs::path home() const { return folder_ / "home"; }
  fs::path site() const { return folder_ / "site"; }
  fs::path installed() const { return home() / ".openmpi/mca-params.conf"; }
  fs::path out() const { return folder_ / "out"; }
  fs::path params() const { return out() / "stripline-mca-params.conf"; }
  std::string rules() const { return read_file(out() / "stripline-rules.conf"); }
  Json record() const { return *read_json_file(out() / "stripline-export.json"); }

  TempFolder folder_;
  std::string ranks_ = "2,4";
};

TEST_F(Tune, ExportsWhatIsFasterAndProvesThatItIsRead) {
  ASSERT_NO_FATAL_FAILURE(make_export());
  EXPECT_NE(rules().find("# Written by Stripline"), std::string::npos);
  // Binomial trees from 8 to 128 bytes, for both numbers of ranks, and nothing else.
  EXPECT_NE(rules().find("\n8 6 0 0 "), std::string::npos) << rules();
  EXPECT_NE(rules().find("bcast, 4 ranks, 8 B to "), std::string::npos) << rules();
  const Json kept = record();
  EXPECT_TRUE(kept["validated"].get<bool>());
  EXPECT_EQ(kept["version"], "4.1.4");
  EXPECT_GT(kept["proof"]["factor"].get<double>(), 3.0);
  for (const Json& cell : kept["cells"]) {
    EXPECT_EQ(cell["chosen"], cell["bytes"] < 1024 ? "binomial" : "default") << cell.dump();
  }
  // Neither the default nor the tuned settings take longer for a smaller message here.
  EXPECT_TRUE(kept["violations"].empty()) << kept["violations"].dump();
  EXPECT_TRUE(kept["tuned_violations"].empty()) << kept["tuned_violations"].dump();
  const Finished verified = verify(params());
  EXPECT_EQ(verified.exit_code, kExitOk) << verified.err << verified.out;
  EXPECT_NE(verified.out.find("Read by the target"), std::string::npos) << verified.out;
  // Nothing was searched.
  EXPECT_EQ(verified.out.find("cells in"), std::string::npos) << verified.out;
}

TEST_F(Tune, PredictionsBetweenNumbersOfRanksAreValidated) {
  // Few hosts have as many processors as lie between these.
  ranks_ = "70,72";
  const Finished tuned = tune();
  ASSERT_EQ(tuned.exit_code, kExitOk) << tuned.err << tuned.out;
  EXPECT_NE(rules().find("bcast of 71 ranks"), std::string::npos) << rules();
  const Finished slower = tune("between", {"--seed", "2"});
  EXPECT_EQ(slower.exit_code, kExitOk) << slower.err << slower.out;
  EXPECT_NE(slower.err.find("bcast: no predictions"), std::string::npos) << slower.err;
  EXPECT_NE(rules().find("bcast, 72 ranks, 8 B to "), std::string::npos) << rules();
  EXPECT_EQ(rules().find("of 71 ranks"), std::string::npos) << rules();
  // What is not exported has no part in the result.
  for (const Json& check : record()["checks"]) EXPECT_NE(check["ranks"], 71) << check.dump();
}

TEST_F(Tune, ASweepMeasuresEveryAlternativeInEveryRun) {
  const Finished swept = run({"sweep", "openmpi", "--ranks", "4", "--collectives", "bcast",
                              "--most-bytes", "4096", "--runs", "3", "--stall", "100"},
                             "abort");
  ASSERT_EQ(swept.exit_code, kExitOk) << swept.err;
  std::map<std::string, Json> small;
  std::istringstream lines(swept.out);
  for (std::string line; std::getline(lines, line);) {
    const Json json = Json::parse(line);
    if (json["bytes"] == 8) small[json["candidate"].get<std::string>()] = json;
  }
  for (const char* name : {"default", "basic_linear", "binomial"}) {
    ASSERT_TRUE(small.contains(name)) << swept.out;
    EXPECT_EQ(small[name]["times_s"].size(), 3U);
    EXPECT_EQ(small[name]["failure"], "");
    for (const Json& time : small[name]["times_s"]) {
      EXPECT_TRUE(time.is_number() && time > 0) << name << " of " << swept.out << swept.err;
    }
  }
  EXPECT_EQ(small["chain"]["failure"], "exited with code 9");
  EXPECT_LT(small["binomial"]["times_s"][0], small["default"]["times_s"][0]);
}

TEST_F(Tune, AFileThatIsNotReadIsNotASuccess) {
  ASSERT_NO_FATAL_FAILURE(make_export());
  const Json before = record();
  const Finished tuned = tune("unread", {"--seed", "2"});
  EXPECT_EQ(tuned.exit_code, kExitBadInput);
  EXPECT_NE(tuned.err.find("does not read"), std::string::npos) << tuned.err;
  // What was validated before is not touched: neither its record nor, as verify says, its files.
  EXPECT_EQ(record(), before);
  const Finished verified = verify(params(), "unread");
  EXPECT_EQ(verified.exit_code, kExitBadInput);
  EXPECT_NE(verified.err.find("does not read"), std::string::npos) << verified.err;
}

TEST_F(Tune, WhatHangsAbortsOrIsWrongIsLeftOut) {
  ranks_ = "4";
  const Finished tuned = tune("hang abort wrong", {}, "5");
  ASSERT_EQ(tuned.exit_code, kExitOk) << tuned.err << tuned.out;
  std::map<std::string, std::string> reasons;
  const Json kept = record();
  for (const Json& one : kept["rejected"]) {
    reasons[one["candidate"].get<std::string>()] = one["reason"].get<std::string>();
  }
  EXPECT_EQ(reasons["knomial"], "hung for 5 s");
  EXPECT_EQ(reasons["chain"], "exited with code 9");
  EXPECT_EQ(reasons["binary"], "rank 1: byte 3 is wrong");
  EXPECT_EQ(kept["cells"][0]["chosen"], "binomial");
}

TEST_F(Tune, WhereAnyOfThoseThatTakeTurnsMayHangTheDefaultStays) {
  ranks_ = "2";
  const Finished tuned = tune("turns", {}, "5");
  ASSERT_EQ(tuned.exit_code, kExitOk) << tuned.err << tuned.out;
  const Json kept = record();
  ASSERT_FALSE(kept["rejected"].empty());
  for (const Json& one : kept["rejected"]) {
    EXPECT_NE(one["candidate"].get<std::string>(), "default");
    EXPECT_EQ(one["reason"].get<std::string>(),
              "hung for 5 s, this one or another, while they took turns");
  }
  for (const Json& cell : kept["cells"]) EXPECT_EQ(cell["chosen"], "default") << cell.dump();
  EXPECT_FALSE(fs::exists(params()));
}

TEST_F(Tune, AProgramThatReportedEverythingAndDoesNotExitDidNotFail) {
  const Finished tried = run({"try", "openmpi", "--ranks", "2"}, "stays");
  EXPECT_EQ(tried.exit_code, kExitOk) << tried.err << tried.out;
  EXPECT_EQ(tried.out.find("hung"), std::string::npos) << tried.out;
}

TEST_F(Tune, AStageThatFailsIsTheLastOne) {
  ASSERT_NO_FATAL_FAILURE(make_export());
  // Rules that take longer than the default where they were fitted.
  const Finished verified = verify(params(), "worse");
  EXPECT_EQ(verified.exit_code, kExitFailure) << verified.err << verified.out;
  EXPECT_NE(verified.out.find("fitted cells: failed"), std::string::npos) << verified.out;
  EXPECT_NE(verified.out.find("programs: not looked at"), std::string::npos) << verified.out;
  EXPECT_EQ(verified.out.find("Read by the target"), std::string::npos) << verified.out;
}

TEST_F(Tune, WhatCannotBeSetIsNeitherTriedNorWrong) {
  const Finished tried = run({"try", "openmpi", "--ranks", "2"}, "locked");
  EXPECT_EQ(tried.exit_code, kExitOk) << tried.err << tried.out;
  EXPECT_NE(tried.out.find("coll_tuned_allgatherv_algorithm cannot be set"), std::string::npos)
      << tried.out;
  // Time for every knob, however busy the host is.
  const Finished tuned = tune("locked", {"--collectives", "allgatherv"}, "100", "2");
  ASSERT_EQ(tuned.exit_code, kExitOk) << tuned.err << tuned.out;
  const Json kept = record();
  EXPECT_EQ(kept["unsettable"],
            Json::array({"btl_vader_fbox_size", "coll_tuned_allgatherv_algorithm"}));
  EXPECT_TRUE(kept["rejected"].empty());
  for (const Json& knob : kept["knobs"]) {
    const bool locked = knob["name"] == "btl_vader_fbox_size";
    EXPECT_EQ(knob["failure"], locked ? "cannot be set in this version" : "") << knob.dump();
  }
  EXPECT_NE(rules().find("\n8 6 0 0 "), std::string::npos) << rules();
}

TEST_F(Tune, AProgramThatGetsSlowerIsReported) {
  const Finished tuned = tune("slow");
  EXPECT_EQ(tuned.exit_code, kExitFailure) << tuned.err << tuned.out;
  EXPECT_NE(tuned.out.find("slower: halo"), std::string::npos) << tuned.out;
  EXPECT_NE(tuned.out.find("held-out sizes, ranks and types: passed"), std::string::npos);
  EXPECT_NE(tuned.out.find("programs: failed"), std::string::npos) << tuned.out;
  EXPECT_FALSE(fs::exists(params()));
  EXPECT_FALSE(record()["validated"].get<bool>());
}

TEST_F(Tune, WhatThereIsNoTimeForKeepsTheDefault) {
  // Each launch takes two of nine seconds.
  const Finished tuned = tune("late", {}, "100", "0.15");
  EXPECT_EQ(tuned.exit_code, kExitOk) << tuned.err << tuned.out;
  EXPECT_NE(tuned.out.find("The time was up"), std::string::npos) << tuned.out;
  const Json kept = record();
  ASSERT_FALSE(kept["knobs"].empty());
  for (const Json& knob : kept["knobs"]) {
    EXPECT_EQ(knob["failure"], "there was no time to measure it");
  }
  ASSERT_FALSE(kept["cells"].empty());
  for (const Json& cell : kept["cells"]) EXPECT_EQ(cell["outcome"], "few_runs") << cell.dump();
  EXPECT_FALSE(fs::exists(params()));
}

TEST_F(Tune, AVersionThatWasNotTriedIsRefused) {
  const Finished refused = tune("new");
  EXPECT_EQ(refused.exit_code, kExitBadInput);
  EXPECT_NE(refused.err.find("Open MPI 4.1.7"), std::string::npos) << refused.err;
  // The default is kept, so that nothing is validated.
  EXPECT_EQ(tune("new", {"--accept-untried", "--margin", "90%"}).exit_code, kExitOk);
}

TEST_F(Tune, VerifyFindsWhatWasChangedAndWhatIsOverridden) {
  ASSERT_NO_FATAL_FAILURE(make_export());
  ::setenv("OMPI_MCA_coll_tuned_use_dynamic_rules", "0", 1);  // NOLINT(concurrency-mt-unsafe)
  const Finished overridden = verify(params());
  ::unsetenv("OMPI_MCA_coll_tuned_use_dynamic_rules");  // NOLINT(concurrency-mt-unsafe)
  EXPECT_EQ(overridden.exit_code, kExitBadInput);
  EXPECT_NE(overridden.err.find("coll_tuned_use_dynamic_rules is set to"), std::string::npos)
      << overridden.err;
  // A file that beats the environment and the command line, too, is named in full.
  const auto site_override = site() / "openmpi-mca-params-override.conf";
  std::ofstream(site_override) << "coll_tuned_use_dynamic_rules = 0\n";
  const Finished beaten = verify(params());
  EXPECT_EQ(beaten.exit_code, kExitBadInput);
  EXPECT_NE(beaten.err.find("is set to '0' by " + site_override.string()), std::string::npos)
      << beaten.err;
  fs::remove(site_override);
  std::ofstream(out() / "stripline-rules.conf", std::ios::app) << "# mine\n";
  const Finished changed = verify(params());
  EXPECT_EQ(changed.exit_code, kExitBadInput);
  EXPECT_NE(changed.err.find("changed"), std::string::npos) << changed.err;
}

TEST_F(Tune, WhatIsOverriddenIsNotExported) {
  ::setenv("OMPI_MCA_coll_tuned_use_dynamic_rules", "0", 1);  // NOLINT(concurrency-mt-unsafe)
  const Finished tuned = tune();
  ::unsetenv("OMPI_MCA_coll_tuned_use_dynamic_rules");  // NOLINT(concurrency-mt-unsafe)
  EXPECT_EQ(tuned.exit_code, kExitBadInput);
  EXPECT_NE(tuned.err.find("coll_tuned_use_dynamic_rules is set to"), std::string::npos)
      << tuned.err;
  EXPECT_FALSE(fs::exists(params()));
}

TEST_F(Tune, FilesOfOthersAreNotReplaced) {
  fs::create_directory(out());
  std::ofstream(params()) << "btl = self\n";
  const Finished refused = tune();
  EXPECT_EQ(refused.exit_code, kExitConflict);
  EXPECT_EQ(refused.err.find("run 1:"), std::string::npos) << refused.err;  // before measuring
  EXPECT_EQ(read_file(params()), "btl = self\n");
}

TEST_F(Tune, FilesOfAnEarlierRunAreNamedWhereTheDefaultIsKept) {
  ASSERT_NO_FATAL_FAILURE(make_export());
  const Finished kept = tune({}, {"--margin", "90%"});
  EXPECT_EQ(kept.exit_code, kExitOk) << kept.err;
  EXPECT_NE(kept.out.find("Keep the default"), std::string::npos) << kept.out;
  EXPECT_NE(kept.err.find("stripline-mca-params.conf' is of an earlier run"), std::string::npos)
      << kept.err;
  EXPECT_TRUE(fs::exists(params()));
}

TEST_F(Tune, AnExportIsInstalledAndTakenAway) {
  ASSERT_NO_FATAL_FAILURE(make_export());
  const std::vector<std::string> install = {"export", "install", params().string()};
  const Finished first = run(install);
  ASSERT_EQ(first.exit_code, kExitOk) << first.err << first.out;
  EXPECT_NE(first.out.find(installed().string()), std::string::npos) << first.out;
  const auto rules_here = (home() / ".openmpi/stripline-rules.conf").string();
  EXPECT_NE(read_file(installed()).find("= " + rules_here), std::string::npos);
  EXPECT_NE(read_file(installed()).find("# Written by Stripline"), std::string::npos);
  // What is installed is not part of the default that it is compared with.
  const Finished verified = verify(installed());
  EXPECT_EQ(verified.exit_code, kExitOk) << verified.err << verified.out;
  EXPECT_NE(verified.out.find("Read by the target"), std::string::npos) << verified.out;

  // The former one is kept, and put back; then nothing is left.
  const std::string before = read_file(installed());
  ASSERT_NO_FATAL_FAILURE(make_another_export());
  ASSERT_EQ(run(install).exit_code, kExitOk);
  EXPECT_NE(read_file(installed()), before);
  const std::vector<std::string> uninstall = {"export", "uninstall", installed().string()};
  EXPECT_EQ(run(uninstall).exit_code, kExitOk);
  EXPECT_EQ(read_file(installed()), before);
  EXPECT_EQ(run(uninstall).exit_code, kExitOk);
  EXPECT_TRUE(fs::is_empty(home() / ".openmpi"));
  // By its folder, as an agent does it, also once more.
  const std::vector<std::string> by_folder = {"export", "uninstall",
                                              (home() / ".openmpi").string()};
  ASSERT_EQ(run(install).exit_code, kExitOk);
  EXPECT_EQ(run(by_folder).exit_code, kExitOk);
  EXPECT_TRUE(fs::is_empty(home() / ".openmpi"));
  EXPECT_EQ(run(by_folder).exit_code, kExitOk);
  EXPECT_EQ(run({"export", "uninstall", params().string()}).exit_code, kExitBadInput);
  EXPECT_TRUE(fs::exists(params()));
}

TEST_F(Tune, WhereEveryFileThatIsReadIsOursItIsLeftOut) {
  ASSERT_NO_FATAL_FAILURE(make_export());
  ASSERT_EQ(run({"export", "install", params().string()}).exit_code, kExitOk);
  ASSERT_EQ(run({"export", "install", params().string(), "--to", site().string()}).exit_code,
            kExitOk);
  const Finished verified = verify(installed());
  EXPECT_EQ(verified.exit_code, kExitOk) << verified.err << verified.out;
  EXPECT_NE(verified.out.find("Read by the target"), std::string::npos) << verified.out;
}

TEST_F(Tune, NothingOfOthersIsReplacedOrRemovedByInstalling) {
  ASSERT_NO_FATAL_FAILURE(make_export());
  const auto refused_over = [&](const fs::path& file) {
    fs::create_directories(file.parent_path());
    std::ofstream(file) << "btl = self\n";
    const Finished refused = run({"export", "install", params().string()});
    EXPECT_EQ(refused.exit_code, kExitConflict) << file;
    EXPECT_NE(refused.err.find("--to"), std::string::npos) << refused.err;
    EXPECT_EQ(read_file(file), "btl = self\n");
    EXPECT_FALSE(fs::exists(home() / ".openmpi/stripline-export.json"));
    fs::remove(file);
  };
  refused_over(installed());
  refused_over(home() / ".openmpi/stripline-rules.conf");
  // Where the site's is, it gets that name.
  const Finished there = run({"export", "install", params().string(), "--to", site().string()});
  ASSERT_EQ(there.exit_code, kExitOk) << there.err;
  const auto file = site() / "openmpi-mca-params.conf";
  std::ofstream(file, std::ios::app) << "btl = self\n";
  const Finished changed = run({"export", "uninstall", file.string()});
  EXPECT_EQ(changed.exit_code, kExitBadInput);
  EXPECT_NE(changed.err.find("changed"), std::string::npos) << changed.err;
  EXPECT_TRUE(fs::exists(file));
}

TEST_F(Tune, AnExportIsPackedForAnotherNode) {
  ASSERT_NO_FATAL_FAILURE(make_export());
  const auto pack = (folder_ / "packed.json").string();
  ASSERT_EQ(run({"export", "pack", params().string(), "--output", pack}).exit_code, kExitOk);
  EXPECT_EQ(run({"export", "pack", params().string(), "--output", pack}).exit_code, kExitConflict);
  const Json before = record();
  fs::remove_all(out());
  const auto there = folder_ / "there";
  const Finished unpacked = run({"export", "unpack", pack, "--output", there.string()});
  ASSERT_EQ(unpacked.exit_code, kExitOk) << unpacked.err;
  EXPECT_NE(unpacked.out.find("Not validated here"), std::string::npos) << unpacked.out;
  const Json after = *read_json_file(there / "stripline-export.json");
  for (const char* key : {"host", "kernel", "time", "user", "cells", "version"}) {
    EXPECT_EQ(after[key], before[key]) << key;
  }

  // One that was changed in between is refused.
  std::string text = read_file(pack);
  text.replace(text.find("the built-in decision"), 3, "its");
  std::ofstream(pack) << text;
  EXPECT_EQ(run({"export", "unpack", pack, "--output", out().string()}).exit_code, kExitBadInput);
  EXPECT_FALSE(fs::exists(out()));
}

TEST_F(Tune, AnExportIsWrittenForAnotherVersion) {
  ASSERT_NO_FATAL_FAILURE(make_export());
  const auto convert = [&](const char* version, const fs::path& folder) {
    return run(
        {"export", "convert", params().string(), "--for", version, "--output", folder.string()});
  };
  const auto there = folder_ / "there";
  const Finished converted = convert("5.0.7", there);
  ASSERT_EQ(converted.exit_code, kExitOk) << converted.err;
  EXPECT_NE(converted.out.find("Not validated there"), std::string::npos) << converted.out;
  const auto file = there / "stripline-mca-params.conf";
  EXPECT_NE(read_file(file).find("# Converted for Open MPI 5.0.7: NOT VALIDATED there"),
            std::string::npos)
      << read_file(file);
  EXPECT_NE(read_file(file).find("= " + (there / "stripline-rules.conf").string()),
            std::string::npos);
  // Rules of a node are not followed between nodes.
  EXPECT_NE(read_file(file).find("coll_han_dynamic_rules_filename = " +
                                 (there / "stripline-han-rules.conf").string()),
            std::string::npos)
      << read_file(file);
  EXPECT_NE(read_file(there / "stripline-han-rules.conf").find("\n4 1\n0 basic\n"),
            std::string::npos);
  const Finished levels =
      run({"export", "check", "openmpi", "--rules", (there / "stripline-han-rules.conf").string()});
  EXPECT_EQ(levels.exit_code, kExitOk) << levels.out << levels.err;
  const Json kept = *read_json_file(there / "stripline-export.json");
  EXPECT_EQ(kept["files"].size(), 3U);
  EXPECT_EQ(kept["version"], "5.0.7");
  EXPECT_EQ(kept["converted_from"], "4.1.4");
  // It is not installed before it was validated, which is noted where it holds.
  const std::vector<std::string> install = {"export", "install",       file.string(),
                                            "--to",   home().string(), "--accept-untried"};
  const Finished refused = run(install);
  EXPECT_EQ(refused.exit_code, kExitBadInput);
  EXPECT_NE(refused.err.find("was not validated"), std::string::npos) << refused.err;
  const Finished verified = verify(file);
  EXPECT_EQ(verified.exit_code, kExitOk) << verified.err << verified.out;
  EXPECT_EQ(run(install).exit_code, kExitOk);
  EXPECT_NE(read_file(home() / "stripline-mca-params.conf")
                .find("= " + (home() / "stripline-han-rules.conf").string()),
            std::string::npos);

  const auto json = folder_ / "json";
  ASSERT_EQ(convert("6.0", json).exit_code, kExitOk);
  EXPECT_NE(read_file(json / "stripline-rules.conf").find("\"alg\": \"binomial\""),
            std::string::npos);
  const Finished checked =
      run({"export", "check", "openmpi", "--rules", (json / "stripline-rules.conf").string()});
  EXPECT_EQ(checked.exit_code, kExitOk) << checked.out << checked.err;
  EXPECT_NE(verify(json / "stripline-mca-params.conf").err.find("Open MPI 6"), std::string::npos);
  EXPECT_EQ(convert("4.1.4", folder_ / "same").exit_code, kExitUsage);
  EXPECT_NE(convert("3.1", folder_ / "old").exit_code, kExitOk);
  EXPECT_FALSE(fs::exists(folder_ / "old"));
}

TEST_F(Tune, APageSaysWhatWasFound) {
  ASSERT_NO_FATAL_FAILURE(make_export());
  const auto page = (folder_ / "report.html").string();
  const std::vector<std::string> report = {"export", "report", params().string(), "-o", page};
  ASSERT_EQ(run(report).exit_code, kExitOk);
  const std::string html = read_file(page);
  EXPECT_NE(html.find("bcast of 4 ranks uses binomial for 8 B to "), std::string::npos) << html;
  EXPECT_NE(html.find("<h2>stripline-rules.conf</h2>"), std::string::npos);
  EXPECT_NE(html.find("Read by the target: a probe"), std::string::npos);
  EXPECT_EQ(run(report).exit_code, kExitConflict);
  const auto other = (folder_ / "other.html").string();
  const auto kept = (out() / "stripline-export.json").string();
  EXPECT_EQ(run({"export", "report", kept, "-o", other}).exit_code, kExitOk);
  EXPECT_EQ(read_file(other), html);
}

TEST_F(Tune, WhatHasChangedSinceAnExportIsNamed) {
  ASSERT_NO_FATAL_FAILURE(make_export());
  EXPECT_EQ(listed_export()["export"], params().string());
  EXPECT_TRUE(listed_export()["stale"].empty()) << listed_export().dump();
  EXPECT_NE(listed_export("new")["stale"].dump().find("4.1.7 is installed"), std::string::npos);
  EXPECT_NE(listed_export("rebuilt")["stale"].dump().find("is built"), std::string::npos);
  // The exported file sets that, too, and would hide it once it is installed.
  std::ofstream(site() / "openmpi-mca-params.conf") << "coll_tuned_use_dynamic_rules = 1\n";
  EXPECT_NE(listed_export()["stale"].dump().find("what other files set"), std::string::npos);
  const Finished doctor = run_doctor();
  EXPECT_EQ(lines_with(doctor.out, "target.openmpi"), 1U) << doctor.out;
  EXPECT_EQ(lines_with(doctor.out, "stripline-mca-params.conf is stale: "), 1U) << doctor.out;
  const std::string untried = "'stripline tune openmpi --accept-untried'";
  EXPECT_EQ(lines_with(doctor.out, untried), 0U) << doctor.out;
  EXPECT_EQ(lines_with(run_doctor("new").out, untried), 1U);
  // What was found to hold is not stale.
  const Finished verified = verify(params());
  EXPECT_EQ(verified.exit_code, kExitOk) << verified.err << verified.out;
  EXPECT_TRUE(listed_export()["stale"].empty()) << listed_export().dump();
  // Installed files of ours are not what other files set.
  ASSERT_EQ(run({"export", "install", params().string()}).exit_code, kExitOk);
  EXPECT_EQ(listed_export()["export"], installed().string());
  EXPECT_TRUE(listed_export()["stale"].empty()) << listed_export().dump();
}

TEST_F(Tune, FilesAreCheckedAndWritten) {
  const auto file = (folder_ / "rules").string();
  std::ofstream(file) << "1 3 1 2 1 0 5 0 0\n";
  const Finished unsafe = run({"export", "check", "openmpi", "--rules", file});
  EXPECT_EQ(unsafe.exit_code, kExitFailure);
  EXPECT_NE(unsafe.out.find("holds for 3"), std::string::npos) << unsafe.out;
  const Finished written =
      run({"export", "write", "chapel", "CHPL_AGGREGATION_DST_BUFF_SIZE=4096"});
  EXPECT_EQ(written.exit_code, kExitOk);
  EXPECT_NE(written.out.find("export CHPL_AGGREGATION_DST_BUFF_SIZE=4096\n"), std::string::npos);
  EXPECT_EQ(run({"export", "write", "chapel", "CHPL_AGGREGATION_DST_BUFF_SIZE=1"}).exit_code,
            kExitUsage);
  const Finished nccl = run({"export", "write", "nccl", "allreduce,0,65536,tree,ll,-1,1,-1"});
  EXPECT_NE(nccl.out.find("\nallreduce,0,65536,tree,ll,-1,1,-1\n"), std::string::npos)
      << nccl.out << nccl.err;
  EXPECT_EQ(run({"export", "write", "nccl", "allreduce,9,8,tree,ll,-1,1,-1"}).exit_code,
            kExitUsage);
  EXPECT_EQ(run({"export", "write", "openmpi", "btl_tcp_eager_limit=4194304", "--ranks", "4096"})
                .exit_code,
            kExitUnavailable);
}

// What has knobs alone.
// `stripline-tune work` under an agent (docs/worker-protocol.md).
class TuneWorks : public Tune {
 protected:
  void start(const std::vector<int64_t>& ranks, const std::string& wrongs = {}) {
    ASSERT_OK_AND_ASSIGN(auto ends, socket_pair());
    SubprocessOptions options;
    options.argv = {program("stripline-tune"), "work"};
    options.environment = environment(wrongs);
    options.environment["STRIPLINE_CONTROL_FD"] = "3";
    options.inherit = {{ends.second.get(), 3}};
    ASSERT_OK_AND_ASSIGN(auto process, Subprocess::spawn(options));
    process_.emplace(std::move(process));
    channel_.emplace(std::move(ends.first));
    experiment::Assignment work;
    work.name = "campaigns/c1/runs/1";
    work.fabric = experiment::tuning_fabric("openmpi");
    work.ranks = work.run = 1;
    work.deadline_s = 150;
    for (const int64_t count : ranks) {
      work.points.push_back({experiment::kTuneExperiment, "settings", {{"ranks", count}}});
    }
    EXPECT_EQ(next("join").value("rank", -1), 0);
    say({{"type", "work"}, {"assignment", experiment::to_json(work)}});
  }

  void say(const Json& message) {
    const Status said = channel_->write(message);
    EXPECT_TRUE(said.ok()) << said.error().message();
  }

  // The next message of this type; an empty one if there is none.
  Json next(const std::string& type) {
    while (true) {
      const auto message = channel_->read(150);
      if (!message.ok() || !message->has_value()) {
        ADD_FAILURE() << "it has not said '" << type << "'";
        return Json::object();
      }
      const std::string said = (**message).value("type", "");
      ++heard_[said];
      if (said == type) return **message;
    }
  }

  int exit_code() {
    const auto ended = process_->wait(60);
    return ended.ok() ? ended->exit_code : -1;
  }

  std::optional<Subprocess> process_;
  std::optional<JsonChannel> channel_;
  std::map<std::string, int> heard_;
};

TEST_F(TuneWorks, AndSendsAGainForEachNumberOfRanksWithTheSettings) {
  ASSERT_NO_FATAL_FAILURE(start({2, 4}));
  const Json samples = next("samples");
  EXPECT_GT(heard_["note"], 0);
  EXPECT_EQ(heard_["progress"], 1);
  ASSERT_EQ(samples["series"].size(), 2U);
  for (const Json& one : samples["series"]) {
    ASSERT_OK_AND_ASSIGN(const auto series, experiment::sample_series_from_json(one));
    EXPECT_TRUE(series.verified);
    ASSERT_EQ(series.values.size(), 1U);
    // Binomial trees take half the time.
    EXPECT_GT(series.values[0], 1.5);
    EXPECT_EQ(is_packed_export(series.result), &one == &samples["series"][0]);
  }
  say({{"type", "taken"}});
  EXPECT_EQ(next("finished").value("reason", ""), "complete");
  next("left");
  EXPECT_EQ(exit_code(), kExitOk);
}

TEST_F(TuneWorks, AndEndsWhereItIsCancelledOrItsAgentIsGone) {
  ASSERT_NO_FATAL_FAILURE(start({2}, "late"));
  next("note");
  say({{"type", "cancel"}});
  EXPECT_EQ(next("failed").value("code", ""), "cancelled");
  EXPECT_GT(exit_code(), kExitOk);
  ASSERT_NO_FATAL_FAILURE(start({2}, "late"));
  next("note");
  channel_.reset();
  EXPECT_GT(exit_code(), kExitOk);
}

TEST_F(TuneWorks, AndSaysWhyTheDefaultStays) {
  ASSERT_NO_FATAL_FAILURE(start({2}, "worse"));
  const Json samples = next("samples");
  ASSERT_EQ(samples["series"].size(), 1U);
  EXPECT_EQ(samples["series"][0]["values"], Json::array({1.0}));
  EXPECT_EQ(samples["series"][0]["note"], "nothing is certain to gain more than the margin");
  EXPECT_FALSE(samples["series"][0].contains("result"));
  say({{"type", "taken"}});
  next("left");
}

class TuneUcx : public Tune {
 protected:
  Finished tune_ucx(const std::string& wrongs = {}) {
    return run(
        {"ucx", "--ranks", "2,4", "--minutes", "2", "--output", out().string(), "--stall", "100"},
        wrongs);
  }
  fs::path conf() const { return out() / "ucx.conf"; }
  // In a folder with this ucx.conf, which UCX reads last.
  Finished run_beside(const std::string& text, const std::vector<std::string>& arguments) {
    const auto here = folder_ / "here";
    fs::create_directories(here);
    std::ofstream(here / "ucx.conf") << text;
    std::vector<std::string> argv = {"sh", "-c", "cd '" + here.string() + "' && exec \"$0\" \"$@\"",
                                     program("stripline-tune")};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    return run_here(std::move(argv));
  }
};

TEST_F(TuneUcx, KnobsThatGainTogetherAreExportedAndSeenToBeRead) {
  const Finished tuned = tune_ucx();
  ASSERT_EQ(tuned.exit_code, kExitOk) << tuned.err << tuned.out;
  EXPECT_NE(read_file(conf()).find("\nUCX_ZCOPY_THRESH=65536\n"), std::string::npos)
      << read_file(conf());
  // Each gains alone; the second one gains nothing beside the first.
  EXPECT_EQ(read_file(conf()).find("\nUCX_RNDV_SCHEME="), std::string::npos) << read_file(conf());
  const Json kept = record();
  EXPECT_TRUE(kept["validated"].get<bool>());
  EXPECT_EQ(kept["settings"].dump(), R"({"UCX_ZCOPY_THRESH":"65536"})");
  EXPECT_EQ(kept["proof"]["setting"]["name"], "UCX_RNDV_THRESH");
  EXPECT_GT(kept["proof"]["factor"].get<double>(), 2.0);
  for (const Json& knob : kept["knobs"]) {
    if (knob["value"] != "am") continue;
    EXPECT_EQ(knob["outcome"], "departs");
    EXPECT_EQ(knob["failure"].get<std::string>().find("beside UCX_ZCOPY_THRESH=65536: "), 0U);
  }
  // Messages are among what was compared.
  bool has_latency = false;
  for (const Json& check : kept["checks"]) has_latency |= check["operation"] == "latency";
  EXPECT_TRUE(has_latency);

  const std::vector<std::string> verify = {"export", "verify", conf().string(), "--minutes", "1"};
  const Finished verified = run(verify);
  EXPECT_EQ(verified.exit_code, kExitOk) << verified.err << verified.out;
  EXPECT_NE(verified.out.find("UCX_RNDV_THRESH=0"), std::string::npos) << verified.out;
  EXPECT_EQ(run(verify, "unread").exit_code, kExitBadInput);
  // A file in the working folder beats it, and is named.
  const Finished beaten = run_beside("UCX_ZCOPY_THRESH=4096\n", verify);
  EXPECT_EQ(beaten.exit_code, kExitBadInput);
  EXPECT_NE(beaten.err.find("UCX_ZCOPY_THRESH is set to '4096' by " +
                            (folder_ / "here/ucx.conf").string()),
            std::string::npos)
      << beaten.err;
  // With the same settings there, the export would be compared with itself.
  const Finished beside = run_beside(read_file(conf()), verify);
  EXPECT_EQ(beside.exit_code, kExitBadInput);
  EXPECT_NE(beside.err.find("start from another folder"), std::string::npos) << beside.err;
  const Finished checked =
      run_beside("[Grace]\nUCX_TLS=tcp\n", {"export", "check", "ucx", conf().string()});
  EXPECT_EQ(checked.exit_code, kExitFailure);
  EXPECT_NE(checked.out.find("begins a section"), std::string::npos) << checked.out;

  const std::vector<std::string> install = {"export", "install", conf().string()};
  const Finished installed = run(install);
  ASSERT_EQ(installed.exit_code, kExitOk) << installed.err;
  EXPECT_EQ(read_file(home() / "ucx.conf"), read_file(conf()));
  // It is not part of the default that it is compared with.
  const Finished again =
      run({"export", "verify", (home() / "ucx.conf").string(), "--minutes", "1"});
  EXPECT_EQ(again.exit_code, kExitOk) << again.err << again.out;
  EXPECT_EQ(run({"export", "uninstall", (home() / "ucx.conf").string()}).exit_code, kExitOk);
  EXPECT_FALSE(fs::exists(home() / "ucx.conf"));
  std::ofstream(home() / "ucx.conf") << "UCX_TLS=all\n";
  EXPECT_EQ(run(install).exit_code, kExitConflict);
}

TEST_F(TuneUcx, KnobsWithWhichAMessageIsSlowerGoBack) {
  const Finished tuned = tune_ucx("slow");
  EXPECT_EQ(tuned.exit_code, kExitOk) << tuned.err << tuned.out;
  EXPECT_NE(tuned.out.find("Keep the default"), std::string::npos) << tuned.out;
  EXPECT_NE(tuned.err.find("knobs back to their defaults"), std::string::npos) << tuned.err;
  EXPECT_FALSE(fs::exists(conf()));
}

TEST_F(TuneUcx, OpenShmemHasADriverAndProgramsOfItsOwn) {
  const Finished tuned = run(
      {"oshmem", "--ranks", "2,4", "--minutes", "2", "--output", out().string(), "--stall", "100"});
  ASSERT_EQ(tuned.exit_code, kExitOk) << tuned.err << tuned.out;
  const auto file = out() / "stripline-oshmem.env";
  EXPECT_NE(read_file(file).find("\nexport UCX_OSHMEM_ZCOPY_THRESH=65536\n"), std::string::npos)
      << read_file(file);
  const Json kept = record();
  EXPECT_EQ(kept["proof"]["setting"]["value"], "0");
  std::set<std::string> programs;
  for (const Json& check : kept["checks"]) {
    if (check["stage"] == "programs") programs.insert(check["operation"].get<std::string>());
  }
  EXPECT_EQ(programs, (std::set<std::string>{"halo", "outstanding", "sort"}));
  // Variables of another implementation are not tried.
  for (const Json& knob : kept["knobs"]) {
    const bool sandia = knob["name"].get<std::string>().starts_with("SHMEM_");
    EXPECT_EQ(knob["failure"] == "cannot be set in this version", sandia) << knob.dump();
  }
  const std::vector<std::string> verify = {"export", "verify", file.string(), "--minutes", "1"};
  EXPECT_EQ(run(verify).exit_code, kExitOk);
  EXPECT_EQ(run(verify, "unread").exit_code, kExitBadInput);
}

// Its programs would be found in place of this host's "cc" by other tests.
class TuneGasnet : public Tune {
 protected:
  void SetUp() override {
    Tune::SetUp();
    if (IsSkipped()) return;
    const fs::path source = std::getenv("STRIPLINE_TEST_SOURCE");  // NOLINT(concurrency-mt-unsafe)
    for (const char* name : {"pkg-config", "cc", "amudprun"}) {
      fs::create_symlink(source / "suites/targets/testing/fake_gasnet.py", folder_ / "bin" / name);
    }
  }
  Finished tune_gasnet(const std::string& wrongs = {}) {
    return run({"gasnet", "--ranks", "2,4", "--minutes", "2", "--path", "tcp", "--output",
                out().string(), "--stall", "100", "--accept-untried"},
               wrongs);
  }
};

TEST_F(TuneGasnet, HasADriverProgramsAndAProbeOfItsOwn) {
  const Finished tuned = tune_gasnet();
  ASSERT_EQ(tuned.exit_code, kExitOk) << tuned.err << tuned.out;
  const auto file = out() / "stripline-gasnet.env";
  EXPECT_NE(read_file(file).find("\nexport GASNET_NETWORKDEPTH=192\n"), std::string::npos)
      << read_file(file);
  const Json kept = record();
  EXPECT_EQ(kept["version"], "2025.8.0");
  EXPECT_GT(kept["proof"]["factor"].get<double>(), 2.0);
  EXPECT_EQ(kept["proof"]["setting"]["name"].get<std::string>().find("GASNET_VIS_"), 0U);
  std::set<std::string> held_out;
  std::set<std::string> programs;
  for (const Json& check : kept["checks"]) {
    if (check["stage"] == "programs") programs.insert(check["operation"].get<std::string>());
    if (check["stage"] == "held_out") held_out.insert(check["operation"].get<std::string>());
  }
  EXPECT_EQ(programs, (std::set<std::string>{"halo", "outstanding", "sort"}));
  EXPECT_TRUE(held_out.contains("strided_put"));
  EXPECT_TRUE(held_out.contains("reduce"));
  // Variables of a conduit that programs here are not linked with are not tried.
  for (const Json& knob : kept["knobs"]) {
    const bool ofi = knob["name"].get<std::string>().starts_with("GASNET_OFI_");
    EXPECT_EQ(knob["failure"] == "cannot be set in this version", ofi) << knob.dump();
  }
  const std::vector<std::string> verify = {"export",    "verify", file.string(),
                                           "--minutes", "1",      "--accept-untried"};
  EXPECT_EQ(run(verify).exit_code, kExitOk);
  EXPECT_EQ(run(verify, "unread").exit_code, kExitBadInput);
}

TEST_F(TuneGasnet, IsRefusedWhereItIsNotInstalledOrHasNoNetwork) {
  const Finished absent = tune_gasnet("absent");
  EXPECT_EQ(absent.exit_code, kExitUsage);
  EXPECT_NE(absent.err.find("GASNet-EX is not installed here"), std::string::npos) << absent.err;
  EXPECT_NE(absent.err.find("PKG_CONFIG_PATH"), std::string::npos) << absent.err;
  const Finished alone = tune_gasnet("smp");
  EXPECT_EQ(alone.exit_code, kExitBadInput);
  EXPECT_NE(alone.err.find("no conduit for UDP"), std::string::npos) << alone.err;
  const Finished untried = run({"gasnet", "--minutes", "1"});
  EXPECT_NE(untried.err.find("GASNet-EX 2025.8.0 has not been tried"), std::string::npos)
      << untried.err;
}

TEST_F(TuneUcx, IsNotSweptByOperations) {
  EXPECT_NE(run({"sweep", "ucx"}).err.find("only knobs"), std::string::npos);
  EXPECT_NE(run({"try", "ucx"}).err.find("only knobs"), std::string::npos);
}

}  // namespace
}  // namespace stripline
