// The pairs of nodes that communicate when all nodes do, each with one other at the same distance.
// Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace stripline::suites {

/// A permutation of `nodes` nodes that takes each to another one at this distance; nullopt if there
/// is none of this form: groups of nodes that are no farther from each other than `distance`, in
/// which nodes that are nearer are passed over. `distance_of` is symmetric, and of two of three
/// nodes' distances the larger ones are equal, as in a tree.
std::optional<std::vector<uint32_t>> pair_at_distance(
    uint32_t nodes, uint32_t distance,
    const std::function<uint32_t(uint32_t, uint32_t)>& distance_of);

}  // namespace stripline::suites
