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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace experiment = stripline::experiment;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto json = stripline::parse_json(text, "fuzz");
  if (!json.ok()) return 0;
  check_round_trip(*json, experiment::experiment_from_json);
  check_round_trip(*json, experiment::assignment_from_json);
  check_round_trip(*json, experiment::sample_series_from_json);
  check_round_trip(*json, experiment::point_from_json);
  return 0;
}
