#include <array>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include <stripline/atomic.h>
#include <stripline/context.h>
#include <stripline/vis.h>

#include "suites/future_window.h"
#include "suites/neighbours/system.h"

namespace stripline::suites::neighbours {
namespace {

class StriplineSystem final : public System {
 public:
  StriplineSystem(std::unique_ptr<Context> context, global_ptr<std::byte> array)
      : context_(std::move(context)),
        array_(array),
        there_(context_->on_rank(array, 1)),
        domain_(*context_) {
    answered_ = context_->register_am([this](rank_t, std::span<const std::byte> message) {
      std::memcpy(&answer_, message.data(), sizeof answer_);
      ++answers_;
    });
    asked_ = context_->register_am([this](rank_t source, std::span<const std::byte> message) {
      context_->am_send(source, answered_, message);
    });
  }

  const char* family() const override { return "Stripline"; }
  const char* way() const override { return ""; }
  bool offers(const Row&) const override { return true; }
  std::byte* memory() override { return context_->local(array_); }

  void attend(const Row&, const Turns& turns) override {
    while (!turns.is_over()) context_->progress();
  }

  double initiate(const Row& row, Data& data) override {
    Context& context = *context_;
    switch (row.operation) {
      case Operation::message:
        return messages_s(row, data);
      case Operation::put:
        return blocking_s(row, [&](size_t i) {
          const size_t at = row.offset(i);
          uint64_t word = 0;
          std::memcpy(&word, data.source.data() + at, sizeof word);
          context.rput(word, there(at).reinterpret<uint64_t>());
        });
      case Operation::get:
        return blocking_s(row, [&](size_t i) {
          const size_t at = row.offset(i);
          const uint64_t word = context.rget(there(at).reinterpret<uint64_t>());
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
          return context.rput(data.source.data() + at, there(at), row.bytes);
        });
      case Operation::get_flood:
        return window_s(row, [&](size_t at) {
          return context.rget(there(at), data.sink.data() + at, row.bytes);
        });
      case Operation::put_fenced:
      case Operation::put_many:
        return batch_s(row, [&] {
          for (size_t i = 0; i < row.count;) {
            for (size_t last = i + row.window; i < last; ++i) {
              const size_t at = row.offset(i);
              context.rput_nbi(data.source.data() + at, there(at), row.bytes);
            }
            context.fence(1);
          }
        });
      case Operation::get_fenced:
        return batch_s(row, [&] {
          for (size_t i = 0; i < row.count;) {
            for (size_t last = i + row.window; i < last; ++i) {
              const size_t at = row.offset(i);
              context.rget_nbi(there(at), data.sink.data() + at, row.bytes);
            }
            context.fence(1);
          }
        });
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
    const double both_ways_s = blocking_s(row, [&](size_t i) {
      const uint64_t word = word_at(i, data.salt);
      const uint64_t before = answers_;
      context_->am_send(1, asked_, std::as_bytes(std::span(&word, 1)));
      while (answers_ == before) context_->progress();
    });
    std::memcpy(data.sink.data(), &answer_, sizeof answer_);
    return both_ways_s / 2;
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
        rput_strided<2>(*context_, data.source.data(), strides, there_, strides, extents).wait();
      } else {
        rget_strided<2>(*context_, there_, strides, data.sink.data(), strides, extents).wait();
      }
    });
  }

  std::unique_ptr<Context> context_;
  global_ptr<std::byte> array_;
  global_ptr<std::byte> there_;
  atomic_domain<uint64_t> domain_;
  uint32_t answered_ = 0;
  uint32_t asked_ = 0;
  uint64_t answers_ = 0;
  uint64_t answer_ = 0;
};

}  // namespace

Result<std::unique_ptr<System>> open_stripline(const Place& place) {
  Options options;
  options.fabric = place.same_node ? "shm" : "tcp";
  options.same_node = place.same_node ? "mapped" : "network";
  options.segment_bytes = kAllBytes + (size_t{8} << 20);
  STRIPLINE_ASSIGN_OR_RETURN(auto context, Context::init(options));
  if (context->rank_n() != 2) {
    return Error(ErrorCode::failed_precondition,
                 "the runtime sees " + std::to_string(context->rank_n()) +
                     " ranks instead of 2; start this program by 'mpirun -n 2'");
  }
  STRIPLINE_ASSIGN_OR_RETURN(const auto array, context->new_symmetric_array<std::byte>(kAllBytes));
  return std::unique_ptr<System>(std::make_unique<StriplineSystem>(std::move(context), array));
}

}  // namespace stripline::suites::neighbours
