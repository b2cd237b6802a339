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
  /// Processor time that its control group allows, in thousandths of a processor; 0: no limit.
  uint64_t quota_thousandths = 0;

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

  /// The file behind a descriptor of this process.
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

/// True if the ranks on `machine` outnumber the cores that they may run on together, or the cores
/// are not known, or those of a container outnumber the processors that its quota is worth. A rank
/// that waits must then leave its core to the others soon.
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

/// The first IPv4 (or else IPv6) address of a network interface of this host, a link-local one with
/// its scope ("fe80::1%eth0"). Errors: invalid_argument, listing the interfaces that `variable`, in
/// which the name was given, could name.
Result<std::string> address_of_interface(const std::string& interface,
                                         const std::string& variable = "STRIPLINE_IFACE");

/// The interface that carries an IP address of this host, or "" if none does. A link-local address
/// may lack its scope.
std::string interface_of_address(std::string_view address);

/// `address` as a socket can be bound to it: a link-local one of this host gets the scope that it
/// lacks.
std::string with_scope(const std::string& address);

/// Gives the socket address of a peer the scope that its interface has on this host: the number in
/// the peer's own address is one of its host. Without effect unless both are link-local.
void adopt_scope(std::string& peer, std::string_view own);

}  // namespace stripline::fabric::ofi
