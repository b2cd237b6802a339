#include "suites/compare/node_rows.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>

#include <stripline/atomic.h>

#include "runtime/fabric/ofi/monotonic_clock.h"
#include "suites/harness/asked.h"
#include "suites/harness/rows.h"

namespace stripline::suites::compare {
namespace {

using harness::kMemoryBytes;

constexpr size_t kSmallOperations = 20000;  // in a batch

/// A row of two loops over `operations` of the same kind, before each of which `begin` changes what
/// is moved; `right` looks whether it was.
template <typename Begin, typename Ours, typename Plain, typename Right>
NodeRow row_of(RowTimes what, size_t operations, const Begin& begin, const Ours& ours,
               const Plain& plain, const Right& right) {
  const auto side = [=](const auto& loop) -> Side {
    return [=] {
      begin();
      const double begin_s = fabric::ofi::monotonic_s();
      loop();
      const double seconds =
          (fabric::ofi::monotonic_s() - begin_s) / static_cast<double>(operations);
      return std::pair(seconds, static_cast<bool>(right()));
    };
  };
  return {std::move(what), side(ours), side(plain)};
}

RowTimes latency(const char* name, double most, const char* baseline) {
  return {.name = name, .metric = "latency", .most = most, .baseline = baseline};
}

class Rows final : public NodeRows {
 public:
  Rows(Context& context, global_ptr<std::byte> array)
      : ours_(context),
        there_(context.on_rank(array, 1)),
        source_(kMemoryBytes),
        sink_(kMemoryBytes) {
    std::mt19937_64 random(1);
    for (size_t& place : places_) place = random() % (kMemoryBytes / sizeof(uint64_t));
    for (std::byte& value : source_) value = static_cast<std::byte>(random());
  }

  std::vector<NodeRow> rows() override {
    std::vector<NodeRow> all;
    words(all);
    for (const size_t bytes : {size_t{4} << 10, size_t{64} << 10, size_t{1} << 20}) {
      copies(all, bytes);
    }
    return all;
  }

 private:
  void words(std::vector<NodeRow>& rows) {
    uint64_t* const memory = ours_.local(there_.reinterpret<uint64_t>());
    const auto remote = there_.reinterpret<uint64_t>();
    const auto at = [this](size_t i) { return places_[i % places_.size()]; };
    rows.push_back(row_of(
        latency("put 8 B", asked::compare::kWord, "plain store"), kSmallOperations,
        [this] { ++salt_; },
        [this, remote, at] {
          for (size_t i = 0; i < kSmallOperations; ++i) {
            ours_.rput(salt_, remote + static_cast<std::ptrdiff_t>(at(i)));
          }
        },
        [this, memory, at] {
          volatile uint64_t* const words = memory;
          for (size_t i = 0; i < kSmallOperations; ++i) words[at(i)] = salt_;
        },
        [this, memory, at] { return memory[at(kSmallOperations - 1)] == salt_; }));
    rows.push_back(row_of(
        latency("get 8 B", asked::compare::kWord, "plain load"), kSmallOperations,
        [this] { sum_ = 0; },
        [this, remote, at] {
          for (size_t i = 0; i < kSmallOperations; ++i) {
            sum_ += ours_.rget(remote + static_cast<std::ptrdiff_t>(at(i)));
          }
        },
        [this, memory, at] {
          const volatile uint64_t* const words = memory;
          for (size_t i = 0; i < kSmallOperations; ++i) sum_ += words[at(i)];
        },
        [this, memory, at] {
          uint64_t sum = 0;
          for (size_t i = 0; i < kSmallOperations; ++i) sum += memory[at(i)];
          return sum == sum_;
        }));
    const atomic_domain<uint64_t> domain(ours_);
    rows.push_back(row_of(
        latency("fetch-add", 0, "CPU atomic"), kSmallOperations,
        [this, memory] { before_ = memory[0]; },
        [domain, remote] {
          for (size_t i = 0; i < kSmallOperations; ++i) domain.fetch_add(remote, 1);
        },
        [memory] {
          const std::atomic_ref<uint64_t> counter(*memory);
          for (size_t i = 0; i < kSmallOperations; ++i) counter.fetch_add(1);
        },
        [this, memory] { return memory[0] == before_ + kSmallOperations; }));
  }

  void copies(std::vector<NodeRow>& rows, size_t bytes) {
    std::byte* const memory = ours_.local(there_);
    const size_t operations = 4 * kMemoryBytes / bytes;
    const auto place = [bytes](size_t i) { return i % (kMemoryBytes / bytes) * bytes; };
    const auto what = [bytes](const char* operation) -> RowTimes {
      return {.name = operation + std::to_string(bytes >> 10) + " KiB",
              .metric = "bandwidth",
              .amount = static_cast<double>(bytes),
              .most = asked::compare::kCopy,
              .baseline = "memcpy"};
    };
    rows.push_back(row_of(
        what("put "), operations,
        // Other data than the batch before wrote.
        [this] {
          for (size_t i = 0; i < source_.size(); i += 64) source_[i] ^= std::byte{1};
        },
        [this, operations, place, bytes] {
          for (size_t i = 0; i < operations; ++i) {
            const auto to = there_ + static_cast<std::ptrdiff_t>(place(i));
            ours_.rput(source_.data() + place(i), to, bytes).wait();
          }
        },
        [this, operations, place, bytes, memory] {
          for (size_t i = 0; i < operations; ++i) {
            std::memcpy(memory + place(i), source_.data() + place(i), bytes);
          }
        },
        [this, memory] { return std::equal(source_.begin(), source_.end(), memory); }));
    rows.push_back(row_of(
        what("get "), operations, [] {},
        [this, operations, place, bytes] {
          for (size_t i = 0; i < operations; ++i) {
            const auto from = there_ + static_cast<std::ptrdiff_t>(place(i));
            ours_.rget(from, sink_.data() + place(i), bytes).wait();
          }
        },
        [this, operations, place, bytes, memory] {
          for (size_t i = 0; i < operations; ++i) {
            std::memcpy(sink_.data() + place(i), memory + place(i), bytes);
          }
        },
        [this, memory] { return std::equal(sink_.begin(), sink_.end(), memory); }));
  }

  Context& ours_;
  global_ptr<std::byte> there_;
  std::vector<std::byte> source_;
  std::vector<std::byte> sink_;
  std::vector<size_t> places_ = std::vector<size_t>(4096);
  uint64_t salt_ = 0;
  uint64_t sum_ = 0;
  uint64_t before_ = 0;
};

}  // namespace

std::unique_ptr<NodeRows> node_rows(Context& context, global_ptr<std::byte> array) {
  return std::make_unique<Rows>(context, array);
}

}  // namespace stripline::suites::compare
