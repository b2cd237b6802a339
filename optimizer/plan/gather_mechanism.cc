#include "optimizer/plan/gather_mechanism.h"

#include <array>

namespace stripline::plan {
namespace {

constexpr uint64_t kMostVectors = 65536;

}  // namespace

std::span<const Field<GatherRequest>> GatherMechanism::fields() {
  static constexpr std::array<Field<GatherRequest>, 14> kFields = {
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
      field<GatherRequest, &GatherRequest::vectors>("vectors", "--vectors", " of each of {} arrays",
                                                    "Arrays that are gathered together")
          .within(1, kMostVectors),
      field<GatherRequest, &GatherRequest::by_stores>(
          "by_stores", "--by-stores", ", reached by stores",
          "The owner's stores reach the memory of the rank that needs them"),
      field<GatherRequest, &GatherRequest::readers>(
          "readers", "--readers", ", of an owner with {} readers", "Ranks that the owner serves"),
      field<GatherRequest, &GatherRequest::alike>("alike", "--alike", " that need the same",
                                                  "All of these need the same elements"),
      field<GatherRequest, &GatherRequest::besides>(
          "besides", "--besides", ", and {} besides",
          "Elements that each of the readers needs besides those that all need")
          .within(0, kMostNumber),
      field<GatherRequest, &GatherRequest::owners>(
          "owners", "--owners", ", from {} owners alike",
          "Owners of which each of the readers gets as much, this one included"),
      field<GatherRequest, &GatherRequest::node_ranks>(
          "node_ranks", "--node-ranks", ", by {} ranks of a node",
          "Ranks of one node that need elements of the owner, --elements together"),
      field<GatherRequest, &GatherRequest::node_elements>("node_elements", "--node-elements",
                                                          ", which need {} in all",
                                                          "What each of these needs, added up")
          .within(0, kMostNumber),
      field<GatherRequest, &GatherRequest::copied_on>(
          "copied_on", "--copied-on", ", which ranks of its node copy",
          "Ranks of the reader's node copy what they need from where the elements come to it"),
      field<GatherRequest, &GatherRequest::uses>(
          "uses", "--uses", ", in {} gathers",
          "Gathers that the inspection is made for (default: as many as it does not count)")
          .within(0, kMostNumber),
  };
  return kFields;
}

Result<GatherRequest> GatherMechanism::request_of(const GatherRequest& asked) {
  const uint64_t most = kMostExtent / std::max<uint64_t>(asked.vectors, 1);
  if (asked.elements > most / std::max<uint64_t>(asked.element_bytes, 1) ||
      asked.span_bytes > most) {
    return refused("elements of more than 16 TiB, which no segment has");
  }
  if (asked.span_bytes < asked.elements * asked.element_bytes) {
    return refused("--span is smaller than --elements of --element-bytes each, which are " +
                   std::to_string(asked.elements * asked.element_bytes) + " B");
  }
  if (asked.runs > asked.elements) return refused("--runs is more than --elements");
  if (asked.readers == 0 || asked.node_ranks == 0 || asked.owners == 0) {
    return refused("--readers, --owners and --node-ranks are at least 1");
  }
  if (asked.besides > 0 && !asked.alike) {
    return refused("--besides is for readers that need other elements --alike");
  }
  if (asked.besides > most / std::max<uint64_t>(asked.element_bytes, 1) - asked.elements) {
    return refused("elements of more than 16 TiB, which no segment has");
  }
  if (asked.copied_on && (asked.by_stores || asked.node_ranks > 1)) {
    return refused("--copied-on is for one rank that is reached through the network");
  }
  if (asked.node_ranks > 1 && asked.by_stores) {
    return refused("--node-ranks is for ranks that are reached through the network");
  }
  // That the quotient, rounded up, exceeds the elements; their product might exceed 64 bits.
  if (asked.node_ranks > 1 && (asked.node_elements < asked.elements ||
                               (asked.node_elements - 1) / asked.node_ranks >= asked.elements)) {
    return refused("--node-elements is between --elements and --node-ranks times as many");
  }
  return asked;
}

void GatherMechanism::show(const GatherRequest& request, const GatherDecision& plan, Row& row) {
  const bool whole = plan.method == GatherMethod::bound;
  row.word("method", to_string(plan.method), "{}")
      .bytes("bytes", whole ? request.all_span_bytes() : request.bytes(), ", {}");
}

}  // namespace stripline::plan
