// The facts of the ranks' machines when a job starts. Most jobs run on machines that are alike, and
// only rank 0 says how they fit a model. So ranks exchange digests of their facts, a few bytes
// each, and leave the facts themselves in memory that rank 0 can get from. It fetches those of one
// rank for each digest that differs from its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "runtime/fabric/fabric.h"
#include "runtime/machine/fingerprint.h"

namespace stripline::rma {

/// The digest of some ranks' facts, and the first of these ranks.
struct DigestOfRank {
  fabric::Rank rank = 0;
  std::string digest;
};

/// Writes the facts to `place`, which peers can get from and which keeps them until all ranks have
/// met. Returns their digest: the length and the SHA-256 of what was written. Errors:
/// resource_exhausted if `place` is too small.
Result<std::string> leave_facts(const machine::Facts& facts, std::span<std::byte> place);

/// machine::join_facts() of the facts of all ranks, for the first rank of `digests`: these are all
/// that differ, by rank, and `mine` are its own facts. The others are fetched from `offset` of
/// their ranks' segments, where leave_facts() has written them; no get where all ranks are alike.
/// Those ranks must make progress until it returns. Errors: data_loss if what is fetched does not
/// have its digest.
Result<machine::Facts> fetch_facts(fabric::Fabric& fabric, uint64_t offset,
                                   const machine::Facts& mine,
                                   std::span<const DigestOfRank> digests);

}  // namespace stripline::rma
