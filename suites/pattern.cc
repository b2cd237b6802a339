#include "suites/pattern.h"

#include <algorithm>
#include <cstring>

#include "base/random.h"

namespace stripline::suites {
namespace {

uint64_t word_at(size_t index, uint64_t seed) {
  return mix64((index + 1) * kGoldenRatio + seed * 0xd1342543de82ef95u);
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
