// The processors that the ranks of one host are bound to. By hwloc: a library of its own, for
// programs that start ranks (it costs them 1 ms of linking and 3 to 11 ms of looking at a small
// machine); the ranks themselves do not link it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

struct hwloc_topology;

namespace stripline::machine {

/// A logical processor (hwloc's PU, one hardware thread) and what it is part of. Numbers of cores,
/// caches, NUMA nodes and packages are only compared with each other.
struct Processor {
  uint32_t number = 0;  ///< as the kernel counts: the bit in an affinity mask
  uint32_t core = 0;    ///< physical
  uint32_t cache = 0;   ///< of the third level
  uint32_t numa_node = 0;
  uint32_t package = 0;
};

/// The processors that this process may use: online, in its cpuset (containers, batch systems) and
/// in its affinity mask (taskset). Empty if hwloc cannot tell.
std::vector<Processor> allowed_processors();

/// The processors of a loaded topology.
std::vector<Processor> processors_of(hwloc_topology* topology);

/// For each of `ranks`, the processors (by number, ascending) to bind it to; pure. Every core gets
/// one rank before any gets a second one, and among equal cores the next rank goes where the
/// NUMA node, then the package, then the cache has the fewest. Ranks next to each other in number
/// share a NUMA node if they can. A core's processors are dealt out among its ranks, none to two.
/// Empty if there are more ranks than processors: binding would make some share while others idle.
std::vector<std::vector<uint32_t>> place_ranks(std::span<const Processor> processors,
                                               uint32_t ranks);

/// The same among processors that are not in `taken`: on cores that have none of those if they
/// suffice, else on all that are left; empty if these do not suffice. Pure.
std::vector<std::vector<uint32_t>> place_ranks_beside(std::span<const Processor> processors,
                                                      std::span<const uint32_t> taken,
                                                      uint32_t ranks);

}  // namespace stripline::machine
