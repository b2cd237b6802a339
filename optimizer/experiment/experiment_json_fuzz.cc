// Assignments, series and declarations cross process and host borders as JSON: whatever the bytes,
// parsing ends with a value or an error, and what was accepted survives another trip.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/json.h"
#include "optimizer/experiment/json.h"

namespace {

template <typename Parse>
void check_round_trip(const stripline::Json& json, Parse parse) {
  const auto first = parse(json);
  if (!first.ok()) return;
  const auto sent = stripline::canonical_json(stripline::experiment::to_json(*first));
  if (!sent.ok()) std::abort();
  const auto received = stripline::parse_json(*sent, "fuzz");
  if (!received.ok()) std::abort();
  const auto second = parse(*received);
  if (!second.ok()) std::abort();
  const auto again = stripline::canonical_json(stripline::experiment::to_json(*second));
  if (!again.ok() || *again != *sent) std::abort();
}

// However it is written, the text of a series is read as its JSON is.
void check_text(std::string_view text, const stripline::Result<stripline::Json>& json) {
  namespace experiment = stripline::experiment;
  const auto of_text = experiment::sample_series_from_text(text);
  if (!json.ok()) {
    if (of_text.ok()) std::abort();
    return;
  }
  const auto of_json = experiment::sample_series_from_json(*json);
  if (of_text.ok() != of_json.ok()) std::abort();
  if (!of_text.ok()) return;
  const auto one = stripline::canonical_json(experiment::to_json(*of_text));
  const auto other = stripline::canonical_json(experiment::to_json(*of_json));
  if (!one.ok() || !other.ok() || *one != *other) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace experiment = stripline::experiment;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto json = stripline::parse_json(text, "fuzz");
  check_text(text, json);
  if (!json.ok()) return 0;
  check_round_trip(*json, experiment::experiment_from_json);
  check_round_trip(*json, experiment::assignment_from_json);
  check_round_trip(*json, experiment::sample_series_from_json);
  check_round_trip(*json, experiment::point_from_json);
  return 0;
}
