#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <utility>

#include <stripline/atomic.h>

#include "suites/compare/rows.h"

namespace stripline::suites::compare {
namespace {

constexpr size_t kSmallOperations = 20000;  // in a batch

class NodeRows final : public RowWork {
 public:
  NodeRows(Systems& systems, global_ptr<std::byte> array)
      : ours_(*systems.ours),
        there_(ours_.on_rank(array, 1)),
        source_(kMemoryBytes),
        sink_(kMemoryBytes) {
    std::mt19937_64 random(1);
    for (size_t& place : places_) place = random() % (kMemoryBytes / sizeof(uint64_t));
    for (std::byte& value : source_) value = static_cast<std::byte>(random());
  }

  std::vector<Row> rows() override {
    std::vector<Row> all;
    words(all);
    for (const size_t bytes : {size_t{4} << 10, size_t{64} << 10, size_t{1} << 20}) {
      copies(all, bytes);
    }
    return all;
  }

 private:
  void words(std::vector<Row>& rows) {
    uint64_t* const memory = ours_.local(there_.reinterpret<uint64_t>());
    const auto remote = there_.reinterpret<uint64_t>();
    const auto at = [this](size_t i) { return places_[i % places_.size()]; };
    const auto holds = [this, memory, at] { return memory[at(kSmallOperations - 1)] == salt_; };
    rows.push_back({"put 8 B", "latency", 1, "s", 2, "plain store",
                    Side{System::ours,
                         [this, remote, at] {
                           ++salt_;
                           return per_operation_s(kSmallOperations, [&] {
                             for (size_t i = 0; i < kSmallOperations; ++i) {
                               ours_.rput(salt_, remote + static_cast<std::ptrdiff_t>(at(i)));
                             }
                           });
                         },
                         holds},
                    Side{System::ours,
                         [this, memory, at] {
                           ++salt_;
                           return per_operation_s(kSmallOperations, [&] {
                             volatile uint64_t* const words = memory;
                             for (size_t i = 0; i < kSmallOperations; ++i) words[at(i)] = salt_;
                           });
                         },
                         holds}});
    const auto summed = [this, memory, at] {
      uint64_t sum = 0;
      for (size_t i = 0; i < kSmallOperations; ++i) sum += memory[at(i)];
      return sum == sum_;
    };
    rows.push_back({"get 8 B", "latency", 1, "s", 2, "plain load",
                    Side{System::ours,
                         [this, remote, at] {
                           sum_ = 0;
                           return per_operation_s(kSmallOperations, [&] {
                             for (size_t i = 0; i < kSmallOperations; ++i) {
                               sum_ += ours_.rget(remote + static_cast<std::ptrdiff_t>(at(i)));
                             }
                           });
                         },
                         summed},
                    Side{System::ours,
                         [this, memory, at] {
                           sum_ = 0;
                           return per_operation_s(kSmallOperations, [&] {
                             const volatile uint64_t* const words = memory;
                             for (size_t i = 0; i < kSmallOperations; ++i) sum_ += words[at(i)];
                           });
                         },
                         summed}});
    const atomic_domain<uint64_t> domain(ours_);
    const auto counted = [this, memory] { return memory[0] == before_ + kSmallOperations; };
    rows.push_back({"fetch-add", "latency", 1, "s", 0, "CPU atomic",
                    Side{System::ours,
                         [this, domain, remote, memory] {
                           before_ = memory[0];
                           return per_operation_s(kSmallOperations, [&] {
                             for (size_t i = 0; i < kSmallOperations; ++i) {
                               domain.fetch_add(remote, 1);
                             }
                           });
                         },
                         counted},
                    Side{System::ours,
                         [this, memory] {
                           before_ = memory[0];
                           const std::atomic_ref<uint64_t> counter(*memory);
                           return per_operation_s(kSmallOperations, [&] {
                             for (size_t i = 0; i < kSmallOperations; ++i) counter.fetch_add(1);
                           });
                         },
                         counted}});
  }

  void copies(std::vector<Row>& rows, size_t bytes) {
    std::byte* const memory = ours_.local(there_);
    const size_t operations = 4 * kMemoryBytes / bytes;
    const auto place = [bytes](size_t i) { return i % (kMemoryBytes / bytes) * bytes; };
    const auto agrees = [this, memory](const std::vector<std::byte>& mine) {
      return std::equal(mine.begin(), mine.end(), memory);
    };
    const std::string size = std::to_string(bytes >> 10) + " KiB";
    rows.push_back({"put " + size, "bandwidth", static_cast<double>(bytes), "B/s", 1 / 0.98,
                    "memcpy",
                    Side{System::ours,
                         [this, operations, place, bytes] {
                           change();
                           return per_operation_s(operations, [&] {
                             for (size_t i = 0; i < operations; ++i) {
                               ours_
                                   .rput(source_.data() + place(i),
                                         there_ + static_cast<std::ptrdiff_t>(place(i)), bytes)
                                   .wait();
                             }
                           });
                         },
                         [this, agrees] { return agrees(source_); }},
                    Side{System::ours,
                         [this, operations, place, bytes, memory] {
                           change();
                           return per_operation_s(operations, [&] {
                             for (size_t i = 0; i < operations; ++i) {
                               std::memcpy(memory + place(i), source_.data() + place(i), bytes);
                             }
                           });
                         },
                         [this, agrees] { return agrees(source_); }}});
    rows.push_back({"get " + size, "bandwidth", static_cast<double>(bytes), "B/s", 1 / 0.98,
                    "memcpy",
                    Side{System::ours,
                         [this, operations, place, bytes] {
                           return per_operation_s(operations, [&] {
                             for (size_t i = 0; i < operations; ++i) {
                               ours_
                                   .rget(there_ + static_cast<std::ptrdiff_t>(place(i)),
                                         sink_.data() + place(i), bytes)
                                   .wait();
                             }
                           });
                         },
                         [this, agrees] { return agrees(sink_); }},
                    Side{System::ours,
                         [this, operations, place, bytes, memory] {
                           return per_operation_s(operations, [&] {
                             for (size_t i = 0; i < operations; ++i) {
                               std::memcpy(sink_.data() + place(i), memory + place(i), bytes);
                             }
                           });
                         },
                         [this, agrees] { return agrees(sink_); }}});
  }

  // Other data than the batch before wrote.
  void change() {
    for (size_t i = 0; i < source_.size(); i += 64) source_[i] ^= std::byte{1};
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

std::unique_ptr<RowWork> node_rows(Systems& systems, global_ptr<std::byte> array) {
  return std::make_unique<NodeRows>(systems, array);
}

}  // namespace stripline::suites::compare
