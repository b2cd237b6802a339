// What a site or a test may set about libfabric endpoints, beside OpenOptions. docs/fabrics.md
// lists the environment variables.
#pragma once

#include <cstddef>
#include <limits>
#include <string>

#include "base/result.h"

namespace stripline::fabric::ofi {

/// Sends in flight; try_send() returns false beyond them.
inline constexpr size_t kSendBuffers = 128;

struct Settings {
  /// Largest message try_send() takes. Stays below the eager limits of common providers (16 KiB of
  /// ofi_rxm), so that a message never needs a rendezvous with an inattentive target.
  size_t message_bytes = 8192;
  /// Receive buffers kept posted, each of message_bytes and a header; at most what the provider
  /// queues. Messages beyond them wait in the network or at the sender.
  size_t receive_buffers = 256;
  /// Outstanding operations this rank allows itself; clamped to the provider's transmit queue.
  size_t operations = 4096;
  /// Further injectors that this rank may have at a time (Fabric::open_injector()).
  /// STRIPLINE_INJECTION_QUEUES.
  size_t injectors = 16;
  /// Longer gets and puts are split; clamped to the provider's largest message.
  size_t max_transfer_bytes = std::numeric_limits<size_t>::max();
  /// Registers or bounces private buffers as if the provider asked for FI_MR_LOCAL, so that this
  /// path can be tested where no provider needs it.
  bool register_local = false;
  /// FI_PROGRESS_AUTO: the provider's thread serves peers while this rank computes, at a price in
  /// latency. Of OpenOptions::progress, as the next.
  bool automatic_progress = false;
  /// Asks the provider for a descriptor that a thread of the runtime can wait for.
  bool waitable = false;
  /// A queue that takes nothing, or operations of which none completes, for this long end the job.
  /// STRIPLINE_PEER_TIMEOUT, in seconds.
  double peer_timeout_s = 120;
  /// Local IP address to communicate from. STRIPLINE_ADDRESS.
  std::string address;
  /// Network interface to communicate through, if `address` is empty. STRIPLINE_IFACE.
  std::string interface;

  /// The defaults with the environment's values. Errors: invalid_argument for a value that does
  /// not parse.
  static Result<Settings> from_environment();
};

}  // namespace stripline::fabric::ofi
