#include "runtime/machine/provider_trial.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <vector>

#include "base/quantity.h"
#include "runtime/fabric/shortcuts.h"

namespace stripline::machine {
namespace {

using fabric::AtomicOp;
using fabric::AtomicType;
using fabric::Counter;
using fabric::Fabric;
using fabric::Rank;

constexpr std::array<size_t, 4> kSizes = {8, 1024, size_t{64} << 10, size_t{1} << 20};

// Where things are in the segment.
constexpr uint64_t kDataAt = 0;
constexpr uint64_t kListAt = size_t{1} << 20;
constexpr uint64_t kWordsAt = kListAt + (size_t{64} << 10);
constexpr uint64_t kNotifiedAt = size_t{2} << 20;

/// More than the receive buffers that a rank posts.
constexpr uint32_t kMessages = 600;

/// The byte that `rank` writes at position i in one of the steps.
std::byte byte_of(Rank rank, size_t step, size_t i) {
  return static_cast<std::byte>((i * 7 + size_t{131} * rank + size_t{29} * step + 1) & 0xff);
}

std::vector<std::byte> pattern(Rank rank, size_t step, size_t bytes) {
  std::vector<std::byte> data(bytes);
  for (size_t i = 0; i < bytes; ++i) data[i] = byte_of(rank, step, i);
  return data;
}

/// What comes: messages that say how far the other rank is, a stream of numbered ones, and
/// landings.
class TrialSink final : public fabric::MessageSink {
 public:
  struct Progress {
    uint32_t step = 0;
  };

  explicit TrialSink(Rank rank) : rank_(rank) {}

  void on_message(Rank /*source*/, std::span<const std::byte> message) override {
    if (message.size() == sizeof(Progress)) {
      Progress progress;
      std::memcpy(&progress, message.data(), sizeof progress);
      step = progress.step;
      return;
    }
    const auto expected = pattern(1 - rank_, numbered, message.size());
    intact = intact && std::ranges::equal(message, expected);
    ++numbered;
  }
  void on_landed(Rank source, uint32_t tag) override {
    if (source == rank_) landed_from_itself = true;
    landed.push_back(tag);
  }

  uint32_t step = 0;      ///< that the other rank has done
  uint32_t numbered = 0;  ///< messages of the stream
  bool intact = true;     ///< and in order
  std::vector<uint32_t> landed;
  bool landed_from_itself = false;

 private:
  Rank rank_;
};

class ProviderTrial {
 public:
  ProviderTrial(Fabric& mine, Rank rank, double timeout_s)
      : mine_(mine),
        rank_(rank),
        other_(1 - rank),
        deadline_s_(mine.now_s() + timeout_s),
        sink_(rank) {
    mine_.set_message_sink(&sink_);
  }
  ProviderTrial(const ProviderTrial&) = delete;
  ProviderTrial& operator=(const ProviderTrial&) = delete;
  ~ProviderTrial() { mine_.set_message_sink(nullptr); }

  Result<Trial> run() {
    const double start_s = mine_.now_s();
    STRIPLINE_RETURN_IF_ERROR(puts_and_gets());
    STRIPLINE_RETURN_IF_ERROR(lists());
    STRIPLINE_RETURN_IF_ERROR(atomics());
    STRIPLINE_RETURN_IF_ERROR(signals());
    STRIPLINE_RETURN_IF_ERROR(notified_puts());
    STRIPLINE_RETURN_IF_ERROR(messages());
    return Trial{mine_.now_s() - start_s, done_};
  }

 private:
  Status late(const std::string& what) const {
    return Error(ErrorCode::deadline_exceeded, what + " did not complete in time");
  }
  static Status changed(const std::string& what) {
    return Error(ErrorCode::data_loss, what + ": the bytes arrived changed");
  }
  void note(const std::string& what) { done_ += (done_.empty() ? "" : ", ") + what; }

  Status await(const Counter& counter, const std::string& what) {
    const bool done = mine_.wait([&counter] { return counter.pending == 0; }, deadline_s_);
    return done ? Status() : late(what);
  }

  Status send(std::span<const std::byte> message, const std::string& what) {
    bool accepted = false;
    const bool done = mine_.wait(
        [&] {
          accepted = accepted || mine_.try_send(other_, message);
          return accepted;
        },
        deadline_s_);
    return done ? Status() : late(what);
  }

  /// Both ranks have come so far.
  Status meet(const std::string& what) {
    const TrialSink::Progress progress{++step_};
    STRIPLINE_RETURN_IF_ERROR(send(std::as_bytes(std::span(&progress, 1)), "a message"));
    const bool done = mine_.wait([this] { return sink_.step >= step_; }, deadline_s_);
    if (done) return {};
    return Error(ErrorCode::deadline_exceeded,
                 "the other rank's message after " + what + " did not arrive");
  }

  std::span<const std::byte> here(uint64_t offset, size_t bytes) {
    return mine_.segment().subspan(offset, bytes);
  }

  Status puts_and_gets() {
    for (size_t i = 0; i < kSizes.size(); ++i) {
      const size_t bytes = kSizes[i];
      const std::string size = bytes_text(bytes);
      const auto sent = pattern(rank_, i, bytes);
      std::vector<std::byte> back(bytes);
      Counter counter;
      mine_.put(other_, kDataAt, {sent.data(), bytes}, counter);
      STRIPLINE_RETURN_IF_ERROR(await(counter, "a put of " + size));
      mine_.get({back.data(), bytes}, other_, kDataAt, counter);
      STRIPLINE_RETURN_IF_ERROR(await(counter, "a get of " + size));
      if (back != sent) return changed("a put and a get of " + size);
      STRIPLINE_RETURN_IF_ERROR(meet("puts of " + size));
      if (!std::ranges::equal(here(kDataAt, bytes), pattern(other_, i, bytes))) {
        return changed("a put of " + size);
      }
      STRIPLINE_RETURN_IF_ERROR(meet("puts of " + size));
    }
    note("puts");
    note("gets");
    return {};
  }

  Status lists() {
    constexpr size_t kPiece = 1000;
    constexpr size_t kStride = 2000;
    const size_t count = mine_.info().iov_limit;
    if (count < 2) return {};
    auto sent = pattern(rank_, 0, count * kStride);
    std::vector<std::byte> back(sent.size());
    const auto pieces_of = [&](std::vector<std::byte>& memory) {
      std::vector<fabric::Piece> pieces;
      for (size_t i = 0; i < count; ++i) {
        pieces.push_back({kListAt + i * kStride, memory.data() + i * kStride, kPiece});
      }
      return pieces;
    };
    const std::string size = std::to_string(count) + " pieces";
    Counter counter;
    mine_.putv(other_, pieces_of(sent), counter);
    STRIPLINE_RETURN_IF_ERROR(await(counter, "a put of " + size));
    mine_.getv(other_, pieces_of(back), counter);
    STRIPLINE_RETURN_IF_ERROR(await(counter, "a get of " + size));
    for (size_t i = 0; i < count; ++i) {
      const auto piece = [i](const std::vector<std::byte>& memory) {
        return std::span(memory).subspan(i * kStride, kPiece);
      };
      if (!std::ranges::equal(piece(sent), piece(back))) {
        return changed("a put and a get of " + size);
      }
    }
    note("lists of " + size);
    return meet("a put of " + size);
  }

  Status atomics() {
    const auto has = [this](AtomicOp op, bool previous) {
      return mine_.has_atomic(op, AtomicType::uint64, previous);
    };
    const bool fetches = has(AtomicOp::add, true) && has(AtomicOp::compare_swap, true);
    uint64_t sum = 0;
    if (has(AtomicOp::add, false)) {
      constexpr uint64_t kAdds = 20;
      Counter counter;
      for (uint64_t i = 0; i < kAdds; ++i) {
        mine_.atomic({AtomicOp::add, AtomicType::uint64, 3}, other_, kWordsAt, nullptr, counter);
      }
      STRIPLINE_RETURN_IF_ERROR(await(counter, "an atomic operation"));
      sum = 3 * kAdds;
    }
    if (fetches) {
      const auto fetch = [&](fabric::AtomicRequest request, uint64_t expected) -> Status {
        uint64_t previous = ~uint64_t{0};
        Counter counter;
        mine_.atomic(request, other_, kWordsAt, &previous, counter);
        STRIPLINE_RETURN_IF_ERROR(await(counter, "an atomic operation with a result"));
        return previous == expected ? Status() : changed("an atomic operation with a result");
      };
      STRIPLINE_RETURN_IF_ERROR(fetch({AtomicOp::add, AtomicType::uint64, 5}, sum));
      STRIPLINE_RETURN_IF_ERROR(
          fetch({AtomicOp::compare_swap, AtomicType::uint64, 1000, sum + 5}, sum + 5));
      sum = 1000;
    }
    if (sum == 0) {
      note("no atomic operations (messages serve)");
      return {};
    }
    uint64_t word = 0;
    Counter counter;
    mine_.get({reinterpret_cast<std::byte*>(&word), sizeof word}, other_, kWordsAt, counter);
    STRIPLINE_RETURN_IF_ERROR(await(counter, "a get of 8 B"));
    if (word != sum) return changed("atomic operations");
    note("atomic operations");
    return meet("atomic operations");
  }

  Status signals() {
    constexpr size_t kBytes = size_t{32} << 10;
    const fabric::Signal signal{kWordsAt + 64, 77};
    const auto sent = pattern(rank_, 1, kBytes);
    Counter counter;
    mine_.put_signal(other_, kDataAt, {sent.data(), kBytes}, signal, counter);
    const std::byte* const flag = mine_.segment().data() + signal.offset;
    const bool raised = mine_.wait(
        [&] {
          uint64_t value = 0;
          std::memcpy(&value, flag, sizeof value);
          return value == signal.value;
        },
        deadline_s_);
    if (!raised) return late("a put with a signal");
    if (!std::ranges::equal(here(kDataAt, kBytes), pattern(other_, 1, kBytes))) {
      return changed("a put with a signal");
    }
    STRIPLINE_RETURN_IF_ERROR(await(counter, "a put with a signal"));
    note("signals");
    return meet("a put with a signal");
  }

  Status notified_puts() {
    fabric::Shortcuts* const shortcuts = mine_.shortcuts();
    if (shortcuts == nullptr || !shortcuts->notifies()) return {};
    uint32_t tag = fabric::Shortcuts::kLandingTags;
    for (const size_t bytes : kSizes) {
      const std::string what = "a put of " + bytes_text(bytes) + " that tells its target";
      const auto sent = pattern(rank_, 2, bytes);
      const auto data = std::span(sent);
      Counter counter;
      shortcuts->put_notify(other_, kNotifiedAt, data.first(4), data.subspan(4), --tag, counter);
      // Whoever takes an own operation for an arrival does not complete it.
      const bool done = mine_.wait(
          [&] {
            return sink_.landed_from_itself || (!sink_.landed.empty() && counter.pending == 0);
          },
          deadline_s_);
      if (!done) return late(what);
      if (sink_.landed_from_itself) {
        return Error(ErrorCode::data_loss,
                     what + " was reported to the rank that made it: provider " +
                         mine_.info().provider + " shows own operations as arrivals");
      }
      const bool told = sink_.landed == std::vector<uint32_t>{tag};
      if (!told || !std::ranges::equal(here(kNotifiedAt, bytes), pattern(other_, 2, bytes))) {
        return changed(what);
      }
      sink_.landed.clear();
      STRIPLINE_RETURN_IF_ERROR(meet(what));
    }
    note("notified puts");
    return {};
  }

  Status messages() {
    const size_t largest = mine_.info().max_message_bytes;
    for (uint32_t i = 0; i < kMessages; ++i) {
      size_t bytes = 5 + i % 60;
      if (i % 50 == 0) bytes = largest;
      STRIPLINE_RETURN_IF_ERROR(
          send(pattern(rank_, i, bytes), "a message of " + bytes_text(bytes)));
    }
    const bool all = mine_.wait([this] { return sink_.numbered == kMessages; }, deadline_s_);
    if (!all) return late("a stream of messages");
    if (!sink_.intact) return changed("a stream of messages");
    note("messages");
    return meet("a stream of messages");
  }

  Fabric& mine_;
  const Rank rank_;
  const Rank other_;
  const double deadline_s_;
  TrialSink sink_;
  uint32_t step_ = 0;
  std::string done_;
};

}  // namespace

Result<Trial> try_operations(fabric::Fabric& mine, fabric::Rank rank, double timeout_s) {
  return ProviderTrial(mine, rank, timeout_s).run();
}

}  // namespace stripline::machine
