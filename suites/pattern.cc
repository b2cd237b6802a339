#include "suites/pattern.h"

#include <algorithm>
#include <cstring>

namespace stripline::suites {
namespace {

// The finaliser of SplitMix64 (Steele, Lea and Flood 2014): every bit of the input reaches every
// bit of the result.
uint64_t word_at(size_t index, uint64_t seed) {
  uint64_t z = (index + 1) * 0x9e3779b97f4a7c15u + seed * 0xd1342543de82ef95u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

}  // namespace

void fill_pattern(std::span<std::byte> bytes, uint64_t seed) {
  for (size_t at = 0; at < bytes.size(); at += sizeof(uint64_t)) {
    const uint64_t word = word_at(at / sizeof(uint64_t), seed);
    std::memcpy(bytes.data() + at, &word, std::min(sizeof(word), bytes.size() - at));
  }
}

std::optional<size_t> first_mismatch(std::span<const std::byte> bytes, uint64_t seed) {
  for (size_t at = 0; at < bytes.size(); at += sizeof(uint64_t)) {
    const uint64_t word = word_at(at / sizeof(uint64_t), seed);
    const size_t n = std::min(sizeof(word), bytes.size() - at);
    if (std::memcmp(bytes.data() + at, &word, n) == 0) continue;
    const auto* expected = reinterpret_cast<const std::byte*>(&word);
    size_t i = 0;
    while (bytes[at + i] == expected[i]) ++i;
    return at + i;
  }
  return std::nullopt;
}

}  // namespace stripline::suites
