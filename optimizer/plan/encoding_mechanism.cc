#include "optimizer/plan/encoding_mechanism.h"

#include <array>

namespace stripline::plan {
namespace {

using Asked = AskedEncoding;

}  // namespace

EncodingCosts costs_of_message(const Asked& request, const UpdateCosts* costs) noexcept {
  EncodingCosts of{.send_byte_s = 1, .bytes_only = true};
  if (costs != nullptr && costs->has_buffers()) {
    UpdateRequest updates;
    updates.item_bytes = request.value_bytes;
    updates.span_bytes = request.span_bytes;
    of = encoding_costs(updates, *costs, request.message_bytes);
  }
  of.value_bytes = request.value_bytes;
  of.address_bytes = kUpdateAddressBytes;
  of.box_bytes = kUpdateBoxBytes;
  return of;
}

std::span<const Field<Asked>> EncodingMechanism::fields() {
  static constexpr std::array<Field<Asked>, 9> kFields = {
      field<Asked, &Asked::updates>("updates", "--updates", "message of {} updates",
                                    "Updates in the message")
          .within(1, kMostNumber)
          .required(),
      plan::bytes<Asked, &Asked::value_bytes>("item_bytes", "--item", " of {}", "Bytes of a cell")
          .within(1, kMostUpdateBufferBytes)
          .always(),
      field<Asked, &Asked::one_value>("one_value", "--one-value", ", all of one value",
                                      "All of them have the same value"),
      field<Asked, &Asked::runs>("runs", "--runs", ", in {} runs",
                                 "Runs of neighbours that follow each other (default: they are not "
                                 "looked for)")
          .within(0, kMostNumber),
      field<Asked, &Asked::boxes>("boxes", "--boxes", ", which {} boxes cover",
                                  "Boxes that hold all cells (default: none do)")
          .within(0, kMostNumber),
      field<Asked, &Asked::cells>("cells", "--cells", " of {} cells",
                                  "Cells of these boxes, those that no one updates included")
          .within(0, kMostNumber),
      field<Asked, &Asked::among>("among", "--among", ", among {} cells",
                                  "Cells from the first to the last one that is updated, which "
                                  "say whether boxes are looked for (default: they are)")
          .within(0, kMostNumber),
      plan::bytes<Asked, &Asked::span_bytes>("span_bytes", "--span", nullptr,
                                             "Memory of the owner that the cells are among"),
      plan::bytes<Asked, &Asked::message_bytes>("message_bytes", "--message", nullptr,
                                                "The size of a message by which a byte's time is "
                                                "taken")
          .from(1)};
  return kFields;
}

Result<Asked> EncodingMechanism::request_of(const Asked& asked) {
  if (asked.runs > asked.updates) return refused("--runs is more than --updates");
  if (asked.boxes > asked.cells) return refused("--boxes is more than the --cells in them");
  return asked;
}

EncodingPlan EncodingMechanism::plan(const Asked& request, const UpdateCosts* costs,
                                     Record& record) {
  return plan_encoding(request, costs_of_message(request, costs), record);
}

EncodingPlan EncodingMechanism::unfold(const Asked& request, UpdateEncoding encoding) {
  return {encoding, encoded_bytes(request, costs_of_message(request, nullptr), encoding)};
}

void EncodingMechanism::show(const Asked&, const EncodingPlan& plan, Row& row) {
  row.word("encoding", to_string(plan.encoding), "{}").bytes("bytes", plan.bytes, ", {}");
}

}  // namespace stripline::plan
