#include "optimizer/plan/indirect_mechanism.h"

#include <array>

namespace stripline::plan {

std::span<const Field<IndirectRequest>> IndirectMechanism::fields() {
  using Loop = IndirectRequest;
  static constexpr uint64_t kHundredPercent = 100;
  static constexpr std::array<Field<Loop>, 9> kFields = {
      field<Loop, &Loop::iterations>("iterations", "--iterations", "{} iterations",
                                     "Iterations of the loop on one rank")
          .within(1, kMostNumber)
          .required(),
      field<Loop, &Loop::reads>("reads", "--reads", " of {} reads",
                                "Elements that an iteration reads through an index")
          .within(1, kMostIndirectReads),
      bytes<Loop, &Loop::element_bytes>("element_bytes", "--element-bytes", " of {}",
                                        "What is read of an element"),
      field<Loop, &Loop::remote_percent>(
          "remote_percent", "--remote", ", {} % of the reads of",
          "Reads of other ranks' elements, in percent (default: 100)")
          .within(0, kHundredPercent)
          .always(),
      field<Loop, &Loop::owners>("owners", "--owners", " {} other ranks",
                                 "Other ranks whose elements are read")
          .from(1)
          .required(),
      field<Loop, &Loop::distinct_percent>("distinct_percent", "--distinct", ", {} % different",
                                           "Different elements of those that a block reads of "
                                           "other ranks, in percent (default: 100)")
          .within(1, kHundredPercent),
      bytes<Loop, &Loop::span_bytes>("span_bytes", "--span", ", spread over {} each",
                                     "What the elements of one owner span")
          .required(),
      field<Loop, &Loop::compute_s>("compute_s", "--compute", ", {} of computation",
                                    "Computation of all iterations, e.g. 100us"),
      field<Loop, &Loop::modifies>("modifies", "--modifies", ", written back",
                                   "The loop changes the elements"),
  };
  return kFields;
}

Result<IndirectRequest> IndirectMechanism::request_of(const IndirectRequest& asked) {
  if (asked.span_bytes > kMostExtent || asked.element_bytes > kMostExtent) {
    return refused("more than 16 TiB of an owner, which no segment has");
  }
  if (asked.element_bytes > asked.span_bytes) {
    return refused(
        "--element-bytes is more than --span, within which all elements of an owner lie");
  }
  return asked;
}

void IndirectMechanism::show(const IndirectRequest& request, const IndirectPlan& plan, Row& row) {
  if (plan.block == 0) {
    row.word("method", "one by one", "{}");
    return;
  }
  const uint64_t blocks = (request.iterations + plan.block - 1) / plan.block;
  row.word("method", "blocks", "{}")
      .number("block", plan.block, " of {} iterations")
      .number("blocks", blocks, ", {} of them")
      .flag("as_without_model", !plan.tunes_lists, ", fetched as without a model");
}

std::string IndirectMechanism::brief(const IndirectPlan& plan, std::string_view why) {
  if (plan.block == 0) return "one by one, " + std::string(why);
  const bool untuned = !plan.tunes_lists && plan.reason != Reason::no_model;
  return "blocks of " + std::to_string(plan.block) + (untuned ? " as without a model" : "") + ", " +
         std::string(why);
}

}  // namespace stripline::plan
