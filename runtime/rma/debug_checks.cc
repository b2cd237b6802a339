#include "runtime/rma/debug_checks.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <sys/uio.h>
#include <unistd.h>
#include <utility>

#include "runtime/rma/context_state.h"

namespace stripline::rma {
namespace {

Error mistake(const std::string& what) { return {ErrorCode::invalid_argument, what}; }

// How messages about another operation name this one.
std::string text(const OpenAccess& access) {
  std::string what = std::string(access.call.name) + " of " +
                     range_text(access.offset, access.bytes, access.target);
  if (access.call.file != nullptr) what += " (" + rma::text(access.call.site()) + ")";
  return what;
}

/// Visits this process's memory in pieces; false if it is no longer mapped. The kernel reads it,
/// because the program may have given it back.
template <typename Visit>
bool read_own(const std::byte* memory, size_t bytes, Visit visit) {
  std::array<std::byte, 4096> piece;
  while (bytes > 0) {
    const size_t length = std::min(bytes, piece.size());
    const iovec here{piece.data(), length};
    const iovec there{const_cast<std::byte*>(memory), length};
    const ssize_t got = process_vm_readv(::getpid(), &here, 1, &there, 1, 0);
    if (got < 0 && errno == EFAULT) return false;
    // A container may forbid the call.
    const bool read = got == static_cast<ssize_t>(length);
    visit(std::span<const std::byte>(read ? piece.data() : memory, length));
    memory += length;
    bytes -= length;
  }
  return true;
}

}  // namespace

DebugChecks::DebugChecks(detail::ContextState& state)
    : state_(state),
      collectives_(state.operations.messages(), state.mechanisms.groups(), state.job.rank(),
                   [&state](const Error& error) { state.fail(error); }) {}

void DebugChecks::check_free(const Call& call, uint64_t offset, uint64_t bytes) const {
  for (rank_t rank = 0; rank < state_.job.ranks(); ++rank) {
    const OpenAccess* const update = accesses_.update_of(rank, offset, bytes);
    if (update == nullptr) continue;
    state_.fail(mistake(rma::text(call) + " of the array of " + heap_.description(offset) +
                        ", with an earlier " + text(*update) +
                        " that this rank does not know to be complete; end() the epoch, or flush() "
                        "it, in between"));
  }
}

void DebugChecks::freed(uint64_t offset, CallSite site) {
  const uint64_t bytes = heap_.freed(offset, site);
  std::fill_n(state_.memory.segment().data() + offset, bytes, kFill);
}

void DebugChecks::freed_local(uint64_t offset, CallSite site) {
  const uint64_t bytes = local_heap_.freed(offset, site);
  std::fill_n(state_.memory.segment().data() + offset, bytes, kFill);
}

// What other ranks have allocated by themselves is not known here.
std::string DebugChecks::complaint(rank_t target, uint64_t offset, size_t bytes) const {
  if (target != state_.job.rank() && offset >= state_.memory.heap().end() + LocalHeap::kGap)
    return {};
  const bool local = target == state_.job.rank() && local_heap_.knows(offset);
  return (local ? local_heap_ : heap_).complaint(offset, bytes);
}

void DebugChecks::check(Call call, Access access, rank_t target, uint64_t offset, size_t bytes) {
  if (bytes == 0) return;
  const auto what = [&] { return text(call) + " of " + range_text(offset, bytes, target); };
  if (const std::string wrong = complaint(target, offset, bytes); !wrong.empty()) {
    state_.fail(mistake(what() + " " + wrong));
  }
  if (access == Access::none) return;
  notice_handlers();
  if (const OpenAccess* open = accesses_.conflict(access, target, offset, bytes)) {
    state_.fail(mistake(what() + " conflicts with an earlier " + text(*open) +
                        ", which this rank does not know to be complete: they may take effect in "
                        "either order; " +
                        (open->access == Access::update
                             ? "end() the epoch, or flush() it, in between"
                             : "wait for the future, fence or pass a barrier in between")));
  }
}

void DebugChecks::update(Call call, uint32_t epoch, rank_t target, uint64_t offset, size_t bytes) {
  check(call, Access::none, target, offset, bytes);
  notice_handlers();
  if (const OpenAccess* open = accesses_.conflict(Access::update, target, offset, bytes, epoch)) {
    state_.fail(mistake(text(call) + " of " + range_text(offset, bytes, target) +
                        " conflicts with an earlier " + text(*open) +
                        ", which this rank does not know to be complete: cells of an epoch are "
                        "touched by nothing else until it ends; flush() or end() the other epoch, "
                        "or complete the operation, in between"));
  }
  OpenAccess access;
  access.call = call;
  access.access = Access::update;
  access.epoch = epoch;
  access.target = target;
  access.offset = offset;
  access.bytes = bytes;
  open(AccessLog::of_epoch(epoch), std::move(access));
}

void DebugChecks::check_local(Call call, bool writes, const std::byte* memory, size_t bytes) const {
  if (memory == nullptr) return;
  const OpenAccess* open = accesses_.local_conflict(writes, memory, bytes);
  if (open == nullptr) return;
  state_.fail(mistake(text(call) + " with a private buffer of " + byte_count_text(bytes) +
                      " that overlaps the one of an earlier " + text(*open) +
                      ", which this rank does not know to be complete; wait for it first"));
}

OpenAccess DebugChecks::open_access(const Touched& range, rank_t target) const {
  check_local(range.call, range.access != Access::put, range.memory, range.bytes);
  OpenAccess open;
  open.call = range.call;
  open.access = range.access;
  open.observable = range.access == Access::atomic;
  open.target = target;
  open.offset = range.offset;
  open.bytes = range.bytes;
  open.memory = range.memory;
  if (range.access == Access::put && range.memory != nullptr) {
    open.checksum = checksum({range.memory, range.bytes});
  }
  return open;
}

void DebugChecks::begins(Observation& operation) {
  if (operation.access == Access::none || operation.many_regions) return;
  OpenAccess open = open_access(
      {operation.call, operation.access, operation.offset, operation.bytes, operation.memory},
      operation.target);
  if (open.access == Access::get && accesses_.has_room_for(open.bytes)) {
    open.fetched.resize(open.bytes);
    if (!open.fetched.empty()) operation.destination = open.fetched.data();
  }
  operation.accesses.push_back(std::move(open));
}

void DebugChecks::touches(Observation& operation, const Touched& range) {
  operation.accesses.push_back(open_access(range, operation.target));
}

void DebugChecks::raises(Observation& operation, const Touched& flag) {
  operation.accesses.push_back(open_access(flag, operation.target));
  for (OpenAccess& access : operation.accesses) access.observable = true;
}

void DebugChecks::started(Observation& operation, const std::optional<SlotUse>& use,
                          bool /*complete*/) {
  const AccessLog::Token token = use ? AccessLog::of_future(use->slot, use->generation)
                                     : AccessLog::of_target(operation.target);
  for (OpenAccess& access : operation.accesses) {
    // After the data have been asked for: where they are copied from may be where they go to.
    if (!access.fetched.empty()) std::fill_n(access.memory, access.bytes, kFill);
    open(token, std::move(access));
  }
}

void DebugChecks::open(AccessLog::Token token, OpenAccess&& access) {
  if (access.bytes == 0) return;
  if (accesses_.has_room()) {
    accesses_.open(token, std::move(access));
    return;
  }
  // Without a place in the log no one would deliver what was fetched; begins() has seen to that.
  if (std::exchange(said_full_, true)) return;
  std::fprintf(stderr,
               "warning: rank %u: more than %zu operations without a wait, fence or barrier; debug "
               "mode does not check later ones (said once)\n",
               state_.job.rank(), AccessLog::kCapacity);
}

void DebugChecks::conclude(const OpenAccess& access) const {
  if (access.memory == nullptr) return;
  bool changed = false;
  bool mapped = true;
  if (access.access == Access::put) {
    uint64_t now = checksum({});
    mapped = read_own(access.memory, access.bytes,
                      [&now](std::span<const std::byte> piece) { now = checksum(piece, now); });
    changed = now != access.checksum;
  } else if (!access.fetched.empty()) {
    mapped = read_own(access.memory, access.bytes, [&changed](std::span<const std::byte> piece) {
      changed = changed || std::any_of(piece.begin(), piece.end(),
                                       [](std::byte byte) { return byte != kFill; });
    });
  }
  if (changed || !mapped) {
    const bool is_put = access.access == Access::put;
    state_.fail(mistake(std::string(is_put ? "the source" : "the destination") + " of an " +
                        text(access) + " was " + (mapped ? "changed" : "given back") +
                        " before this rank knew that the operation was complete; private memory "
                        "stays as it is until the future is ready, or a fence or barrier has " +
                        "completed it" + (is_put ? ", or use rput_buffered" : "")));
  }
  if (!access.fetched.empty()) {
    std::memcpy(access.memory, access.fetched.data(), access.fetched.size());
  }
}

// True if it has brought something from others.
bool DebugChecks::close(AccessLog::Token token) {
  bool fetched = false;
  for (const OpenAccess& access : accesses_.close(token)) {
    conclude(access);
    fetched = fetched || (access.access != Access::put && access.memory != nullptr);
  }
  return fetched;
}

void DebugChecks::completed(const SlotUse& use) {
  notice_handlers();
  const AccessLog::Token token = AccessLog::of_future(use.slot, use.generation);
  // A future without an access is that of a collective.
  if (!accesses_.is_open(token) || close(token)) learnt();
}

void DebugChecks::source_free(const SlotUse& use) {
  notice_handlers();
  accesses_.release_memory(AccessLog::of_future(use.slot, use.generation),
                           [this](const OpenAccess& access) { conclude(access); });
}

void DebugChecks::fenced(std::optional<rank_t> target) {
  bool fetched = false;
  if (target) {
    fetched = close(AccessLog::of_target(*target));
  } else {
    for (const AccessLog::Token token : accesses_.tokens()) {
      if (!AccessLog::is_future(token) && !AccessLog::is_of_epoch(token))
        fetched = close(token) || fetched;
    }
  }
  if (fetched) learnt();
}

void DebugChecks::drained() {
  notice_handlers();
  bool fetched = false;
  for (const AccessLog::Token token : accesses_.tokens()) {
    if (AccessLog::is_future(token) &&
        state_.operations.is_over({AccessLog::slot_of(token), AccessLog::generation_of(token)})) {
      fetched = close(token) || fetched;
    }
  }
  if (fetched) learnt();
}

void DebugChecks::learnt() {
  notice_handlers();
  accesses_.release_observable([this](const OpenAccess& access) { conclude(access); });
}

// Before anything is concluded: a handler may have changed what puts read, as soon as it knew them
// to be complete.
void DebugChecks::notice_handlers() {
  const uint64_t ran = state_.operations.messages().program_handlers();
  if (std::exchange(handlers_, ran) == ran) return;
  accesses_.release_observable([](const OpenAccess&) {});
}

// "... [with T = double; F = stripline::op_add]" as GCC has it, "... [T = double, F = ...]" as
// Clang.
std::string CollectiveScope::shortened(const char* detail) {
  std::string_view text = detail == nullptr ? "" : detail;
  const size_t begin = text.find("T = ");
  if (begin == std::string_view::npos) return std::string(text);
  text.remove_prefix(begin);
  if (text.ends_with(']')) text.remove_suffix(1);
  return std::string(text);
}

}  // namespace stripline::rma
