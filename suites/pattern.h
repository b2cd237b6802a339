// Byte patterns for checking that a transfer delivered every byte, in place and fresh. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace stripline::suites {

/// Fills with a pattern in which each 8-byte word depends on its position and on `seed`: shifted,
/// repeated or stale data do not agree.
void fill_pattern(std::span<std::byte> bytes, uint64_t seed);

/// The position of the first byte that differs from fill_pattern(seed), if one does.
std::optional<size_t> first_mismatch(std::span<const std::byte> bytes, uint64_t seed);

}  // namespace stripline::suites
