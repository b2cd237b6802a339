// libfabric endpoints behind the fabric interface.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include "base/result.h"
#include "runtime/fabric/fabric.h"

namespace stripline::fabric {

/// One provider that this host can open, as `stripline doctor` shows it.
struct ProviderInfo {
  std::string name;      ///< the name --fabric takes: "tcp", "shm", "verbs"
  std::string provider;  ///< libfabric's: "tcp;ofi_rxm"
  bool usable = false;   ///< has what the runtime needs (FI_EP_RDM, FI_MSG, FI_RMA, FI_ATOMIC)
  std::string detail;    ///< attributes, or why it is not usable
};

/// Loads libfabric on demand and lists what it offers. Costs up to half a second; only commands
/// that ask pay for it. Errors: unavailable if libfabric cannot be loaded.
Result<std::vector<ProviderInfo>> list_ofi_providers();

/// The version of the libfabric that is loaded, e.g. "1.17". Errors: as above.
Result<std::string> ofi_version();

/// Opens options.fabric as a libfabric provider ("tcp" means the provider's own reliable datagram
/// endpoints where libfabric has them, else "tcp;ofi_rxm"; "net" "net;ofi_rxm", "verbs"
/// "verbs;ofi_rxm", "udp" "udp;ofi_rxd"; other names are passed on as they are). The
/// environment variables of docs/fabrics.md apply.
Result<std::unique_ptr<Fabric>> open_ofi_fabric(const OpenOptions& options);

/// True if a fabric or a provider communicates over IP sockets, so that an unset address means
/// loopback.
inline bool uses_sockets(std::string_view name) {
  const std::string_view core = name.substr(0, name.find(';'));
  return core == "tcp" || core == "net" || core == "udp" || core == "sockets";
}

/// What the shm provider takes of /dev/shm per endpoint (libfabric 1.17 with its default queues of
/// 1024). It hides from hosts that have not so much for each of their processors.
inline constexpr uint64_t kShmProviderBytes = uint64_t{16} << 20;

/// Removes the shared memory that a rank process of the shm provider leaves in /dev/shm when a
/// signal kills it. For whoever started the process, right after it was reaped. Harmless for other
/// processes. Does not load libfabric.
void remove_ofi_leftovers(pid_t ended);

/// Removes what ranks of the shm provider have left whose launcher was killed with them: this
/// user's files of processes that are no more. Where this process does not see all processes of the
/// host, those of the last minute stay: they may be of one that it does not see.
void remove_ofi_leftovers_of_the_dead();

}  // namespace stripline::fabric
