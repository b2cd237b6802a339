#include "suites/harness/batches.h"

#include <cstring>
#include <sched.h>
#include <thread>

#include <gtest/gtest.h>

namespace stripline::suites::harness {
namespace {

/// Two ranks that are threads, and copy; or move nothing.
class Copies final : public Contender {
 public:
  Copies(std::byte* memory, bool idle) : memory_(memory), idle_(idle) {}

  const char* family() const override { return "copies"; }
  bool offers(const Row& row) const override { return row.is_put() || row.is_get(); }
  std::byte* memory() override { return memory_; }

  double initiate(const Row& row, Data& data) override {
    for (size_t i = 0; i < row.count && !idle_; ++i) {
      const size_t at = row.offset(i);
      if (row.is_put()) std::memcpy(memory_ + at, data.source.data() + at, row.bytes);
      if (row.is_get()) std::memcpy(data.sink.data() + at, memory_ + at, row.bytes);
    }
    return 1;
  }
  void attend(const Row& /*row*/, const Turns& turns) override {
    while (!turns.is_over()) sched_yield();
  }

 private:
  std::byte* memory_;
  bool idle_;
};

TEST(Batches, AreRightWhereTheirOwnDataHaveCome) {
  std::vector<std::byte> memory(kAllBytes);
  Turns turns;
  const std::vector<Row> rows = {{Operation::put, 8, 200},
                                 {Operation::get, 8, 200},
                                 {Operation::put_flood, size_t{64} << 10, 16, 1, 4},
                                 {Operation::get_flood, size_t{64} << 10, 16, 1, 4}};
  const auto both = [&memory] {
    Contenders contenders;
    for (const bool idle : {false, true}) {
      contenders.push_back(std::make_unique<Copies>(memory.data(), idle));
    }
    return contenders;
  };
  std::thread other([&] {
    const Contenders contenders = both();
    attend(contenders, rows, turns);
  });
  const Contenders contenders = both();
  Batches batches(contenders, rows, turns);
  for (size_t row = 0; row < rows.size(); ++row) {
    SCOPED_TRACE(rows[row].name());
    EXPECT_EQ(batches.run(0, row), std::pair(1.0, true));
    EXPECT_FALSE(batches.run(1, row).second) << "the data are those of the batch before";
    EXPECT_TRUE(batches.run(0, row).second) << "one wrong batch does not spoil the next one";
  }
  batches.stop();
  other.join();
}

}  // namespace
}  // namespace stripline::suites::harness
