#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "suites/harness/contender.h"
#include "suites/harness/contenders/bare_rank.h"
#include "suites/harness/pieces.h"

namespace stripline::suites::harness {
namespace {

/// The provider's own calls: what no runtime on top of it can be expected to beat.
class Libfabric final : public Contender {
 public:
  explicit Libfabric(BareRank bare) : bare_(std::move(bare)), packed_(kMemoryBytes) {}

  const char* family() const override { return "libfabric"; }
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
        bare_.await_put();
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
      case Operation::message:
        return message_s(row, data, [&](uint64_t word) {
          std::memcpy(packed_.data(), &word, sizeof word);
          bare_.send(packed_.data(), row.bytes);
          bare_.receive(data.sink.data(), row.bytes);
        });
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
        return fenced_s(
            row, [&](size_t i) { put(row, data, i); }, [&] { bare_.wait_until_in_flight(0); });
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
          bare_.await_put();
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
    bare_.put_and_notify(packed_.data(), kAllBytes, row.bytes * row.pieces);
    bare_.wait_until_in_flight(0);
  }

  BareRank bare_;
  std::vector<std::byte> packed_;
  std::array<std::byte, 8> acknowledgement_{};
};

}  // namespace

Opened open_libfabric(const Place& place) {
  STRIPLINE_ASSIGN_OR_RETURN(
      auto bare,
      BareRank::open(place.fabric, static_cast<uint32_t>(place.rank), kAllBytes + kMemoryBytes));
  const std::string mine = bare.address();
  const auto* bytes = reinterpret_cast<const std::byte*>(mine.data());
  const std::vector<std::byte> theirs = place.swap({bytes, bytes + mine.size()});
  STRIPLINE_RETURN_IF_ERROR(
      bare.set_peer({reinterpret_cast<const char*>(theirs.data()), theirs.size()}));
  return std::unique_ptr<Contender>(std::make_unique<Libfabric>(std::move(bare)));
}

}  // namespace stripline::suites::harness
