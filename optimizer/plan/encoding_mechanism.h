// The planner of update_encoding.h as the frame of decisions sees it (mechanism.h).
#pragma once

#include <string>
#include <string_view>

#include "optimizer/plan/mechanism.h"
#include "optimizer/plan/update.h"
#include "optimizer/plan/update_encoding.h"

namespace stripline::plan {

/// A message, and what its costs follow from.
struct AskedEncoding : EncodingRequest {
  uint32_t value_bytes = 8;
  uint64_t span_bytes = uint64_t{1} << 20;  ///< of the owner's memory that its cells are among
  uint64_t message_bytes = kMostUpdateBufferBytes;  ///< by which a byte's time is taken
  static constexpr Fact kFacts{};
  Surroundings surroundings;
  bool operator==(const AskedEncoding&) const = default;
};

/// What encodings of such a message take by the model; by its bytes, if that does not say what
/// updates take (`costs` null, or without buffers).
EncodingCosts costs_of_message(const AskedEncoding& request, const UpdateCosts* costs) noexcept;

struct EncodingMechanism : AsAsked<AskedEncoding> {
  using Plan = EncodingPlan;
  using Candidate = UpdateEncoding;
  using Record = EncodingRecord;
  using Model = CompiledPath;
  using Costs = UpdateCosts;
  static constexpr Words kWords = {
      .command = "encoding",
      .help = "How updates are written into a message (<stripline/update.h>)",
      .example = "--updates 4000 --runs 700 --boxes 30 --cells 5000",
      .baseline = "a cell and a value for each update",
      .no_model =
          "the model does not hold puts and what updates cost a processor, so what takes "
          "the fewest bytes is taken",
      .scope = {.until = Scope::Until::call},
      .sized_by = "bytes of a cell",
      .methods = methods_of(kUpdateEncodingNames, kUpdateEncodings)};

  static std::span<const Field<Request>> fields();
  static Result<Request> request_of(const Request& asked);
  static const UpdateCosts* costs_of(const CompiledPath& path) { return &path.update; }
  static Plan plan(const Request& request, const UpdateCosts* costs, Record& record);
  static Plan unfold(const Request& request, Candidate encoding);
  static void show(const Request& request, const Plan& plan, Row& row);
  static std::string brief(const Plan& plan, std::string_view why) {
    return std::string(to_string(plan.encoding)) + ", " + std::string(why);
  }
};

}  // namespace stripline::plan
