// Every declaration is valid, and every variant of every experiment runs and verifies on a small
// problem, on a real provider and on the emulated fabric.
#include "suites/registry.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include <gtest/gtest.h>

#include "base/shell_words.h"
#include "optimizer/experiment/json.h"
#include "optimizer/fit/held_out_plans.h"
#include "optimizer/plan/ask.h"
#include "optimizer/plan/gather_mechanism.h"
#include "optimizer/plan/update_mechanism.h"
#include "optimizer/report/questions.h"
#include "runtime/rma/context_state.h"
#include "runtime/rma/program_trace.h"
#include "suites/kernels/nas/exchanges/factors.h"
#include "suites/testing/ranks.h"
#include "suites/testing/small_model.h"

namespace stripline::suites {
namespace {

using experiment::Point;
using experiment::SampleSeries;
using experiment::StopRule;

TEST(Registry, DeclarationsAreValid) {
  std::set<std::string> names;
  for (const Benchmark& benchmark : benchmarks()) {
    const experiment::Experiment& e = benchmark.declaration;
    SCOPED_TRACE(e.name);
    EXPECT_TRUE(names.insert(e.name).second) << "the name is taken";
    EXPECT_NE(benchmark.run, nullptr);
    EXPECT_FALSE(e.title.empty());
    EXPECT_FALSE(e.description.empty());
    EXPECT_FALSE(e.verification.empty());
    EXPECT_TRUE(experiment::experiment_from_json(experiment::to_json(e)).ok());
    for (const experiment::Factor& factor : e.factors) {
      EXPECT_FALSE(factor.description.empty()) << factor.name;
      for (const experiment::ParamValue& value : factor.values) {
        Point point{e.name, e.variants.front(), {{factor.name, value}}};
        const auto problem = experiment::complete_point(e, point);
        EXPECT_FALSE(problem) << *problem;
      }
    }
  }
}

TEST(Registry, HasTheExperimentsThatModelsAreFittedFrom) {
  const std::map<std::string, std::vector<std::string>> expected = {
      {"micro.latency", {"get", "put", "am"}},
      {"micro.attention", {"get", "put", "am"}},
      {"micro.issue", {"get", "put", "am"}},
      {"micro.flood", {"get", "put"}},
      {"micro.serve", {"get", "put"}},
      {"micro.overlap", {"get", "put"}},
      {"micro.compute", {"red_in", "red_out", "vec_in", "vec_out", "alu"}},
      {"micro.receive", {"get", "read"}},
      {"micro.buffered_put", {"waited", "copied"}},
      {"micro.put_combining", {"alone", "combined"}},
      {"micro.put_message", {"combined"}},
      {"micro.progress_call", {"calls", "thread"}},
      {"micro.progress_wait", {"calls", "thread"}},
      {"micro.atomic", {"provider", "message"}},
      {"micro.pack", {"pack", "unpack"}},
      {"micro.vis", {"pipelined", "native_iov", "bounding_box", "packed", "compute"}},
      {"micro.vis_chunk", {"get", "put"}},
      {"micro.vis_window", {"get", "put"}},
      {"micro.load", {"get", "put"}},
      {"micro.update_item", {"append", "merge", "apply", "miss"}},
      {"micro.shared_update", {"plain", "atomic", "lock", "transfer", "box", "fold", "barrier"}},
      {"micro.bulk_window", {"get", "put"}},
      {"micro.bulk_check", {"check"}},
      {"micro.bulk_copy", {"waited", "copied"}},
      {"micro.node_latency", {"get", "put", "am"}},
      {"micro.node_issue", {"get", "put", "am"}},
      {"micro.node_flood", {"get", "put"}},
      {"micro.node_overlap", {"get", "put"}},
      {"micro.strip_overhead", {"by_hand", "engine"}},
      {"micro.strip_sweep", {"A", "B"}},
      {"micro.collective_broadcast", {"binomial", "scatter_allgather", "direct"}},
      {"micro.collective_reduce", {"binomial", "reduce_scatter_gather", "direct"}},
      {"micro.collective_allreduce",
       {"in_order", "recursive_doubling", "reduce_scatter_allgather", "direct", "linear"}},
      {"micro.collective_gather", {"direct", "binomial"}},
      {"micro.collective_allgather", {"ring", "bruck", "direct", "linear"}},
      {"micro.collective_all_to_all", {"pairwise", "direct", "bruck"}},
      {"micro.collective_all_to_allv", {"pairwise", "direct"}},
      {"micro.collective_scan", {"linear", "recursive_doubling", "direct"}},
      {"micro.collective_allgatherv", {"direct", "ring"}},
      {"micro.collective_reduce_scatter", {"direct", "ring"}}};
  for (const auto& [name, variants] : expected) {
    const Benchmark* benchmark = find_benchmark(name);
    ASSERT_NE(benchmark, nullptr) << name;
    EXPECT_EQ(benchmark->declaration.variants, variants) << name;
  }
}

// Does not run on two ranks, and takes long on the virtual clock, where
// kernels/nas/exchanges/transfers_test.cc makes fewer time steps.
bool needs_square(const Point& point) {
  return point.experiment == "kernel.nas_sp" || point.experiment == "kernel.nas_bt";
}

// What takes long on tcp, where ranks of one machine pay for each of thousands of synchronisations
// with the scheduler. All variants run on emulated networks. On tcp those of kernel.nas_mg run in
// kernels/nas/exchanges/transfers_test.cc, and of kernel.nas_cg one of each kind: its copies are
// waited for, are those of a plain program, of a bulk region, or as the planner says.
bool is_left_out_on_tcp(const Point& point) {
  static const std::set<std::string> kept = {"blocking", "plain", "bulk", "tuned"};
  if (point.experiment == "kernel.nas_cg") return !kept.contains(point.variant);
  return point.experiment == "kernel.nas_mg";
}

// Past the network, which emulated ones do not permit.
bool is_on_node(const Point& point) {
  return point.experiment.starts_with("micro.node_") ||
         point.experiment == "kernel.shared_histogram" || point.experiment == "kernel.spread_force";
}

// A small problem of each experiment.
std::vector<Point> small_points(rank_t ranks) {
  std::vector<Point> points;
  for (const Benchmark& benchmark : benchmarks()) {
    const experiment::Experiment& e = benchmark.declaration;
    if (e.name == "micro.load") continue;  // needs nodes (micro/load_test.cc)
    for (const std::string& variant : e.variants) {
      Point point{e.name, variant, {}};
      if (only_by_name(e, variant)) continue;  // kernels/nas/exchanges/transfers_test.cc
      if (e.name == "micro.compute") point.params["bytes"] = int64_t{variant == "alu" ? 0 : 4096};
      if (e.name == "micro.issue") point.params["burst"] = int64_t{4};
      if (e.name == "micro.shared_update") point.params["workers"] = int64_t{1};
      if (variant == "compute") point.params["class"] = std::string("heavy");
      if (e.name == "micro.strip_sweep") point.params["total_bytes"] = int64_t{16384};
      if (e.name == "kernel.matvec") {
        point.params["rows"] = int64_t{24};
        point.params["cols"] = int64_t{40};
        point.params["active"] = std::string("all");
      }
      if (e.name == "kernel.spmv") point.params["rows"] = int64_t{300};
      if (e.name == "kernel.transpose") point.params["n"] = int64_t{32};
      if (e.name == "kernel.shared_histogram") {
        point.params["updates"] = int64_t{3000};
        point.params["distribution"] = std::string("out_degree");
      }
      if (e.name == "kernel.spread_force") {
        point.params["n"] = int64_t{32};
        point.params["points"] = int64_t{300};
      }
      if (e.name == "kernel.histogram" || e.name == "kernel.gups") {
        point.params["updates"] = int64_t{200};
      }
      if (e.name == "kernel.gravitation") point.params["bodies_per_rank"] = int64_t{20};
      if (e.name == "kernel.fiber_force") {
        point.params["n"] = int64_t{16};
        point.params["points_per_rank"] = int64_t{50};
      }
      if (e.name == "kernel.triangle_count") {
        point.params["vertices"] = int64_t{100};
        point.params["edges_per_vertex"] = int64_t{6};
      }
      if (e.name == "kernel.index_gather") point.params["reads"] = int64_t{200};
      if (e.name == "kernel.permutation") point.params["elements_per_rank"] = int64_t{200};
      if (e.name == "kernel.indirect_sum" || e.name == "kernel.struct_reads" ||
          e.name == "kernel.guppie") {
        point.params["iterations"] = int64_t{200};
        point.params["elements_per_rank"] = int64_t{100};
      }
      if (e.name == "kernel.sobel" || e.name == "kernel.wator") {
        point.params["rows_per_rank"] = int64_t{3};
        point.params["columns"] = int64_t{10};
      }
      if (e.name == "kernel.fish") point.params["bodies_per_rank"] = int64_t{5};
      if (e.name == "kernel.sparse_cg" || e.name == "kernel.earthquake") {
        point.params["rows"] = int64_t{200};
      }
      if (e.name == "kernel.molecules") {
        point.params["cells"] = int64_t{2};
        point.params["steps"] = int64_t{3};
        point.params["steps_of_lists"] = int64_t{2};
      }
      if (e.name == "kernel.serial_tax") point.params["elements"] = int64_t{4096};
      if (e.name == "kernel.phases") {
        point.params["copies"] = int64_t{5};
        point.params["bytes"] = int64_t{72};
        point.params["compute_us"] = int64_t{1};
      }
      if (e.name == "kernel.mcop") point.params["matrices"] = int64_t{12};
      if (e.name == "kernel.barnes") point.params["bodies_per_rank"] = int64_t{6};
      if (e.name == "kernel.psearch") point.params["depth"] = int64_t{5};
      if (e.name == "kernel.cfd") {
        point.params["patches_per_rank"] = int64_t{2};
        point.params["side"] = int64_t{3};
        point.params["steps"] = int64_t{2};
      }
      if (e.name == "kernel.triad") point.params["elements"] = int64_t{300};
      if (e.name == "kernel.tile") {
        point.params["rows"] = int64_t{9};
        point.params["cols"] = int64_t{13};
        point.params["pitch"] = int64_t{20};
      }
      if (e.name.starts_with("kernel.prk_")) point.params["iterations"] = int64_t{2};
      if (e.name == "kernel.prk_sparse") {
        point.params["lsize"] = int64_t{3};
        point.params["radius"] = int64_t{2};
      }
      if (e.name == "kernel.prk_stencil") point.params["n"] = int64_t{17};
      if (e.name == "kernel.prk_transpose") point.params["n"] = int64_t{24};
      const bool by_method =
          std::ranges::find(e.factors, "method", &experiment::Factor::name) != e.factors.end();
      if (variant == "forced" && by_method) point.params["method"] = std::string("packed");
      if (variant == "forced" && !by_method) {
        point.params["strip_bytes"] = int64_t{1024};
        point.params["schedule"] = std::string("B");
        point.params["window"] = int64_t{2};
      }
      if (needs_square(point) && ranks != 2) continue;
      points.push_back(std::move(point));
    }
  }
  return points;
}

void run_all(rank_t ranks, const std::string& fabric, const std::string& clock,
             bool debug = false) {
  const SmallModel model(fabric);
  std::vector<Point> points = small_points(ranks);
  // Micro experiments put to one place without waiting, which is a conflict.
  if (debug) {
    std::erase_if(points,
                  [](const Point& point) { return !point.experiment.starts_with("kernel."); });
  }
  if (fabric == "tcp") std::erase_if(points, is_left_out_on_tcp);
  std::vector<SampleSeries> all;
  on_ranks(
      ranks, fabric, clock,
      [&](Session& session) {
        for (const Point& point : points) {
          const StopRule rule{.min_reps = 2, .max_reps = 3, .time_budget_s = 0.01};
          auto series = as_series(run_point(session, point, rule), point, session.run());
          if (session.context().rank_me() == 0) all.push_back(std::move(series));
        }
      },
      model.path(), [debug](Options& options) { options.debug = debug; });
  ASSERT_EQ(all.size(), points.size());
  for (const SampleSeries& series : all) {
    SCOPED_TRACE(experiment::point_key(series.point) + ": " + series.note);
    if (fabric != "tcp" && is_on_node(series.point)) {
      EXPECT_NE(series.note.find("stands between all ranks"), std::string::npos);
      continue;
    }
    if (fabric != "tcp" && series.point.experiment.starts_with("micro.progress_")) {
      EXPECT_NE(series.note.find("no thread can serve"), std::string::npos);
      continue;
    }
    if (fabric != "tcp" && series.point.experiment == "micro.shared_update") {
      EXPECT_NE(series.note.find("measures the processors of a machine"), std::string::npos);
      continue;
    }
    if (needs_square(series.point) && ranks == 2) {
      EXPECT_NE(series.note.find("takes a square as its number of ranks, not 2"),
                std::string::npos);
      continue;
    }
    EXPECT_TRUE(series.verified);
    ASSERT_FALSE(series.values.empty());
    EXPECT_EQ(series.timestamps_s.size(), series.values.size());
    EXPECT_GE(series.warmup_dropped, 1u);
    if (series.point.experiment == "micro.serve") continue;  // a difference of two times
    for (const double value : series.values) EXPECT_GE(value, 0);
  }
}

TEST(EveryVariant, RunsAndVerifiesOnTcp) { run_all(2, "tcp", "real"); }

TEST(EveryVariant, RunsAndVerifiesOnTheVirtualClock) {
  run_all(2, "emulated:opteron-vapi", "virtual");
}

TEST(EveryVariant, RunsAndVerifiesOnFourRanks) {
  run_all(4, "emulated:power5-lapi,compute=none", "virtual");
}

TEST(EveryKernel, IsLeftAloneByDebugMode) {
  run_all(4, "emulated:power5-lapi,compute=none", "virtual", true);
}

struct Asked {
  std::string kind;
  bool of_model = true;
  reports::Question question;
};

// What a command of `stripline explain` asks.
Asked asked_by(const std::string& command) {
  const std::vector<std::string> words = *split_words(command);
  Asked asked{.kind = words.at(2), .of_model = words.at(3) != plan::kWithoutModel, .question = {}};
  for (size_t i = 4; i < words.size(); ++i) {
    const bool is_option = words[i].starts_with("--");
    const bool is_flag = i + 1 == words.size() || words[i + 1].starts_with("--");
    if (!is_option) {
      asked.question[asked.kind] = words[i];  // the document that is a nest
    } else if (is_flag) {
      asked.question[words[i].substr(2)] = "true";
    } else {
      asked.question[words[i].substr(2)] = words[i + 1];
      ++i;
    }
  }
  return asked;
}

// What is carried out is not what the planner says, or was carried out before it was asked.
bool is_unexplained(const decide::Choice& choice) {
  using plan::Reason;
  const auto others = {Reason::forced, Reason::own_memory, Reason::tied, Reason::guarded};
  return choice.unplanned || std::ranges::find(others, choice.reason) != others.end();
}

// Small problems of kernels, and one whose stages are those of a sweep.
std::vector<Point> kernels_to_explain() {
  std::vector<Point> points = small_points(4);
  std::erase_if(points,
                [](const Point& point) { return !point.experiment.starts_with("kernel."); });
  points.push_back({"kernel.nas_sp", "tuned", {}});
  return points;
}

// Runs all kernels, and asks for each decision that the trace of rank 0 shows after a point by the
// command that it shows: other variants of a kernel decide at the same places. What no command
// explains is not the planner's. Returns the kinds of decisions.
std::set<std::string> explain_kernels(const model::TunedModel* model, const std::string& path,
                                      bool guard) {
  std::set<std::string> kinds;
  std::set<std::pair<std::string, std::string>> asked_before;
  const auto ask = [&](const decide::Trace::Row& row) {
    const std::string command(row.shown_command());
    if (!asked_before.emplace(command, row.choice.text).second) return;
    SCOPED_TRACE(row.what + ": " + row.choice.text + ": " + command);
    EXPECT_EQ(command.empty(), row.is_demoted() || is_unexplained(row.choice));
    if (command.empty()) return;
    const Asked asked = asked_by(command);
    kinds.insert(asked.kind);
    const auto answer =
        reports::explain_decision(asked.of_model ? model : nullptr, asked.kind, asked.question);
    ASSERT_TRUE(answer.ok()) << answer.error().message();
    EXPECT_EQ((*answer)["plan"]["brief"], row.choice.text);
  };
  on_ranks(
      4, "emulated:power5-lapi,compute=none", "virtual",
      [&](Session& session) {
        for (const Point& point : kernels_to_explain()) {
          // Decisions wait for what is measured. A NAS kernel comes to each place many times in one
          // repetition.
          const uint32_t reps = point.experiment.starts_with(experiment::kNasPrefix) ? 1U : 4U;
          // Without a model, tuned variants of loops have none.
          static_cast<void>(
              run_point(session, point, {.min_reps = reps, .max_reps = reps, .time_budget_s = 1}));
          Context& context = session.context();
          if (context.rank_me() != 0) continue;
          context.state().job.observers().trace()->choices().for_each(ask);
        }
      },
      path,
      [guard](Options& options) {
        options.trace = "sites";
        options.guard = guard;
      });
  return kinds;
}

TEST(EveryKernel, IsExplainedByTheCommandsOfItsTrace) {
  const SmallModel file("emulated:power5-lapi,compute=none");
  const auto model = model::load_model(file.path());
  ASSERT_TRUE(model.ok()) << model.error().message();
  const std::set<std::string> kinds = explain_kernels(&*model, file.path(), false);
  // Indexed loops of these lengths tie with their baseline.
  for (const char* kind : {"loop", "nest", "call", "sweep", "gather", "product", "update",
                           "encoding", "bulk", "fine"}) {
    EXPECT_TRUE(kinds.contains(kind)) << kind;
  }
}

// The guard carries out others to compare, and keeps what is faster.
TEST(EveryKernel, IsExplainedWhereTheGuardKeepsThePlan) {
  const SmallModel file("emulated:power5-lapi,compute=none");
  const auto model = model::load_model(file.path());
  ASSERT_TRUE(model.ok()) << model.error().message();
  EXPECT_FALSE(explain_kernels(&*model, file.path(), true).empty());
}

TEST(EveryKernel, IsExplainedWithoutAModel) {
  const std::set<std::string> kinds = explain_kernels(nullptr, "", false);
  // Without a model, updates are timed by each method first.
  for (const char* kind :
       {"loop", "nest", "call", "gather", "indirect", "product", "encoding", "bulk", "fine"}) {
    EXPECT_TRUE(kinds.contains(kind)) << kind;
  }
}

// Options of a request that depend on settings of a run, which a model does not know, or on what
// the network was measured to have.
constexpr std::array<std::string_view, 5> kOfRuns = {"--most-hops", "--message", "--buffer",
                                                     "--uses", "--provider-atomics"};

// What a run asked by its command is what the gate asks. Numbers that a run counts are random: they
// are compared within a factor of two.
template <plan::Mechanism M>
void expect_alike(const typename M::Request& of_gate, const reports::Question& of_run) {
  const typename M::Request usual;
  for (const auto& field : M::fields()) {
    const std::string_view option = field.text.option;
    SCOPED_TRACE(option);
    if (std::ranges::find(kOfRuns, option) != kOfRuns.end()) continue;
    const auto asked = of_run.find(std::string(option.substr(2)));
    const plan::FieldValue expected = field.get(of_gate);
    if (const auto* const flag = std::get_if<bool>(&expected)) {
      EXPECT_EQ(asked != of_run.end(), *flag);
    } else if (const auto* const number = std::get_if<uint64_t>(&expected)) {
      const uint64_t seen =
          asked == of_run.end() ? std::get<uint64_t>(field.get(usual)) : std::stoull(asked->second);
      EXPECT_LE(seen, 2 * *number);
      EXPECT_LE(*number, 2 * seen);
    }
  }
}

// The command that the trace of rank 0 shows of a kind after a point.
std::string command_of(const Point& point, std::string_view kind, const std::string& model) {
  std::string command;
  on_ranks(
      4, "emulated:power5-lapi,compute=none", "virtual",
      [&](Session& session) {
        const auto ran = run_point(session, point, {.min_reps = 4, .max_reps = 4});
        EXPECT_TRUE(ran.ok()) << ran.error().message();
        Context& context = session.context();
        if (context.rank_me() != 0) return;
        const std::string begin = "stripline explain " + std::string(kind) + " ";
        context.state().job.observers().trace()->choices().for_each(
            [&](const decide::Trace::Row& row) {
              if (row.command.starts_with(begin)) command = row.command;
            });
      },
      model,
      [](Options& options) {
        options.trace = "sites";
        options.debug = false;
        options.guard = false;  // which would carry out others to compare
      });
  return command;
}

TEST(HeldOut, TheGateAsksAboutUpdatesAsRunsDo) {
  const SmallModel file("emulated:power5-lapi,compute=none");
  const Point point{"kernel.histogram",
                    "tuned",
                    {{"updates", int64_t{3000}},
                     {"bins_per_rank", int64_t{5000}},
                     {"keys", std::string("uniform")},
                     {"mode", std::string("accumulate")}}};
  const std::string command = command_of(point, "update", file.path());
  ASSERT_FALSE(command.empty());
  SCOPED_TRACE(command);
  const experiment::HeldOutProblem problem{experiment::HeldOutKind::update, {point}};
  expect_alike<plan::UpdateMechanism>(fit::update_request(problem, {}, 4),
                                      asked_by(command).question);
}

TEST(HeldOut, TheGateAsksAboutGathersAsRunsDo) {
  const SmallModel file("emulated:power5-lapi,compute=none");
  const auto model = model::load_model(file.path());
  ASSERT_TRUE(model.ok()) << model.error().message();
  const Point point{"kernel.spmv",
                    "tuned",
                    {{"matrix", std::string("random")},
                     {"rows", int64_t{4 * 1000}},
                     {"entries", int64_t{3}},
                     {"iterations", int64_t{2}},
                     {"inspection", std::string("before")}}};
  const std::string command = command_of(point, "gather", file.path());
  ASSERT_FALSE(command.empty());
  SCOPED_TRACE(command);
  const experiment::HeldOutProblem problem{experiment::HeldOutKind::gather, {point}};
  expect_alike<plan::GatherMechanism>(fit::gather_request(problem, model->fingerprint, 4),
                                      asked_by(command).question);
}

// One that exceeds the segments.
TEST(RunPoint, TrianglesHaveATableOnlyWhereTheyAreCountedInIt) {
  on_ranks(2, "emulated:opteron-vapi,compute=none", "virtual", [](Session& session) {
    for (const std::string& variant :
         find_benchmark("kernel.triangle_count")->declaration.variants) {
      const Point point{"kernel.triangle_count",
                        variant,
                        {{"vertices", int64_t{8192}}, {"edges_per_vertex", int64_t{2}}}};
      const auto series = run_point(session, point, {.min_reps = 1, .max_reps = 1});
      const bool counts = variant == "atomics" || variant == "tuned";
      EXPECT_EQ(series.ok(), !counts) << variant;
      if (series.ok()) {
        EXPECT_TRUE(series->verified) << variant;
      }
    }
  });
}

TEST(AsSeries, SaysWhyThereIsNoNumber) {
  const Point point{"micro.latency", "get", {}};
  experiment::SampleSeries wrong;
  EXPECT_EQ(as_series(wrong, point, 3).note, "verification failed: the data delivered are wrong");
  wrong.note = "verification failed: the sum is wrong";
  EXPECT_EQ(as_series(wrong, point, 3).note, wrong.note);
  experiment::SampleSeries right;
  right.verified = true;
  EXPECT_EQ(as_series(right, point, 3).note, "");
  const experiment::SampleSeries none =
      as_series(Error(ErrorCode::resource_exhausted, "no room"), point, 3);
  EXPECT_EQ(none.note, "not measured: no room");
  EXPECT_EQ(none.run, 3U);
}

TEST(RunPoint, RefusesWhatItCannotMeasure) {
  std::vector<std::string> messages;
  on_ranks(2, "emulated:opteron-vapi,compute=none", "virtual", [&](Session& session) {
    const auto try_point = [&](Point point, const StopRule& rule = {}) {
      const auto series = run_point(session, std::move(point), rule);
      if (session.context().rank_me() != 0) return;
      messages.push_back(series.ok() ? "measured" : series.error().message());
    };
    try_point({"micro.latncy", "get", {}});
    try_point({"micro.latency", "fetch", {}});
    try_point({"micro.latency", "get", {{"bytes", int64_t{-1}}}});
    try_point({"micro.latency", "am", {{"bytes", int64_t{4 << 20}}}});
    try_point({"micro.compute", "alu", {{"bytes", int64_t{4096}}}});
    try_point({"kernel.matvec", "tuned", {}});
    try_point({"kernel.matvec", "hand", {{"strip_bytes", int64_t{4096}}}});
    try_point({"kernel.matvec", "forced", {{"window", int64_t{2}}}});
    try_point({"kernel.transpose", "hand", {{"n", int64_t{63}}}});
    try_point({"kernel.matvec", "hand", {{"rows", int64_t{1 << 20}}}});
    try_point({"micro.latency", "get", {}}, {.min_reps = 9, .max_reps = 8});
    // After all that the job is in order.
    try_point({"micro.latency", "get", {}});
  });
  const std::vector<std::string> expected = {"nearest: micro.latency",
                                             "unknown variant",
                                             "out of range",
                                             "active messages carry at most",
                                             "takes bytes=0",
                                             "model",
                                             "only variant 'forced'",
                                             "schedule B needs a window",
                                             "not a multiple",
                                             "segment",
                                             "stop rule",
                                             "measured"};
  ASSERT_EQ(messages.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NE(messages[i].find(expected[i]), std::string::npos)
        << messages[i] << "\nlacks: " << expected[i];
  }
}

}  // namespace
}  // namespace stripline::suites
