// Random numbers that are the same with every compiler and library. Not for secrets.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace stripline {

/// 2^64 over the golden ratio: multiples of it are spread evenly over 64 bits.
inline constexpr uint64_t kGoldenRatio = 0x9e3779b97f4a7c15;

/// The finaliser of SplitMix64: every bit of the input reaches every bit of the result.
constexpr uint64_t mix64(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

/// A number from several, in order, for tables: a rotation and a multiplication for each. Not for
/// what strangers choose.
class Hash {
 public:
  template <typename... Numbers>
  explicit constexpr Hash(Numbers... numbers) {
    (add(static_cast<uint64_t>(numbers)), ...);
  }
  constexpr void add(uint64_t number) { state_ = (std::rotl(state_, 23) ^ number) * kGoldenRatio; }
  constexpr uint64_t value() const { return state_ ^ (state_ >> 32); }

 private:
  uint64_t state_ = 0;
};

template <typename... Numbers>
constexpr uint64_t hash_of(Numbers... numbers) {
  return Hash(numbers...).value();
}

/// Steele, Lea and Flood: Fast splittable pseudorandom number generators, OOPSLA 2014.
class SplitMix64 {
 public:
  explicit constexpr SplitMix64(uint64_t seed) : state_(seed) {}
  constexpr uint64_t next() { return mix64(state_ += kGoldenRatio); }

 private:
  uint64_t state_;
};

/// A seed for part `index` of what `seed` governs.
constexpr uint64_t derive_seed(uint64_t seed, uint64_t index) {
  return SplitMix64(SplitMix64(seed).next() ^ index).next();
}

/// An order that depends on the seed alone (Fisher and Yates).
template <typename T>
void shuffle(std::vector<T>& values, uint64_t seed) {
  SplitMix64 random(seed);
  for (size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random.next() % i]);
}

}  // namespace stripline
