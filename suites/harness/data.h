// Data that tell whether a batch had its effect: what is sent depends on its place and on the
// batch, so that nothing of an earlier batch, or of another system's, passes for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "suites/harness/rows.h"

namespace stripline::suites::harness {

/// Private memory of a process, the same for all systems.
struct Data {
  std::vector<std::byte> source = std::vector<std::byte>(kMemoryBytes);
  std::vector<std::byte> sink = std::vector<std::byte>(kMemoryBytes);
  uint64_t salt = 0;  ///< of this batch
};

/// The word of a batch at a place.
uint64_t word_at(size_t word, uint64_t salt);

/// Before a batch, on rank 0: what it puts, and nothing where gaps of strided gets are.
void prepare_initiator(const Row& row, Data& data);
/// Before a batch, on rank 1, whose memory this is: what is fetched from it.
void prepare_target(const Row& row, uint64_t salt, std::byte* memory);

/// After a batch, on rank 0: the sink holds what was fetched; of fetch-adds and messages, the first
/// word holds the last previous value and the last answer.
bool initiator_is_right(const Row& row, const Data& data);
/// After a batch, on rank 1: the memory holds what was put.
bool target_is_right(const Row& row, uint64_t salt, const std::byte* memory);

}  // namespace stripline::suites::harness
