#include "server/store/attempt_records.h"

#include <array>
#include <cstddef>
#include <utility>

namespace stripline::server {
namespace {

constexpr std::array<std::pair<AttemptOutcome, std::string_view>, 4> kAttemptOutcomes = {
    {{AttemptOutcome::finished, "FINISHED"},
     {AttemptOutcome::lost, "LOST"},
     {AttemptOutcome::failed, "FAILED"},
     {AttemptOutcome::cancelled, "CANCELLED"}}};

}  // namespace

std::string_view to_string(AttemptOutcome outcome) {
  return kAttemptOutcomes.at(static_cast<size_t>(outcome)).second;
}

std::optional<AttemptOutcome> attempt_outcome_from_string(std::string_view name) {
  for (const auto& [outcome, its_name] : kAttemptOutcomes) {
    if (its_name == name) return outcome;
  }
  return std::nullopt;
}

}  // namespace stripline::server
