// What one rank tells the others so that they can reach it: the bytes behind
// Fabric::local_address().
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stripline::fabric::ofi {

/// Where a process runs. Equal strings mean the same thing on both sides.
struct Host {
  std::string name;           ///< host name, for messages
  std::string boot_id;        ///< one running kernel
  std::string net_namespace;  ///< one set of network interfaces of that kernel
  std::string pid_namespace;  ///< one numbering of its processes
  int64_t pid = 0;
  std::string cores;  ///< one bit per core, from the first: whether the process may run there

  /// The calling process.
  static Host here();

  // What a host does not tell makes nothing the same.
  bool same_machine(const Host& other) const {
    return !boot_id.empty() && boot_id == other.boot_id;
  }
  bool same_network(const Host& other) const {
    return same_machine(other) && net_namespace == other.net_namespace;
  }
  bool same_process_numbers(const Host& other) const {
    return same_machine(other) && !pid_namespace.empty() && pid_namespace == other.pid_namespace;
  }
  bool same_process(const Host& other) const {
    return same_process_numbers(other) && pid == other.pid;
  }
};

/// A file without a name that a process holds open, as another process of its machine finds it.
struct SharedFile {
  int descriptor = -1;  ///< in the process that holds it; -1: none
  uint64_t device = 0;
  uint64_t inode = 0;

  /// Of a descriptor of this process.
  static SharedFile of(int descriptor);
  bool operator==(const SharedFile&) const = default;
};

struct Address {
  std::string provider;       ///< both sides must use the same
  std::string endpoint;       ///< fi_getname()'s bytes
  std::string endpoint_text;  ///< the same for a person: "127.0.0.1:40123"
  bool loopback = false;      ///< reaches only processes of its own network namespace
  uint64_t segment_key = 0;   ///< remote key of the segment
  uint64_t segment_base = 0;  ///< added to offsets: the virtual address if FI_MR_VIRT_ADDR, or 0
  uint64_t segment_bytes = 0;
  uint64_t segment_address = 0;  ///< in the rank's process, for others of its machine
  SharedFile segment_file;       ///< of a segment that others of its machine may map
  SharedFile mailbox_file;       ///< where they leave messages (same_node.h)
  uint64_t mailbox_address = 0;  ///< the same in the rank's process
  Host host;
  std::string switches;  ///< above the host (network_place.h); empty: not known

  std::string encode() const;
  /// Errors: invalid_argument if the bytes were not written by encode() of this version.
  static Result<Address> decode(std::string_view bytes);
};

/// Whether the ranks on `machine` outnumber the cores that they may run on together, or the cores
/// are not known. A rank that waits must then leave its core to the others soon.
bool share_cores(std::span<const Address> addresses, const Host& machine);

/// How many ranks are on `machine` if there are others elsewhere, whom they reach through its NIC
/// together; else 1.
uint32_t ranks_behind_nic(std::span<const Address> addresses, const Host& machine);

/// The number of each rank's machine, in the order of the first rank of each. Ranks that do not
/// tell have one of their own.
std::vector<uint32_t> nodes_of(std::span<const Address> addresses);

/// Describes a socket address: "127.0.0.1:40123", and whether it is a loopback one. Other formats
/// give their length: "32-byte address".
std::string describe_socket_address(std::string_view bytes, bool& loopback);

/// The first IPv4 (or else IPv6) address of a network interface of this host. Errors:
/// invalid_argument, listing the interfaces there are.
Result<std::string> address_of_interface(const std::string& interface);

/// The interface that carries an IP address of this host, or "" if none does.
std::string interface_of_address(std::string_view address);

}  // namespace stripline::fabric::ofi
