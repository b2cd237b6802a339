#include "optimizer/plan/collective_mechanism.h"

#include <array>

namespace stripline::plan {

std::span<const Field<AskedCollective>> CollectiveMechanism::fields() {
  using Asked = AskedCollective;
  static constexpr std::array<Field<Asked>, 5> kFields = {
      field<Asked, &Asked::operation>("operation", "--operation", "{}", "The operation").always(),
      field<Asked, &Asked::ranks>("ranks", "--ranks", " of {} ranks", "Ranks that take part")
          .within(1, model::kMaxRanks)
          .required(),
      plan::bytes<Asked, &Asked::bytes>("bytes", "--bytes", ", {}",
                                        "Bytes of the data (broadcast), of a rank's vector "
                                        "(reductions, scan) or of a block (the others)")
          .required(),
      field<Asked, &Asked::in_node>("in_node", "--in-node", ", in the memory of one node",
                                    "All ranks reach one another through the memory of one node"),
      field<Asked, &Asked::crowded>("crowded", "--crowded", ", some of which share cores",
                                    "Some of the ranks share their cores with others")};
  return kFields;
}

CollectivePlan CollectiveMechanism::plan(const AskedCollective& request,
                                         const CollectivePlanner* planner, Record& /*record*/) {
  const model::CollectiveRequest asked = request.request();
  const auto rule = planner != nullptr ? planner->rule_for(asked) : std::nullopt;
  return {rule.value_or(model::default_collective(asked)),
          rule ? Reason::measured : Reason::no_model};
}

void CollectiveMechanism::show(const AskedCollective&, const CollectivePlan& plan, Row& row) {
  row.word("algorithm", model::to_string(plan.algorithm), "{}");
}

}  // namespace stripline::plan
