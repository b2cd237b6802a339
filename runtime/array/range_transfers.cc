#include "runtime/array/range_transfers.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>

#include "runtime/rma/context_state.h"

namespace stripline {
namespace array {
namespace {

/// Ranges that need a buffer are moved in pieces of this size, or of one block per rank.
constexpr uint64_t kPieceBytes = uint64_t{4} << 20;

/// The last block that a range touches, less the first.
uint64_t blocks_beyond_first(const detail::ArrayShape& shape, uint64_t first, uint64_t count) {
  return (first + count - 1) / shape.block - first / shape.block;
}

bool has_direct_blocks(const detail::ArrayShape& shape, const TransferConfig& config) {
  return shape.block >= config.direct_block_bytes / shape.element_bytes;
}

void copy_bytes(std::byte* destination, const std::byte* source, uint64_t bytes) {
  if (bytes == 8) {  // a cyclic array of double: worth not calling memcpy
    std::memcpy(destination, source, 8);
  } else {
    std::memcpy(destination, source, bytes);
  }
}

/// One range of one array in flight.
class Move {
 public:
  Move(Context& context, const detail::ArrayShape& shape, uint64_t offset, CallSite site)
      : context_(context), shape_(shape), offset_(offset), site_(site) {}

  void read(uint64_t first, uint64_t count, std::byte* destination) {
    const TransferPlan plan = plan_transfers(shape_, context_.rank_n(), first, count);
    if (!plan.buffered) {
      for (const Transfer& one : plan.transfers) get(one, destination);
    } else {
      buffer_.resize(count * shape_.element_bytes);
      for (const Transfer& one : plan.transfers) get(one, buffer_.data());
    }
    finish();
    if (plan.buffered) {
      for_each_in_buffer(plan, first, count, [&](const Transfer& piece, std::byte* in_buffer) {
        copy_bytes(destination + bytes(piece.position), in_buffer, bytes(piece.count));
      });
    }
  }

  void write(uint64_t first, uint64_t count, const std::byte* source) {
    const TransferPlan plan = plan_transfers(shape_, context_.rank_n(), first, count);
    if (plan.buffered) {
      buffer_.resize(count * shape_.element_bytes);
      for_each_in_buffer(plan, first, count, [&](const Transfer& piece, std::byte* in_buffer) {
        copy_bytes(in_buffer, source + bytes(piece.position), bytes(piece.count));
      });
    }
    for (const Transfer& one : plan.transfers) put(one, plan.buffered ? buffer_.data() : source);
    finish();
  }

 private:
  uint64_t bytes(uint64_t elements) const { return elements * shape_.element_bytes; }

  global_ptr<std::byte> at(const Transfer& one) const {
    return {one.rank, offset_ + bytes(one.index)};
  }
  void get(const Transfer& one, std::byte* memory) {
    started_.push_back(
        context_.rget(at(one), memory + bytes(one.position), bytes(one.count), site_));
  }
  void put(const Transfer& one, const std::byte* memory) {
    started_.push_back(
        context_.rput(memory + bytes(one.position), at(one), bytes(one.count), site_));
  }
  void finish() {
    wait_all(started_);
    started_.clear();
  }

  /// Visits the range's pieces with their places in the buffer.
  template <typename Visit>
  void for_each_in_buffer(const TransferPlan& plan, uint64_t first, uint64_t count, Visit visit) {
    std::vector<std::byte*> next(context_.rank_n());
    for (const Transfer& one : plan.transfers) {
      next[one.rank] = buffer_.data() + bytes(one.position);
    }
    for_each_piece(shape_, context_.rank_n(), first, count, [&](const Transfer& piece) {
      visit(piece, next[piece.rank]);
      next[piece.rank] += bytes(piece.count);
    });
  }

  Context& context_;
  const detail::ArrayShape& shape_;
  uint64_t offset_;
  CallSite site_;
  std::vector<std::byte> buffer_;
  std::vector<future> started_;
};

void check_range(Context& context, rma::Call call, const detail::ArrayShape& shape, uint64_t first,
                 uint64_t count, const std::byte* memory) {
  const bool is_within = count <= shape.elements && first <= shape.elements - count;
  if (is_within && (memory != nullptr || count == 0)) return;
  const std::string what = text(call) + " of " + std::to_string(count) + " elements";
  context.state().fail(Error(ErrorCode::invalid_argument,
                             is_within ? what + " with a null pointer for this rank's side"
                                       : what + " from " + std::to_string(first) +
                                             " on of a shared array of " +
                                             std::to_string(shape.elements)));
}

/// The largest part of a range that is moved at once.
uint64_t elements_at_once(const detail::ArrayShape& shape, rank_t ranks,
                          const TransferConfig& config) {
  if (shape.indefinite || has_direct_blocks(shape, config)) return shape.elements;
  return std::max(kPieceBytes / shape.element_bytes, shape.block * ranks);
}

}  // namespace

TransferPlan plan_transfers(const detail::ArrayShape& shape, rank_t ranks, uint64_t first,
                            uint64_t count, const TransferConfig& config) {
  TransferPlan plan;
  if (count == 0) return plan;
  if (!shape.indefinite && ranks == 1) {  // blocks follow one another
    plan.transfers = {{0, first, count, 0}};
    return plan;
  }
  const bool direct = shape.indefinite || blocks_beyond_first(shape, first, count) < ranks ||
                      has_direct_blocks(shape, config);
  if (direct) {
    for_each_piece(shape, ranks, first, count,
                   [&](const Transfer& piece) { plan.transfers.push_back(piece); });
    return plan;
  }
  plan.buffered = true;
  const distribution<block_cyclic<>> elements{{shape.block}, {ranks}};
  uint64_t position = 0;
  for (rank_t rank = 0; rank < ranks; ++rank) {
    const uint64_t begin = elements.count_below(first, rank);
    const uint64_t mine = elements.count_below(first + count, rank) - begin;
    if (mine > 0) plan.transfers.push_back({rank, begin, mine, position});
    position += mine;
  }
  return plan;
}

}  // namespace array

namespace detail {

void read_elements(Context& context, const ArrayShape& shape, uint64_t offset, uint64_t first,
                   uint64_t count, std::byte* destination, CallSite site) {
  array::check_range(context, {"read_range", site}, shape, first, count, destination);
  const uint64_t most = array::elements_at_once(shape, context.rank_n(), {});
  array::Move move(context, shape, offset, site);
  for (uint64_t done = 0; done < count; done += most) {
    move.read(first + done, std::min(most, count - done), destination + done * shape.element_bytes);
  }
}

void write_elements(Context& context, const ArrayShape& shape, uint64_t offset, uint64_t first,
                    uint64_t count, const std::byte* source, CallSite site) {
  array::check_range(context, {"write_range", site}, shape, first, count, source);
  const uint64_t most = array::elements_at_once(shape, context.rank_n(), {});
  array::Move move(context, shape, offset, site);
  for (uint64_t done = 0; done < count; done += most) {
    move.write(first + done, std::min(most, count - done), source + done * shape.element_bytes);
  }
}

}  // namespace detail
}  // namespace stripline
