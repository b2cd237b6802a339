// What is written for updates, and that it says the same.
#include "runtime/update/encoder.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "optimizer/plan/encoding_fixture.h"

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

// Updates of cells at random, one of every `one_of`; the first ones in no order.
Buffer scattered(uint64_t one_of) {
  std::mt19937_64 random(one_of);
  Buffer buffer;
  std::vector<Cell> cells;
  for (Cell cell = 1000; cells.size() < kRoom; ++cell) {
    if (random() % one_of == 0) cells.push_back(cell);
  }
  std::shuffle(cells.begin(), cells.end(), random);
  for (const Cell cell : cells) buffer.add(cell, random());
  return buffer;
}

// The same as the planner, which predicts by it.
TEST(Encoder, GoesByWhatTheModelSays) {
  const plan::EncodingCosts by_bytes{.value_bytes = 8,
                                     .address_bytes = sizeof(Cell),
                                     .box_bytes = sizeof(Box),
                                     .write_byte_s = 0.1e-9,
                                     .send_byte_s = 1e-9,
                                     .read_byte_s = 0.1e-9};
  plan::EncodingCosts by_cells = by_bytes;
  by_cells.apply_s = 10e-9;
  for (const plan::EncodingCosts& costs : {by_bytes, by_cells}) {
    for (const uint64_t one_of : {1, 2, 3}) {
      Buffer buffer = scattered(one_of);
      std::vector<uint64_t> cells(kRoom);
      for (size_t i = 0; i < kRoom; ++i) {
        Cell cell = 0;
        std::memcpy(&cell, buffer.memory.data() + i * sizeof cell, sizeof cell);
        cells[i] = cell;
      }
      std::ranges::sort(cells);
      std::vector<plan::UpdateBox> boxes;
      const plan::EncodingPlan planned = plan::plan_message(cells, costs, true, boxes);
      Encoder encoder(detail::update_type<uint64_t, op_add>(), UpdateEncoding::automatic, true,
                      true);
      encoder.weigh({}, costs);
      const Encoded encoded = encoder.encode(buffer.memory.data(), values_at(kRoom), kRoom);
      EXPECT_EQ(encoded.form == Form::pairs, planned.encoding == plan::UpdateEncoding::pairs)
          << one_of << ", " << costs.apply_s;
      if (encoded.form == Form::boxes) {
        EXPECT_EQ(encoded.count, boxes.size());
      }
    }
  }
  // Cells that no one updates cost as much as others.
  Encoder encoder(detail::update_type<uint64_t, op_add>(), UpdateEncoding::automatic, true, true);
  Buffer sparse = scattered(3);
  EXPECT_EQ(encoder.encode(sparse.memory.data(), values_at(kRoom), kRoom).form, Form::pairs);
}

TEST(Encoder, LooksForBoxesOnlyWhereTheySaveMoreThanThat) {
  plan::EncodingCosts costs{.value_bytes = 8,
                            .address_bytes = sizeof(Cell),
                            .box_bytes = sizeof(Box),
                            .send_byte_s = 1e-9};
  Encoder encoder(detail::update_type<uint64_t, op_add>(), UpdateEncoding::automatic, true, true);
  // An address saved is 4 ns.
  for (const auto& [look_s, form] : {std::pair(3e-9, Form::boxes), std::pair(5e-9, Form::pairs)}) {
    Buffer buffer = scattered(1);
    costs.look_s = look_s;
    encoder.weigh({}, costs);
    EXPECT_EQ(encoder.encode(buffer.memory.data(), values_at(kRoom), kRoom).form, form) << look_s;
    EXPECT_EQ(encoder.asked().boxes > 0, form == Form::boxes) << "they were not looked for";
  }
}

// The planner, which is asked the same, says the same.
TEST(Encoder, CarriesOutWhatItHasAsked) {
  std::set<UpdateEncoding> encodings;
  for (const uint64_t one_of : {1, 3, 9}) {
    for (const bool in_runs : {false, true}) {
      Buffer buffer = scattered(one_of);
      for (Cell i = 0; in_runs && i < kRoom; ++i) {
        const Cell cell = i / 8 * 1000 + i % 8;
        std::memcpy(buffer.memory.data() + i * sizeof cell, &cell, sizeof cell);
      }
      Encoder encoder(detail::update_type<uint64_t, op_add>(), UpdateEncoding::automatic, true,
                      true);
      const Encoded encoded = encoder.encode(buffer.memory.data(), values_at(kRoom), kRoom);
      plan::EncodingRecord record;
      const plan::EncodingPlan planned =
          plan::EncodingMechanism::plan(encoder.asked(), nullptr, record);
      EXPECT_EQ(encoder.plan().encoding, planned.encoding);
      EXPECT_EQ(encoder.plan().reason, plan::Reason::no_model);
      EXPECT_EQ(encoded.body.size(), planned.bytes);
      encodings.insert(planned.encoding);
    }
  }
  EXPECT_EQ(encodings.size(), plan::kUpdateEncodings);
  Encoder forced(detail::update_type<uint64_t, op_add>(), UpdateEncoding::pairs, true, true);
  Buffer buffer = scattered(1);
  forced.encode(buffer.memory.data(), values_at(kRoom), kRoom);
  EXPECT_EQ(forced.plan().encoding, UpdateEncoding::pairs);
  EXPECT_EQ(forced.plan().reason, plan::Reason::forced);
}

}  // namespace
}  // namespace stripline::update
