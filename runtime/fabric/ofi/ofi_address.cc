#include "runtime/fabric/ofi/ofi_address.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <ifaddrs.h>
#include <map>
#include <memory>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <optional>
#include <sched.h>
#include <set>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/control_groups.h"
#include "base/host_name.h"
#include "base/whole_file.h"
namespace stripline::fabric::ofi {
namespace {

/// Leads the encoded form; changes whenever the members do.
constexpr std::string_view kFormat = "stripline-ofi-5";

class Writer {
 public:
  void number(uint64_t value) {
    for (int shift = 0; shift < 64; shift += 8) {
      bytes_.push_back(static_cast<char>((value >> shift) & 0xff));
    }
  }
  void text(std::string_view value) {
    number(value.size());
    bytes_.append(value);
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// Reads what Writer wrote; once something is missing, everything after it is zero and empty.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  uint64_t number() {
    if (bytes_.size() < 8) {
      failed_ = true;
      bytes_ = {};
      return 0;
    }
    uint64_t value = 0;
    for (size_t i = 0; i < 8; ++i) {
      value |= static_cast<uint64_t>(static_cast<unsigned char>(bytes_[i])) << (8 * i);
    }
    bytes_.remove_prefix(8);
    return value;
  }
  std::string text() {
    const uint64_t size = number();
    if (size > bytes_.size()) {
      failed_ = true;
      bytes_ = {};
      return {};
    }
    std::string value(bytes_.substr(0, size));
    bytes_.remove_prefix(size);
    return value;
  }
  bool complete() const { return !failed_ && bytes_.empty(); }

 private:
  std::string_view bytes_;
  bool failed_ = false;
};

std::string link_target(const char* path) {
  std::array<char, 128> target{};
  const ssize_t length = readlink(path, target.data(), target.size());
  return length > 0 ? std::string(target.data(), static_cast<size_t>(length)) : std::string();
}

/// Host::cores of this process; empty if the kernel has more cores than the set holds.
std::string allowed_cores() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (sched_getaffinity(0, sizeof(mask), &mask) != 0) return {};
  std::string bits(CPU_SETSIZE / 8, '\0');
  for (size_t core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &mask)) bits[core / 8] |= static_cast<char>(1 << (core % 8));
  }
  bits.erase(bits.find_last_not_of('\0') + 1);
  return bits;
}

using Interfaces = std::unique_ptr<ifaddrs, decltype(&freeifaddrs)>;

Interfaces interfaces_of_host() {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) list = nullptr;
  return {list, &freeifaddrs};
}

/// The IP address of a socket address without its port, with the scope of a link-local one; "" for
/// other families.
std::string ip_text(const sockaddr* address) {
  std::array<char, NI_MAXHOST> text{};
  socklen_t size = 0;
  if (address->sa_family == AF_INET) size = sizeof(sockaddr_in);
  if (address->sa_family == AF_INET6) size = sizeof(sockaddr_in6);
  if (size == 0) return {};
  const int code = getnameinfo(address, size, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST);
  return code == 0 ? text.data() : "";
}

/// The socket address in these bytes if it is a link-local one of IPv6.
std::optional<sockaddr_in6> link_local(std::string_view bytes) {
  sockaddr_in6 address{};
  if (bytes.size() != sizeof(address)) return std::nullopt;
  std::memcpy(&address, bytes.data(), sizeof(address));
  if (address.sin6_family != AF_INET6 || !IN6_IS_ADDR_LINKLOCAL(&address.sin6_addr)) {
    return std::nullopt;
  }
  return address;
}

}  // namespace

Host Host::here() {
  Host host;
  host.name = host_name();
  host.boot_id = first_line("/proc/sys/kernel/random/boot_id");
  host.net_namespace = link_target("/proc/self/ns/net");
  host.pid_namespace = link_target("/proc/self/ns/pid");
  host.pid = getpid();
  host.cores = allowed_cores();
  if (const auto quota = processor_quota()) {
    host.quota_thousandths = static_cast<uint64_t>(std::ceil(quota->processors * 1000));
  }
  return host;
}

SharedFile SharedFile::of(int descriptor) {
  struct stat file {};
  if (fstat(descriptor, &file) != 0) return {};
  return {descriptor, file.st_dev, file.st_ino};
}

std::string Address::encode() const {
  Writer writer;
  writer.text(kFormat);
  writer.text(provider);
  writer.text(endpoint);
  writer.text(endpoint_text);
  writer.number(loopback ? 1 : 0);
  writer.number(segment_key);
  writer.number(segment_base);
  writer.number(segment_bytes);
  writer.number(segment_address);
  for (const SharedFile& file : {segment_file, mailbox_file}) {
    writer.number(static_cast<uint64_t>(file.descriptor));
    writer.number(file.device);
    writer.number(file.inode);
  }
  writer.number(mailbox_address);
  writer.text(host.name);
  writer.text(host.boot_id);
  writer.text(host.net_namespace);
  writer.text(host.pid_namespace);
  writer.number(static_cast<uint64_t>(host.pid));
  writer.text(host.cores);
  writer.number(host.quota_thousandths);
  writer.text(switches);
  return writer.take();
}

Result<Address> Address::decode(std::string_view bytes) {
  Reader reader(bytes);
  if (reader.text() != kFormat) {
    return Error(ErrorCode::invalid_argument,
                 "it is not a libfabric address of this version of Stripline; all ranks must run "
                 "the same version and fabric");
  }
  Address address;
  address.provider = reader.text();
  address.endpoint = reader.text();
  address.endpoint_text = reader.text();
  address.loopback = reader.number() != 0;
  address.segment_key = reader.number();
  address.segment_base = reader.number();
  address.segment_bytes = reader.number();
  address.segment_address = reader.number();
  for (SharedFile* file : {&address.segment_file, &address.mailbox_file}) {
    file->descriptor = static_cast<int>(reader.number());
    file->device = reader.number();
    file->inode = reader.number();
  }
  address.mailbox_address = reader.number();
  address.host.name = reader.text();
  address.host.boot_id = reader.text();
  address.host.net_namespace = reader.text();
  address.host.pid_namespace = reader.text();
  address.host.pid = static_cast<int64_t>(reader.number());
  address.host.cores = reader.text();
  address.host.quota_thousandths = reader.number();
  address.switches = reader.text();
  if (!reader.complete()) {
    return Error(ErrorCode::invalid_argument, "its bytes are truncated or changed");
  }
  return address;
}

bool share_cores(std::span<const Address> addresses, const Host& machine) {
  std::string together;
  size_t ranks = 0;
  size_t contained = 0;
  for (const Address& address : addresses) {
    const Host& host = address.host;
    if (!host.same_machine(machine)) continue;
    if (host.cores.empty()) return true;
    ++ranks;
    if (host.same_process_numbers(machine)) ++contained;
    together.resize(std::max(together.size(), host.cores.size()));
    for (size_t i = 0; i < host.cores.size(); ++i) together[i] |= host.cores[i];
  }
  size_t cores = 0;
  for (const char bits : together) {
    cores += static_cast<size_t>(std::popcount(static_cast<unsigned char>(bits)));
  }
  const uint64_t quota = machine.quota_thousandths;
  return ranks > cores || (quota > 0 && 1000 * contained > quota);
}

uint32_t ranks_behind_nic(std::span<const Address> addresses, const Host& machine) {
  const auto here = std::count_if(addresses.begin(), addresses.end(), [&](const Address& address) {
    return address.host.same_machine(machine);
  });
  return static_cast<size_t>(here) == addresses.size() ? 1 : static_cast<uint32_t>(here);
}

std::vector<uint32_t> nodes_of(std::span<const Address> addresses) {
  std::vector<uint32_t> nodes;
  std::map<std::string_view, uint32_t> known;
  uint32_t count = 0;
  for (const Address& address : addresses) {
    const std::string_view machine = address.host.boot_id;
    const auto found = machine.empty() ? known.end() : known.find(machine);
    nodes.push_back(found == known.end() ? count++ : found->second);
    if (!machine.empty()) known.emplace(machine, nodes.back());
  }
  return nodes;
}

std::string describe_socket_address(std::string_view bytes, bool& loopback) {
  loopback = false;
  sockaddr_storage storage{};
  std::memcpy(&storage, bytes.data(), std::min(bytes.size(), sizeof(storage)));
  if (storage.ss_family == AF_INET && bytes.size() >= sizeof(sockaddr_in)) {
    const auto* address = reinterpret_cast<const sockaddr_in*>(&storage);
    loopback = (ntohl(address->sin_addr.s_addr) >> 24) == 127;
    return ip_text(reinterpret_cast<const sockaddr*>(address)) + ":" +
           std::to_string(ntohs(address->sin_port));
  }
  if (storage.ss_family == AF_INET6 && bytes.size() >= sizeof(sockaddr_in6)) {
    const auto* address = reinterpret_cast<const sockaddr_in6*>(&storage);
    loopback = IN6_IS_ADDR_LOOPBACK(&address->sin6_addr) != 0;
    return "[" + ip_text(reinterpret_cast<const sockaddr*>(address)) +
           "]:" + std::to_string(ntohs(address->sin6_port));
  }
  return std::to_string(bytes.size()) + "-byte address";
}

Result<std::string> address_of_interface(const std::string& interface,
                                         const std::string& variable) {
  const Interfaces interfaces = interfaces_of_host();
  std::optional<std::string> ipv6;
  std::set<std::string> names;
  for (const ifaddrs* entry = interfaces.get(); entry != nullptr; entry = entry->ifa_next) {
    names.insert(entry->ifa_name);
    if (entry->ifa_addr == nullptr || interface != entry->ifa_name) continue;
    if (entry->ifa_addr->sa_family == AF_INET) return ip_text(entry->ifa_addr);
    if (entry->ifa_addr->sa_family == AF_INET6 && !ipv6) ipv6 = ip_text(entry->ifa_addr);
  }
  if (ipv6) return *ipv6;
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return Error(ErrorCode::invalid_argument,
               "network interface '" + interface + "' " +
                   (names.contains(interface) ? "has no IP address" : "does not exist") + "; " +
                   variable + " takes one of: " + list);
}

std::string interface_of_address(std::string_view address) {
  const Interfaces interfaces = interfaces_of_host();
  for (const ifaddrs* entry = interfaces.get(); entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr) continue;
    const std::string here = ip_text(entry->ifa_addr);
    if (!here.empty() && (here == address || here.substr(0, here.find('%')) == address)) {
      return entry->ifa_name;
    }
  }
  return {};
}

std::string with_scope(const std::string& address) {
  in6_addr parsed{};
  // With a scope it does not parse as an address alone.
  if (inet_pton(AF_INET6, address.c_str(), &parsed) != 1) return address;
  if (!IN6_IS_ADDR_LINKLOCAL(&parsed)) return address;
  const std::string interface = interface_of_address(address);
  return interface.empty() ? address : address + "%" + interface;
}

void adopt_scope(std::string& peer, std::string_view own) {
  auto theirs = link_local(peer);
  const auto ours = link_local(own);
  if (!theirs || !ours) return;
  theirs->sin6_scope_id = ours->sin6_scope_id;
  std::memcpy(peer.data(), &*theirs, sizeof(*theirs));
}

}  // namespace stripline::fabric::ofi
