// What `stripline doctor` says about a host: facts in, findings out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/memory_limits.h"
#include "runtime/fabric/ofi/ofi_fabric.h"
#include "runtime/fabric/ofi/ofi_variables.h"
#include "runtime/machine/topology.h"

namespace stripline::machine {

enum class Severity {
  ok,
  info,     ///< not there, and not missed
  warning,  ///< works, but slower or for fewer ranks than it could
  error,    ///< something the runtime needs does not work
};
std::string_view to_string(Severity severity);

struct Finding {
  std::string check;  ///< "memory.locked", "provider.tcp", "exchange.tcp"
  Severity severity = Severity::ok;
  std::string detail;
  std::string fix;  ///< what to do; empty when there is nothing to do
};

/// What the kernel says about this host beyond its topology.
struct HostFacts {
  Topology topology;
  uint64_t available_bytes = 0;            ///< memory this process may still take
  std::optional<uint64_t> lockable_bytes;  ///< RLIMIT_MEMLOCK; nullopt: unlimited
  std::optional<uint64_t> shm_free_bytes;  ///< of /dev/shm; nullopt: not mounted
  /// Huge pages of private memory: "always", "madvise", "never"; empty: unknown.
  std::string transparent_hugepages;
  /// Huge pages of shared memory, as segments are: "always", "within_size", "advise", "never",
  /// "deny", "force"; empty: unknown.
  std::string shared_hugepages;
  uint64_t huge_pages = 0;          ///< reserved ones
  int ptrace_scope = 0;             ///< of Yama; 0 where it is not there
  uint32_t allowed_processors = 0;  ///< in this process's affinity mask
  /// The receive buffer that TCP connections begin with; nullopt: unknown.
  std::optional<uint64_t> tcp_receive_bytes;
  std::optional<uint64_t> listen_backlog;   ///< net.core.somaxconn; nullopt: unknown
  std::optional<uint64_t> ephemeral_ports;  ///< in net.ipv4.ip_local_port_range; likewise
  ShellLimits limits;

  static HostFacts read();
};

/// One finding per fact, pure. `registering_provider` says that a provider which locks memory
/// (verbs, efa, ...) is usable here, which makes a low limit matter.
std::vector<Finding> judge_host(const HostFacts& facts, bool registering_provider);

/// One finding per provider, pure.
std::vector<Finding> judge_providers(const Result<std::vector<fabric::ProviderInfo>>& providers);

/// The variables of libfabric that are in force, pure; nothing if there are none.
std::vector<Finding> judge_variables(const fabric::LibfabricVariables& variables);

/// What follows from all findings, those of exchanges among them ("exchange.FABRIC"); pure.
struct Verdict {
  bool usable = false;  ///< a fabric works, and nothing of the host keeps ranks from starting
  std::string text;
};
Verdict conclude(const std::vector<Finding>& findings);

/// True if any usable provider registers memory with a device.
bool any_registering(const std::vector<fabric::ProviderInfo>& providers);

}  // namespace stripline::machine
