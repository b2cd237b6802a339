#include "runtime/fabric/ofi/ofi_address.h"

#include <cstdint>
#include <net/if.h>
#include <netinet/in.h>
#include <string>

#include <gtest/gtest.h>

namespace stripline::fabric::ofi {
namespace {

TEST(OfiAddressTest, SurvivesEncoding) {
  Address address;
  address.provider = "tcp;ofi_rxm";
  address.endpoint = std::string("\x02\x00\xff\n\0x", 6);
  address.endpoint_text = "127.0.0.1:1";
  address.loopback = true;
  address.segment_key = ~uint64_t{0};
  address.segment_base = 0x7f0000001000;
  address.segment_bytes = 1 << 28;
  address.segment_address = 0x7f0000002000;
  address.segment_file = {7, 26, 99};
  address.mailbox_address = 0x7f0000003000;
  address.host = Host::here();
  address.switches = "core.leaf3";
  const auto decoded = Address::decode(address.encode());
  ASSERT_TRUE(decoded.ok()) << decoded.error().message();
  EXPECT_EQ(decoded->provider, address.provider);
  EXPECT_EQ(decoded->endpoint, address.endpoint);
  EXPECT_EQ(decoded->endpoint_text, address.endpoint_text);
  EXPECT_EQ(decoded->loopback, true);
  EXPECT_EQ(decoded->segment_key, address.segment_key);
  EXPECT_EQ(decoded->segment_base, address.segment_base);
  EXPECT_EQ(decoded->segment_bytes, address.segment_bytes);
  EXPECT_EQ(decoded->segment_address, address.segment_address);
  EXPECT_EQ(decoded->segment_file, address.segment_file);
  EXPECT_EQ(decoded->mailbox_file.descriptor, -1);
  EXPECT_EQ(decoded->mailbox_address, address.mailbox_address);
  EXPECT_EQ(decoded->host.pid, address.host.pid);
  EXPECT_EQ(decoded->host.cores, address.host.cores);
  EXPECT_FALSE(address.host.cores.empty());
  EXPECT_EQ(decoded->switches, "core.leaf3");
  EXPECT_TRUE(decoded->host.same_network(address.host));
  EXPECT_TRUE(decoded->host.same_process_numbers(address.host));
}

TEST(OfiAddressTest, RefusesEveryTruncationAndExtension) {
  Address address;
  address.provider = "p";
  address.host = Host::here();
  const std::string whole = address.encode();
  for (size_t length = 0; length < whole.size(); ++length) {
    EXPECT_FALSE(Address::decode(whole.substr(0, length)).ok()) << length;
  }
  EXPECT_FALSE(Address::decode(whole + "x").ok());
}

TEST(OfiAddressTest, RefusesLengthsBeyondTheBytes) {
  Address address;
  address.host = Host::here();
  std::string bytes = address.encode();
  for (size_t i = 0; i < 8; ++i) bytes[i] = '\xff';
  EXPECT_FALSE(Address::decode(bytes).ok());
}

std::vector<Address> ranks_on(const std::vector<std::string>& cores) {
  std::vector<Address> addresses;
  for (const std::string& allowed : cores) {
    Address address;
    address.host.boot_id = "a";
    address.host.cores = allowed;
    addresses.push_back(address);
  }
  return addresses;
}

TEST(OfiAddressTest, KnowsWhichRanksShareCores) {
  const auto share = [](const std::vector<std::string>& cores) {
    const std::vector<Address> addresses = ranks_on(cores);
    return share_cores(addresses, addresses.front().host);
  };
  EXPECT_FALSE(share({"\x03", "\x03"}));         // two ranks, anywhere on two cores
  EXPECT_TRUE(share({"\x03", "\x03", "\x03"}));  // three ranks on two cores
  EXPECT_FALSE(share({"\x01", "\x02"}));         // each pinned to a core of its own
  EXPECT_TRUE(share({"\x01", "\x01"}));          // both pinned to the same one
  EXPECT_FALSE(share({std::string("\0\x80", 2), "\x01"}));
  EXPECT_TRUE(share({"\x03", ""}));  // unknown

  std::vector<Address> addresses = ranks_on({"\x01", "\x01"});
  addresses[1].host.boot_id = "b";
  EXPECT_FALSE(share_cores(addresses, addresses[0].host));
}

TEST(OfiAddressTest, RanksAboveTheQuotaOfTheirContainerShareCores) {
  std::vector<Address> addresses = ranks_on({"\x01", "\x02", "\x04"});
  for (Address& address : addresses) address.host.pid_namespace = "container";
  Host here = addresses[0].host;
  here.quota_thousandths = 3000;
  EXPECT_FALSE(share_cores(addresses, here));
  here.quota_thousandths = 2500;
  EXPECT_TRUE(share_cores(addresses, here));
  // One in another container has a quota of its own.
  addresses[2].host.pid_namespace = "another";
  EXPECT_FALSE(share_cores(addresses, here));
}

TEST(OfiAddressTest, CountsTheRanksThatReachOthersThroughOneNic) {
  std::vector<Address> addresses = ranks_on({"\x01", "\x02", "\x04"});
  EXPECT_EQ(ranks_behind_nic(addresses, addresses[0].host), 1U);  // no one is elsewhere
  addresses[2].host.boot_id = "b";
  EXPECT_EQ(ranks_behind_nic(addresses, addresses[0].host), 2U);
  EXPECT_EQ(ranks_behind_nic(addresses, addresses[2].host), 1U);
}

TEST(OfiAddressTest, KnowsTheLoopbackInterface) {
  const auto address = address_of_interface("lo");
  ASSERT_TRUE(address.ok()) << address.error().message();
  EXPECT_EQ(*address, "127.0.0.1");
  EXPECT_EQ(interface_of_address("127.0.0.1"), "lo");
  EXPECT_EQ(interface_of_address("198.51.100.7"), "");
}

TEST(OfiAddressTest, DescribesSocketAddresses) {
  bool loopback = false;
  EXPECT_EQ(describe_socket_address(
                std::string("\x02\x00\x1f\x90\x7f\x00\x00\x01\0\0\0\0\0\0\0\0", 16), loopback),
            "127.0.0.1:8080");
  EXPECT_TRUE(loopback);
  EXPECT_EQ(describe_socket_address(
                std::string("\x02\x00\x1f\x90\x0a\x01\x02\x03\0\0\0\0\0\0\0\0", 16), loopback),
            "10.1.2.3:8080");
  EXPECT_FALSE(loopback);
  EXPECT_EQ(describe_socket_address("xyz", loopback), "3-byte address");
}

/// fe80::1, port 8080, as a socket address of the interface with this number.
std::string link_local_address(uint32_t scope) {
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_port = htons(8080);
  address.sin6_addr.s6_addr[0] = 0xfe;
  address.sin6_addr.s6_addr[1] = 0x80;
  address.sin6_addr.s6_addr[15] = 1;
  address.sin6_scope_id = scope;
  return {reinterpret_cast<const char*>(&address), sizeof(address)};
}

TEST(OfiAddressTest, LinkLocalAddressesKeepTheirScope) {
  const uint32_t lo = if_nametoindex("lo");
  if (lo == 0) GTEST_SKIP() << "no interface lo here";
  bool loopback = true;
  EXPECT_EQ(describe_socket_address(link_local_address(lo), loopback), "[fe80::1%lo]:8080");
  EXPECT_FALSE(loopback);
  EXPECT_EQ(with_scope("fe80::1:2:3"), "fe80::1:2:3") << "no interface has it";
  EXPECT_EQ(with_scope("fe80::1%lo"), "fe80::1%lo");
  EXPECT_EQ(with_scope("127.0.0.1"), "127.0.0.1");

  std::string peer = link_local_address(7);
  adopt_scope(peer, link_local_address(lo));
  EXPECT_EQ(peer, link_local_address(lo));
  const std::string ipv4("\x02\x00\x1f\x90\x7f\x00\x00\x01\0\0\0\0\0\0\0\0", 16);
  adopt_scope(peer, ipv4);
  EXPECT_EQ(peer, link_local_address(lo));
}

TEST(OfiAddressTest, NumbersMachinesInTheOrderOfTheirFirstRanks) {
  std::vector<Address> addresses(6);
  const char* machines[] = {"a", "b", "a", "", "c", ""};
  for (size_t i = 0; i < addresses.size(); ++i) addresses[i].host.boot_id = machines[i];
  EXPECT_EQ(nodes_of(addresses), (std::vector<uint32_t>{0, 1, 0, 2, 3, 4}));
}

}  // namespace
}  // namespace stripline::fabric::ofi
