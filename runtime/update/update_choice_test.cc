// The method that is chosen for the updates of an epoch, and that they use it.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/update.h>

#include "optimizer/plan/update.h"
#include "runtime/bootstrap/testing/fabrics_under_test.h"
#include "runtime/bootstrap/testing/thread_group.h"
#include "runtime/decide/surroundings.h"
#include "runtime/loop/testing/model_file.h"
#include "runtime/rma/context_state.h"
#include "runtime/update/parcel.h"

namespace stripline {
namespace {

constexpr rank_t kJobRanks = 3;
constexpr uint64_t kEachUpdates = 600;  // of a rank, each of another cell
constexpr uint64_t kFewCells = 60;

const bootstrap::FabricUnderTest kNetwork{"", "emulated:opteron-vapi,compute=none", "virtual"};

struct Job {
  rank_t ranks = kJobRanks;
  model::TunedModel model = model::example_model();
  bool guard = true;
  std::string tuning;
  std::string trace;
  UpdateOptions options = {};
  int periods = 0;
  bool one_value = false;                 // all of few cells
  std::vector<double>* ends_s = nullptr;  // what the ends of the last epoch took, on rank 0
};

// Periods of one place of the program, the first ones by epochs of their own. Returns how updates
// went in each of them, which is the same on all ranks, and what was written to standard error.
std::vector<UpdateSettings> periods_of(const Job& job, std::string* said = nullptr) {
  const ModelFile file("update_choice_test", job.model);
  auto group = bootstrap::group_on(kNetwork, job.ranks);
  group.context.model_path = file.path();
  group.context.guard = job.guard;
  group.context.tuning = job.tuning;
  if (!job.trace.empty()) group.context.trace = job.trace;
  ::testing::internal::CaptureStderr();
  const auto ran =
      bootstrap::run_ranks_returning<std::vector<UpdateSettings>>(group, [&](Context& context) {
        const uint64_t cells_of_all = job.ranks * kEachUpdates;
        auto array = *shared_array<uint64_t>::create(context, cells_of_all);
        for (uint64_t& cell : array.local_span()) cell = 0;
        context.barrier();
        std::vector<UpdateSettings> seen;
        const auto run = [&](UpdateEpoch<uint64_t, op_add>& epoch) {
          seen.push_back(epoch.in_use());
          const auto cells = epoch.into(array);
          for (uint64_t i = 0; i < kEachUpdates; ++i) {
            if (job.one_value) {
              cells.update(i * 7 % kFewCells, 1);
            } else {
              cells.update((context.rank_me() * kEachUpdates + i) * 7 % cells_of_all, i);
            }
          }
        };
        const auto make = [&] { return UpdateEpoch<uint64_t, op_add>(context, job.options); };
        for (int i = 0; i < std::min(4, job.periods); ++i) {
          auto epoch = make();
          run(epoch);
          if (i % 2 == 0) epoch.end();
        }
        auto epoch = make();
        for (int i = 4; i < job.periods; ++i) {
          run(epoch);
          const double begun_s = context.now_s();
          epoch.end();
          if (job.ends_s != nullptr && context.rank_me() == 0) {
            job.ends_s->push_back(context.now_s() - begun_s);
          }
        }
        uint64_t sum = 0;
        for (const uint64_t cell : array.local_span()) sum += cell;
        const uint64_t of_rank =
            job.one_value ? kEachUpdates : kEachUpdates * (kEachUpdates - 1) / 2;
        EXPECT_EQ(context.reduce_all(sum, Context::ReduceOp::sum),
                  static_cast<uint64_t>(job.periods) * job.ranks * of_rank);
        return seen;
      });
  const std::string captured = ::testing::internal::GetCapturedStderr();
  if (said != nullptr) *said = captured;
  EXPECT_TRUE(ran.ok()) << ran.error().message();
  if (!ran.ok()) return {};
  for (const std::vector<UpdateSettings>& of_rank : *ran) EXPECT_EQ(of_rank, ran->front());
  return ran->front();
}

// What the planner says of these updates.
plan::UpdatePlan planned(const model::TunedModel& m) {
  const plan::UpdateCosts costs(m, m.network.at("inter-node"));
  plan::UpdateRequest request{.updates = kEachUpdates,
                              .cells = kEachUpdates,
                              .span_bytes = kEachUpdates * sizeof(uint64_t),
                              .ranks = kJobRanks,
                              .local_percent = 33,
                              .no_identity = true,
                              .provider = true};
  return plan::plan_update(request, &costs);
}

// A model by which computing takes so much time that nothing goes through buffers.
model::TunedModel against_buffers() {
  model::TunedModel m = model::example_model();
  for (model::UpdatePoint& point : m.update->items) {
    for (auto parameter : {&model::UpdatePoint::append_s, &model::UpdatePoint::merge_s,
                           &model::UpdatePoint::apply_s}) {
      point.*parameter = model::example_parameter(1e-3, 0);
    }
  }
  return m;
}

bool in_buffers(const UpdateSettings& settings) { return settings.method == UpdateMethod::buffers; }

TEST(UpdateChoice, IsThePlannersOnceTheUpdatesAreKnown) {
  const auto seen = periods_of({.guard = false, .periods = 6});
  ASSERT_EQ(seen.size(), 6U);
  const plan::UpdatePlan plan = planned(model::example_model());
  EXPECT_EQ(plan.candidate.method, plan::UpdateMethod::buffers);
  for (size_t i = 1; i < seen.size(); ++i) {
    EXPECT_TRUE(in_buffers(seen[i]));
    EXPECT_EQ(seen[i].buffer_bytes, plan.candidate.buffer_bytes) << i;
    EXPECT_EQ(seen[i].hops, plan.candidate.hops) << i;
  }
}

TEST(UpdateChoice, IsAnotherMethodWhereTheModelSaysSo) {
  const bootstrap::WithoutDebugMode methods;  // it has buffers only
  const auto seen = periods_of({.model = against_buffers(), .guard = false, .periods = 6});
  ASSERT_EQ(seen.size(), 6U);
  EXPECT_TRUE(in_buffers(seen[0]));
  EXPECT_EQ(planned(against_buffers()).candidate.method, plan::UpdateMethod::provider);
  for (size_t i = 1; i < seen.size(); ++i) EXPECT_EQ(seen[i].method, UpdateMethod::provider) << i;
}

// In virtual time, where the model is wrong by orders of magnitude.
TEST(UpdateChoice, ComesToBuffersAgainstAWrongModel) {
  const bootstrap::WithoutDebugMode methods;  // it has buffers only
  const auto seen = periods_of({.model = against_buffers(), .periods = 70});
  ASSERT_EQ(seen.size(), 70U);
  EXPECT_FALSE(std::ranges::all_of(seen, in_buffers));
  const std::vector<UpdateSettings> late(seen.end() - 20, seen.end());
  EXPECT_GE(std::ranges::count_if(late, in_buffers), 18);
}

// What others send on through a rank that has come to the end is still carried out, and what comes
// before it knows how to go on is, too.
TEST(UpdateChoice, MayChangeTheHops) {
  const auto seen = periods_of({.ranks = 9, .options = {.budget_bytes = 40000}, .periods = 12});
  ASSERT_EQ(seen.size(), 12U);
  EXPECT_EQ(seen[0].hops, 3U);
  EXPECT_NE(std::ranges::find_if(seen, [&](const auto& one) { return one != seen[0]; }),
            seen.end());
}

TEST(UpdateChoice, KeepsToWhatTheProgramSets) {
  const auto by_settings = periods_of(
      {.model = against_buffers(), .options = {.settings = {.buffer_bytes = 500}}, .periods = 3});
  ASSERT_EQ(by_settings.size(), 3U);
  for (const UpdateSettings& one : by_settings) EXPECT_EQ(one.buffer_bytes, 500U);
  for (const UpdateSettings& one :
       periods_of({.model = against_buffers(), .options = {.use_model = false}, .periods = 3})) {
    EXPECT_TRUE(in_buffers(one));
  }
}

TEST(UpdateChoice, IsWhatARuleForces) {
  for (const UpdateSettings& one :
       periods_of({.tuning = "update:8:messages;update:16-:cell_locks", .periods = 3})) {
    EXPECT_EQ(one.method, UpdateMethod::messages);
  }
  for (const UpdateSettings& one :
       periods_of({.model = against_buffers(), .tuning = "update:*:baseline", .periods = 6})) {
    EXPECT_TRUE(in_buffers(one));
  }
}

// Ranks add up what they have done at few of the ends.
TEST(UpdateChoice, TakesNoTimeAtMostEnds) {
  constexpr double kReduced = 4e-6;  // of the profile: a message takes longer
  std::vector<double> ends_s;
  const auto seen = periods_of({.guard = false, .periods = 404, .ends_s = &ends_s});
  ASSERT_EQ(ends_s.size(), 400U);
  std::vector<double> late(ends_s.begin() + 200, ends_s.end());
  std::ranges::sort(late);
  const double usual_s = late[late.size() / 4];
  const auto longer = std::ranges::count_if(late, [&](double s) { return s > usual_s + kReduced; });
  EXPECT_GE(longer, 1);
  EXPECT_LE(longer, 20);
}

// Merging in the first buffers would hide it.
TEST(UpdateChoice, FindsThatAllUpdatesHaveOneValue) {
  const bootstrap::WithoutDebugMode methods;  // it has buffers only
  for (const bool one_value : {false, true}) {
    std::string said;
    periods_of({.model = against_buffers(),
                .guard = false,
                .trace = "sites",
                .periods = 12,
                .one_value = one_value},
               &said);
    const size_t command = said.find("stripline explain update ");
    ASSERT_NE(command, std::string::npos) << said;
    const std::string line = said.substr(command, said.find('\n', command) - command);
    EXPECT_EQ(line.find("--one-value") != std::string::npos, one_value) << said;
  }
}

// In an array that stands for the owner's cells, or in buffers.
TEST(UpdateChoice, SumsUpUnlessThatTakesLonger) {
  const bootstrap::WithoutDebugMode summing;  // it sends each update, to see its place
  const auto shown = [](const model::TunedModel& model) {
    std::string said;
    periods_of({.model = model, .guard = false, .trace = "sites", .periods = 12, .one_value = true},
               &said);
    return said;
  };
  const std::string usual = shown(model::example_model());
  EXPECT_NE(usual.find(" summed up, "), std::string::npos) << usual;
  model::TunedModel slow = model::example_model();
  for (model::UpdatePoint& point : slow.update->items) {
    point.apply_s = model::example_parameter(1e-6, 0);
  }
  const std::string merged = shown(slow);
  EXPECT_NE(merged.find(" merged, "), std::string::npos) << merged;
  EXPECT_EQ(merged.find(" summed up, "), std::string::npos) << merged;
}

TEST(UpdateChoice, IsShownWithACommandThatExplainsIt) {
  const bootstrap::WithoutDebugMode methods;  // it has buffers only
  std::string said;
  periods_of({.model = against_buffers(), .guard = false, .trace = "sites", .periods = 12}, &said);
  for (const char* part :
       {"updates of 8 B", "stripline explain update ", "--updates 600 ", "--ranks 3 --local 33",
        "parcels of updates of 8 B", "stripline explain encoding "}) {
    EXPECT_NE(said.find(part), std::string::npos) << part << " is missing in\n" << said;
  }
}

// Only of values of the size that it is about.
TEST(UpdateChoice, IsWrittenAsARuleForces) {
  const bootstrap::WithoutDebugMode methods;  // it has buffers only
  for (const auto& [tuning, forces] : {std::pair("encoding:8:pairs", true),
                                       {"encoding:*:baseline", true},
                                       {"encoding:4:pairs", false}}) {
    std::string said;
    periods_of({.model = against_buffers(),
                .guard = false,
                .tuning = tuning,
                .trace = "sites",
                .periods = 12},
               &said);
    EXPECT_NE(said.find("parcels of updates of 8 B"), std::string::npos) << said;
    EXPECT_EQ(said.find("pairs, as asked") != std::string::npos, forces) << tuning << "\n" << said;
  }
}

}  // namespace
}  // namespace stripline
