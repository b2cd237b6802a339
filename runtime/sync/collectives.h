// The collective operations, by each of their algorithms. Each call is collective over the group;
// `algorithm` is one that the operation has (model::algorithms_of), the same on every rank, as are
// root, lengths and operator. Input and output are apart unless said otherwise. A rank returns when
// its own part is done: its output is complete and its input may be changed.
//
// n is the number of ranks, m the bytes of data (of a rank's vector or block). Methods: Thakur,
// Rabenseifner and Gropp 2005 for the trees, rings and recursive doubling; Bruck et al. 1997 for
// allgather and all-to-all; Hillis and Steele 1986 for the scan.
//
// Scratch memory holds at most the data of one operation (stated below) and belongs to the rank,
// not to peers. Up to a size it is memory of the fabric's segment, where peers can put; larger
// scratch is allocated for the operation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include <stripline/reduction.h>

#include "optimizer/model/collective.h"
#include "runtime/sync/group.h"
#include "runtime/sync/round.h"
#include "runtime/sync/transfers.h"

namespace stripline::sync {

using Algorithm = model::CollectiveAlgorithm;
using Reduction = stripline::detail::Reduction;
using Bytes = std::span<std::byte>;
using ConstBytes = std::span<const std::byte>;

/// Where blocks of any length lie in one rank's memory; in elements, by rank of the team.
struct Blocks {
  std::span<const size_t> counts;
  std::span<const size_t> offsets;
  size_t element_bytes = 1;

  template <typename Span>
  Span of(Span data, Rank rank) const {
    return data.subspan(offsets[rank] * element_bytes, counts[rank] * element_bytes);
  }
};

/// For `call`, a collective operation whose function throws: within a catch clause.
Error function_has_thrown(const std::string& call);

class Collectives {
 public:
  /// `scratch` is part of the fabric's segment, and aligned to 64 bytes. `fail` ends the job: with
  /// resource_exhausted where there is no memory for larger scratch.
  Collectives(Transfers& transfers, Bytes scratch, fabric::FailureHandler fail)
      : transfers_(transfers), scratch_(scratch), fail_(std::move(fail)) {}

  /// binomial: ceil(log2 n) rounds of m bytes. scatter_allgather: about 2 m bytes in
  /// log2 n + n rounds. direct: the root sends n - 1 messages. No scratch.
  void broadcast(Group& group, Bytes data, Rank root, Algorithm algorithm);

  /// `out` is used on the root only and may be `in`. Scratch: 2 m.
  /// binomial: ceil(log2 n) rounds of m bytes. reduce_scatter_gather: about 2 m bytes in n rounds.
  /// direct: the root receives n - 1 messages and combines by rank; scratch n m.
  void reduce(Group& group, ConstBytes in, Bytes out, const Reduction& op, Rank root,
              Algorithm algorithm);

  /// `out` may be `in`. The result has the same bits on every rank.
  /// in_order: ceil(log2 n) rounds, n m bytes, ((x0 op x1) op x2) ...; scratch n m.
  /// recursive_doubling: ceil(log2 n) rounds of m bytes (two more unless n is a power of two);
  /// scratch m. reduce_scatter_allgather: 2 (n - 1) rounds, about 2 m bytes; scratch m / n.
  /// direct: as in_order, in 1 round of n - 1 messages. linear: to rank 0, as direct reduce and
  /// broadcast do.
  void allreduce(Group& group, ConstBytes in, Bytes out, const Reduction& op, Algorithm algorithm);

  /// `out`, n m bytes, is used on the root only.
  /// direct: the root receives n - 1 messages. binomial: ceil(log2 n) rounds; scratch n m.
  void gather(Group& group, ConstBytes in, Bytes out, Rank root, Algorithm algorithm);

  /// The same with blocks of any length; `blocks` is used on the root only. The root receives n - 1
  /// messages.
  void gatherv(Group& group, ConstBytes in, Bytes out, const Blocks& blocks, Rank root);

  /// `in`, n m bytes, is used on the root only, where `out` may be its block of it.
  /// direct: the root sends n - 1 messages. binomial: ceil(log2 n) rounds of at most n m / 2 bytes;
  /// scratch n m.
  void scatter(Group& group, ConstBytes in, Bytes out, Rank root, Algorithm algorithm);
  /// The same with blocks of any length; `blocks` is used on the root only, which sends n - 1
  /// messages.
  void scatterv(Group& group, ConstBytes in, const Blocks& blocks, Bytes out, Rank root);

  /// `in` has n m bytes: block r of `out`, m bytes, on rank r is op over all ranks' block r.
  /// ring: n - 1 rounds of m bytes; scratch 2 m. direct: 1 round of n - 1 messages, up to
  /// kDirectWindow at a time, combined by rank; scratch n m.
  void reduce_scatter(Group& group, ConstBytes in, Bytes out, const Reduction& op,
                      Algorithm algorithm);

  /// `out` has n m bytes; `in` may be this rank's block of it.
  /// ring: n - 1 rounds of m bytes. bruck: ceil(log2 n) rounds; scratch n m. direct: 1 round of
  /// n - 1 messages, up to kDirectWindow at a time. linear: through rank 0, which sends n m bytes
  /// to each.
  void allgather(Group& group, ConstBytes in, Bytes out, Algorithm algorithm);

  /// The same with blocks of any length, M bytes together; the counts are the same on every rank.
  /// ring: n - 1 rounds, which end when M bytes have gone around. direct: 1 round of n - 1
  /// messages.
  void allgatherv(Group& group, ConstBytes in, Bytes out, const Blocks& blocks,
                  Algorithm algorithm);

  /// Both have n m bytes. pairwise: n - 1 rounds of m bytes. direct: the same messages, up to
  /// kDirectWindow at a time. bruck: ceil(log2 n) rounds of n m / 2 bytes; scratch 2 n m.
  void all_to_all(Group& group, ConstBytes in, Bytes out, Algorithm algorithm);
  /// in_blocks.counts[r] of this rank go to rank r, whose out_blocks.counts[this rank] are as many
  /// bytes.
  void all_to_allv(Group& group, ConstBytes in, const Blocks& in_blocks, Bytes out,
                   const Blocks& out_blocks, Algorithm algorithm);

  /// out = x0 op ... op x_me; exclusive: op ... op x_(me-1), and rank 0's `out` is not touched.
  /// `out` may be `in`. Scratch: 2 m.
  /// linear: n - 1 rounds one after the other. recursive_doubling: ceil(log2 n) rounds. direct:
  /// each sends to all after it and combines for itself; scratch n m.
  void scan(Group& group, ConstBytes in, Bytes out, const Reduction& op, bool exclusive,
            Algorithm algorithm);

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };
  /// Memory for the operation at hand, aligned to 64 bytes; one at a time.
  class Scratch {
   public:
    Scratch(Collectives& owner, size_t bytes);
    Bytes bytes() const { return bytes_; }
    Bytes part(size_t offset, size_t bytes) const { return bytes_.subspan(offset, bytes); }

   private:
    std::unique_ptr<std::byte, Free> allocated_;
    Bytes bytes_;
  };

  void direct_broadcast(Round& round, uint32_t step, Bytes data, Rank root);
  void direct_reduce(Round& round, uint32_t step, ConstBytes in, Bytes out, const Reduction& op,
                     Rank root);
  void direct_allreduce(Round& round, ConstBytes in, Bytes out, const Reduction& op);
  void direct_scan(Round& round, ConstBytes in, Bytes out, const Reduction& op, bool exclusive);
  void binomial_broadcast(Round& round, Bytes data, Rank root);
  void scatter_allgather(Round& round, Bytes data, Rank root);
  void binomial_reduce(Round& round, ConstBytes in, Bytes out, const Reduction& op, Rank root);
  void reduce_scatter_gather(Round& round, ConstBytes in, Bytes out, const Reduction& op,
                             Rank root);
  void reduce_in_order(Round& round, ConstBytes in, Bytes out, const Reduction& op);
  void recursive_doubling(Round& round, ConstBytes in, Bytes data, const Reduction& op);
  void reduce_scatter_allgather(Round& round, Bytes data, const Reduction& op);
  void binomial_gather(Round& round, ConstBytes in, Bytes out, Rank root);
  void direct_gather(Round& round, ConstBytes in, Bytes out, Rank root);
  void binomial_scatter(Round& round, ConstBytes in, Bytes out, Rank root);
  void ring_reduce_scatter(Round& round, ConstBytes in, Bytes out, const Reduction& op);
  void bruck_allgather(Round& round, ConstBytes in, Bytes out);
  void bruck_all_to_all(Round& round, ConstBytes in, Bytes out);
  void linear_scan(Round& round, ConstBytes in, Bytes out, const Reduction& op, bool exclusive);
  void doubling_scan(Round& round, ConstBytes in, Bytes out, const Reduction& op, bool exclusive);

  Transfers& transfers_;
  Bytes scratch_;
  fabric::FailureHandler fail_;
};

/// Bytes to the next multiple of the alignment of scratch memory.
constexpr size_t padded(size_t bytes) { return (bytes + 63) / 64 * 64; }

/// Copies to where the bytes may be already.
void copy(ConstBytes from, Bytes to);

}  // namespace stripline::sync
