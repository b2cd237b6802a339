#include "suites/compare/hand_packed.h"

#include <cstring>

namespace stripline::suites::compare {
namespace {

void gather(const std::byte* from, const Pieces& pieces, std::byte* to) {
  for (uint64_t i = 0; i < pieces.count; ++i) {
    std::memcpy(to + i * pieces.bytes, from + i * pieces.stride, pieces.bytes);
  }
}

void scatter(const std::byte* from, const Pieces& pieces, std::byte* to) {
  for (uint64_t i = 0; i < pieces.count; ++i) {
    std::memcpy(to + i * pieces.stride, from + i * pieces.bytes, pieces.bytes);
  }
}

Pieces pieces_of(std::span<const std::byte> message) {
  Pieces pieces;
  std::memcpy(&pieces, message.data(), sizeof pieces);
  return pieces;
}

}  // namespace

HandPacked::HandPacked(Context& context, global_ptr<std::byte> array, size_t span)
    : context_(context),
      data_(array),
      packed_(array + static_cast<std::ptrdiff_t>(span)),
      buffer_(span) {
  done_ = context_.register_am([this](rank_t, std::span<const std::byte>) { ++answers_; });
  unpack_ = context_.register_am([this](rank_t source, std::span<const std::byte> message) {
    scatter(context_.local(packed_), pieces_of(message), context_.local(data_));
    context_.am_send(source, done_, {});
  });
  pack_ = context_.register_am([this](rank_t source, std::span<const std::byte> message) {
    gather(context_.local(data_), pieces_of(message), context_.local(packed_));
    context_.am_send(source, done_, {});
  });
}

void HandPacked::ask(uint32_t handler, const Pieces& pieces) {
  const uint64_t before = answers_;
  context_.am_send(1, handler, std::as_bytes(std::span(&pieces, 1)));
  context_.wait_until([&] { return answers_ != before; });
}

void HandPacked::put(const std::byte* source, const Pieces& pieces) {
  gather(source, pieces, buffer_.data());
  context_.rput(buffer_.data(), context_.on_rank(packed_, 1), pieces.total()).wait();
  ask(unpack_, pieces);
}

void HandPacked::get(std::byte* destination, const Pieces& pieces) {
  ask(pack_, pieces);
  context_.rget(context_.on_rank(packed_, 1), buffer_.data(), pieces.total()).wait();
  scatter(buffer_.data(), pieces, destination);
}

}  // namespace stripline::suites::compare
