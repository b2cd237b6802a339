// What only some networks and nodes offer, for the transfers inside of the runtime that know what
// to do without it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/fabric/fabric.h"

namespace stripline::fabric {

/// The short cuts of one rank; used by the thread that uses its Fabric.
class Shortcuts {
 public:
  virtual ~Shortcuts() = default;

  /// This node has more ranks than cores.
  virtual bool shares_cores() const = 0;

  /// True if put_notify() works.
  virtual bool notifies() const = 0;

  /// Tags of put_notify() are below: what each network with such puts carries beside a rank.
  static constexpr uint32_t kLandingTags = 1U << 12;

  /// The most that one put_notify() takes.
  static constexpr size_t kMostNotified = size_t{1} << 20;

  /// Puts `head` and behind it `body`, neither empty, and then notifies the target's sink
  /// (MessageSink::on_landed) with `tag`: one latency, where a put and a message need three. The
  /// counter drains when the source memory may be changed; that the data are there only the target
  /// knows. `target` is another rank.
  virtual void put_notify(Rank target, uint64_t offset, std::span<const std::byte> head,
                          std::span<const std::byte> body, uint32_t tag, Counter& counter) = 0;

  /// True if `peer` is another rank of this node, and those are not to go through the network. The
  /// same on both sides.
  virtual bool shares_node(Rank peer) const = 0;

  /// True if read_memory() works for `peer`, which shares_node().
  virtual bool reads_memory_of(Rank peer) const = 0;

  /// Copies from any memory of another rank's process, by its address there. Its owner must not
  /// change it meanwhile.
  virtual void read_memory(Rank peer, uint64_t address, std::span<std::byte> destination) = 0;
};

}  // namespace stripline::fabric
