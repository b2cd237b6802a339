#include "optimizer/plan/gather_mechanism.h"

#include <array>
#include <string>

namespace stripline::plan {

std::span<const Field<GatherRequest>> GatherMechanism::fields() {
  static constexpr std::array<Field<GatherRequest>, 5> kFields = {
      field<GatherRequest, &GatherRequest::elements>("elements", "--elements", "{} elements",
                                                     "Different elements that are needed")
          .within(1, kMostNumber)
          .required(),
      bytes<GatherRequest, &GatherRequest::element_bytes>("element_bytes", "--element-bytes",
                                                          " of {}", "The size of an element"),
      field<GatherRequest, &GatherRequest::runs>(
          "runs", "--runs", " in {} runs", "Runs of elements that lie side by side in the array")
          .within(1, kMostNumber),
      bytes<GatherRequest, &GatherRequest::span_bytes>(
          "span_bytes", "--span", " that span {}",
          "From the beginning of the first element to the end of the last one")
          .required(),
      field<GatherRequest, &GatherRequest::by_stores>(
          "by_stores", "--by-stores", ", reached by stores",
          "The owner's stores reach the memory of the rank that needs them"),
  };
  return kFields;
}

Result<GatherRequest> GatherMechanism::request_of(const GatherRequest& asked) {
  if (asked.elements > kMostExtent / std::max<uint64_t>(asked.element_bytes, 1) ||
      asked.span_bytes > kMostExtent) {
    return refused("elements of more than 16 TiB, which is the most that a segment has");
  }
  if (asked.span_bytes < asked.bytes()) {
    return refused("--span is smaller than --elements of --element-bytes each, which are " +
                   std::to_string(asked.bytes()) + " B");
  }
  if (asked.runs > asked.elements) return refused("--runs is more than --elements");
  return asked;
}

void GatherMechanism::show(const GatherRequest& request, const GatherDecision& plan, Row& row) {
  const bool packs = plan.method == GatherMethod::pack;
  row.word("method", to_string(plan.method), "{}")
      .bytes("bytes", packs ? request.bytes() : request.span_bytes, ", {}");
}

}  // namespace stripline::plan
