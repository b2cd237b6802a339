// What becomes of an export: proven, verified, installed, packed, converted and shown.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/exit_codes.h"
#include "base/json.h"
#include "base/sha256.h"
#include "base/testing/processes.h"
#include "suites/targets/testing/tune_fixture.h"

namespace stripline {
namespace {

namespace fs = std::filesystem;

class Tune : public TuneFixture {
 protected:
  Finished run_doctor(const std::string& wrongs = {}) {
    return run_here({program("stripline-doctor"), "--fabric", "tcp"}, wrongs);
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

  fs::path home() const { return fakes_.home(); }
  fs::path site() const { return fakes_.site(); }
  fs::path installed() const { return home() / ".openmpi/mca-params.conf"; }
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
  // One proof, of the rules: no knob departs.
  ASSERT_EQ(kept["proofs"].size(), 1U);
  EXPECT_TRUE(kept["proofs"][0].contains("candidate"));
  EXPECT_GT(kept["proofs"][0]["factor"].get<double>(), 3.0);
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

TEST_F(Tune, AStageThatFailsIsTheLastOne) {
  ASSERT_NO_FATAL_FAILURE(make_export());
  // Rules that take longer than the default where they were fitted.
  const Finished verified = verify(params(), "worse");
  EXPECT_EQ(verified.exit_code, kExitFailure) << verified.err << verified.out;
  EXPECT_NE(verified.out.find("fitted cells: failed"), std::string::npos) << verified.out;
  EXPECT_NE(verified.out.find("programs: not looked at"), std::string::npos) << verified.out;
  EXPECT_EQ(verified.out.find("Read by the target"), std::string::npos) << verified.out;
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
  EXPECT_NE(tuned.err.find("OMPI_MCA_coll_tuned_use_dynamic_rules is set in this environment"),
            std::string::npos)
      << tuned.err;
  EXPECT_FALSE(fs::exists(params()));
  // What beats even that is found once there is a file that it beats.
  std::ofstream(site() / "openmpi-mca-params-override.conf")
      << "coll_tuned_use_dynamic_rules = 0\n";
  const Finished beaten = tune();
  EXPECT_EQ(beaten.exit_code, kExitBadInput);
  EXPECT_NE(beaten.err.find("coll_tuned_use_dynamic_rules is set to '0'"), std::string::npos)
      << beaten.err;
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
  const std::vector<std::string> install = {"export", "install", params().string()};
  const std::vector<std::string> of_site = {"export", "install", params().string(), "--to",
                                            site().string()};
  const Finished first = run(of_site);
  ASSERT_EQ(first.exit_code, kExitOk) << first.err;
  const Finished second = run(install);
  ASSERT_EQ(second.exit_code, kExitOk) << second.err;
  // The user's file beats the site's.
  const Finished beaten = run(of_site);
  EXPECT_EQ(beaten.exit_code, kExitBadInput);
  EXPECT_NE(beaten.err.find("which beats"), std::string::npos) << beaten.err;
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

TEST_F(Tune, WhatHoldsForCommutativeOperationsAloneIsInstalledWhereThatIsSaid) {
  ASSERT_NO_FATAL_FAILURE(make_export());
  const auto pack = (folder_ / "commutative.json").string();
  ASSERT_EQ(run({"export", "pack", params().string(), "--output", pack}).exit_code, kExitOk);
  Json whole = *read_json_file(pack);
  whole["record"]["commutative_only"] = true;
  std::ofstream(pack) << whole.dump();
  std::vector<std::string> install = {"export", "install", pack, "--packed"};
  const Finished refused = run(install);
  EXPECT_EQ(refused.exit_code, kExitBadInput);
  EXPECT_NE(refused.err.find("--commutative-only"), std::string::npos) << refused.err;
  EXPECT_FALSE(fs::exists(installed()));
  install.emplace_back("--commutative-only");
  EXPECT_EQ(run(install).exit_code, kExitOk);
  EXPECT_TRUE(fs::exists(installed()));
}

TEST_F(Tune, AFileOfTheUserThatBeatsThatOfTheSiteIsNamed) {
  ASSERT_NO_FATAL_FAILURE(make_export());
  const std::vector<std::string> install = {"export", "install", params().string(), "--to",
                                            site().string()};
  const auto there = site() / "openmpi-mca-params.conf";
  fs::create_directories(installed().parent_path());
  std::ofstream(installed()) << "coll_tuned_use_dynamic_rules = 0\n";
  const Finished refused = run(install);
  EXPECT_EQ(refused.exit_code, kExitBadInput);
  EXPECT_NE(refused.err.find("is set to '0' by " + installed().string()), std::string::npos)
      << refused.err;
  EXPECT_FALSE(fs::exists(there));
  // What it says of other things beats nothing.
  std::ofstream(installed()) << "btl_tcp_links = 2\n";
  EXPECT_EQ(run(install).exit_code, kExitOk);
  std::ofstream(installed()) << "coll_tuned_use_dynamic_rules = 0\n";
  const Finished beaten = verify(there);
  EXPECT_EQ(beaten.exit_code, kExitBadInput);
  EXPECT_NE(beaten.err.find("is set to '0' by " + installed().string()), std::string::npos)
      << beaten.err;
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
  fs::remove(site() / "openmpi-mca-params.conf");
  EXPECT_TRUE(listed_export()["stale"].empty()) << listed_export().dump();
  ::setenv("OMPI_MCA_pml", "ucx", 1);  // NOLINT(concurrency-mt-unsafe)
  EXPECT_FALSE(listed_export()["stale"].empty());
  ::unsetenv("OMPI_MCA_pml");  // NOLINT(concurrency-mt-unsafe)
  std::ofstream(site() / "openmpi-mca-params.conf") << "coll_tuned_use_dynamic_rules = 1\n";
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

TEST_F(Tune, AWrittenFileIsReplacedAsLongAsNobodyHasChangedIt) {
  const auto file = (folder_ / "chapel.env").string();
  const auto write = [&](const std::string& bytes) {
    return run({"export", "write", "chapel", "CHPL_AGGREGATION_DST_BUFF_SIZE=" + bytes, "-o", file})
        .exit_code;
  };
  EXPECT_EQ(write("4096"), kExitOk);
  EXPECT_EQ(write("8192"), kExitOk);
  EXPECT_NE(read_file(file).find("=8192\n"), std::string::npos);
  std::ofstream(file, std::ios::app) << "export MINE=1\n";
  const std::string mine = read_file(file);
  EXPECT_EQ(write("4096"), kExitConflict);
  EXPECT_EQ(read_file(file), mine);
}

TEST_F(Tune, FilesAreCheckedAndWritten) {
  const auto file = (folder_ / "rules").string();
  std::ofstream(file) << "1 3 1 2 1 0 5 0 0\n";
  const Finished unsafe = run({"export", "check", "openmpi", "--rules", file});
  EXPECT_EQ(unsafe.exit_code, kExitFailure);
  EXPECT_NE(unsafe.out.find("holds for 3"), std::string::npos) << unsafe.out;
  // MPICH would abort on it, whether it is named or given.
  const auto selection = (folder_ / "selection.json").string();
  const auto variables = (folder_ / "mpich.env").string();
  std::ofstream(selection) << "{}\n";
  std::ofstream(variables) << "export MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE=" << selection
                           << "\n";
  const std::vector<std::vector<std::string>> both = {
      {"export", "check", "mpich", "--rules", selection}, {"export", "check", "mpich", variables}};
  for (const auto& arguments : both) {
    const Finished lacking = run(arguments);
    EXPECT_EQ(lacking.exit_code, kExitBadInput) << lacking.out;
    EXPECT_NE(lacking.err.find("lacks the collective"), std::string::npos) << lacking.err;
  }
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

}  // namespace
}  // namespace stripline
