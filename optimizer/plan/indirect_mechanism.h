// The planner of indirect.h as the frame of decisions sees it (mechanism.h).
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "optimizer/plan/indirect.h"
#include "optimizer/plan/path_mechanism.h"

namespace stripline::plan {

// A candidate is the iterations of a block; 0: one by one.
struct IndirectMechanism : PathMechanism<IndirectRequest, IndirectPlan, uint64_t> {
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
  static uint64_t baseline(const Request& request) { return usual_indirect_block(request); }
  template <typename Visit>
  static void each_candidate(const Request& request, const Visit& visit) {
    const uint64_t most = most_indirect_block(request);
    const uint64_t usual = baseline(request);
    constexpr uint64_t kFewest = 16;
    visit(uint64_t{0});
    for (uint64_t block = kFewest; block < most; block *= 2) {
      if (block != usual) visit(block);
    }
    if (most != usual) visit(most);
  }
  static double seconds(const Request& request, const CompiledPath& path, uint64_t block,
                        const Ends& ends) {
    return predict_indirect(request, path, block, ends);
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
  static std::string brief(const Plan& plan, std::string_view why) {
    return (plan.block == 0 ? "one by one" : "blocks of " + std::to_string(plan.block)) + ", " +
           std::string(why);
  }
};
static_assert(Tried<IndirectMechanism>);

}  // namespace stripline::plan
