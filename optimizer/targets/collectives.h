// The collective operations of MPI that targets are tuned for, by the names that MPI gives them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace stripline::targets {

enum class Collective : uint8_t {
  allgather,
  allgatherv,
  allreduce,
  alltoall,
  alltoallv,
  barrier,
  bcast,
  exscan,
  gather,
  reduce,
  reduce_scatter,
  reduce_scatter_block,
  scan,
  scatter,
};

inline constexpr std::array kCollectives = {
    Collective::allgather, Collective::allgatherv,     Collective::allreduce,
    Collective::alltoall,  Collective::alltoallv,      Collective::barrier,
    Collective::bcast,     Collective::exscan,         Collective::gather,
    Collective::reduce,    Collective::reduce_scatter, Collective::reduce_scatter_block,
    Collective::scan,      Collective::scatter,
};

/// "reduce_scatter_block".
std::string_view to_string(Collective collective);
std::optional<Collective> collective_from_string(std::string_view name);

/// True if the ranks may disagree about the size of a call: MPI makes some counts significant at
/// the root alone, or on all ranks but a root that works in place. A rule that depends on the size
/// lets such ranks choose different algorithms, and hang. The sizes of bcast and reduce are the
/// same on all ranks.
bool ranks_may_see_other_sizes(Collective collective);

/// True if a reduction operation takes part, which need not be commutative.
bool has_operation(Collective collective);

/// What is measured, and decided about, by itself.
struct Cell {
  Collective collective = Collective::allreduce;
  uint32_t ranks = 2;
  uint32_t ranks_per_node = 2;  ///< as the target sees it: `ranks`, or 1
  /// What the caller names by count and type: of alltoall, allgather, gather and scatter what goes
  /// between two ranks; of reduce_scatter what each rank keeps; else the whole buffer. 0: barrier.
  uint64_t bytes = 8;
  auto operator<=>(const Cell&) const = default;
};

/// False: each rank is on a node of its own.
constexpr bool is_one_node(const Cell& cell) { return cell.ranks_per_node != 1; }

/// This cell with another number of ranks: on one node, too, if it was, else with as many on each.
constexpr Cell with_ranks(Cell cell, uint32_t ranks) {
  if (is_one_node(cell)) cell.ranks_per_node = ranks;
  cell.ranks = ranks;
  return cell;
}

}  // namespace stripline::targets
