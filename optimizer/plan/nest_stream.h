// Nests that are loops over strips: over the elements of one contiguous piece, in order. strip.h
// plans them, with steps of whole rows. For the files of this folder.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "optimizer/plan/nest.h"
#include "optimizer/plan/nest_tiles.h"
#include "optimizer/plan/strip.h"
#include "optimizer/plan/strip_shape.h"

namespace stripline::plan::detail {

// This many rows need not be divided, where that does not pay for several of them.
inline constexpr uint64_t kManyRows = 64;

// Loops over the elements of one contiguous piece, in order, as a loop over strips of whole rows:
// what one iteration of one of the loops goes through.
struct Stream {
  StripRequest strips;
  uint32_t loop = 0;  // an iteration of which is a row

  uint64_t rows_of(uint64_t strip_bytes) const {
    return strip_bytes / std::max<uint64_t>(strips.element_bytes * strips.granule_elements, 1);
  }
};

inline std::optional<Stream> stream_of(const NestRequest& request) {
  const Nest& nest = request.nest;
  if (nest.references() != 1) return std::nullopt;
  const access::Reference& reference = nest.reference[0];
  if (reference.in_pieces() || reference.mode == access::Mode::update) return std::nullopt;
  Stream stream;
  while (nest.depth > 1 && iterations(nest, stream.loop + 1) < kManyRows) {
    if (++stream.loop == nest.depth) return std::nullopt;
  }
  StripRequest& strips = stream.strips;
  uint64_t inside = 1;  // iterations of the loops further inside
  for (uint32_t loop = nest.depth; loop-- > 0;) {
    if (reference.stride_bytes[loop] !=
        static_cast<int64_t>(saturating_multiply(inside, reference.element_bytes))) {
      return std::nullopt;
    }
    if (loop == stream.loop) strips.granule_elements = inside;
    inside = saturating_multiply(inside, nest.counts[loop]);
  }
  strips.direction = reads(reference.mode) ? Direction::get : Direction::put;
  strips.element_bytes = reference.element_bytes;
  strips.total_bytes = saturating_multiply(inside, reference.element_bytes);
  strips.surroundings = request.surroundings;
  strips.max_buffer_bytes = request.max_buffer_bytes;
  strips.slot_alignment = request.slot_alignment;
  strips.compute_s = request.compute_s;
  strips.loop = request.loop;
  strips.local_bytes = request.local_bytes;
  return stream;
}

// The cut whose steps are `rows` rows of a stream: whole iterations of the outermost loop of which
// a step has one or more. Fewer rows where that loop's iterations are not full.
inline Cut cut_of(const Nest& nest, const Stream& stream, uint64_t rows) {
  uint32_t loop = stream.loop;
  uint64_t each = 1;  // rows of an iteration
  while (loop > 0 && rows >= saturating_multiply(each, nest.counts[loop])) {
    each *= nest.counts[loop--];
  }
  return {loop, rows / each};
}

// True if its steps are the strips that were planned.
inline bool is_exact(const Nest& nest, const Stream& stream, const Cut& cut, uint64_t rows) {
  uint64_t in_step = cut.granule;
  for (uint32_t loop = cut.loop; loop < stream.loop; ++loop) {
    in_step = saturating_multiply(in_step, nest.counts[loop + 1]);
  }
  return in_step == rows && (cut.loop == 0 || nest.counts[cut.loop] % cut.granule == 0);
}

// What the planner of strips considered, as nests.
inline void add_as_nests(const StripRecord& strips, const Nest& nest, const Stream& stream,
                         NestRecord& record) {
  const auto cut_into = [&](uint64_t strip_bytes) {
    return cut_of(nest, stream, stream.rows_of(strip_bytes));
  };
  const auto as_nest = [&](const StripCandidate& candidate) {
    // Strips of equal size.
    const StripPlan plan = force_strip(stream.strips, nullptr, candidate);
    return NestCandidate{candidate.schedule, cut_into(plan.strip_bytes), candidate.window,
                         candidate.schedule != Schedule::vectorised};
  };
  for (const auto& [candidate, predicted_s] : strips.alternatives) {
    record.consider(as_nest(candidate), predicted_s);
  }
  for (const StripPruned& pruned : strips.pruned) {
    record.prune({cut_into(pruned.strip_bytes), pruned.bound_s});
  }
  if (strips.best) record.take(as_nest(strips.best->candidate), strips.best->predicted_s);
  for (const Sensitivity& sensitivity : strips.sensitivities) record.doubt(sensitivity);
}

}  // namespace stripline::plan::detail
