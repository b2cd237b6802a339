// Targets that have knobs alone: UCX, and OpenSHMEM and GASNet-EX with drivers of their own.
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/exit_codes.h"
#include "base/json.h"
#include "base/testing/processes.h"
#include "suites/targets/testing/tune_fixture.h"

namespace stripline {
namespace {

namespace fs = std::filesystem;

class TuneUcx : public TuneFixture {
 protected:
  Finished tune_ucx(const std::string& wrongs = {}, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"ucx",      "--ranks",      "2,4",     "--minutes", "2",
                                          "--output", out().string(), "--stall", "100"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments, wrongs);
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
  EXPECT_EQ(kept["proofs"][0]["setting"]["name"], "UCX_RNDV_THRESH");
  EXPECT_GT(kept["proofs"][0]["factor"].get<double>(), 2.0);
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
  EXPECT_EQ(read_file(fakes_.home() / "ucx.conf"), read_file(conf()));
  // It is not part of the default that it is compared with.
  const Finished again =
      run({"export", "verify", (fakes_.home() / "ucx.conf").string(), "--minutes", "1"});
  EXPECT_EQ(again.exit_code, kExitOk) << again.err << again.out;
  EXPECT_EQ(run({"export", "uninstall", (fakes_.home() / "ucx.conf").string()}).exit_code, kExitOk);
  EXPECT_FALSE(fs::exists(fakes_.home() / "ucx.conf"));
  std::ofstream(fakes_.home() / "ucx.conf") << "UCX_TLS=all\n";
  EXPECT_EQ(run(install).exit_code, kExitConflict);
}

TEST_F(TuneUcx, ValuesThatLoseAloneAndGainTogetherAreExported) {
  const Finished tuned = tune_ucx("together");
  ASSERT_EQ(tuned.exit_code, kExitOk) << tuned.err << tuned.out;
  const Json kept = record();
  EXPECT_TRUE(kept["validated"].get<bool>());
  EXPECT_EQ(kept["settings"].dump(), R"({"UCX_RNDV_SCHEME":"am","UCX_ZCOPY_THRESH":"65536"})");
  size_t found = 0;
  for (const Json& knob : kept["knobs"]) {
    const bool taken =
        knob["value"] == "am" || (knob["name"] == "UCX_ZCOPY_THRESH" && knob["value"] == "65536");
    EXPECT_EQ(knob.contains("together"), taken) << knob.dump();
    if (!taken) continue;
    ++found;
    EXPECT_EQ(knob["outcome"], "loses") << knob.dump();
    EXPECT_EQ(knob["failure"], "");
    EXPECT_EQ(knob["together"].get<std::string>().find("together with UCX_"), 0U) << knob.dump();
  }
  EXPECT_EQ(found, 2U);
  EXPECT_NE(read_file(conf()).find("UCX_RNDV_SCHEME = am: together"), std::string::npos)
      << read_file(conf());
}

TEST_F(TuneUcx, WhatTakesTooMuchMemoryInTheLargestJobIsNotMeasured) {
  const Finished tuned = tune_ucx({}, {"--largest-job", "4096"});
  ASSERT_EQ(tuned.exit_code, kExitOk) << tuned.err << tuned.out;
  EXPECT_NE(read_file(conf()).find("estimated for jobs of 4096 ranks"), std::string::npos)
      << read_file(conf());
  const Json kept = record();
  EXPECT_EQ(kept["largest_job"], 4096);
  for (const Json& knob : kept["knobs"]) {
    const std::string setting =
        knob["name"].get<std::string>() + "=" + knob["value"].get<std::string>();
    const bool large = setting == "UCX_RNDV_THRESH=65536" || setting == "UCX_RNDV_THRESH=262144" ||
                       setting == "UCX_POSIX_SEG_SIZE=32832";
    const std::string failure = knob["failure"].get<std::string>();
    EXPECT_EQ(failure.find("each of 4096 ranks") != std::string::npos, large) << knob.dump();
    if (large) {
      EXPECT_EQ(knob["outcome"], "few_runs");
    }
  }
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
  EXPECT_EQ(kept["proofs"][0]["setting"]["value"], "0");
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

TEST_F(TuneUcx, ASweepMeasuresEveryValueAndPairsOfThoseThatGain) {
  const auto kept = (folder_ / "record.json").string();
  std::ofstream(kept)
      << R"({"settings": {"UCX_BCOPY_THRESH": "256", "UCX_ZCOPY_THRESH": "65536"}})";
  const Finished swept =
      run({"sweep", "ucx", "--ranks", "2", "--runs", "4", "--stall", "100", "--record", kept});
  ASSERT_EQ(swept.exit_code, kExitOk) << swept.err;
  std::map<std::string, std::vector<Json>> found;
  std::istringstream lines(swept.out);
  for (std::string line; std::getline(lines, line);) {
    const Json json = Json::parse(line);
    if (json["operation"] == "latency" && json["bytes"] == 8) {
      found[json["settings"].dump()] = json["times_s"].get<std::vector<Json>>();
    }
  }
  const std::string zcopy = R"({"UCX_ZCOPY_THRESH":"65536"})";
  const std::string scheme = R"({"UCX_RNDV_SCHEME":"am"})";
  const std::string both = R"({"UCX_RNDV_SCHEME":"am","UCX_ZCOPY_THRESH":"65536"})";
  const std::string of_record = R"({"UCX_BCOPY_THRESH":"256","UCX_ZCOPY_THRESH":"65536"})";
  for (const std::string& one : {std::string("{}"), zcopy, scheme, both, of_record}) {
    ASSERT_TRUE(found.contains(one)) << one << " of " << swept.out;
    EXPECT_EQ(found[one].size(), 8U) << one;
  }
  // The default has a time in every run, each value in the first ones, and pairs in the others.
  for (size_t i = 0; i < 8; ++i) {
    EXPECT_TRUE(found["{}"][i].is_number());
    EXPECT_EQ(found[zcopy][i].is_number(), i < 4) << i;
    EXPECT_EQ(found[both][i].is_number(), i >= 4) << i;
  }
  EXPECT_LT(found[zcopy][0].get<double>(), found["{}"][0].get<double>());
  // Neither the probe nor pairs of what gains nothing.
  EXPECT_FALSE(found.contains(R"({"UCX_RNDV_THRESH":"0"})"));
  EXPECT_FALSE(found.contains(R"({"UCX_BCOPY_THRESH":"256","UCX_RNDV_SCHEME":"am"})"));
  EXPECT_NE(run({"try", "ucx"}).err.find("only knobs"), std::string::npos);
  EXPECT_EQ(run({"sweep", "openmpi", "--record", kept}).exit_code, kExitUsage);
}

// Its programs would be found in place of this host's "cc" by other tests.
class TuneGasnet : public TuneFixture {
 protected:
  void SetUp() override {
    TuneFixture::SetUp();
    if (!IsSkipped()) fakes_.add_gasnet();
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
  EXPECT_GT(kept["proofs"][0]["factor"].get<double>(), 2.0);
  EXPECT_EQ(kept["proofs"][0]["setting"]["name"].get<std::string>().find("GASNET_VIS_"), 0U);
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

}  // namespace
}  // namespace stripline
