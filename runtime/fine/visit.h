// What a rank did in a region, as its planner is asked about it (optimizer/plan/fine.h), and as
// traces show it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include <stripline/call_site.h>

#include "base/random.h"
#include "optimizer/plan/fine_mechanism.h"
#include "runtime/bulk/phase.h"
#include "runtime/decide/visits.h"

namespace stripline::fine {

struct Tally {
  bulk::CallTally reads;   ///< out of reach of loads and stores
  bulk::CallTally writes;  ///< likewise
  uint64_t fetched = 0;    ///< reads that no earlier one had fetched for; all that are used at once
  uint64_t at_once = 0;    ///< reads whose values are used at once
  uint64_t boxes = 0;
  uint64_t box_bytes = 0;
  uint64_t bursts = 0;   ///< times that the program waited for what it had read since the last time
  uint64_t targets = 0;  ///< ranks of each burst, the sum over them
  uint64_t puts = 0;     ///< that writes became

  uint64_t calls() const { return reads.count + writes.count; }
  double calls_s() const { return reads.total_s() + writes.total_s(); }

  /// What it was, in all these seconds.
  plan::FineRequest request(double seconds, uint32_t in_flight) const {
    const auto mean = [](uint64_t sum, uint64_t count) {
      return std::max<uint64_t>(count == 0 ? 0 : sum / count, 1);
    };
    plan::FineRequest request;
    request.reads = fetched;
    request.read_bytes = reads.count == 0 ? request.read_bytes : mean(reads.bytes, reads.count);
    request.boxes = std::min(boxes, fetched);
    request.box_bytes = boxes == 0 ? request.box_bytes : mean(box_bytes, boxes);
    request.bursts = std::clamp<uint64_t>(bursts, 1, std::max<uint64_t>(fetched, 1));
    request.ranks = static_cast<uint32_t>(mean(targets, request.bursts));
    request.writes = puts;
    request.write_bytes = puts == 0 ? request.write_bytes : mean(writes.bytes, puts);
    request.compute_s = std::max(0.0, seconds - calls_s());
    request.in_flight = in_flight;
    request.at_once = 2 * at_once > reads.count;
    return request;
  }
  /// For traces.
  std::string text() const {
    std::string text;
    if (reads.count > 0) {
      text += "(" + reads.text("read") + "; " + std::to_string(fetched) + " fetched in " +
              std::to_string(boxes) + " boxes)";
    }
    if (writes.count > 0) {
      text += "(" + writes.text("write") + "; " + std::to_string(puts) + " puts)";
    }
    return text;
  }
};

/// The place in the program where a region begins.
struct Place {
  const char* file = nullptr;
  int line = 0;
  bool operator==(const Place&) const = default;
};
inline uint64_t hash_of(const Place& place) {
  return stripline::hash_of(reinterpret_cast<uintptr_t>(place.file), place.line);
}

/// The regions that begin at a place (decide::SiteTable).
class Scope {
 public:
  Place key;
  uint32_t users = 0;
  /// Its visits: by which method, and what is learnt from them.
  decide::Visits<plan::FineMechanism, plan::FineMethod::boxes, plan::FineMethod::lists> visits;
  uint64_t last_bytes = 0;  ///< of the last one

  const decide::Race& race() const { return visits.race(); }
};

}  // namespace stripline::fine
