#include "runtime/sync/broadcast.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

namespace stripline::sync {

Broadcast::Broadcast(am::ActiveMessages& messages, CollectiveOrder& order, Rank me, Rank ranks,
                     fabric::FailureHandler fail)
    : messages_(messages),
      order_(order),
      me_(me),
      ranks_(ranks),
      fail_(std::move(fail)),
      ready_(ranks) {
  messages_.set_reserved(
      am::kBroadcastReady,
      [this](Rank source, std::span<const std::byte> payload) { on_ready(source, payload); });
  messages_.set_reserved(
      am::kBroadcastData,
      [this](Rank source, std::span<const std::byte> payload) { on_data(source, payload); });
}

void Broadcast::on_ready(Rank source, std::span<const std::byte> payload) {
  const auto header = order_.header_of<Header>(source, payload);
  order_.saw(header.kind, header.sequence, source);
  ready_[source] = header.sequence;
}

void Broadcast::on_data(Rank source, std::span<const std::byte> payload) {
  const auto header = order_.header_of<Header>(source, payload);
  order_.saw(header.kind, header.sequence, source);
  const std::span<const std::byte> data = payload.subspan(sizeof header);
  if (header.total_bytes != bytes_.size() || header.offset > bytes_.size() ||
      data.size() > bytes_.size() - header.offset) {
    fail_(Error(ErrorCode::invalid_argument,
                "broadcast of different lengths: rank " + std::to_string(source) + " has " +
                    std::to_string(header.total_bytes) + " bytes, rank " + std::to_string(me_) +
                    " has " + std::to_string(bytes_.size())));
  }
  if (!data.empty()) std::memcpy(bytes_.data() + header.offset, data.data(), data.size());
  received_ += data.size();
  heard_ = true;
}

void Broadcast::send_to(Rank child, const Header& header) {
  const uint64_t& ready = ready_[child];
  const uint64_t sequence = header.sequence;
  messages_.wait([&ready, sequence] { return ready >= sequence; });
  const size_t chunk = messages_.max_payload_bytes() - sizeof(Header);
  Header part = header;
  do {
    const size_t bytes = std::min<size_t>(chunk, bytes_.size() - part.offset);
    messages_.send(child, am::kBroadcastData, std::as_bytes(std::span(&part, 1)),
                   bytes_.subspan(part.offset, bytes));
    part.offset += bytes;
  } while (part.offset < bytes_.size());
}

void Broadcast::run(std::span<std::byte> bytes, Rank root, Collective kind) {
  bytes_ = bytes;
  received_ = 0;
  heard_ = false;
  Header header{};
  header.sequence = order_.enter(kind);
  header.total_bytes = bytes.size();
  header.kind = kind;

  // Relative to the root, the parent of v is v without its lowest set bit; its children add one of
  // the bits below that.
  const uint64_t self = (uint64_t{me_} + ranks_ - root) % ranks_;
  const auto absolute = [&](uint64_t relative) {
    return static_cast<Rank>((relative + root) % ranks_);
  };
  uint64_t bit = 1;
  while (bit < ranks_ && (self & bit) == 0) bit *= 2;
  if (self != 0) {
    messages_.send(absolute(self - bit), am::kBroadcastReady, std::as_bytes(std::span(&header, 1)),
                   {});
    messages_.wait([this] { return heard_ && received_ == bytes_.size(); });
  }
  // The largest subtree first: it has the longest way to go.
  for (bit /= 2; bit > 0; bit /= 2) {
    if (self + bit < ranks_) send_to(absolute(self + bit), header);
  }
}

}  // namespace stripline::sync
