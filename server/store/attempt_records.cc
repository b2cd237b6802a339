#include "server/store/attempt_records.h"

#include <array>

#include "base/enum_names.h"

namespace stripline::server {
namespace {

constexpr std::array<std::string_view, 4> kAttemptOutcomes = {"FINISHED", "LOST", "FAILED",
                                                              "CANCELLED"};

}  // namespace

std::string_view to_string(AttemptOutcome outcome) { return enum_name(kAttemptOutcomes, outcome); }

std::optional<AttemptOutcome> attempt_outcome_from_string(std::string_view name) {
  return enum_named<AttemptOutcome>(kAttemptOutcomes, name);
}

}  // namespace stripline::server
