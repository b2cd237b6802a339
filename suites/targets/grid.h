// The cells that are measured. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "optimizer/targets/collectives.h"

namespace stripline::suites::tune {

/// What users ask for.
struct GridOptions {
  std::vector<uint32_t> ranks = {2, 3, 4, 8};
  std::vector<targets::Collective> collectives;  ///< empty: all
  uint64_t most_bytes = uint64_t{1} << 20;
  bool one_node = true;  ///< ranks are on one node, as the target sees it; else on one each
};

/// No rank has a larger buffer than this, whatever the number of ranks; one of four times this
/// where a choice for all sizes is validated beyond them.
inline constexpr uint64_t kMostBufferBytes = uint64_t{4} << 20;

/// The size of a collective among these ranks that takes such a buffer.
uint64_t largest_size(targets::Collective collective, uint32_t ranks);

/// The sizes of a collective among these ranks that are measured first: powers of 16 times 8
/// bytes, and the largest.
std::vector<uint64_t> first_sizes(targets::Collective collective, uint32_t ranks,
                                  uint64_t most_bytes);

/// All cells, by ranks, collective and size.
std::vector<targets::Cell> first_cells(const GridOptions& options);

/// An element type of the driver, and whether a call works in place.
struct CallKind {
  const char* type;
  bool in_place;
};
/// Calls that a wrong algorithm of a collective fails: of numbers, of elements of three bytes, and
/// of matrices, whose products do not commute.
std::vector<CallKind> call_kinds(targets::Collective collective, bool commutative_only);

/// The size between two neighbours, a multiple of 8; 0 where they are within a factor of two.
uint64_t size_between(uint64_t below, uint64_t above);

/// Numbers of ranks that are measured in one launch: those that have a processor for each rank, and
/// the others. A target waits otherwise where processors are shared.
std::vector<std::vector<uint32_t>> launch_groups(std::span<const uint32_t> ranks,
                                                 uint32_t processors);

}  // namespace stripline::suites::tune
