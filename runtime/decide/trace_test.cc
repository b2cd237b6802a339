#include "runtime/decide/trace.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/loop.h>
#include <stripline/nest.h>
#include <stripline/vis.h>

#include "base/quantity.h"
#include "optimizer/model/feedback.h"
#include "optimizer/plan/mechanisms.h"
#include "optimizer/plan/toy_fixture.h"
#include "runtime/bootstrap/testing/fabrics_under_test.h"
#include "runtime/bootstrap/testing/thread_group.h"
#include "runtime/decide/choice.h"
#include "runtime/loop/testing/exact_costs.h"
#include "runtime/loop/testing/model_file.h"

namespace stripline::decide {
namespace {

std::string none() { return {}; }

constexpr CallSite kHere{"/home/someone/app/jacobi.cc", 81};

TEST(Trace, ShowsThePlacesThatTookLongestFirst) {
  Trace trace;
  EXPECT_TRUE(trace.empty());
  const Choice strips{"B, 16 steps, 2 ahead", plan::Reason::tuned, 250e-6};
  for (int i = 0; i < 4; ++i) trace.note(kHere, 1, strips, 260e-6, "get 512 KiB", none);
  const Choice simple{"blocking, by the guard", plan::Reason::guarded, 0};
  trace.note(kHere, 1, simple, 900e-6, "get 512 KiB", none);
  const Choice all{"A, 8 steps", plan::Reason::tuned, 1e-3};
  trace.note({"jacobi.cc", 93}, 1, all, 2e-3, "nest of 64 x 64", none);
  const std::string text = trace.text();
  EXPECT_LT(text.find("jacobi.cc:93"), text.find("jacobi.cc:81")) << text;
  EXPECT_EQ(text.find("someone"), std::string::npos);
  EXPECT_NE(text.find("B, 16 steps, 2 ahead"), std::string::npos) << text;
  EXPECT_NE(text.find("250 us     260 us"), std::string::npos) << text;  // without the comparison
  EXPECT_NE(text.find("A, 8 steps"), std::string::npos) << text;
  EXPECT_NE(text.find("  jacobi.cc:93 (nest of 64 x 64) took 2.00 times"), std::string::npos);
  EXPECT_EQ(text.find("jacobi.cc:81 (get"), std::string::npos) << text;
}

TEST(Trace, SaysWhereTheGuardHasGivenThePlanUp) {
  Trace trace;
  const Choice strips{"B, 16 steps, 2 ahead", plan::Reason::tuned, 250e-6};
  for (int i = 0; i < 4; ++i) trace.note(kHere, 1, strips, 260e-6, "get 512 KiB", none);
  const Choice simple{"blocking, by the guard", plan::Reason::guarded, 0};
  for (int i = 0; i < 996; ++i) trace.note(kHere, 1, simple, 100e-6, "get 512 KiB", none);
  const std::string text = trace.text();
  EXPECT_NE(text.find("blocking, by the guard    -          100 us"), std::string::npos) << text;
}

TEST(Trace, TellsAReportOfPlacesTheSame) {
  Trace trace;
  const Choice strips{"B, 16 steps, 2 ahead", plan::Reason::tuned, 250e-6};
  for (int i = 0; i < 4; ++i) trace.note(kHere, 1, strips, 260e-6, "get 512 KiB", none);
  const Choice simple{"blocking, by the guard", plan::Reason::guarded, 0};
  for (int i = 0; i < 996; ++i) trace.note(kHere, 1, simple, 100e-6, "get 512 KiB", none);
  trace.note({"jacobi.cc", 93}, 1, strips, std::nullopt, "nest of 64 x 64", none);
  const auto places = trace.places(9);
  ASSERT_EQ(places.size(), 2U);
  EXPECT_EQ(places[0].place, "jacobi.cc:81");
  EXPECT_EQ(places[0].what, "get 512 KiB");
  EXPECT_EQ(places[0].choice, "B, 16 steps, 2 ahead");
  EXPECT_EQ(places[0].executions, 1000U);
  EXPECT_EQ(places[0].as_chosen, 4U);
  EXPECT_DOUBLE_EQ(places[0].predicted_s, 250e-6);
  EXPECT_DOUBLE_EQ(places[0].measured_s, 260e-6);
  EXPECT_EQ(places[0].simple, 996U);
  EXPECT_NEAR(places[0].simple_s, 100e-6, 1e-9);
  EXPECT_EQ(places[0].demoted_ranks, 1U);
  EXPECT_EQ(places[1].measured_s, 0);
  EXPECT_EQ(places[1].demoted_ranks, 0U);
  EXPECT_EQ(trace.places(1).size(), 1U);
}

TEST(Trace, SaysWhatCameOfATie) {
  const Choice uncut{"blocking, 1 step", plan::Reason::below_margin, 250e-6};
  const Choice tie{"B, 16 steps, 2 ahead", plan::Reason::tied, 249e-6};
  const Choice simple{"blocking, by the guard", plan::Reason::guarded, 250e-6};
  Trace cut;
  for (int i = 0; i < 4; ++i) cut.note(kHere, 1, uncut, 400e-6, "get 512 KiB", none);
  cut.note(kHere, 1, simple, 400e-6, "get 512 KiB", none);
  for (int i = 0; i < 5; ++i) cut.note(kHere, 1, tie, 240e-6, "get 512 KiB", none);
  EXPECT_NE(cut.text().find("10       B, 16 steps, 2 ahead      249 us     240 us"),
            std::string::npos)
      << cut.text();
  Trace kept;
  for (int i = 0; i < 2; ++i) kept.note(kHere, 1, tie, 900e-6, "get 512 KiB", none);
  for (int i = 0; i < 20; ++i) kept.note(kHere, 1, simple, 400e-6, "get 512 KiB", none);
  EXPECT_NE(kept.text().find("B, 16 steps, 2 ahead"), std::string::npos) << kept.text();
  kept.demote();
  const std::string text = kept.text();
  EXPECT_NE(text.find("22       blocking, by the guard    250 us     400 us"), std::string::npos)
      << text;
  EXPECT_NE(text.find("jacobi.cc:81 (get 512 KiB) took 1.60 times"), std::string::npos) << text;
}

// What takes longer beside that is not added to the times of what stays.
TEST(Trace, KeepsTimesOfWhatIsTriedApart) {
  const Choice boxes{"boxes, no model", plan::Reason::no_model, 0};
  const Choice lists{"lists, by the guard", plan::Reason::tied, 0};
  Trace trace;
  for (int i = 0; i < 2; ++i) trace.note(kHere, 1, boxes, 4e-3, "region of 8 KiB", none);
  for (int i = 0; i < 2; ++i) trace.note(kHere, 1, lists, 9e-4, "region of 8 KiB", none);
  for (int i = 0; i < 6; ++i) trace.note(kHere, 1, boxes, 4e-4, "region of 8 KiB", none);
  const auto place = trace.places(1).front();
  EXPECT_EQ(place.choice, boxes.text);
  EXPECT_EQ(place.executions, 10U);
  EXPECT_EQ(place.as_chosen, 6U);
  EXPECT_DOUBLE_EQ(place.measured_s, 4e-4);
}

Choice stage(uint32_t pieces, plan::Reason reason, double predicted_s) {
  return choice_of<plan::WavefrontMechanism>(
      {}, {.pieces = pieces, .reason = reason, .predicted_s = predicted_s});
}

// The first rounds go in one piece whatever is planned later: their time says nothing about the
// plan.
TEST(Trace, StagesSayWhyAndLeaveOutTheFirstRounds) {
  Trace trace;
  const Choice unplanned = choice_of<plan::WavefrontMechanism>({}, {}, {.unplanned = true});
  for (int i = 0; i < 2; ++i) trace.note(kHere, 1, unplanned, 900e-6, "crossing 0", none);
  EXPECT_NE(trace.text().find("1 piece, being timed      -          900 us"), std::string::npos)
      << trace.text();
  const Choice tuned = stage(4, plan::Reason::tuned, 250e-6);
  for (int i = 0; i < 3; ++i) trace.note(kHere, 1, tuned, 260e-6, "crossing 0", none);
  const Choice simple = stage(1, plan::Reason::guarded, 0);
  trace.note(kHere, 1, simple, 500e-6, "crossing 0", none);
  std::string text = trace.text();
  EXPECT_NE(text.find("6        4 pieces, tuned           250 us     260 us"), std::string::npos)
      << text;
  EXPECT_EQ(text.find("missed"), std::string::npos) << text;
  for (int i = 0; i < 9; ++i) trace.note(kHere, 1, simple, 500e-6, "crossing 0", none);
  text = trace.text();
  EXPECT_NE(text.find("15       1 piece, by the guard     -          500 us"), std::string::npos)
      << text;
}

// Only those who wait for a transfer see its end.
TEST(Trace, TimesThatAreNotKnownAreLeftOut) {
  Trace trace;
  const Choice packed = choice_of<plan::VisMechanism>({}, {.method = plan::VisMethod::packed,
                                                           .reason = plan::Reason::tuned,
                                                           .window = 4,
                                                           .chunk_bytes = 8192,
                                                           .predicted_s = 50e-6});
  trace.note(kHere, 1, packed, std::nullopt, "put, 256 x 64 B", none);
  EXPECT_NE(trace.text().find("1        packed, 8 KiB, window 4   50.0 us    -"), std::string::npos)
      << trace.text();
  trace.note(kHere, 1, packed, 52e-6, "put, 256 x 64 B", none);
  EXPECT_NE(trace.text().find("2        packed, 8 KiB, window 4   50.0 us    52.0 us"),
            std::string::npos)
      << trace.text();
  const Choice simple = choice_of<plan::VisMechanism>({}, {.reason = plan::Reason::guarded});
  for (int i = 0; i < 5; ++i) trace.note(kHere, 1, simple, 40e-6, "put, 256 x 64 B", none);
  EXPECT_NE(trace.text().find("7        as without a model        -          40.0 us"),
            std::string::npos)
      << trace.text();
}

// What a mechanism says of its plans for a table; without that, what explanations show.
TEST(Choice, IsOfAnyMechanism) {
  const auto loop = [](plan::StripPlan plan) {
    return choice_of<plan::StripMechanism>({}, plan).text;
  };
  using plan::Reason;
  using plan::Schedule;
  EXPECT_EQ(loop({.schedule = Schedule::pipelined, .burst = 2, .count = 16}),
            "B, 16 steps, 2 ahead");
  EXPECT_EQ(loop({.schedule = Schedule::all_issued, .burst = 8, .count = 8}), "A, 8 steps");
  EXPECT_EQ(loop({.count = 1}), "blocking, 1 step");
  EXPECT_EQ(loop({.reason = Reason::own_memory}), "in place");
  EXPECT_EQ(loop({.reason = Reason::guarded, .count = 1}), "blocking, by the guard");
  const auto nest = [](plan::NestPlan plan) {
    return choice_of<plan::NestMechanism>({}, plan).text;
  };
  EXPECT_EQ(nest({.schedule = Schedule::all_issued, .steps = 4}), "A, 4 steps");
  EXPECT_EQ(nest({.obstacle = access::Failure{}}), "access by access");
  const Choice toy =
      choice_of<plan::ToyMechanism>({}, {.ahead = 8, .reason = Reason::tuned, .predicted_s = 2e-6});
  EXPECT_EQ(toy, (Choice{.text = "8 ahead, tuned", .reason = Reason::tuned, .predicted_s = 2e-6}));
  // What was carried out may be a part of what was planned.
  const plan::ToyPlan whole{.ahead = 8, .reason = Reason::tuned, .predicted_s = 2e-6};
  EXPECT_EQ(choice_of<plan::ToyMechanism>({}, whole, {.predicted_s = 1e-6}).predicted_s, 1e-6);
  EXPECT_EQ(choice_of<plan::ToyMechanism>({}, whole, {.detail = "of 2"}).detail, "of 2");
}

TEST(Trace, NotesNothingWhileItIsSwitchedOff) {
  Trace trace;
  trace.note(kHere, 1, {}, 1e-6, "get", none);
  trace.set_noting(false);
  trace.note({"jacobi.cc", 93}, 1, {}, 1e-6, "get", none);
  trace.demote();  // of what was not noted
  trace.set_noting(true);
  trace.note(kHere, 1, {}, 1e-6, "get", none);
  size_t rows = 0;
  trace.for_each([&rows](const Trace::Row& row) {
    ++rows;
    EXPECT_EQ(row.executions, 2U);
    EXPECT_FALSE(row.demoted);
  });
  EXPECT_EQ(rows, 1U);
}

TEST(Trace, ShapesAtOnePlaceAreRowsOfTheirOwn) {
  Trace trace;
  for (uint64_t shape = 1; shape <= 40; ++shape) trace.note(kHere, shape, {}, 1e-6, "get", none);
  EXPECT_NE(trace.text().find("and 10 more"), std::string::npos);
}

TEST(Trace, EndsWithTheCommandsThatExplainTheLatestChoices) {
  Trace trace;
  int asked = 0;
  const auto command = [&] { return "stripline explain loop m " + std::to_string(++asked); };
  Choice choice{"blocking, 1 step", plan::Reason::below_margin, 250e-6};
  for (int i = 0; i < 3; ++i) trace.note(kHere, 1, choice, 1e-3, "get 512 KiB", command);
  choice.predicted_s = 300e-6;  // planned again
  for (int i = 0; i < 3; ++i) trace.note(kHere, 1, choice, 1e-3, "get 512 KiB", command);
  trace.note({"jacobi.cc", 93}, 1, choice, 2e-3, "nest of 64 x 64", none);
  EXPECT_EQ(asked, 2);
  const std::string text = trace.text();
  EXPECT_TRUE(
      text.ends_with("commands that say why:\n  jacobi.cc:81 (get 512 KiB)\n"
                     "    stripline explain loop m 2\n"))
      << text;
}

TEST(Savings, AddUpOverSites) {
  EXPECT_NE(savings_text({}).find("no tuned plan"), std::string::npos);
  Savings savings{.actual_s = 8.88,
                  .baseline_s = 10,
                  .squared_error = 0.0196,
                  .sites = 12,
                  .demoted = 3,
                  .checks = 30};
  EXPECT_EQ(
      savings_text(savings),
      "tuned saved 11.2 % +- 1.4 over the baseline, by 30 checks, at 12 sites of all ranks; 3 "
      "demoted to the baseline");
  EXPECT_EQ(iterations_text(savings),
            "iterations of the program: tuned saved 11.2 % +- 1.4 over the baseline, by 30 checks; "
            "3 of 12 (of all ranks) demoted to the baseline, with the sites in them");
  EXPECT_EQ(iterations_text({}), "");
  savings.add(plan::Guard());  // never compared
  EXPECT_EQ(savings.sites, 12);
  EXPECT_EQ(savings.checks, 30);
  plan::Guard guard;
  for (int i = 0; i < 600; ++i) guard.record(guard.next(), 1e-3);
  savings.add(guard);
  EXPECT_EQ(savings.sites, 13);
  EXPECT_EQ(savings.checks, 30 + guard.checks());
  EXPECT_GT(guard.checks(), 0U);
}

// A loss is how many times as long it took, and what is reported of loops and of iterations need
// not have the same sign.
TEST(Savings, SayWhatWasLost) {
  const Savings lost{
      .actual_s = 3.588, .baseline_s = 1, .squared_error = 0.01, .sites = 1, .checks = 4};
  const Savings saved{
      .actual_s = 8.86, .baseline_s = 10, .squared_error = 0.01, .sites = 2, .checks = 1};
  EXPECT_EQ(savings_text(lost),
            "tuned took 3.59 +- 0.10 times as long as the baseline, by 4 checks, at 1 site of all "
            "ranks; 0 demoted to the baseline");
  EXPECT_EQ(iterations_text(saved),
            "iterations of the program: tuned saved 11.4 % +- 1.0 over the baseline, by 1 check; 0 "
            "of 2 (of all ranks) demoted to the baseline, with the sites in them");
  EXPECT_TRUE(contradict(lost, saved));
  EXPECT_TRUE(contradict(saved, lost));
  EXPECT_FALSE(contradict(saved, saved));
  EXPECT_FALSE(contradict(lost, {}));
}

// Iterations contain their sites: what either took counts, what is guarded counts once.
TEST(GuardTime, IsAPartOfWhatIsGuarded) {
  const Savings sites{.checks = 8, .taken_s = 0.6, .excess_s = 0.001};
  const Savings iterations{.checks = 2, .taken_s = 1, .excess_s = 0.002};
  const GuardTime time = guard_time(sites, iterations);
  EXPECT_DOUBLE_EQ(time.share(), 0.003);
  EXPECT_EQ(guard_text(time),
            "checks (10) took 3.00 ms longer than what was in use, 0.30 % of what is guarded");
  EXPECT_EQ(guard_time({}, {}).share(), 0);
  Trace trace;
  trace.note({"jacobi.cc", 81}, 1, {.text = "A, tuned", .reason = plan::Reason::tuned}, 1e-3, "get",
             [] { return std::string(); });
  EXPECT_EQ(trace.text().find("guard  "), std::string::npos);
  const std::string text = trace.text(time);
  EXPECT_NE(text.find("guard                       checks of decisions       10       0.30 % of "),
            std::string::npos)
      << text;
}

// A site that its guard has demoted, however few executions there were.
TEST(Trace, ShowsWhatIsDemoted) {
  const CallSite here{"jacobi.cc", 81};
  const auto none = [] { return std::string(); };
  Trace trace;
  const auto places = [&] { return trace.places(1).front(); };
  trace.note(here, 1, {.text = "A, tuned", .reason = plan::Reason::tuned}, 2e-3, "get", none);
  trace.note(here, 1, {.text = "one, by the guard", .reason = plan::Reason::guarded}, 1e-3, "get",
             none);
  EXPECT_EQ(places().demoted_ranks, 0U);
  trace.demote();
  EXPECT_EQ(places().demoted_ranks, 1U);
  EXPECT_NE(trace.text().find("one, by the guard"), std::string::npos);
  // A tie begins as the baseline.
  Trace tie;
  for (int i = 0; i < 9; ++i) {
    tie.note(here, 1, {.text = "one, by the guard", .reason = plan::Reason::guarded}, 1e-3, "get",
             none);
  }
  tie.note(here, 1, {.text = "A, by the guard", .reason = plan::Reason::tied}, 1e-3, "get", none);
  EXPECT_EQ(tie.places(1).front().demoted_ranks, 0U);
}

// The command would explain the plan that is carried out no more.
TEST(Trace, HasNoCommandForWhatIsDemoted) {
  const CallSite here{"jacobi.cc", 81};
  const auto command = [] { return std::string("stripline explain loop"); };
  Trace trace;
  trace.note(here, 1, {.text = "A, tuned", .reason = plan::Reason::tuned}, 2e-3, "get", command);
  trace.note(here, 1, {.text = "one, by the guard", .reason = plan::Reason::guarded}, 1e-3, "get",
             command);
  EXPECT_NE(trace.text().find("stripline explain loop"), std::string::npos);
  trace.demote();
  EXPECT_EQ(trace.text().find("stripline explain loop"), std::string::npos) << trace.text();
}

TEST(Choice, OfAStageIsSaidWithItsReason) {
  const auto text = [](plan::Reason reason, uint32_t pieces) {
    return stage(pieces, reason, 0).text;
  };
  EXPECT_EQ(text(plan::Reason::tuned, 8), "8 pieces, tuned");
  EXPECT_EQ(text(plan::Reason::forced, 3), "3 pieces, as asked");
  EXPECT_EQ(text(plan::Reason::no_model, 1), "1 piece, no model");
  EXPECT_EQ(text(plan::Reason::no_faster_plan, 1), "1 piece, the fastest");
  EXPECT_EQ(text(plan::Reason::below_margin, 1), "1 piece, below margin");
  EXPECT_EQ(text(plan::Reason::own_memory, 1), "1 piece, in reach");
}

// What a job of two ranks says at its end.
TEST(TracedRun, SaysWhatWasChosenAndSaved) {
  constexpr const char* kFabric = "emulated:opteron-vapi,compute=none,jitter=off";
  model::TunedModel model = model::example_model();
  model.network["inter-node"] = exact_path(kFabric);
  const ModelFile file("trace_test", model);
  auto group = bootstrap::group_on({"", kFabric, "virtual"}, 2);
  group.context.model_path = file.path();
  group.context.trace = "sites";
  ::testing::internal::CaptureStderr();
  const Status ran = bootstrap::run_ranks(group, [](Context& context) {
    constexpr size_t kCount = 131072;
    const auto array = *context.new_symmetric_array<double>(kCount);
    context.barrier();
    if (context.rank_me() == 0) {
      const auto remote = global_ptr<const double>(context.on_rank(array, 1));
      // As many as let a check take no more than its share.
      for (int i = 0; i < 600; ++i) {
        strip_for(context, remote, kCount, {}, [&](size_t begin, size_t end, const double*) {
          context.compute_for(static_cast<double>(end - begin) * 2e-9);  // which gains a little
        });
      }
      // No decision: not listed.
      const LoopBlock<const double> own{global_ptr<const double>(array), 100};
      strip_for_blocks(
          context, std::span(&own, 1), {}, [] {}, [](size_t, size_t, size_t, const double*) {});
      const auto [i] = loop_indices<1>();
      for_nest(
          context, {size_t{8}}, [](const double& in, double& out) { out = in; },
          read(context.on_rank(array, 1), i), write(context.on_rank(array, 1), i + 1));
    }
    context.barrier();
  });
  const std::string said = ::testing::internal::GetCapturedStderr();
  ASSERT_TRUE(ran.ok()) << ran.error().message();
  EXPECT_NE(said.find("get 1 MiB                 600"), std::string::npos) << said;
  EXPECT_NE(said.find("access by access"), std::string::npos) << said;
  EXPECT_NE(said.find("(nest of 8): reference 0 may read what reference 1 has written in an "
                      "earlier iteration\n"),
            std::string::npos)
      << said;
  EXPECT_EQ(said.find("get 0 B"), std::string::npos) << said;
  EXPECT_NE(said.find("tuned saved "), std::string::npos) << said;
  EXPECT_NE(said.find("at 1 site of all ranks"), std::string::npos) << said;
  EXPECT_NE(said.find("iterations of the program: tuned saved "), std::string::npos) << said;
}

// A transfer that is waited for, one that is complete before the program asks, and one that raises
// a flag, whose time the initiator does not learn.
TEST(TracedRun, SaysHowManyRegionsWereMoved) {
  const ModelFile file("trace_test");
  auto group = bootstrap::group_on({"", "emulated:opteron-vapi,compute=none", "virtual"}, 2);
  group.context.model_path = file.path();
  group.context.trace = "sites";
  double waited_s = 0;
  std::vector<double> here(256);  // rank 0's, until the job is over: a future is dropped
  ::testing::internal::CaptureStderr();
  const Status ran = bootstrap::run_ranks(group, [&](Context& context) {
    const auto array = *context.new_symmetric_array<double>(65536);
    const auto flag = *context.new_symmetric_array<uint64_t>(1);
    context.barrier();
    if (context.rank_me() == 0) {
      const global_ptr<double> there = context.on_rank(array, 1);
      const std::ptrdiff_t stride = 512;
      const std::ptrdiff_t packed = 64;
      const auto column = [&](size_t rows) {
        return rget_strided<2>(context, there, {8, stride}, here.data(), {8, packed}, {8, rows});
      };
      const double begun_s = context.now_s();
      column(16).wait();
      waited_s = context.now_s() - begun_s;
      const future later = column(24);
      context.compute_for(1e-3);
      context.progress();
      later.wait();
      rput_strided_signal<2>(context, here.data(), {8, packed}, there, {8, stride}, {8, size_t{32}},
                             context.on_rank(flag, 1), 1)
          .wait();
      (void)column(20);  // dropped
    } else {
      context.wait_signal(context.on_rank(flag, 1), 1);
    }
    context.barrier();
  });
  const std::string said = ::testing::internal::GetCapturedStderr();
  ASSERT_TRUE(ran.ok()) << ran.error().message();
  const auto measured_of = [&](const std::string& what) -> std::string {
    const size_t at = said.find(what);
    if (at == std::string::npos) return "not there";
    const std::string line = said.substr(at, said.find('\n', at) - at);
    return line.substr(line.rfind("  ") + 2);
  };
  EXPECT_EQ(measured_of("get, 16 x 64 B"), seconds_text(waited_s)) << said;
  EXPECT_EQ(measured_of("get, 24 x 64 B"), "-") << said;
  EXPECT_EQ(measured_of("get, 20 x 64 B"), "-") << said;
  EXPECT_EQ(measured_of("put + flag, 32 x 64 B"), "-") << said;
  EXPECT_NE(said.find("trace_test.cc:"), std::string::npos) << said;
  EXPECT_NE(said.find("stripline explain call " + file.path() +
                      " --path inter-node --regions 16 --region-bytes 64 --extent 7744 "),
            std::string::npos)
      << said;
}

TEST(TracedRun, KnowsWhatMayBeTraced) {
  auto group = bootstrap::group_on({"", "emulated:opteron-vapi,compute=none", "virtual"}, 2);
  group.context.trace = "site";
  const Status ran = bootstrap::run_ranks(group, [](Context&) {});
  ASSERT_FALSE(ran.ok());
  EXPECT_NE(ran.error().message().find("STRIPLINE_TRACE='site'"), std::string::npos)
      << ran.error().message();
}

}  // namespace
}  // namespace stripline::decide
