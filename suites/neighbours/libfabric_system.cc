#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "suites/compare/bare_rank.h"
#include "suites/neighbours/pieces.h"
#include "suites/neighbours/system.h"

namespace stripline::suites::neighbours {
namespace {

/// The provider's own calls: what no runtime on top of it can be expected to beat.
class LibfabricSystem final : public System {
 public:
  explicit LibfabricSystem(compare::BareRank bare)
      : bare_(std::move(bare)), packed_(kMemoryBytes) {}

  const char* family() const override { return "libfabric"; }
  const char* way() const override { return ""; }
  bool offers(const Row& row) const override {
    return row.operation != Operation::fetch_add || bare_.has_atomics();
  }
  std::byte* memory() override { return bare_.memory(); }

  void attend(const Row& row, const Turns& turns) override {
    if (row.operation == Operation::message) {
      for (size_t i = 0; i < row.count; ++i) {
        bare_.receive(packed_.data(), row.bytes);
        bare_.send(packed_.data(), row.bytes);
      }
    } else if (row.operation == Operation::strided_put) {
      for (size_t i = 0; i < row.count; ++i) {
        bare_.await_told();
        scatter(row, landing(), memory());
        bare_.send(acknowledgement_.data(), acknowledgement_.size());
      }
    } else if (row.operation == Operation::strided_get) {
      for (size_t i = 0; i < row.count; ++i) {
        bare_.receive(acknowledgement_.data(), acknowledgement_.size());
        gather(row, memory(), packed_.data());
        put_packed(row);
      }
    }
    while (!turns.is_over()) bare_.poll();
  }

  double initiate(const Row& row, Data& data) override {
    switch (row.operation) {
      case Operation::message: {
        const double both_ways_s = blocking_s(row, [&](size_t i) {
          const uint64_t word = word_at(i, data.salt);
          std::memcpy(packed_.data(), &word, sizeof word);
          bare_.send(packed_.data(), row.bytes);
          bare_.receive(data.sink.data(), row.bytes);
        });
        return both_ways_s / 2;
      }
      case Operation::put:
        return blocking_s(row, [&](size_t i) {
          put(row, data, i);
          bare_.wait_until_in_flight(0);
        });
      case Operation::get:
        return blocking_s(row, [&](size_t i) {
          bare_.get(data.sink.data() + row.offset(i), row.offset(i), row.bytes);
          bare_.wait_until_in_flight(0);
        });
      case Operation::fetch_add: {
        uint64_t addend = kAddend;
        uint64_t previous = 0;
        const double seconds = blocking_s(row, [&](size_t) {
          bare_.fetch_add(&addend, &previous, kCounterOffset);
          bare_.wait_until_in_flight(0);
        });
        std::memcpy(data.sink.data(), &previous, sizeof previous);
        return seconds;
      }
      case Operation::put_fenced:
        return batch_s(row, [&] {
          for (size_t i = 0; i < row.count;) {
            for (size_t last = i + row.window; i < last; ++i) put(row, data, i);
            bare_.wait_until_in_flight(0);
          }
        });
      case Operation::put_window:
      case Operation::put_flood:
      case Operation::put_many:
        return batch_s(row, [&] {
          const size_t window = std::min(row.window, kMostInFlight);
          for (size_t i = 0; i < row.count; ++i) {
            bare_.wait_until_in_flight(window - 1);
            put(row, data, i);
          }
          bare_.wait_until_in_flight(0);
        });
      case Operation::get_fenced:
      case Operation::get_flood:
        return batch_s(row, [&] {
          for (size_t i = 0; i < row.count; ++i) {
            bare_.wait_until_in_flight(row.window - 1);
            bare_.get(data.sink.data() + row.offset(i), row.offset(i), row.bytes);
          }
          bare_.wait_until_in_flight(0);
        });
      case Operation::strided_put:
        return blocking_s(row, [&](size_t) {
          gather(row, data.source.data(), packed_.data());
          put_packed(row);
          bare_.receive(acknowledgement_.data(), acknowledgement_.size());
        });
      case Operation::strided_get:
        return blocking_s(row, [&](size_t) {
          bare_.send(acknowledgement_.data(), acknowledgement_.size());
          bare_.await_told();
          scatter(row, landing(), data.sink.data());
        });
    }
    return 0;
  }

 private:
  static constexpr size_t kMostInFlight = 64;

  void put(const Row& row, const Data& data, size_t i) {
    const size_t at = row.offset(i);
    bare_.put(data.source.data() + at, at, row.bytes);
  }

  // Where the peer puts what is packed, behind the memory of the rows.
  std::byte* landing() { return bare_.memory() + kAllBytes; }
  void put_packed(const Row& row) {
    bare_.put_and_tell(packed_.data(), kAllBytes, row.bytes * row.pieces);
    bare_.wait_until_in_flight(0);
  }

  compare::BareRank bare_;
  std::vector<std::byte> packed_;
  std::array<std::byte, 8> acknowledgement_{};
};

}  // namespace

Result<std::unique_ptr<System>> open_libfabric(const Place& place) {
  STRIPLINE_ASSIGN_OR_RETURN(auto bare, compare::BareRank::open(place.same_node ? "shm" : "tcp",
                                                                static_cast<uint32_t>(place.rank),
                                                                kAllBytes + kMemoryBytes));
  const std::string mine = bare.address();
  const auto* bytes = reinterpret_cast<const std::byte*>(mine.data());
  const std::vector<std::byte> theirs = place.swap({bytes, bytes + mine.size()});
  STRIPLINE_RETURN_IF_ERROR(
      bare.set_peer({reinterpret_cast<const char*>(theirs.data()), theirs.size()}));
  return std::unique_ptr<System>(std::make_unique<LibfabricSystem>(std::move(bare)));
}

}  // namespace stripline::suites::neighbours
