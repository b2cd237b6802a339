#include "suites/harness/data.h"

#include <algorithm>
#include <cstring>

#include "base/random.h"

namespace stripline::suites::harness {
namespace {

constexpr size_t kWord = sizeof(uint64_t);

uint64_t load(const std::byte* memory, size_t offset) {
  uint64_t word = 0;
  std::memcpy(&word, memory + offset, kWord);
  return word;
}

// Every word that a batch moves, by offset; stops when `each` returns false.
template <typename Each>
bool for_words(const Row& row, const Each& each) {
  const auto piece = [&](size_t offset) {
    for (size_t at = offset; at < offset + row.bytes; at += kWord) {
      if (!each(at)) return false;
    }
    return true;
  };
  if (row.is_strided()) {
    for (size_t i = 0; i < row.pieces; ++i) {
      if (!piece(i * row.stride())) return false;
    }
    return true;
  }
  const size_t different = std::min(row.count, kMemoryBytes / row.bytes);
  for (size_t i = 0; i < different; ++i) {
    if (!piece(row.offset(i))) return false;
  }
  return true;
}

void fill(const Row& row, uint64_t salt, std::byte* memory) {
  for_words(row, [&](size_t offset) {
    const uint64_t word = word_at(offset / kWord, salt);
    std::memcpy(memory + offset, &word, kWord);
    return true;
  });
}

bool holds(const Row& row, uint64_t salt, const std::byte* memory) {
  if (!for_words(row, [&](size_t offset) {
        return load(memory, offset) == word_at(offset / kWord, salt);
      })) {
    return false;
  }
  if (!row.is_strided()) return true;
  for (size_t i = 0; i < row.pieces; ++i) {
    const std::byte* gap = memory + i * row.stride() + row.bytes;
    if (std::any_of(gap, gap + row.bytes, [](std::byte b) { return b != std::byte{0}; })) {
      return false;
    }
  }
  return true;
}

}  // namespace

uint64_t word_at(size_t word, uint64_t salt) {
  return (word + 1) * kGoldenRatio ^ (salt + 1) * 0xd1342543de82ef95ULL;
}

void prepare_initiator(const Row& row, Data& data) {
  if (row.is_put()) fill(row, data.salt, data.source.data());
  if (row.is_strided()) std::memset(data.sink.data(), 0, row.span());
}

void prepare_target(const Row& row, uint64_t salt, std::byte* memory) {
  if (row.is_strided()) std::memset(memory, 0, row.span());
  if (row.is_get()) fill(row, salt, memory);
  if (row.operation == Operation::fetch_add) std::memset(memory + kCounterOffset, 0, kWord);
}

bool initiator_is_right(const Row& row, const Data& data) {
  if (row.is_get()) return holds(row, data.salt, data.sink.data());
  if (row.operation == Operation::fetch_add) {
    return load(data.sink.data(), 0) == (row.count - 1) * kAddend;
  }
  if (row.operation == Operation::message) {
    return load(data.sink.data(), 0) == word_at(row.count - 1, data.salt);
  }
  return true;
}

bool target_is_right(const Row& row, uint64_t salt, const std::byte* memory) {
  if (row.is_put()) return holds(row, salt, memory);
  if (row.operation == Operation::fetch_add) {
    return load(memory, kCounterOffset) == row.count * kAddend;
  }
  return true;
}

}  // namespace stripline::suites::harness
