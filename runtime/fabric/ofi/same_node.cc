#include "runtime/fabric/ofi/same_node.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "base/enum_names.h"
#include "base/memory_limits.h"
#include "base/quantity.h"

namespace stripline::fabric::ofi {
namespace {

std::string last_error() { return std::generic_category().message(errno); }

/// The address of another process, as the kernel takes it.
void* there_at(uint64_t address) {
  return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
}

/// Repeats a copy until all bytes have moved: the kernel may stop early, at 2 GiB at the latest.
template <typename Copy>
Status copy_all(int64_t pid, uint64_t address, std::byte* memory, size_t bytes, Copy copy) {
  for (size_t done = 0; done < bytes;) {
    const iovec here{memory + done, bytes - done};
    const iovec there{there_at(address + done), bytes - done};
    const ssize_t moved = copy(static_cast<pid_t>(pid), &here, 1, &there, 1, 0);
    if (moved <= 0) {
      return Error(ErrorCode::unavailable, "copying between this process and process " +
                                               std::to_string(pid) + ": " +
                                               (moved == 0 ? "nothing was copied" : last_error()));
    }
    done += static_cast<size_t>(moved);
  }
  return {};
}

/// True if this process may write to the other: filters of system calls (seccomp) refuse calls one
/// by one, reading and writing differently. Nothing is written, so that all is left as it is.
Status may_write(int64_t pid, uint64_t address) {
  std::byte none{};
  const iovec here{&none, 0};
  const iovec there{there_at(address), 0};
  if (process_vm_writev(static_cast<pid_t>(pid), &here, 1, &there, 1, 0) == 0) return {};
  return Error(ErrorCode::unavailable,
               "writing to process " + std::to_string(pid) + ": " + last_error());
}

}  // namespace

Mapping::Mapping(Mapping&& other) noexcept
    : base_(std::exchange(other.base_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(base_, other.base_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

Mapping::~Mapping() {
  if (base_ != nullptr) munmap(base_, bytes_);
}

Result<Mapping> Mapping::open(int64_t pid, const SharedFile& file, uint64_t offset, size_t bytes) {
  const std::string path =
      "/proc/" + std::to_string(pid) + "/fd/" + std::to_string(file.descriptor);
  const UniqueFd opened(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!opened) return Error(ErrorCode::unavailable, path + ": " + last_error());
  struct stat found {};
  if (fstat(opened.get(), &found) != 0 || found.st_dev != file.device ||
      found.st_ino != file.inode || static_cast<uint64_t>(found.st_size) < offset + bytes) {
    return Error(ErrorCode::failed_precondition, path + ": not the file that the rank shares");
  }
  auto mapping = of(opened.get(), offset, bytes);
  if (!mapping.ok()) return mapping.error().with_context(path);
  return mapping;
}

Result<Mapping> Mapping::of(int descriptor, uint64_t offset, size_t bytes) {
  void* base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor,
                    static_cast<off_t>(offset));
  if (base == MAP_FAILED) return Error(ErrorCode::unavailable, "mmap: " + last_error());
  // A core file holds each segment once, its owner's.
  madvise(base, bytes, MADV_DONTDUMP);
  Mapping mapping;
  mapping.base_ = static_cast<std::byte*>(base);
  mapping.bytes_ = bytes;
  return mapping;
}

Result<Mailbox> Mailbox::create(Rank ranks) {
  const size_t bytes = size_t{ranks} * sizeof(RingMemory);
  if (!may_size_file(bytes)) {
    return Error(ErrorCode::resource_exhausted,
                 "memory for messages of ranks of this node: the shell allows no file of " +
                     bytes_text(bytes) + " ('ulimit -f unlimited' allows it)");
  }
  Mailbox mailbox;
  mailbox.file_ = UniqueFd(memfd_create("stripline-mailbox", MFD_CLOEXEC));
  if (!mailbox.file_ || ftruncate(mailbox.file_.get(), static_cast<off_t>(bytes)) != 0) {
    return Error(ErrorCode::resource_exhausted,
                 "memory for messages of ranks of this node: " + last_error());
  }
  auto memory = Mapping::of(mailbox.file_.get(), 0, bytes);
  if (!memory.ok()) {
    return Error(ErrorCode::resource_exhausted,
                 "memory for messages of ranks of this node: " + memory.error().message());
  }
  mailbox.memory_ = std::move(*memory);
  return mailbox;
}

Status copy_from_process(int64_t pid, uint64_t address, std::span<std::byte> destination) {
  return copy_all(pid, address, destination.data(), destination.size(), &process_vm_readv);
}

Status copy_to_process(int64_t pid, uint64_t address, std::span<const std::byte> source) {
  // iovec has no form for data that are only read.
  auto* memory = const_cast<std::byte*>(source.data());
  return copy_all(pid, address, memory, source.size(), &process_vm_writev);
}

void SameNodePeers::refuse(Rank rank, const std::string& reason) {
  if (refused_++ == 0) why_refused_ = "rank " + std::to_string(rank) + ": " + reason;
}

Status SameNodePeers::map(Peer& entry, const Address& mine, const Address& peer) {
  if (peer.host.same_process(mine.host)) {  // ranks are threads: what one has is the other's, too
    // NOLINTBEGIN(performance-no-int-to-ptr)
    entry.segment = {reinterpret_cast<std::byte*>(peer.segment_address), peer.segment_bytes};
    if (peer.mailbox_address != 0) {
      entry.writer = RingWriter(reinterpret_cast<RingMemory*>(peer.mailbox_address) + me_);
    }
    // NOLINTEND(performance-no-int-to-ptr)
    return {};
  }
  STRIPLINE_ASSIGN_OR_RETURN(
      Mapping segment, Mapping::open(peer.host.pid, peer.segment_file, 0, peer.segment_bytes));
  if (peer.mailbox_file.descriptor >= 0) {
    STRIPLINE_ASSIGN_OR_RETURN(
        Mapping ring, Mapping::open(peer.host.pid, peer.mailbox_file, me_ * sizeof(RingMemory),
                                    sizeof(RingMemory)));
    entry.writer = RingWriter(reinterpret_cast<RingMemory*>(ring.bytes().data()));
    mappings_.push_back(std::move(ring));
  }
  entry.segment = segment.bytes();
  mappings_.push_back(std::move(segment));
  return {};
}

void SameNodePeers::add(Rank rank, SameNode wanted, const Address& mine, const Address& peer) {
  if (!mine.host.same_machine(peer.host)) return;
  if (wanted == SameNode::network || peer.segment_bytes == 0) {
    ++refused_;
    return;
  }
  if (!mine.host.same_process_numbers(peer.host)) {
    refuse(rank, "it runs in another process namespace");
    return;
  }
  Peer& entry = peers_[rank];
  // A host may permit mapping, and not this.
  std::byte probe{};
  const Status copied = peer.host.same_process(mine.host)
                            ? Status()
                            : copy_from_process(peer.host.pid, peer.segment_address, {&probe, 1});
  entry.readable = copied.ok();
  if (wanted == SameNode::cma) {
    const Status written = copied.ok() && !peer.host.same_process(mine.host)
                               ? may_write(peer.host.pid, peer.segment_address)
                               : copied;
    if (!written.ok()) {
      refuse(rank, written.error().message());
      return;
    }
  } else if (const Status mapped = map(entry, mine, peer); !mapped.ok()) {
    refuse(rank, mapped.error().message());
    return;
  }
  entry.path = wanted;
  ++reached_;
}

std::string SameNodePeers::describe(SameNode wanted) const {
  const auto ranks = [](SameNode path, size_t count) {
    return std::string(to_string(path)) + ": " + std::to_string(count) +
           (count == 1 ? " rank" : " ranks");
  };
  std::string text;
  if (reached_ > 0) text = ranks(wanted, reached_);
  if (refused_ > 0) {
    text += (text.empty() ? "" : ", ") + ranks(SameNode::network, refused_);
    if (!why_refused_.empty()) text += " (" + why_refused_ + ")";
  }
  return text;
}

std::string_view to_string(SameNode path) {
  constexpr std::array<std::string_view, 3> kNames = {"network", "mapped", "cma"};
  return enum_name(kNames, path);
}

}  // namespace stripline::fabric::ofi
