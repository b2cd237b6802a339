#include "runtime/rma/access_log.h"

#include <bit>

namespace stripline::rma {

uint64_t checksum(std::span<const std::byte> bytes, uint64_t so_far) {
  for (const std::byte byte : bytes) {
    so_far = (so_far ^ static_cast<uint64_t>(byte)) * 0x100000001b3;
  }
  return so_far;
}

void AccessLog::Ranges::add(uint64_t begin, const OpenAccess& access) {
  by_bits_[static_cast<size_t>(std::bit_width(access.bytes))].emplace(begin, &access);
}

void AccessLog::Ranges::remove(uint64_t begin, const OpenAccess& access) {
  auto& ranges = by_bits_[static_cast<size_t>(std::bit_width(access.bytes))];
  auto [at, end] = ranges.equal_range(begin);
  while (at != end && at->second != &access) ++at;
  if (at != end) ranges.erase(at);
}

template <typename Matches>
const OpenAccess* AccessLog::Ranges::find(uint64_t begin, uint64_t bytes, Matches matches) const {
  for (size_t bits = 1; bits < by_bits_.size(); ++bits) {
    const auto& ranges = by_bits_[bits];
    if (ranges.empty()) continue;
    const uint64_t longest = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
    auto at = ranges.lower_bound(begin > longest ? begin - longest : 0);
    for (; at != ranges.end() && at->first < begin + bytes; ++at) {
      if (at->first + at->second->bytes > begin && matches(*at->second)) return at->second;
    }
  }
  return nullptr;
}

const OpenAccess* AccessLog::conflict(Access access, rank_t target, uint64_t offset, uint64_t bytes,
                                      uint32_t epoch) const {
  if (open_.empty() || bytes == 0) return nullptr;
  return remote_.find(uint64_t{target} << kOffsetBits | offset, bytes,
                      [access, epoch](const OpenAccess& open) {
                        return open.access != access || access == Access::put ||
                               (access == Access::update && open.epoch != epoch);
                      });
}

const OpenAccess* AccessLog::update_of(rank_t target, uint64_t offset, uint64_t bytes) const {
  if (open_.empty() || bytes == 0) return nullptr;
  return remote_.find(uint64_t{target} << kOffsetBits | offset, bytes,
                      [](const OpenAccess& open) { return open.access == Access::update; });
}

const OpenAccess* AccessLog::local_conflict(bool writes, const std::byte* memory,
                                            uint64_t bytes) const {
  if (open_.empty() || bytes == 0) return nullptr;
  return local_.find(reinterpret_cast<uintptr_t>(memory), bytes,
                     [writes](const OpenAccess& open) { return writes || writes_memory(open); });
}

void AccessLog::add(const OpenAccess& access) {
  if (access.at_target) remote_.add(place(access), access);
  if (access.memory != nullptr) local_.add(reinterpret_cast<uintptr_t>(access.memory), access);
}

void AccessLog::remove(const OpenAccess& access) {
  if (access.at_target) remote_.remove(place(access), access);
  if (access.memory != nullptr) local_.remove(reinterpret_cast<uintptr_t>(access.memory), access);
}

// Checksums go on over the bytes that follow.
bool AccessLog::merge(OpenAccess& last, const OpenAccess& next) {
  if (last.access != Access::put || next.access != Access::put || last.call != next.call ||
      last.observable != next.observable || last.target != next.target ||
      last.offset + last.bytes != next.offset || last.memory == nullptr || next.memory == nullptr ||
      last.memory + last.bytes != next.memory) {
    return false;
  }
  remove(last);
  last.checksum = checksum({next.memory, next.bytes}, last.checksum);
  last.bytes += next.bytes;
  add(last);
  return true;
}

OpenAccess& AccessLog::open(Token token, OpenAccess&& access) {
  if (access.observable && (observable_.empty() || observable_.back() != token)) {
    observable_.push_back(token);
  }
  std::list<OpenAccess>& same = open_[token];
  if (!same.empty() && merge(same.back(), access)) return same.back();
  fetched_bytes_ += access.fetched.size();
  ++size_;
  add(same.emplace_back(std::move(access)));
  return same.back();
}

std::list<OpenAccess> AccessLog::close(Token token) {
  const auto found = open_.find(token);
  if (found == open_.end()) return {};
  std::list<OpenAccess> closed = std::move(found->second);
  open_.erase(found);
  for (const OpenAccess& access : closed) {
    remove(access);
    fetched_bytes_ -= access.fetched.size();
  }
  size_ -= closed.size();
  return closed;
}

std::vector<AccessLog::Token> AccessLog::tokens() const {
  std::vector<Token> all;
  all.reserve(open_.size());
  for (const auto& [token, accesses] : open_) all.push_back(token);
  return all;
}

}  // namespace stripline::rma
