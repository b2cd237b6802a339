#include "runtime/rma/put_combiner.h"

#include <algorithm>
#include <string>
#include <utility>

namespace stripline::rma {

PutCombiner::PutCombiner(am::ActiveMessages& messages, fabric::Fabric& fabric,
                         std::span<std::byte> segment, Rank ranks, fabric::FailureHandler fail)
    : messages_(messages),
      fabric_(fabric),
      segment_(segment),
      fail_(std::move(fail)),
      peers_(ranks) {
  messages_.set_reserved(
      am::kCombinedPuts,
      [this](Rank source, std::span<const std::byte> payload) { take_message(source, payload); });
  messages_.set_reserved(am::kCombinedPutsDone, [this](Rank source, std::span<const std::byte>) {
    --peers_[source].unanswered;
  });
}

void PutCombiner::start(const Rule& rule) {
  rule_ = rule;
  max_delay_s_ = rule.max_delay_s;
  // A length has kLengthBits, also where one entry fills the message.
  message_bytes_ =
      std::min({rule.message_bytes, messages_.max_payload_bytes(), (size_t{1} << kLengthBits) - 1});
  // Where two puts do not fit into a message there is nothing to combine.
  max_put_bytes_ = std::min(rule.max_put_bytes, message_bytes_ / 2 - kWordBytes);
  buffers_.clear();
  memory_.clear();
  free_ = nullptr;
  if (max_put_bytes_ == 0) return;
  buffers_.resize(std::max<size_t>(rule.budget_bytes / message_bytes_, 1));
  for (Buffer& buffer : buffers_) {
    buffer.newer = free_;
    free_ = &buffer;
  }
}

PutCombiner::Buffer& PutCombiner::open(Rank target) {
  if (free_ == nullptr) {
    ++statistics_.crowded;
    send(oldest_->target);
  }
  if (memory_.empty()) memory_.resize(buffers_.size() * message_bytes_);
  Buffer& buffer = *free_;
  free_ = buffer.newer;
  buffer.memory = memory_.data() + static_cast<size_t>(&buffer - buffers_.data()) * message_bytes_;
  buffer.used = 0;
  buffer.target = target;
  buffer.opened_s = fabric_.now_s();
  buffer.newer = nullptr;
  buffer.older = newest_;
  (newest_ == nullptr ? oldest_ : newest_->newer) = &buffer;
  newest_ = &buffer;
  peers_[target].open = &buffer;
  return buffer;
}

void PutCombiner::unlink(Buffer& buffer) {
  (buffer.older == nullptr ? oldest_ : buffer.older->newer) = buffer.newer;
  (buffer.newer == nullptr ? newest_ : buffer.newer->older) = buffer.older;
}

// The buffer is closed before the message is sent: sending makes progress, and handlers that run
// meanwhile must find a consistent state.
void PutCombiner::send(Rank target) {
  Peer& peer = peers_[target];
  Buffer& buffer = *peer.open;
  peer.open = nullptr;
  unlink(buffer);
  ++peer.unanswered;
  ++statistics_.messages;
  messages_.send(target, am::kCombinedPuts, {}, {buffer.memory, buffer.used});
  buffer.newer = free_;
  free_ = &buffer;
}

// From the newest on: the ranks that were written last are sent to first, so that ranks that write
// to all others in the same order do not all send to the same one.
void PutCombiner::flush() {
  while (newest_ != nullptr) send(newest_->target);
}

void PutCombiner::flush_older_than(double time_s) {
  while (oldest_ != nullptr && oldest_->opened_s <= time_s) send(oldest_->target);
}

void PutCombiner::take_message(Rank source, std::span<const std::byte> payload) {
  while (!payload.empty()) {
    uint64_t word = 0;
    if (payload.size() >= kWordBytes) std::memcpy(&word, payload.data(), kWordBytes);
    const uint64_t offset = word >> kLengthBits;
    const size_t bytes = word & ((uint64_t{1} << kLengthBits) - 1);
    if (payload.size() < kWordBytes + bytes || offset > segment_.size() ||
        bytes > segment_.size() - offset) {
      fail_(Error(ErrorCode::data_loss, "rank " + std::to_string(source) +
                                            " sent combined puts that are not well formed (" +
                                            std::to_string(bytes) + " bytes at offset " +
                                            std::to_string(offset) + ")"));
    }
    std::memcpy(segment_.data() + offset, payload.data() + kWordBytes, bytes);
    payload = payload.subspan(kWordBytes + bytes);
  }
  messages_.send(source, am::kCombinedPutsDone, {}, {});
}

}  // namespace stripline::rma
