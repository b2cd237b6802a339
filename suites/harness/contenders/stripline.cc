#include <array>
#include <cstring>
#include <memory>

#include <stripline/atomic.h>
#include <stripline/context.h>
#include <stripline/vis.h>

#include "suites/future_window.h"
#include "suites/harness/contender.h"

namespace stripline::suites::harness {
namespace {

class Stripline final : public Contender {
 public:
  Stripline(Context& context, global_ptr<std::byte> array, AtomicPath atomics)
      : context_(context),
        array_(array),
        there_(context.on_rank(array, 1)),
        domain_(context, atomics) {
    answered_ = context.register_am([this](rank_t, std::span<const std::byte> message) {
      std::memcpy(&answer_, message.data(), sizeof answer_);
      ++answers_;
    });
    asked_ = context.register_am([this](rank_t source, std::span<const std::byte> message) {
      context_.am_send(source, answered_, message);
    });
  }

  const char* family() const override { return "Stripline"; }
  bool offers(const Row&) const override { return true; }
  std::byte* memory() override { return context_.local(array_); }

  void attend(const Row&, const Turns& turns) override {
    while (!turns.is_over()) context_.progress();
  }

  double initiate(const Row& row, Data& data) override {
    switch (row.operation) {
      case Operation::message:
        return messages_s(row, data);
      case Operation::put:
        return blocking_s(row, [&](size_t i) {
          const size_t at = row.offset(i);
          uint64_t word = 0;
          std::memcpy(&word, data.source.data() + at, sizeof word);
          context_.rput(word, there(at).reinterpret<uint64_t>());
        });
      case Operation::get:
        return blocking_s(row, [&](size_t i) {
          const size_t at = row.offset(i);
          const uint64_t word = context_.rget(there(at).reinterpret<uint64_t>());
          std::memcpy(data.sink.data() + at, &word, sizeof word);
        });
      case Operation::fetch_add: {
        const auto counter = there(kCounterOffset).reinterpret<uint64_t>();
        uint64_t previous = 0;
        const double seconds =
            blocking_s(row, [&](size_t) { previous = domain_.fetch_add(counter, kAddend); });
        std::memcpy(data.sink.data(), &previous, sizeof previous);
        return seconds;
      }
      case Operation::put_window:
      case Operation::put_flood:
        return window_s(row, [&](size_t at) {
          return context_.rput(data.source.data() + at, there(at), row.bytes);
        });
      case Operation::get_flood:
        return window_s(row, [&](size_t at) {
          return context_.rget(there(at), data.sink.data() + at, row.bytes);
        });
      case Operation::put_fenced:
      case Operation::put_many:
        return fenced_s(
            row,
            [&](size_t i) {
              const size_t at = row.offset(i);
              context_.rput_nbi(data.source.data() + at, there(at), row.bytes);
            },
            [&] { context_.fence(1); });
      case Operation::get_fenced:
        return fenced_s(
            row,
            [&](size_t i) {
              const size_t at = row.offset(i);
              context_.rget_nbi(there(at), data.sink.data() + at, row.bytes);
            },
            [&] { context_.fence(1); });
      case Operation::strided_put:
      case Operation::strided_get:
        return strided_s(row, data);
    }
    return 0;
  }

 private:
  global_ptr<std::byte> there(size_t offset) const {
    return there_ + static_cast<std::ptrdiff_t>(offset);
  }

  double messages_s(const Row& row, Data& data) {
    const double seconds = message_s(row, data, [&](uint64_t word) {
      const uint64_t before = answers_;
      context_.am_send(1, asked_, std::as_bytes(std::span(&word, 1)));
      while (answers_ == before) context_.progress();
    });
    std::memcpy(data.sink.data(), &answer_, sizeof answer_);
    return seconds;
  }

  template <typename Start>
  double window_s(const Row& row, const Start& start) {
    return batch_s(row, [&] {
      FutureWindow futures(row.window);
      for (size_t i = 0; i < row.count; ++i) futures.push([&] { return start(row.offset(i)); });
      futures.drain();
    });
  }

  double strided_s(const Row& row, Data& data) {
    const std::array<std::ptrdiff_t, 2> strides{static_cast<std::ptrdiff_t>(row.stride()), 1};
    const std::array<size_t, 2> extents{row.pieces, row.bytes};
    return blocking_s(row, [&](size_t) {
      if (row.is_put()) {
        rput_strided<2>(context_, data.source.data(), strides, there_, strides, extents).wait();
      } else {
        rget_strided<2>(context_, there_, strides, data.sink.data(), strides, extents).wait();
      }
    });
  }

  Context& context_;
  global_ptr<std::byte> array_;
  global_ptr<std::byte> there_;
  atomic_domain<uint64_t> domain_;
  uint32_t answered_ = 0;
  uint32_t asked_ = 0;
  uint64_t answers_ = 0;
  uint64_t answer_ = 0;
};

}  // namespace

std::unique_ptr<Contender> open_stripline(Context& context, global_ptr<std::byte> array,
                                          AtomicPath atomics) {
  return std::make_unique<Stripline>(context, array, atomics);
}

}  // namespace stripline::suites::harness
