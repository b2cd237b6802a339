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

template <typename Visit>
void PhaseGets::while_waiting(rank_t rank, const Visit& visit) {
  const auto first = first_.find(rank);
  if (first == first_.end()) return;
  for (uint32_t* link = &first->second; *link != kNone;) {
    Expected& one = expected_[*link];
    if (one.state == State::gone) {
      *link = one.next;
      continue;
    }
    if (!visit(one)) return;
    link = &one.next;
  }
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
  size_t looked_at = 0;
  while_waiting(rank, [&](Expected& one) {
    if (one.record.offset != offset || one.record.bytes != bytes) return ++looked_at < kLookAhead;
    if (one.state == State::issued) buffer = one.buffer;
    made.spoiled = one.state == State::spoiled;
    one.state = State::gone;
    return false;
  });
  if (made_.size() < kMaxRecords) made_.push_back(made);
  return buffer;
}

void PhaseGets::spoil(rank_t rank, uint64_t begin, uint64_t end) {
  while_waiting(rank, [&](Expected& one) {
    if (overlaps(one.record, begin, end)) leave(one, State::spoiled);
    return true;
  });
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
