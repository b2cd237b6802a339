// What is written for updates, and that it says the same.
#include "runtime/update/encoder.h"

#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace stripline::update {
namespace {

constexpr size_t kRoom = 512;  // updates in a buffer

struct Buffer {
  std::vector<std::byte> memory = std::vector<std::byte>(body_bytes(kRoom, kRoom, 8));
  size_t count = 0;

  Buffer& add(Cell cell, uint64_t value) {
    std::memcpy(memory.data() + count * sizeof cell, &cell, sizeof cell);
    std::memcpy(memory.data() + values_at(kRoom) + count * 8, &value, 8);
    ++count;
    return *this;
  }
  Encoded encode(UpdateEncoding wanted, bool merges = true, bool fills_gaps = true) {
    Encoder encoder(detail::update_type<uint64_t, op_add>(), wanted, merges, fills_gaps);
    return encoder.encode(memory.data(), values_at(kRoom), count);
  }
};

// What an owner makes of it.
std::vector<uint64_t> applied(const Encoded& encoded, size_t cells) {
  std::vector<uint64_t> memory(cells, 0);
  const detail::UpdateType type = detail::update_type<uint64_t, op_add>();
  const auto base = reinterpret_cast<std::byte*>(memory.data());
  const std::byte* const body = encoded.body.data();
  if (encoded.form != Form::boxes) {
    type.apply(
        {base, body, body + values_at(encoded.count), encoded.count, encoded.form == Form::same});
    return memory;
  }
  const std::byte* values = body + encoded.count * sizeof(Box);
  for (size_t i = 0; i < encoded.count; ++i) {
    Box box;
    std::memcpy(&box, body + i * sizeof box, sizeof box);
    type.apply_run(base + box.first * size_t{type.unit}, values, box.cells);
    values += box.cells * size_t{8};
  }
  EXPECT_EQ(values, body + encoded.body.size());
  return memory;
}

TEST(Encoder, NamesOneValueOnce) {
  Buffer buffer;
  for (Cell i = 0; i < 100; ++i) buffer.add(i * 37 % 1000, 1);
  const Encoded encoded = buffer.encode(UpdateEncoding::automatic, false);
  EXPECT_EQ(encoded.form, Form::same);
  EXPECT_EQ(encoded.body.size(), 100 * 4 + 8);
}

TEST(Encoder, KeepsTheOrderOfRuns) {
  Buffer buffer;
  for (Cell row = 0; row < 10; ++row) {
    for (Cell i = 0; i < 4; ++i) buffer.add((10 - row) * 100 + i, row + i);
  }
  const Encoded encoded = buffer.encode(UpdateEncoding::automatic, false);
  EXPECT_EQ(encoded.form, Form::boxes);
  EXPECT_EQ(encoded.count, 10U);
  EXPECT_EQ(encoded.body.size(), 10 * 8 + 40 * 8);
  Box first;
  std::memcpy(&first, encoded.body.data(), sizeof first);
  EXPECT_EQ(first.first, 1000U);
}

TEST(Encoder, FillsGapsWithTheIdentityWhereItMayMerge) {
  Buffer buffer;
  for (Cell i = 0; i < 300; ++i) buffer.add(500 + i * 7 % 302, i);
  Buffer apart(buffer);  // each is encoded in place
  Buffer without_gaps(buffer);
  EXPECT_EQ(apart.encode(UpdateEncoding::automatic, false).form, Form::pairs);
  const Encoded encoded = buffer.encode(UpdateEncoding::automatic);
  EXPECT_EQ(encoded.form, Form::boxes);
  EXPECT_EQ(encoded.count, 1U);
  const Encoded without = without_gaps.encode(UpdateEncoding::automatic, true, false);
  EXPECT_EQ(without.form, Form::boxes);
  EXPECT_EQ(without.count, 3U);
}

TEST(Encoder, SaysTheSameInAllForms) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 200; ++round) {
    const Cell cells = 1 + static_cast<Cell>(random() % 2000);
    const bool equal = random() % 3 == 0;
    const size_t count = 1 + random() % kRoom;
    Buffer buffer;
    std::vector<uint64_t> expected(cells, 0);
    Cell cell = 0;
    for (size_t i = 0; i < count; ++i) {
      cell = random() % 4 == 0 ? static_cast<Cell>(random() % cells) : (cell + 1) % cells;
      const uint64_t value = equal ? 3 : random() % 1000;
      expected[cell] += value;
      buffer.add(cell, value);
    }
    for (const UpdateEncoding wanted : {UpdateEncoding::automatic, UpdateEncoding::pairs,
                                        UpdateEncoding::runs, UpdateEncoding::boxes}) {
      for (const bool merges : {false, true}) {
        Buffer copy(buffer);
        const Encoded encoded = copy.encode(wanted, merges, round % 2 == 0);
        EXPECT_LE(encoded.body.size(), body_bytes(count, count, 8));
        EXPECT_EQ(applied(encoded, cells), expected);
      }
    }
  }
}

}  // namespace
}  // namespace stripline::update
