#include "runtime/bulk/phase_gets.h"

#include <utility>

namespace stripline::bulk {
namespace {

bool overlaps(const GetRecord& record, uint64_t begin, uint64_t end) {
  return record.offset < end && begin < record.offset + record.bytes;
}

}  // namespace

void forget(std::vector<GetRecord>& records, uint64_t begin, uint64_t end) {
  std::erase_if(records, [&](const GetRecord& record) { return overlaps(record, begin, end); });
}

void PhaseGets::begin(std::span<const GetRecord> expected, bool ahead) {
  expected_.clear();
  first_.clear();
  by_place_.clear();
  next_ = 0;
  remembers_ = true;
  if (!ahead) return;
  // From the last one to the first, so that each knows the next one of its rank.
  expected_.resize(expected.size());
  for (size_t i = expected.size(); i-- > 0;) {
    Expected& one = expected_[i];
    one.record = expected[i];
    one.state = std::exchange(one.record.spoiled, false) ? State::held : State::waiting;
    uint32_t& first = first_.try_emplace(one.record.rank, kNone).first->second;
    one.next = std::exchange(first, static_cast<uint32_t>(i));
  }
}

std::vector<GetRecord> PhaseGets::end() {
  give_up();
  expected_.clear();
  first_.clear();
  by_place_.clear();
  return std::exchange(made_, {});
}

std::optional<size_t> PhaseGets::next() {
  while (next_ < expected_.size() && expected_[next_].state != State::waiting) ++next_;
  if (next_ == expected_.size()) return std::nullopt;
  return next_;
}

void PhaseGets::issued(size_t index, uint64_t buffer) {
  expected_[index].state = State::issued;
  expected_[index].buffer = buffer;
}

PhaseGets::Expected* PhaseGets::find(rank_t rank, uint64_t offset, uint64_t bytes) {
  const auto first = first_.find(rank);
  if (first == first_.end()) return nullptr;
  // In order. Those that have come are not looked at again.
  size_t looked_at = 0;
  for (uint32_t* link = &first->second; looked_at < kLookAhead; ++looked_at) {
    while (*link != kNone && expected_[*link].state == State::gone) *link = expected_[*link].next;
    if (*link == kNone) return nullptr;
    Expected& one = expected_[*link];
    if (one.record.offset == offset && one.record.bytes == bytes) return &one;
    link = &one.next;
  }
  while (const auto number = by_place().take_same(rank, offset, offset + bytes)) {
    if (expected_[*number].state != State::gone) return &expected_[*number];
  }
  return nullptr;
}

// Most visits make their gets in order, and do without.
RangeIndex& PhaseGets::by_place() {
  if (!by_place_.empty() || expected_.empty()) return by_place_;
  std::vector<RangeIndex::Entry> entries;
  entries.reserve(expected_.size());
  for (const Expected& one : expected_) {
    entries.push_back({one.record.rank, one.record.offset, one.record.offset + one.record.bytes,
                       static_cast<uint32_t>(entries.size())});
  }
  by_place_.build(std::move(entries));
  return by_place_;
}

void PhaseGets::leave(Expected& one, State state) {
  if (one.state == State::issued) given_up_.push_back(one.buffer);
  one.state = state;
}

std::optional<uint64_t> PhaseGets::take(rank_t rank, uint64_t offset, uint64_t bytes) {
  if (!remembers_) return std::nullopt;
  // Not the first visit, and not expected: whether it comes again is not known.
  GetRecord made{rank, offset, bytes, !expected_.empty()};
  std::optional<uint64_t> buffer;
  if (Expected* const one = find(rank, offset, bytes)) {
    if (one->state == State::issued) buffer = one->buffer;
    made.spoiled = one->state == State::spoiled;
    one->state = State::gone;
  }
  if (made_.size() < kMaxRecords) made_.push_back(made);
  return buffer;
}

void PhaseGets::spoil(rank_t rank, uint64_t begin, uint64_t end) {
  if (!remembers_) return;
  while (const auto number = by_place().take_overlapping(rank, begin, end)) {
    Expected& one = expected_[*number];
    if (one.state != State::gone) leave(one, State::spoiled);
  }
}

void PhaseGets::give_up() {
  if (!remembers_) return;
  for (Expected& one : expected_) leave(one, State::gone);
  remembers_ = false;
}

void PhaseGets::give_up(uint64_t begin, uint64_t end) {
  give_up();
  forget(made_, begin, end);
}

}  // namespace stripline::bulk
