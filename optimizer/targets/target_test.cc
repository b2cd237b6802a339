#include "optimizer/targets/target.h"

#include <algorithm>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "optimizer/targets/environment_file.h"
#include "optimizer/targets/registry.h"
#include "optimizer/targets/version.h"

namespace stripline::targets {
namespace {

TEST(Version, IsReadFromWhatProgramsPrint) {
  EXPECT_EQ(to_string(*parse_version("4.1.4")), "4.1.4");
  EXPECT_EQ(to_string(*parse_version("5.0rc1")), "5.0.0");
  EXPECT_FALSE(parse_version("4"));
  EXPECT_FALSE(parse_version("v4.1"));
  EXPECT_FALSE(parse_version("4.1234567.0"));
  EXPECT_EQ(to_string(*find_version("package:x\nompi:version:full:4.1.4\n", "ompi:version:full")),
            "4.1.4");
  EXPECT_EQ(to_string(*find_version("MPICH Version:    \t4.0.2\n", "MPICH Version")), "4.0.2");
  EXPECT_EQ(to_string(*find_version("# Version 1.13.1\n", "# Version")), "1.13.1");
  EXPECT_FALSE(find_version("MPICH Version: unknown", "MPICH Version"));
}

TEST(Version, OneThatWasNotTriedIsRefusedByName) {
  constexpr std::string_view kTried[] = {"4.1.4"};
  EXPECT_TRUE(check_version("Open MPI", *parse_version("4.1.4"), kTried, false).ok());
  const Status refused = check_version("Open MPI", *parse_version("4.1.5"), kTried, false);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message().find("Open MPI 4.1.5"), std::string::npos);
  EXPECT_NE(refused.error().message().find("--accept-untried"), std::string::npos);
  EXPECT_TRUE(check_version("Open MPI", *parse_version("4.1.5"), kTried, true).ok());
}

TEST(Targets, KnobsAreConsistent) {
  for (const Target* const target : all_targets()) {
    std::set<std::string_view> names;
    for (const Knob& knob : target->knobs) {
      SCOPED_TRACE(knob.name);
      EXPECT_TRUE(names.insert(knob.name).second);
      EXPECT_FALSE(knob.meaning.empty());
      EXPECT_FALSE(knob.found.empty());
      // What a search would try is accepted, and differs from the default.
      for (const std::string_view value : words_of(knob.values)) {
        EXPECT_TRUE(check_value(knob, value).ok()) << value;
        const bool number = knob.kind == KnobKind::bytes || knob.kind == KnobKind::count;
        EXPECT_FALSE(number && value == knob.default_value) << value;
      }
    }
  }
}

TEST(Targets, WhatIsTunedHasAProbeOfItsSettingsOnEveryPath) {
  for (const Target* const target : all_targets()) {
    if (target->support != Support::tuned) continue;
    for (const Path path : {Path::shared_memory, Path::tcp, Path::any}) {
      SCOPED_TRACE(std::string(target->name) + ", " + std::string(to_string(path)));
      const auto probes = probes_on(*target, path);
      EXPECT_FALSE(probes.empty());
      if (path == Path::any) {
        EXPECT_EQ(probes.size(), words_of(target->probe_settings).size());
      }
      for (const Setting& probe : probes) {
        const Knob& knob = *find_knob(*target, probe.name);
        EXPECT_TRUE(acts_on(knob, path));
        EXPECT_TRUE(check_value(knob, probe.value).ok()) << probe.value;
        EXPECT_NE(probe.value, knob.default_value);
        // It is not one that might be exported; algorithms of collectives never are.
        const auto words = words_of(knob.values);
        EXPECT_TRUE(knob.kind == KnobKind::choice ||
                    std::ranges::find(words, probe.value) == words.end());
      }
    }
  }
}

TEST(Targets, ProbesOfAnotherPathAreNotMeasured) {
  const Target& openmpi = **find_target("openmpi");
  EXPECT_EQ(probes_on(openmpi, Path::tcp), (std::vector<Setting>{{"btl_tcp_eager_limit", "1024"}}));
}

TEST(Settings, ArePutInPlaceOfTheSameName) {
  std::vector<Setting> settings = {{"a", "1"}, {"b", "2"}};
  put_setting(settings, {"a", "3"});
  put_setting(settings, {"c", "4"});
  EXPECT_EQ(settings, (std::vector<Setting>{{"a", "3"}, {"b", "2"}, {"c", "4"}}));
}

TEST(Targets, TheFirstCandidateIsTheDefault) {
  for (const Target* const target : all_targets()) {
    if (target->candidates == nullptr) continue;
    for (const Collective collective : kCollectives) {
      const auto candidates = target->candidates(collective);
      SCOPED_TRACE(std::string(target->name) + " " + std::string(to_string(collective)));
      ASSERT_GE(candidates.size(), 2U);
      EXPECT_EQ(candidates.front().id, 0);
      EXPECT_EQ(candidates.front().name, "default");
      std::set<std::string> names;
      for (const Candidate& candidate : candidates) {
        EXPECT_TRUE(names.insert(candidate.name).second) << candidate.name;
        // Variables keep what was set: what the default sets, each of the others does, too.
        for (const auto& usual : candidates.front().select) {
          EXPECT_TRUE(std::ranges::any_of(
              candidate.select, [&](const auto& set) { return set.first == usual.first; }))
              << candidate.name << " leaves " << usual.first << " as it was";
        }
      }
    }
  }
}

TEST(Targets, ChoicesDependOnWhatTheTargetDistinguishes) {
  const Target& openmpi = **find_target("openmpi");
  EXPECT_EQ(scope_of(openmpi, Collective::bcast), Scope::cell);
  EXPECT_EQ(scope_of(openmpi, Collective::gather), Scope::ranks);
  EXPECT_EQ(scope_of(openmpi, Collective::scan), Scope::ranks);
  const Target& mpich = **find_target("mpich");
  EXPECT_EQ(scope_of(mpich, Collective::bcast), Scope::cell);
  EXPECT_EQ(scope_of(mpich, Collective::allgather), Scope::cell);
  EXPECT_EQ(scope_of(mpich, Collective::gather), Scope::ranks);
  EXPECT_EQ(scope_of(mpich, Collective::alltoallv), Scope::ranks);
  EXPECT_EQ(scope_of(Target{}, Collective::bcast), Scope::collective);
}

TEST(Targets, AreFoundByName) {
  EXPECT_EQ((*find_target("openmpi"))->title, "Open MPI");
  const auto unknown = find_target("openmip");
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.error().message().find("did you mean 'openmpi'"), std::string::npos);
}

TEST(Knobs, RefuseValuesOutOfTheirRange) {
  const Target& openmpi = **find_target("openmpi");
  const std::vector<Setting> fine = {{"btl_vader_eager_limit", "8192"},
                                     {"btl_vader_single_copy_mechanism", "none"}};
  EXPECT_TRUE(check_settings(openmpi, fine).ok());
  for (const Setting& bad : {Setting{"btl_vader_eager_limit", "8k"},
                             {"btl_vader_eager_limit", "0"},
                             {"btl_vader_single_copy_mechanism", "cma none"},
                             {"btl_vader_single_copy_mechanism", ""},
                             {"btl_vader_eager", "8192"}}) {
    EXPECT_FALSE(check_settings(openmpi, {bad}).ok()) << bad.name << "=" << bad.value;
  }
}

TEST(Knobs, MemoryGrowsWithRanksAndIsBounded) {
  const Target& openmpi = **find_target("openmpi");
  const std::vector<Setting> settings = {{"btl_tcp_eager_limit", "262144"}};
  EXPECT_TRUE(check_memory(openmpi, settings, 8, uint64_t{64} << 20).ok());
  const Status large = check_memory(openmpi, settings, 4096, uint64_t{64} << 20);
  ASSERT_FALSE(large.ok());
  EXPECT_EQ(large.error().code(), ErrorCode::resource_exhausted);
  EXPECT_NE(large.error().message().find("btl_tcp_eager_limit"), std::string::npos);
  const std::vector<Setting> endless = {{"btl_tcp_eager_limit", "18446744073709551615"}};
  EXPECT_FALSE(check_memory(openmpi, endless, 4096, uint64_t{1} << 60).ok());
}

TEST(Knobs, MemoryIsWhatAValueTakesBeyondTheDefault) {
  const Target& gasnet = **find_target("gasnet");
  const std::vector<Setting> deeper = {{"GASNET_NETWORKDEPTH", "192"}};
  // 64 more buffers of 64 KiB for each of 8 ranks.
  EXPECT_TRUE(check_memory(gasnet, deeper, 8, uint64_t{32} << 20).ok());
  EXPECT_FALSE(check_memory(gasnet, deeper, 8, (uint64_t{32} << 20) - 1).ok());
  EXPECT_TRUE(check_memory(gasnet, std::vector<Setting>{{"GASNET_NETWORKDEPTH", "32"}}, 8, 0).ok());
}

TEST(Knobs, EachValueThatIsTriedFitsInTheDefaultMemory) {
  for (const Target* const target : all_targets()) {
    for (const Knob& knob : target->knobs) {
      for (const std::string_view value : words_of(knob.values)) {
        const std::vector<Setting> one = {{std::string(knob.name), std::string(value)}};
        const Status fits = check_memory(*target, one, 8, uint64_t{64} << 20);
        EXPECT_TRUE(fits.ok()) << fits.error().message();
      }
    }
  }
}

TEST(Candidate, IsRefusedWhereItMeansSomethingElse) {
  const Cell three{.collective = Collective::allreduce, .ranks = 3, .bytes = 4096};
  EXPECT_NE(refusal({.most_ranks = 2}, three, {}), "");
  EXPECT_NE(refusal({.power_of_two_ranks = true}, three, {}), "");
  EXPECT_NE(refusal({.even_ranks = true}, three, {}), "");
  EXPECT_NE(refusal({.commutative_only = true}, three, {}), "");
  EXPECT_EQ(refusal({.commutative_only = true}, three, {.commutative_only = true}), "");
  EXPECT_NE(refusal({.segment_bytes = 4096}, three, {}), "");
  EXPECT_EQ(refusal({.segment_bytes = 1024}, three, {}), "");
  // 24 bytes are three doubles, one for each rank, but fewer complex numbers than ranks.
  const Cell small{.collective = Collective::bcast, .ranks = 3, .bytes = 24};
  EXPECT_NE(refusal({.elements_per_rank = 1}, small, {}), "");
  EXPECT_EQ(refusal({.elements_per_rank = 1}, three, {}), "");
  const Candidate forced{.id = 4, .select = {{"a_algorithm", 4}, {"a_segmentsize", 0}}};
  EXPECT_NE(refusal(forced, three, {.unsettable = {"a_algorithm"}}), "");
  EXPECT_EQ(refusal(forced, three, {.unsettable = {"a_segmentsize"}}), "");
  // Only reductions have an operation.
  const Cell gather{.collective = Collective::allgather, .ranks = 3, .bytes = 4096};
  EXPECT_EQ(refusal({.commutative_only = true}, gather, {}), "");
}

}  // namespace
}  // namespace stripline::targets
