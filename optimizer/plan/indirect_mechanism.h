// The planner of indirect.h as the frame of decisions sees it (mechanism.h).
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "optimizer/plan/indirect.h"
#include "optimizer/plan/path_mechanism.h"

namespace stripline::plan {

struct IndirectMechanism : PathMechanism<IndirectRequest, IndirectPlan, IndirectCandidate> {
  using Record = IndirectRecord;
  static constexpr Words kWords = {
      .command = "indirect",
      .help = "A loop that reads elements through an index (<stripline/indirect.h>)",
      .example = "--iterations 1000000 --owners 31 --span 1MiB",
      .baseline = "blocks of 4096 reads",
      .no_model = "the model does not hold gets, so the loop goes in blocks of 4096 reads",
      .sized_by = "bytes of an element",
      .number = "iterations of a block, 0: one read at a time",
      .table = {{"iterations", "64,256,1024,4096,16384,65536,262144,1048576"},
                {"owners", "1,4,16,64"},
                {{{"span", "64KiB,16MiB"}}}}};

  static std::span<const Field<Request>> fields();
  static Result<Request> request_of(const Request& asked);

  // Decisions, by choose().
  static bool knows(const CompiledPath* path) {
    return path != nullptr && path->vis.has(Direction::get);
  }
  static Candidate baseline(const Request& request) {
    return {usual_indirect_block(request), false};
  }
  template <typename Visit>
  static void each_candidate(const Request& request, const Visit& visit) {
    const uint64_t most = most_indirect_block(request);
    const uint64_t usual = usual_indirect_block(request);
    constexpr uint64_t kFewest = 16;
    visit(Candidate{0});
    visit(Candidate{usual});
    for (uint64_t block = kFewest; block < most; block *= 2) {
      if (block != usual) visit(Candidate{block});
    }
    if (most != usual) visit(Candidate{most});
  }
  static double seconds(const Request& request, const CompiledPath& path,
                        const Candidate& candidate, const Ends& ends) {
    return predict_indirect(request, path, candidate, ends);
  }
  static bool errs_apart(const Request& request, const CompiledPath& path, const Candidate& a,
                         const Candidate& b, Source source) {
    return source == Source::regions && fetch_differently(request, path, a, b);
  }
  static Plan unfold(const Request&, const Candidate& candidate, const Verdict& verdict = {}) {
    return {candidate.block,     candidate.tunes_lists, verdict.reason,
            verdict.predicted_s, verdict.baseline_s,    verdict.gain_low};
  }
  template <typename Visit>
  static void each_source(const Request& request, const Visit& visit) {
    PathMechanism::each_source(request, visit);
    visit(Source::overhead);
  }

  // Explanations.
  static Plan plan(const Request& request, const CompiledPath* path, Record& record) {
    return plan_indirect(request, path, record);
  }
  static void show(const Request& request, const Plan& plan, Row& row);
  static std::string brief(const Plan& plan, std::string_view why);
};
static_assert(Tried<IndirectMechanism>);

}  // namespace stripline::plan
