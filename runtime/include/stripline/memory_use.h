// What a job costs in memory.
//
//   const stripline::MemoryUse memory = stripline::memory_use(ctx);
//   const double mib = static_cast<double>(memory.total_bytes(ctx.rank_n())) / (1 << 20);
//   if (ctx.rank_me() == 0) std::printf("%.1f MiB a rank\n", mib);
#pragma once

#include <cstdint>

#include <stripline/context.h>

namespace stripline {

/// Memory of one rank, in bytes. Constant from Context::init() on, but for `mechanism_bytes`.
/// Figures are upper bounds: much of it is touched only when it is needed.
struct MemoryUse {
  /// The program's shared segment (Options::segment_bytes).
  uint64_t segment_bytes = 0;
  /// What the runtime takes, however many ranks there are: what lies behind the segment for
  /// transfers of many regions and for collectives, the network's buffers, copies of buffered and
  /// combined puts, packing space, completion slots. Not in it: what a call takes in proportion to
  /// what it is given (24 bytes per region of a list, scratch memory of collectives beyond 1 MiB).
  uint64_t runtime_bytes = 0;
  /// What the runtime takes for each other rank: messages that it has sent and this rank has not
  /// served, data of collectives that this rank has not come to, rings between ranks of one node.
  uint64_t per_peer_bytes = 0;
  /// What buffers of loops and nests take at most (Options::loop_buffer_bytes); a loop whose
  /// granule alone is larger takes that while it runs.
  uint64_t loop_bytes = 0;
  /// Buffers of the UpdateEpochs that this rank has now (UpdateOptions::budget_bytes is the most
  /// that one takes), and what its bulk and fine-grained regions have copied and read into
  /// (BulkOptions::buffer_bytes, FineOptions::buffer_bytes).
  uint64_t mechanism_bytes = 0;
  /// What each injection_context (<stripline/injection.h>) that has a queue of its own takes beside
  /// what the provider does; 0 where there are none. Not in the total.
  uint64_t injection_bytes = 0;
  /// The part of all that which is registered with the network.
  uint64_t registered_bytes = 0;

  /// All of it in a job of `ranks` ranks.
  uint64_t total_bytes(rank_t ranks) const {
    return segment_bytes + runtime_bytes + loop_bytes + mechanism_bytes +
           per_peer_bytes * (ranks - 1);
  }
};

/// This rank's. Not collective; does not communicate.
MemoryUse memory_use(Context& context);

}  // namespace stripline
