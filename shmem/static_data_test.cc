#include "shmem/static_data.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

namespace stripline::shmem {
namespace {

long initialised = 17;      // NOLINT: static data are what is tested
long zeroed[1 << 12] = {};  // NOLINT
const long constant = 3;

bool holds(const StaticObject& object, const void* address) {
  const auto place = reinterpret_cast<uintptr_t>(address);
  return std::any_of(object.pages.begin(), object.pages.end(), [&](const StaticPages& part) {
    return place >= part.begin && place - part.begin < part.bytes;
  });
}

TEST(StaticObjects, HoldTheDataOfTheProgram) {
  const auto objects = static_objects();
  ASSERT_FALSE(objects.empty());
  const auto program = std::find_if(objects.begin(), objects.end(),
                                    [](const auto& one) { return holds(one, &initialised); });
  ASSERT_NE(program, objects.end());
  EXPECT_EQ(program->name, "shmem_test");
  EXPECT_GT(program->build.size(), std::string("instructions ").size()) << program->build;
  EXPECT_GE(program->initialised_bytes, sizeof initialised);
  EXPECT_GE(program->zeroed_bytes, sizeof zeroed);
  EXPECT_TRUE(holds(*program, &zeroed[(1 << 12) - 1]));
  EXPECT_FALSE(holds(*program, &constant));
  long on_stack = 0;
  for (const auto& object : objects) {
    EXPECT_FALSE(holds(object, &on_stack)) << object.name;
    EXPECT_FALSE(holds(object, stdout)) << object.name << " is of the system";
    for (const StaticPages& part : object.pages) {
      EXPECT_EQ(part.begin % 4096, 0U);
      EXPECT_EQ(part.bytes % 4096, 0U);
    }
  }
}

StaticObject object(const std::string& name, const std::string& build, size_t bytes) {
  return {.name = name,
          .build = build,
          .first = 8192,
          .initialised_bytes = 100,
          .zeroed_bytes = bytes - 100,
          .pages = {{0x10000, (bytes + 4095) / 4096 * 4096}}};
}

TEST(Layouts, AreTheSameWhereverTheyAreLoaded) {
  StaticObject elsewhere = object("a", "build ID 1", 4096);
  elsewhere.pages[0].begin += 0x200000;
  EXPECT_EQ(difference(describe(std::vector{object("a", "build ID 1", 4096)}),
                       describe(std::vector{elsewhere})),
            "");
}

TEST(Layouts, NameWhatDiffers) {
  const auto differs = [](const std::vector<StaticObject>& mine,
                          const std::vector<StaticObject>& theirs) {
    return difference(describe(mine), describe(theirs));
  };
  const StaticObject a = object("a", "build ID 1", 4096);
  const StaticObject b = object("b", "build ID 2", 4096);
  EXPECT_EQ(differs({a, b}, {a, b}), "");
  EXPECT_EQ(differs({a, object("b", "build ID 3", 4096)}, {a, b}),
            "'b' is not the same file as on PE 0 (build ID 3, there build ID 2)");
  // As many pages, which hold more.
  EXPECT_EQ(differs({a, object("b", "build ID 2", 4000)}, {a, b}),
            "'b' has static data of 100 and 3900 bytes, and of 100 and 3996 bytes on PE 0");
  StaticObject moved = b;
  moved.first += 4096;
  EXPECT_EQ(differs({a, moved}, {a, b}),
            "'b' has static data of 100 and 3996 bytes, elsewhere in the file than on PE 0");
  EXPECT_EQ(differs({a, b}, {a}), "'b' is loaded on this PE and not on PE 0");
  EXPECT_EQ(differs({a, b}, {b}), "'a' is loaded on this PE and not on PE 0");
  EXPECT_EQ(differs({b}, {a, b}), "'a' is loaded on PE 0 and not on this one");
  EXPECT_EQ(differs({}, {a}), "'a' is loaded on PE 0 and not on this one");
}

// Pages as those of a program, which this test may move. They stay, as static data do: children of
// fork() get a copy of what has been moved.
class Pages {
 public:
  explicit Pages(int flags)
      : memory_(static_cast<std::byte*>(
            ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0))) {}
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  static constexpr size_t kBytes = 4 * 4096;
  std::byte* at(size_t offset) const { return memory_ + offset; }
  std::span<std::byte> all() const { return {memory_, kBytes}; }
  StaticObject as_object() const {
    StaticObject made = object("pages", "build ID 1", kBytes);
    made.pages[0].begin = reinterpret_cast<uintptr_t>(memory_);
    return made;
  }

 private:
  std::byte* memory_;
};

TEST(MovedData, AreSeenAtBothAddresses) {
  for (const int flags : {MAP_SHARED, MAP_PRIVATE}) {
    const Pages data(MAP_PRIVATE);
    const Pages segment(flags);
    *data.at(5) = std::byte{9};
    const Status moved = move_to(segment.all(), std::vector{data.as_object()}, false, false);
    ASSERT_TRUE(moved.ok()) << moved.error().message();
    EXPECT_EQ(*data.at(5), std::byte{9});
    EXPECT_EQ(*segment.at(5), std::byte{9});
    *segment.at(8192) = std::byte{7};
    EXPECT_EQ(*data.at(8192), std::byte{7});
    *data.at(8193) = std::byte{6};
    EXPECT_EQ(*segment.at(8193), std::byte{6});

    // A child has a copy, of what they held when it was made.
    const pid_t child = ::fork();
    if (child == 0) {
      const bool kept = *data.at(5) == std::byte{9};
      *data.at(5) = std::byte{1};
      ::_exit(kept ? 0 : 1);
    }
    *data.at(5) = std::byte{11};
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(*data.at(5), std::byte{11});
    EXPECT_EQ(*segment.at(5), std::byte{11});
  }
}

// Two threads count in words of their own, all over the pages, while these move.
TEST(MovedData, LoseNothingThatOtherThreadsWrite) {
  constexpr size_t kThreads = 2;
  constexpr size_t kWords = Pages::kBytes / sizeof(uint64_t);
  for (int turn = 0; turn < 5; ++turn) {
    const Pages data(MAP_PRIVATE);
    const Pages segment(MAP_SHARED);
    std::atomic<bool> moved = false;
    std::atomic<uint64_t> begun = 0;
    std::array<uint64_t, kThreads> rounds{};
    std::vector<std::thread> threads;
    for (size_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        auto* const words = reinterpret_cast<volatile uint64_t*>(data.at(0));
        while (!moved) {
          for (size_t i = t; i < kWords; i += kThreads) words[i] = words[i] + 1;
          if (++rounds[t] == 2) ++begun;
        }
      });
    }
    while (begun < kThreads) std::this_thread::yield();
    const Status done = move_to(segment.all(), std::vector{data.as_object()}, false, true);
    moved = true;
    for (std::thread& one : threads) one.join();
    ASSERT_TRUE(done.ok()) << done.error().message();
    const auto* const words = reinterpret_cast<const uint64_t*>(segment.at(0));
    for (size_t i = 0; i < kWords; ++i) ASSERT_EQ(words[i], rounds[i % kThreads]) << i;
  }
}

// What is no write to data that move is handled as before.
TEST(MovedDataDeathTest, LeaveOtherMistakesToWhoHandlesThem) {
  EXPECT_EXIT(
      {
        ::signal(SIGSEGV, [](int) { ::_exit(42); });
        const Pages data(MAP_PRIVATE);
        const Pages segment(MAP_SHARED);
        const Pages other(MAP_PRIVATE);
        ::mprotect(other.at(0), Pages::kBytes, PROT_READ);
        const Status moved = move_to(segment.all(), std::vector{data.as_object()}, false, true);
        *static_cast<volatile std::byte*>(data.at(0)) = std::byte{1};
        if (moved.ok()) *static_cast<volatile std::byte*>(other.at(0)) = std::byte{1};
      },
      ::testing::ExitedWithCode(42), "");
}

TEST(MovedData, StayWhereANetworkHoldsThePagesOfTheSegment) {
  const Pages data(MAP_PRIVATE);
  const Pages segment(MAP_PRIVATE);
  *data.at(5) = std::byte{9};
  const Status moved = move_to(segment.all(), std::vector{data.as_object()}, true, false);
  ASSERT_FALSE(moved.ok());
  EXPECT_NE(moved.error().message().find("STRIPLINE_SAME_NODE=mapped"), std::string::npos);
  *segment.at(5) = std::byte{1};
  EXPECT_EQ(*data.at(5), std::byte{9});
}

TEST(AlignedMemory, IsTheSameMemory) {
  constexpr size_t kAlignment = size_t{64} << 20;
  for (const int flags : {MAP_SHARED, MAP_PRIVATE}) {
    const Pages pages(flags);
    std::byte* const there = aligned(pages.all(), kAlignment, false);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(there) % kAlignment, 0U);
    *pages.at(4096) = std::byte{4};
    EXPECT_EQ(there[4096], std::byte{4});
  }
  const Pages pinned(MAP_PRIVATE);
  EXPECT_EQ(aligned(pinned.all(), size_t{1} << 40, true), pinned.at(0));
}

}  // namespace
}  // namespace stripline::shmem
