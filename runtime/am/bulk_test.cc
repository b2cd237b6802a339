#include "runtime/am/bulk.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

namespace stripline::am {
namespace {

constexpr size_t kSegmentBytes = size_t{256} << 10;
constexpr double kPatienceS = 60;
constexpr uint64_t kEach = 60;

// What the ranks of a job, which are threads, know of each other before they are connected.
class Meeting {
 public:
  explicit Meeting(Rank ranks) : addresses_(ranks) {
    static std::atomic<int> jobs{0};
    job_id_ = "bulk-" + std::to_string(::getpid()) + "-" + std::to_string(jobs++);
  }
  const std::string& job_id() const { return job_id_; }
  std::vector<std::string> exchange(Rank rank, const std::string& address) {
    std::unique_lock lock(mutex_);
    addresses_[rank] = address;
    ++arrived_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return arrived_ == addresses_.size(); });
    return addresses_;
  }

 private:
  std::string job_id_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> addresses_;
  size_t arrived_ = 0;
};

// A rank with nothing above its bulk transport.
class Station {
 public:
  Station(Meeting& meeting, const std::string& fabric, Rank rank, Rank ranks,
          const Bulk::Config& config)
      : rank(rank), ranks(ranks), meeting_(meeting) {
    auto opened = fabric::open_fabric({.fabric = fabric,
                                       .clock = fabric == "tcp" ? "real" : "virtual",
                                       .rank = rank,
                                       .ranks = ranks,
                                       .job_id = meeting.job_id(),
                                       .segment_bytes = kSegmentBytes});
    EXPECT_TRUE(opened.ok()) << opened.error().message();
    fabric_ = std::move(*opened);
    const auto fail = [](const Error& error) {
      std::fprintf(stderr, "%s\n", error.message().c_str());
      std::_Exit(3);
    };
    fabric_->set_failure_handler(fail);
    messages.emplace(*fabric_, ranks, Config{}, fail);
    fabric_->set_message_sink(&*messages);
    bulk.emplace(*messages, *fabric_, fabric_->segment(), rank, ranks, config, fail);
    goodbye_ = messages->serve("goodbye", Purpose::answer,
                               [this](Rank, std::span<const std::byte>) { ++gone_; });
    ask =
        messages->serve("ask", Purpose::answer, [this](Rank source, std::span<const std::byte> m) {
          if (asked) asked(source, m);
        });
  }

  // Collective: once all that can arrive is named.
  void start() {
    const auto addresses = meeting_.exchange(rank, fabric_->local_address());
    EXPECT_TRUE(fabric_->connect(addresses, 30).ok());
    messages->start();
  }

  bool until(const std::function<bool()>& condition) {
    return messages->wait(condition, fabric_->now_s() + kPatienceS);
  }
  // Collective, at the end: peers may still need this rank's progress.
  void leave() {
    for (Rank peer = 0; peer < ranks; ++peer) messages->send(peer, goodbye_, {}, {});
    EXPECT_TRUE(until([this] { return gone_ == ranks && messages->idle() && bulk->is_idle(); }));
  }

  const Rank rank;
  const Rank ranks;
  std::optional<ActiveMessages> messages;
  std::optional<Bulk> bulk;
  uint16_t ask = 0;
  std::function<void(Rank source, std::span<const std::byte> message)> asked;

 private:
  Meeting& meeting_;
  std::unique_ptr<fabric::Fabric> fabric_;
  uint16_t goodbye_ = 0;
  Rank gone_ = 0;
};

std::vector<std::byte> pattern(size_t bytes, size_t seed) {
  std::vector<std::byte> data(bytes);
  for (size_t i = 0; i < bytes; ++i) data[i] = static_cast<std::byte>(i * 7 + seed * 31 + i / 251);
  return data;
}
bool equal(std::span<const std::byte> a, std::span<const std::byte> b) {
  return std::ranges::equal(a, b);
}

struct Road {
  const char* label;
  const char* fabric;
  bool notified;
};

class BulkTest : public testing::TestWithParam<Road> {
 protected:
  static void on_ranks(Rank ranks, const Bulk::Config& config,
                       const std::function<void(Station&)>& body) {
    Meeting meeting(ranks);
    std::vector<std::thread> threads;
    for (Rank rank = 0; rank < ranks; ++rank) {
      threads.emplace_back([&, rank] {
        Station station(meeting, GetParam().fabric, rank, ranks, config);
        station.bulk->use_notified_puts(GetParam().notified);
        body(station);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
};

INSTANTIATE_TEST_SUITE_P(
    Roads, BulkTest,
    testing::Values(Road{"tcp_put_and_message", "tcp", false}, Road{"tcp_notified", "tcp", true},
                    Road{"emulated_put_and_message", "emulated:opteron-vapi,compute=none", false},
                    Road{"emulated_notified", "emulated:opteron-vapi,compute=none", true}),
    [](const auto& info) { return std::string(info.param.label); });

constexpr Bulk::Config kEager{
    .name = "test", .slots = {.most_slots = 3, .most_slot_bytes = 4096}, .returns_at_once = true};

// Everybody to everybody, with fewer slots than parcels.
TEST_P(BulkTest, ParcelsOfAllSizesArriveWhole) {
  on_ranks(3, kEager, [](Station& self) {
    Bulk& bulk = *self.bulk;
    std::vector<uint64_t> arrived(self.ranks);
    uint64_t returned = 0;
    const auto head_bytes = [](uint64_t number) { return sizeof number + number % 40; };
    const auto body_bytes = [&](uint64_t number) {
      const size_t room = bulk.room(head_bytes(number));
      return number % 5 == 0 ? room : number % 5 == 1 ? 0 : number * 97 % room;
    };
    const uint32_t channel = bulk.open(
        "parcel", Purpose::answer,
        [&](const Bulk::Parcel& parcel) {
          // Parcels of one rank may overtake each other.
          uint64_t number = 0;
          ASSERT_GE(parcel.head.size(), sizeof number);
          std::memcpy(&number, parcel.head.data(), sizeof number);
          EXPECT_TRUE(equal(parcel.head.subspan(sizeof number),
                            pattern(head_bytes(number) - sizeof number, parcel.source)));
          EXPECT_TRUE(equal(parcel.body, pattern(body_bytes(number), number + parcel.source)));
          ++arrived[parcel.source];
          bulk.give_back(parcel.source, parcel.slot);
        },
        [&](Rank target, uint32_t, uint64_t note) {
          EXPECT_EQ(note % self.ranks, target);
          ++returned;
        });
    self.start();
    std::map<std::pair<Rank, uint32_t>, std::vector<std::byte>> bodies;  // until they are sent
    for (uint64_t number = 0; number < kEach; ++number) {
      for (Rank target = 0; target < self.ranks; ++target) {
        if (target == self.rank) continue;
        ASSERT_TRUE(self.until([&] { return bulk.has_free(target); }));
        const uint32_t slot = bulk.acquire(target);
        std::vector<std::byte> head(sizeof number);
        std::memcpy(head.data(), &number, sizeof number);
        const auto rest = pattern(head_bytes(number) - sizeof number, self.rank);
        head.insert(head.end(), rest.begin(), rest.end());
        auto& body = bodies[{target, slot}];
        body = pattern(body_bytes(number), number + self.rank);
        bulk.put(channel, target, slot, head, body, number * self.ranks + target);
      }
    }
    const uint64_t all = kEach * (self.ranks - 1);
    EXPECT_TRUE(self.until([&] { return returned == all; })) << returned;
    for (const auto& [place, body] : bodies) EXPECT_TRUE(bulk.is_sent(place.first, place.second));
    EXPECT_TRUE(self.until([&] {
      return std::ranges::count(arrived, kEach) == static_cast<std::ptrdiff_t>(self.ranks) - 1;
    }));
    self.leave();
  });
}

// Slots that the receiver keeps are what bounds a sender, and what was not given back one by one
// comes back with a message of the user's.
TEST_P(BulkTest, AParcelKeepsItsSlotUntilItIsGivenBack) {
  Bulk::Config config = kEager;
  config.returns_at_once = false;
  on_ranks(2, config, [](Station& self) {
    Bulk& bulk = *self.bulk;
    std::vector<Bulk::Parcel> kept;
    uint64_t returned = 0;
    const uint32_t channel = bulk.open(
        "kept", Purpose::answer, [&](const Bulk::Parcel& parcel) { kept.push_back(parcel); },
        [&](Rank, uint32_t, uint64_t) { ++returned; });
    self.asked = [&](Rank source, std::span<const std::byte> which) {
      bulk.take_returned(source, static_cast<uint32_t>(which[0]));
    };
    self.start();
    const Rank peer = 1 - self.rank;
    const auto body = pattern(1000, self.rank);
    for (uint32_t n = 0; n < bulk.slots(); ++n) {
      ASSERT_TRUE(bulk.has_free(peer));
      bulk.put(channel, peer, bulk.acquire(peer), {}, body, n);
    }
    EXPECT_FALSE(bulk.has_free(peer));
    ASSERT_TRUE(self.until([&] { return kept.size() == bulk.slots(); }));
    for (const Bulk::Parcel& parcel : kept) EXPECT_TRUE(equal(parcel.body, pattern(1000, peer)));
    // A single slot is not given back by a message of its own.
    bulk.give_back(peer, kept[0].slot);
    const std::byte which{bulk.take_owed(peer)};
    EXPECT_EQ(which, std::byte(1U << kept[0].slot));
    self.messages->send(peer, self.ask, std::span(&which, 1), {});
    ASSERT_TRUE(self.until([&] { return returned == 1; }));
    EXPECT_TRUE(bulk.has_free(peer));
    // All of them.
    bulk.put(channel, peer, bulk.acquire(peer), {}, body, 9);
    ASSERT_TRUE(self.until([&] { return kept.size() == bulk.slots() + 1; }));
    for (size_t n = 1; n < kept.size(); ++n) bulk.give_back(peer, kept[n].slot);
    EXPECT_TRUE(self.until([&] { return returned == bulk.slots() + 1; })) << returned;
    self.leave();
  });
}

// Answers that fit behind a lead, and those as long as a slot; out of the slot, and of memory that
// stays.
TEST_P(BulkTest, AnswersComeBackThroughTheSlot) {
  Bulk::Config config = kEager;
  config.slots.twins = true;
  on_ranks(3, config, [](Station& self) {
    Bulk& bulk = *self.bulk;
    struct Question {
      uint32_t slot;
      uint32_t bytes;
    };
    std::map<std::pair<Rank, uint32_t>, std::vector<std::byte>> answers;
    self.asked = [&](Rank source, std::span<const std::byte> message) {
      Question question{};
      std::memcpy(&question, message.data(), sizeof question);
      const auto data = pattern(question.bytes, self.rank + source);
      if (question.bytes % 2 == 0) {
        const std::span<std::byte> memory = bulk.memory_of(source, question.slot);
        std::ranges::copy(data, memory.begin());
        bulk.answer(source, question.slot, memory.first(data.size()));
      } else {
        auto& held = answers[{source, question.slot}];
        held = data;
        bulk.answer(source, question.slot, held);
      }
    };
    uint64_t answered = 0;
    bulk.take_answers([&](Rank target, uint32_t, uint64_t note, std::span<const std::byte> body) {
      EXPECT_TRUE(equal(body, pattern(note, self.rank + target))) << note;
      ++answered;
    });
    self.start();
    const auto slot_bytes = static_cast<uint32_t>(bulk.slot_bytes());
    uint64_t asked = 0;
    for (const uint32_t bytes :
         {0U, 1U, 1000U, 1001U, slot_bytes - 8, slot_bytes - 1, slot_bytes}) {
      for (Rank target = 0; target < self.ranks; ++target) {
        if (target == self.rank) continue;
        ASSERT_TRUE(self.until([&] { return bulk.has_free(target); }));
        const Question question{bulk.acquire(target), bytes};
        bulk.expect(target, question.slot, bytes);
        self.messages->send(target, self.ask, std::as_bytes(std::span(&question, 1)), {});
        ++asked;
      }
    }
    EXPECT_TRUE(self.until([&] { return answered == asked; })) << answered;
    self.leave();
  });
}

using BulkDeathTest = BulkTest;
INSTANTIATE_TEST_SUITE_P(Roads, BulkDeathTest, testing::Values(Road{"tcp", "tcp", false}),
                         [](const auto& info) { return std::string(info.param.label); });

TEST_P(BulkDeathTest, ASlotThatWasNotUsedCannotBeGivenBack) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(on_ranks(2, kEager,
                       [](Station& self) {
                         self.start();
                         if (self.rank == 0) self.bulk->give_back(1, 2);
                         (void)self.until([] { return false; });
                       }),
              testing::ExitedWithCode(3),
              "rank 0 sent a slot that is given back \\(test\\) that is not well formed");
}

}  // namespace
}  // namespace stripline::am
