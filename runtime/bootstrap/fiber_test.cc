#include "runtime/bootstrap/fiber.h"

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
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

// ThreadSanitizer, which keeps the calls of each fiber, must not take the last calls of those that
// end for calls of the one that runs next.
TEST(Fibers, TakeOverFromManyThatEnd) {
  constexpr uint32_t kCount = 64;
  const auto fibers = fibers_of(kCount);
  std::vector<uint32_t> ended;
  fibers->run([&](uint32_t fiber) {
    for (uint32_t other = kCount - 1; fiber == 0 && other > 0; --other) fibers->resume(other);
    ended.push_back(fiber);
  });
  ASSERT_EQ(ended.size(), kCount);
  for (uint32_t i = 0; i < kCount; ++i) EXPECT_EQ(ended[i], kCount - 1 - i);
}

// Sanitizers mark frames of functions, and a fiber never returns from its first ones.
TEST(Fibers, GiveTheirStacksBackWithoutMarks) {
  const auto page_bytes = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  uintptr_t page = 0;  // the first that the fiber used
  {
    const auto fibers = fibers_of(1);
    fibers->run([&](uint32_t) {
      const volatile int local = 0;
      // NOLINTNEXTLINE(*-reinterpret-cast)
      page = reinterpret_cast<uintptr_t>(&local) / page_bytes * page_bytes;
    });
  }
  // NOLINTNEXTLINE(*-reinterpret-cast, performance-no-int-to-ptr)
  void* const wanted = reinterpret_cast<void*>(page);
  void* const memory = ::mmap(wanted, page_bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  ASSERT_EQ(memory, wanted) << "the stack is still there";
  for (uintptr_t i = 0; i < page_bytes; ++i) static_cast<volatile char*>(memory)[i] = 1;
  EXPECT_EQ(::munmap(memory, page_bytes), 0);
}

}  // namespace
}  // namespace stripline::bootstrap
