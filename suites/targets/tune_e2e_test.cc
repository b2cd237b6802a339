// What is found of Open MPI, by a command and for an agent.
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/exit_codes.h"
#include "base/json.h"
#include "base/json_channel.h"
#include "base/packed_export.h"
#include "base/subprocess.h"
#include "base/testing/assert_ok.h"
#include "base/testing/processes.h"
#include "optimizer/experiment/json.h"
#include "optimizer/experiment/tuning.h"
#include "suites/targets/testing/tune_fixture.h"

namespace stripline {
namespace {

namespace fs = std::filesystem;

class Tune : public TuneFixture {};

TEST_F(Tune, PredictionsBetweenNumbersOfRanksAreValidated) {
  // Few hosts have as many processors as lie between these.
  ranks_ = "70,72";
  const Finished tuned = tune();
  ASSERT_EQ(tuned.exit_code, kExitOk) << tuned.err << tuned.out;
  EXPECT_NE(rules().find("bcast of 71 ranks"), std::string::npos) << rules();
  const Json predicted = record()["predicted"];
  ASSERT_FALSE(predicted.empty());
  for (const Json& one : predicted) EXPECT_EQ(one["ranks"], 71) << one.dump();
  const Finished slower = tune("between", {"--seed", "2"});
  EXPECT_EQ(slower.exit_code, kExitOk) << slower.err << slower.out;
  EXPECT_NE(slower.err.find("bcast: no predictions"), std::string::npos) << slower.err;
  EXPECT_NE(rules().find("bcast, 72 ranks, 8 B to "), std::string::npos) << rules();
  EXPECT_EQ(rules().find("of 71 ranks"), std::string::npos) << rules();
  EXPECT_TRUE(record()["predicted"].empty());
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

TEST_F(Tune, RulesAndKnobsAreEachSeenToAct) {
  // Time for every knob, however busy the host is.
  const Finished tuned = tune("knobs", {}, "100", "2");
  ASSERT_EQ(tuned.exit_code, kExitOk) << tuned.err << tuned.out;
  const Json kept = record();
  EXPECT_EQ(kept["settings"].dump(), R"({"btl_vader_fbox_size":"16384"})");
  EXPECT_NE(read_file(params()).find("btl_vader_fbox_size = 16384"), std::string::npos);
  ASSERT_EQ(kept["proofs"].size(), 2U) << kept["proofs"].dump();
  EXPECT_EQ(kept["proofs"][0]["candidate"], "basic_linear");
  EXPECT_EQ(kept["proofs"][1]["setting"]["name"], "btl_vader_eager_limit");
  for (const Json& proof : kept["proofs"]) EXPECT_GT(proof["factor"].get<double>(), 2.0);
  const std::vector<std::string> verify = {"export", "verify", params().string(), "--minutes", "2"};
  const Finished verified = run(verify, "knobs");
  EXPECT_EQ(verified.exit_code, kExitOk) << verified.err << verified.out;
  EXPECT_NE(verified.out.find("a probe (btl_vader_eager_limit=1024 for "), std::string::npos)
      << verified.out;
  // The file is read, and its rules are followed; what it sets for transports is not.
  const Finished deaf = run(verify, "knobs deaf");
  EXPECT_EQ(deaf.exit_code, kExitBadInput) << deaf.err << deaf.out;
  EXPECT_NE(deaf.err.find("btl_vader_eager_limit=1024 for "), std::string::npos) << deaf.err;
  EXPECT_NE(deaf.err.find("does not read"), std::string::npos) << deaf.err;
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

TEST_F(Tune, WhatStaysInconclusiveIsNotExported) {
  ranks_ = "2";
  const Finished tuned = tune("unsteady");
  // Nothing is slower, for certain.
  EXPECT_EQ(tuned.exit_code, kExitOk) << tuned.err << tuned.out;
  EXPECT_NE(tuned.out.find("inconclusive: halo, 2 ranks"), std::string::npos) << tuned.out;
  EXPECT_NE(tuned.out.find("programs: failed"), std::string::npos) << tuned.out;
  EXPECT_NE(tuned.out.find("Keep the default"), std::string::npos) << tuned.out;
  EXPECT_FALSE(fs::exists(params()));
  const Json kept = record();
  EXPECT_FALSE(kept["validated"].get<bool>());
  EXPECT_EQ(kept["stages"].back()["inconclusive"], 1) << kept["stages"].dump();
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

// `stripline-tune work` under an agent (docs/worker-protocol.md).
class TuneWorks : public Tune {
 protected:
  // `settings`: what is validated again; empty: it tunes.
  void start(const std::vector<int64_t>& ranks, const std::string& wrongs = {},
             const std::string& settings = {}) {
    ASSERT_OK_AND_ASSIGN(auto ends, socket_pair());
    SubprocessOptions options;
    options.argv = {program("stripline-tune"), "work"};
    options.environment = fakes_.environment(wrongs);
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
    work.model_json = settings;
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
  ASSERT_GT(samples["series"].size(), 2U);
  std::map<std::string, std::vector<double>> cells;
  for (const Json& one : samples["series"]) {
    ASSERT_OK_AND_ASSIGN(const auto series, experiment::sample_series_from_json(one));
    EXPECT_TRUE(series.verified);
    if (experiment::is_cell(series.point)) {
      EXPECT_GE(series.values.size(), 2U);
      EXPECT_TRUE(cells.emplace(experiment::point_key(series.point), series.values).second);
      continue;
    }
    ASSERT_LT(&one - &samples["series"][0], 2);
    ASSERT_EQ(series.values.size(), 1U);
    // Binomial trees take half the time.
    EXPECT_GT(series.values[0], 1.5);
    EXPECT_EQ(is_packed_export(series.result), &one == &samples["series"][0]);
  }
  // The default and what was chosen, by launches, and values of knobs.
  const std::string of_bcast = "?bytes=8&path=shm&ranks=4";
  const auto usual = cells.find("target.bcast/default" + of_bcast);
  const auto chosen = cells.find("target.bcast/binomial" + of_bcast);
  ASSERT_TRUE(usual != cells.end() && chosen != cells.end()) << samples.dump();
  EXPECT_LT(chosen->second[0], usual->second[0]);
  EXPECT_TRUE(cells.contains("target.latency/default_settings?bytes=8&path=shm&ranks=2"));
  say({{"type", "taken"}});
  EXPECT_EQ(next("finished").value("reason", ""), "complete");
  next("left");
  EXPECT_EQ(exit_code(), kExitOk);
}

TEST_F(TuneWorks, AndValidatesAgainWhatItIsGiven) {
  ASSERT_NO_FATAL_FAILURE(start({2, 4}));
  const std::string settings = next("samples")["series"][0]["result"].get<std::string>();
  say({{"type", "taken"}});
  next("left");
  ASSERT_TRUE(is_packed_export(settings));
  // The settings hold as before; are slower than the default; are not read.
  for (const char* const wrongs : {"", "worse", "unread"}) {
    SCOPED_TRACE(wrongs);
    ASSERT_NO_FATAL_FAILURE(start({2, 4}, wrongs, settings));
    const Json samples = next("samples");
    ASSERT_EQ(samples["series"].size(), 2U);
    const Json first = samples["series"][0];
    const bool holds = std::string(wrongs).empty();
    EXPECT_EQ(first["note"].get<std::string>().empty(), holds) << first["note"];
    EXPECT_EQ(first["values"][0].get<double>() > 1.5, holds) << first["values"];
    EXPECT_FALSE(samples["series"][1].contains("result"));
    const Json sent = Json::parse(first["result"].get<std::string>());
    EXPECT_EQ(sent["record"]["validated"].get<bool>(), holds);
    EXPECT_EQ(sent["record"]["proofs"].size(), holds ? 1U : 0U);
    // Their paths are those of where they were tried.
    EXPECT_EQ(sent["files"].size(), Json::parse(settings)["files"].size());
    say({{"type", "taken"}});
    next("left");
    EXPECT_EQ(exit_code(), kExitOk);
  }
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
  ASSERT_GE(samples["series"].size(), 1U);
  EXPECT_EQ(samples["series"][0]["values"], Json::array({1.0}));
  const std::string note = samples["series"][0]["note"].get<std::string>();
  EXPECT_EQ(
      note.find("nothing is certain to gain more than 3.0 %; with 95 % confidence the default "
                "is the best in "),
      0U)
      << note;
  EXPECT_NE(note.find(" of knobs change nothing or lose"), std::string::npos) << note;
  EXPECT_FALSE(samples["series"][0].contains("result"));
  say({{"type", "taken"}});
  next("left");
}

}  // namespace
}  // namespace stripline
