// The smallest mechanism: how many copies of a value are read ahead. What docs/architecture.md says
// of a mechanism is all that it has.
#pragma once

#include <array>

#include "optimizer/plan/mechanism.h"
#include "optimizer/plan/perturbed.h"

namespace stripline::plan {

struct ToyRequest {
  uint64_t reads = 1;
  bool sorted = false;
  static constexpr Fact kFacts = Fact::nic_ranks;
  Surroundings surroundings;
  bool operator==(const ToyRequest&) const = default;
};

struct ToyPlan {
  const uint32_t ahead = 1;
  const Reason reason = Reason::no_model;
  const double predicted_s = 0;
  const double baseline_s = 0;
  const double gain_low = 0;
};

struct ToyMechanism : AsAsked<ToyRequest> {
  using Plan = ToyPlan;
  using Candidate = uint32_t;
  using Record = plan::Record<uint32_t, uint32_t>;
  using Model = CompiledPath;
  using Costs = StripCosts;
  static constexpr Words kWords = {.command = "toy",
                                   .help = "Reads of a toy",
                                   .example = "--reads 10",
                                   .baseline = "one by one",
                                   .no_model = "nothing is known, so values are read one by one"};

  static std::span<const Field<Request>> fields() {
    static constexpr std::array<Field<Request>, 2> kFields = {
        field<Request, &Request::reads>("reads", "--reads", "{} reads", "Values that are read")
            .required(),
        field<Request, &Request::sorted>("sorted", "--sorted", nullptr, "They are in order")};
    return kFields;
  }
  static const StripCosts* costs_of(const CompiledPath& path) { return &path.strip; }

  static bool knows(const StripCosts* costs) { return costs != nullptr && costs->has_get(); }
  static uint32_t baseline(const Request&) { return 1; }
  template <typename Visit>
  static void each_candidate(const Request& request, const Visit& visit) {
    for (uint32_t ahead = 2; ahead <= request.reads && ahead <= 16; ahead *= 2) visit(ahead);
  }
  static double seconds(const Request& request, const StripCosts& costs, uint32_t ahead,
                        const Ends& ends) {
    const cost::MessageCosts message =
        detail::at_ends(costs.get().at(8), costs.get().at(8, ends.corner), ends);
    const auto reads = static_cast<double>(request.reads);
    return reads * (message.o(8) + message.L / ahead);
  }
  template <typename Visit>
  static void each_source(const Request&, const Visit& visit) {
    visit(Source::issue);
    visit(Source::latency);
  }
  static double margin(const Request&, const StripCosts* costs) { return costs->minimum_gain(); }
  static Plan unfold(const Request&, uint32_t ahead, const Verdict& verdict = {}) {
    return {ahead, verdict.reason, verdict.predicted_s, verdict.baseline_s, verdict.gain_low};
  }
  static Plan plan(const Request& request, const StripCosts* costs, Record& record) {
    return choose<ToyMechanism>(request, costs, record);
  }
  static void show(const Request&, const Plan& plan, Row& row) {
    row.number("ahead", plan.ahead, "{} ahead");
  }
};
static_assert(Mechanism<ToyMechanism> && Tried<ToyMechanism>);

}  // namespace stripline::plan
