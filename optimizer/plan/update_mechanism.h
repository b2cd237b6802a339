// The planner of update.h as the frame of decisions sees it (mechanism.h).
#pragma once

#include <string>
#include <string_view>

#include "optimizer/plan/mechanism.h"
#include "optimizer/plan/perturbed.h"
#include "optimizer/plan/update.h"

namespace stripline::plan {

struct UpdateMechanism : AsAsked<UpdateRequest> {
  using Plan = UpdatePlan;
  using Candidate = UpdateCandidate;
  using Record = UpdateRecord;
  using Model = CompiledPath;
  using Costs = UpdateCosts;
  static constexpr Words kWords = {
      .command = "update",
      .help = "Updates of cells of other ranks, until they are complete",
      .example = "--updates 1000000 --cells 65536 --span 8MiB --ranks 64",
      .notes = "Every rank is taken to make such updates.\n",
      .baseline = "buffers as large as messages and memory allow, merged where updates may be",
      .no_model =
          "the model does not hold puts, messages and what updates cost a processor, so they "
          "travel in buffers as large as messages and memory allow",
      .scope = {Scope::Decider::group, Scope::Until::period},
      .sized_by = "bytes of a cell",
      .methods = methods_of(kUpdateMethodNames, kUpdateMethods),
      .table = {{"updates", "64,256,1024,4096,16384,65536,262144,1048576"},
                {"ranks", "2,8,32,128,512"},
                {{{"span", "64KiB,64MiB"}}}}};

  static std::span<const Field<Request>> fields();
  static Result<Request> request_of(const Request& asked);
  static const UpdateCosts* costs_of(const CompiledPath& path) { return &path.update; }

  // Decisions, by choose().
  static bool knows(const UpdateCosts* costs) { return costs != nullptr && costs->has_buffers(); }
  static Candidate baseline(const Request& request);
  template <typename Visit>
  static void each_candidate(const Request& request, const Visit& visit) {
    const Candidate usual = baseline(request);
    const auto try_out = [&](const Candidate& candidate) {
      if (allowed(request, candidate) && candidate != usual) visit(candidate);
    };
    for (const bool merges : {false, true}) {
      for (uint32_t hops = 1; hops <= kMostUpdateHops; ++hops) {
        for (uint64_t bytes = kLeastUpdateBufferBytes; bytes <= kMostUpdateBufferBytes;
             bytes *= 2) {
          UpdateCandidate candidate{UpdateMethod::buffers, merges, hops, bytes};
          try_out(candidate);
          candidate.sums = true;
          if (request.sums) try_out(candidate);
          candidate.sums = false;
          candidate.by_nodes = true;
          if (request.node_ranks > 1) try_out(candidate);
        }
      }
    }
    for (const auto method : {UpdateMethod::provider, UpdateMethod::messages,
                              UpdateMethod::owner_locks, UpdateMethod::cell_locks}) {
      try_out({.method = method});
    }
  }
  static double seconds(const Request& request, const UpdateCosts& costs,
                        const Candidate& candidate, const Ends& ends);
  template <typename Visit>
  static void each_source(const Request& request, const Visit& visit) {
    // An atomic operation of a stream counts as issued, the processor's work as computation.
    for (const Source source : detail::kMessageSources) visit(source);
    if (request.surroundings.target_polls_only) visit(Source::serve);
    visit(Source::compute);
  }
  static double margin(const Request&, const UpdateCosts* costs) { return costs->minimum_gain(); }
  static Plan unfold(const Request& request, const Candidate& candidate,
                     const Verdict& verdict = {});

  // Explanations.
  static Plan plan(const Request& request, const UpdateCosts* costs, Record& record) {
    return plan_update(request, costs, record);
  }
  static void show(const Request& request, const Plan& plan, Row& row);
  static std::string brief(const Plan& plan, std::string_view why);
  static void add_to(Explanation::Alternative& alternative, const Request& request,
                     const UpdateCosts& costs, const Candidate& candidate);
  static void add_to(Explained<UpdateMechanism>& explained, const Request& request,
                     const UpdateCosts* costs);

 private:
  static bool allowed(const Request& request, const Candidate& candidate);
};
static_assert(Tried<UpdateMechanism>);

}  // namespace stripline::plan
