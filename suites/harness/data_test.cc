#include "suites/harness/data.h"

#include <cstring>

#include <gtest/gtest.h>

#include "suites/harness/pieces.h"

namespace stripline::suites::harness {
namespace {

// What a right system does with a batch, in one process.
void carry_out(const Row& row, Data& data, std::byte* memory) {
  if (row.is_strided()) {
    std::vector<std::byte> packed(row.bytes * row.pieces);
    gather(row, row.is_put() ? data.source.data() : memory, packed.data());
    scatter(row, packed.data(), row.is_put() ? memory : data.sink.data());
    return;
  }
  for (size_t i = 0; i < row.count; ++i) {
    const size_t at = row.offset(i);
    if (row.is_put()) std::memcpy(memory + at, data.source.data() + at, row.bytes);
    if (row.is_get()) std::memcpy(data.sink.data() + at, memory + at, row.bytes);
    if (row.operation == Operation::fetch_add) {
      std::memcpy(data.sink.data(), memory + kCounterOffset, sizeof(uint64_t));
      const uint64_t sum = (i + 1) * kAddend;
      std::memcpy(memory + kCounterOffset, &sum, sizeof sum);
    }
    if (row.operation == Operation::message) {
      const uint64_t word = word_at(i, data.salt);
      std::memcpy(data.sink.data(), &word, sizeof word);
    }
  }
}

TEST(Data, ARightBatchIsRightAndAnOldOneIsNot) {
  for (const bool same_node : {false, true}) {
    for (const Row& row : all_rows(same_node)) {
      SCOPED_TRACE(row.name());
      Data data;
      std::vector<std::byte> memory(kAllBytes);
      for (data.salt = 1; data.salt <= 2; ++data.salt) {
        prepare_initiator(row, data);
        prepare_target(row, data.salt, memory.data());
        // Nothing happened yet, or only in the batch before.
        EXPECT_FALSE(target_is_right(row, data.salt, memory.data()) &&
                     initiator_is_right(row, data));
        carry_out(row, data, memory.data());
        EXPECT_TRUE(target_is_right(row, data.salt, memory.data()));
        EXPECT_TRUE(initiator_is_right(row, data));
      }
    }
  }
}

TEST(Data, WhatGoesIntoTheGapsOfPiecesIsWrong) {
  for (const Row& row : all_rows(false)) {
    if (!row.is_strided()) continue;
    SCOPED_TRACE(row.name());
    Data data;
    data.salt = 7;
    std::vector<std::byte> memory(kAllBytes);
    prepare_initiator(row, data);
    prepare_target(row, data.salt, memory.data());
    carry_out(row, data, memory.data());
    std::byte* const received = row.is_put() ? memory.data() : data.sink.data();
    received[row.bytes] = std::byte{1};
    EXPECT_FALSE(target_is_right(row, data.salt, memory.data()) && initiator_is_right(row, data));
  }
}

TEST(Data, RowsFitIntoTheirMemoryAndGroups) {
  for (const bool same_node : {false, true}) {
    for (const Row& row : all_rows(same_node)) {
      SCOPED_TRACE(row.name());
      EXPECT_EQ(row.count % row.group, 0u);
      if (row.metric() == std::string("rate")) {
        EXPECT_EQ(row.count % row.window, 0u);
      }
      EXPECT_LE(row.is_strided() ? row.span() : row.bytes, kMemoryBytes);
      for (size_t i = 0; i < row.count; ++i) EXPECT_LE(row.offset(i) + row.bytes, kMemoryBytes);
    }
  }
}

}  // namespace
}  // namespace stripline::suites::harness
