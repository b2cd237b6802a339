#include "runtime/bootstrap/fiber.h"

#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace stripline::bootstrap {
namespace {

std::unique_ptr<Fibers> fibers_of(uint32_t count) {
  auto fibers = Fibers::create(count);
  EXPECT_TRUE(fibers.ok()) << fibers.error().message();
  return std::move(*fibers);
}

TEST(Fibers, RunOneAfterTheOtherWhenNobodyLetsAnotherRun) {
  const auto fibers = fibers_of(4);
  std::vector<uint32_t> order;
  fibers->run([&](uint32_t fiber) {
    EXPECT_EQ(fibers->current(), fiber);
    order.push_back(fiber);
  });
  EXPECT_EQ(order, (std::vector<uint32_t>{0, 1, 2, 3}));
}

TEST(Fibers, GoOnWhereTheyWereWithWhatTheyHad) {
  const auto fibers = fibers_of(3);
  std::string order;
  fibers->run([&](uint32_t fiber) {
    const std::string mine(1, static_cast<char>('a' + fiber));  // on this fiber's stack
    for (int turn = 0; turn < 3; ++turn) {
      order += mine;
      fibers->yield();
    }
  });
  EXPECT_EQ(order, "abcabcabc");
}

TEST(Fibers, ResumeTheOneThatIsNamed) {
  const auto fibers = fibers_of(4);
  std::string order;
  fibers->run([&](uint32_t fiber) {
    order += std::to_string(fiber);
    if (fiber == 0) fibers->resume(2);
    if (fiber == 2) fibers->resume(0);  // which ends, and lets 1 run
  });
  EXPECT_EQ(order, "0213");
}

TEST(Fibers, ResumeAnotherOneInsteadOfOneThatHasEnded) {
  const auto fibers = fibers_of(3);
  std::string order;
  fibers->run([&](uint32_t fiber) {
    order += std::to_string(fiber);
    if (fiber == 1) {
      fibers->resume(0);
      order += "again";
      fibers->resume(1);
      fibers->resume(2);
    }
  });
  EXPECT_EQ(order, "012again");
}

TEST(Fibers, HandleTheirOwnExceptions) {
  const auto fibers = fibers_of(2);
  int caught = 0;
  fibers->run([&](uint32_t) {
    for (int turn = 0; turn < 2; ++turn) {
      try {
        fibers->yield();
        throw std::runtime_error("one");
      } catch (const std::runtime_error&) {
        ++caught;
      }
    }
  });
  EXPECT_EQ(caught, 4);
}

// Each has room for what ranks have on their stacks.
TEST(Fibers, HaveStacksOfTheirOwn) {
  const auto fibers = fibers_of(8);
  std::vector<int> sums(8);
  fibers->run([&](uint32_t fiber) {
    volatile int numbers[100'000];  // NOLINT(*-c-arrays)
    for (volatile int& number : numbers) number = static_cast<int>(fiber);
    fibers->yield();
    for (const volatile int& number : numbers) sums[fiber] += number;
  });
  for (int fiber = 0; fiber < 8; ++fiber) {
    EXPECT_EQ(sums[static_cast<size_t>(fiber)], fiber * 100'000);
  }
}

}  // namespace
}  // namespace stripline::bootstrap
