#include "runtime/fabric/ofi/same_node.h"

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <functional>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/testing/refused_calls.h"
#include "base/testing/scoped_limit.h"
#include "runtime/fabric/ofi/segment.h"

namespace stripline::fabric::ofi {
namespace {

constexpr size_t kBytes = 10000;  // no multiple of a page

/// What the owner of a segment tells its peers.
Address address_of(const Segment& segment) {
  Address address;
  address.host = Host::here();
  address.segment_bytes = segment.bytes().size();
  address.segment_address = reinterpret_cast<uintptr_t>(segment.bytes().data());
  address.segment_file = SharedFile::of(segment.file());
  return address;
}

/// Runs `body` in another process; its exit code, 0 if `body` returns true.
bool holds_in_child(const std::function<bool()>& body) {
  const pid_t child = fork();
  if (child == 0) ::_exit(body() ? 0 : 1);
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

class SameNodeTest : public ::testing::Test {
 protected:
  void allocate(Segment::Kind kind) {
    auto segment = Segment::allocate(kBytes, kind);
    ASSERT_TRUE(segment.ok()) << segment.error().message();
    segment_ = std::move(*segment);
    address_ = address_of(segment_);
    for (size_t i = 0; i < kBytes; ++i) segment_.bytes()[i] = static_cast<std::byte>(i * 7);
  }
  Segment segment_;
  Address address_;
};

TEST_F(SameNodeTest, AMappingIsTheSegmentOfTheOtherProcess) {
  allocate(Segment::Kind::shared);
  EXPECT_TRUE(holds_in_child([&] {
    Address mine = address_;
    mine.host.pid = getpid();
    SameNodePeers peers(0, 2);
    peers.add(1, SameNode::mapped, mine, address_);
    const std::span<std::byte> there = peers.mapped(1);
    if (peers.path(1) != SameNode::mapped || there.size() != kBytes) return false;
    // The child has inherited the owner's mapping; this one is its own.
    if (there.data() == segment_.bytes().data()) return false;
    if (std::memcmp(there.data(), segment_.bytes().data(), kBytes) != 0) return false;
    there[kBytes - 1] = std::byte{1};
    return peers.describe(SameNode::mapped) == "mapped: 1 rank";
  }));
  EXPECT_EQ(segment_.bytes()[kBytes - 1], std::byte{1});
}

TEST_F(SameNodeTest, AMailboxBeyondTheFileSizeLimitIsRefused) {
  const ScopedLimit tight(RLIMIT_FSIZE, size_t{1} << 20);
  const auto mailbox = Mailbox::create(1000);
  ASSERT_FALSE(mailbox.ok());
  EXPECT_NE(mailbox.error().message().find("ulimit -f unlimited"), std::string::npos)
      << mailbox.error().message();
}

TEST_F(SameNodeTest, MessagesArriveInTheOwnersMailbox) {
  allocate(Segment::Kind::shared);
  auto mailbox = Mailbox::create(5);
  ASSERT_TRUE(mailbox.ok()) << mailbox.error().message();
  address_.mailbox_file = SharedFile::of(mailbox->file());
  const std::vector<std::byte> message(100, std::byte{9});
  EXPECT_TRUE(holds_in_child([&] {
    Address mine = address_;
    mine.host.pid = getpid();
    SameNodePeers peers(3, 5);  // rank 3 of 5
    peers.add(1, SameNode::mapped, mine, address_);
    return peers.writer(1) && peers.writer(1).write(message);
  }));
  for (Rank sender = 0; sender < 5; ++sender) {
    RingReader reader(mailbox->rings() + sender);
    ASSERT_EQ(reader.empty(), sender != 3);
    if (sender != 3) continue;
    const auto got = reader.front();
    EXPECT_TRUE(std::equal(got.begin(), got.end(), message.begin(), message.end()));
  }
}

TEST_F(SameNodeTest, AnotherFileInItsPlaceIsRefused) {
  allocate(Segment::Kind::shared);
  EXPECT_TRUE(holds_in_child([&] {
    SharedFile other = address_.segment_file;
    ++other.inode;
    const auto mapping = Mapping::open(address_.host.pid, other, 0, kBytes);
    if (mapping.ok() || mapping.error().code() != ErrorCode::failed_precondition) return false;
    // Beyond its end every access would be a SIGBUS.
    return !Mapping::open(address_.host.pid, address_.segment_file, 0, size_t{1} << 30).ok();
  }));
}

TEST_F(SameNodeTest, WhatCannotBeMappedIsLeftToTheNetworkAndSaysWhy) {
  allocate(Segment::Kind::exclusive);
  EXPECT_TRUE(holds_in_child([&] {
    Address mine = address_;
    mine.host.pid = getpid();
    SameNodePeers peers(0, 3);
    peers.add(1, SameNode::mapped, mine, address_);
    Address elsewhere = address_;
    elsewhere.host.boot_id = "another machine";
    peers.add(2, SameNode::mapped, mine, elsewhere);  // not of this node: not spoken of
    const std::string text = peers.describe(SameNode::mapped);
    return peers.path(1) == SameNode::network && peers.mapped(1).empty() &&
           text.starts_with("network: 1 rank (rank 1: /proc/") &&
           text.find("No such file") != std::string::npos;
  }));
}

TEST_F(SameNodeTest, TheKernelCopiesFromProcessToProcess) {
  allocate(Segment::Kind::exclusive);
  EXPECT_TRUE(holds_in_child([&] {
    Address mine = address_;
    mine.host.pid = getpid();
    SameNodePeers peers(0, 2);
    peers.add(1, SameNode::cma, mine, address_);
    if (peers.path(1) != SameNode::cma) return false;
    std::vector<std::byte> copy(kBytes - 1);
    if (!copy_from_process(address_.host.pid, address_.segment_address + 1, copy).ok())
      return false;
    if (std::memcmp(copy.data(), segment_.bytes().data() + 1, copy.size()) != 0) return false;
    const std::byte one{1};
    return copy_to_process(address_.host.pid, address_.segment_address, {&one, 1}).ok();
  }));
  EXPECT_EQ(segment_.bytes()[0], std::byte{1});
}

TEST_F(SameNodeTest, WhereOnlyReadingIsAllowedCopiesAreLeftToTheNetwork) {
  allocate(Segment::Kind::exclusive);
  EXPECT_TRUE(holds_in_child([&] {
    if (!refuse_system_calls({SYS_process_vm_writev}, EPERM)) return false;
    Address mine = address_;
    mine.host.pid = getpid();
    SameNodePeers peers(0, 2);
    peers.add(1, SameNode::cma, mine, address_);
    const std::string text = peers.describe(SameNode::cma);
    return peers.path(1) == SameNode::network &&
           text.find("writing to process") != std::string::npos &&
           text.find("Operation not permitted") != std::string::npos;
  }));
}

TEST_F(SameNodeTest, ACopyToAProcessThatHasEndedFails) {
  const pid_t child = fork();
  if (child == 0) ::_exit(0);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  std::byte byte{};
  const Status copied = copy_from_process(child, reinterpret_cast<uintptr_t>(&byte), {&byte, 1});
  ASSERT_FALSE(copied.ok());
  EXPECT_NE(copied.error().message().find("No such process"), std::string::npos)
      << copied.error().message();
}

TEST_F(SameNodeTest, RanksOfOneProcessShareItsAddresses) {
  allocate(Segment::Kind::exclusive);
  SameNodePeers peers(0, 2);
  peers.add(1, SameNode::mapped, address_, address_);
  EXPECT_EQ(peers.mapped(1).data(), segment_.bytes().data());
}

}  // namespace
}  // namespace stripline::fabric::ofi
