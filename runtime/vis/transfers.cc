#include "runtime/vis/transfers.h"

#include <algorithm>
#include <string>
#include <utility>

#include "runtime/vis/copy_rows.h"

namespace stripline::vis {

using plan::VisMethod;

Transfers::Transfers(am::ActiveMessages& messages, am::Bulk& bulk, fabric::Fabric& fabric,
                     std::span<std::byte> segment, Rank ranks, fabric::FailureHandler fail)
    : messages_(messages),
      bulk_(bulk),
      fabric_(fabric),
      segment_(segment),
      fail_(std::move(fail)),
      peers_(ranks) {
  const auto serve = [this](const char* name, am::Purpose purpose, auto member) {
    return messages_.serve(name, purpose,
                           [this, member](Rank source, std::span<const std::byte> message) {
                             (this->*member)(source, message);
                           });
  };
  using am::Purpose;
  put_ = serve("noncontiguous put", Purpose::work, &Transfers::serve_put);
  put_done_ = serve("noncontiguous put done", Purpose::answer, &Transfers::take_done);
  get_ = serve("noncontiguous get", Purpose::work, &Transfers::serve_get);
  data_ = serve("noncontiguous data", Purpose::answer, &Transfers::take_data);
  chunks_ = bulk_.open(
      "noncontiguous put", Purpose::work,
      [this](const am::Bulk::Parcel& parcel) {
        unpack_put(parcel.source, parcel.head, parcel.body);
        bulk_.give_back(parcel.source, parcel.slot);
      },
      [this](Rank, uint32_t slot, uint64_t token) {
        take_chunk_done(static_cast<uint32_t>(token), slot);
      });
  bulk_.take_answers([this](Rank, uint32_t slot, uint64_t token, std::span<const std::byte> data) {
    take_chunk(static_cast<uint32_t>(token), slot, data);
  });
  messages_.add_background(*this);
}

Transfers::Transfer& Transfers::create(Direction direction, Rank target, const plan::VisPlan& plan,
                                       fabric::Counter& done,
                                       const std::optional<fabric::Signal>& signal,
                                       bool* source_free) {
  if (tokens_.empty()) {
    tokens_.push_back(static_cast<uint32_t>(transfers_.size()));
    transfers_.emplace_back().token = tokens_.back();
  }
  Transfer& transfer = transfers_[tokens_.back()];
  tokens_.pop_back();
  transfer.direction = direction;
  transfer.target = target;
  transfer.method = plan.method;
  transfer.window = std::max(plan.window, 1U);
  transfer.done = &done;
  transfer.signal = signal;
  transfer.source_free = source_free;
  return transfer;
}

void Transfers::start(Direction direction, Rank target, Strided shape, std::byte* local,
                      const plan::VisPlan& plan, fabric::Counter& done,
                      const std::optional<fabric::Signal>& signal, bool* source_free) {
  Transfer& transfer = create(direction, target, plan, done, signal, source_free);
  transfer.strided = true;
  transfer.shape = std::move(shape);
  transfer.local = local;
  transfer.total = transfer.shape.total_bytes();
  transfer.extent = remote_extent(transfer.shape);
  transfer.pairs.start(transfer.shape);
  transfer.chunk_bytes = plan.chunk_bytes;
  begin(transfer);
}

void Transfers::start(Direction direction, Rank target, RegionList regions,
                      const plan::VisPlan& plan, fabric::Counter& done,
                      const std::optional<fabric::Signal>& signal, bool* source_free) {
  Transfer& transfer = create(direction, target, plan, done, signal, source_free);
  transfer.strided = false;
  transfer.regions = std::move(regions);
  transfer.total = transfer.regions.facts().bytes;
  transfer.extent = transfer.regions.facts().remote;
  transfer.list.start(transfer.regions);
  transfer.chunk_bytes = plan.chunk_bytes;
  begin(transfer);
}

void Transfers::put_signalled_chunk(Rank target, const Region& region, const fabric::Signal& signal,
                                    fabric::Counter& done, bool& source_free) {
  const plan::VisPlan plan{.method = VisMethod::packed, .chunk_bytes = max_chunk_bytes()};
  start(Direction::put, target, RegionList(std::vector{region}), plan, done, signal, &source_free);
}

// Plans are carried out as they are made.
void Transfers::check_method(const Transfer& transfer) const {
  const bool box_fits =
      transfer.direction == Direction::get &&
      transfer.extent.high - transfer.extent.low <= static_cast<int64_t>(kMaxBoxBytes);
  if ((transfer.method != VisMethod::bounding_box || box_fits) &&
      (transfer.method != VisMethod::packed || fits_packed(transfer))) {
    return;
  }
  fail_(Error(ErrorCode::internal,
              "a transfer of " + std::to_string(transfer.total) + " bytes with rank " +
                  std::to_string(transfer.target) + " was planned as " +
                  std::string(plan::to_string(transfer.method)) +
                  ", for which this rank has no room; report this, and ask for the method "
                  "'pipelined' meanwhile"));
}

void Transfers::begin(Transfer& transfer) {
  check_method(transfer);
  MethodStatistics& statistics = statistics_.of(transfer.method);
  ++(transfer.direction == Direction::put ? statistics.puts : statistics.gets);
  statistics.bytes += transfer.total;
  ++transfer.done->pending;  // until everything is begun, or complete
  transfer.asked = false;
  if (transfer.method == VisMethod::packed) prepare_packed(transfer);
  list(transfer);
  has_work_ = true;
  advance();
}

void Transfers::list(Transfer& transfer) {
  transfer.beginning = true;
  transfer.next = kNone;
  Peer& peer = peers_[transfer.target];
  if (peer.begun < kConcurrent) {
    ++peer.begun;
    beginning_.push_back(transfer.token);
    return;
  }
  (peer.first_later == kNone ? peer.first_later : transfers_[peer.last_later].next) =
      transfer.token;
  peer.last_later = transfer.token;
}

// All of it has begun. The next one that waits takes its turn.
void Transfers::unlist(size_t place) {
  Transfer& transfer = transfers_[beginning_[place]];
  beginning_.erase(beginning_.begin() + static_cast<std::ptrdiff_t>(place));
  transfer.beginning = false;
  Peer& peer = peers_[transfer.target];
  if (peer.first_later == kNone) {
    --peer.begun;
    return;
  }
  beginning_.push_back(peer.first_later);
  peer.first_later = transfers_[peer.first_later].next;
}

bool Transfers::ready() const {
  if (advancing_) return false;
  return std::ranges::any_of(beginning_,
                             [this](uint32_t token) { return can_advance(transfers_[token]); });
}

void Transfers::advance() {
  if (advancing_) return;  // what step() calls makes progress
  advancing_ = true;
  for (size_t i = 0; i < beginning_.size();) {
    Transfer& transfer = transfers_[beginning_[i]];
    if (!can_advance(transfer) || !step(transfer)) {
      ++i;
      continue;
    }
    unlist(i);
    if (transfer.done == nullptr) release(transfer);
  }
  advancing_ = false;
  has_work_ = !beginning_.empty();
}

bool Transfers::can_advance(const Transfer& transfer) const {
  if (transfer.done == nullptr) return true;
  switch (transfer.method) {
    case VisMethod::pipelined:
    case VisMethod::native_iov:
      // One of them is our own.
      return transfer.done->pending <= (has_regions(transfer) ? transfer.window : 1);
    case VisMethod::bounding_box:
      return transfer.asked ? transfer.in_box.pending == 0 : boxes_in_use_ < kBoxes;
    case VisMethod::packed:
      if (transfer.lands) return can_advance_landing(transfer);
      return transfer.in_flight < transfer.window && messages_.has_credit(transfer.target);
    case VisMethod::best:
      break;
  }
  return false;
}

bool Transfers::step(Transfer& transfer) {
  if (transfer.done == nullptr) return true;
  switch (transfer.method) {
    case VisMethod::pipelined:
    case VisMethod::native_iov:
      return step_direct(transfer);
    case VisMethod::bounding_box:
      return step_box(transfer);
    case VisMethod::packed:
      return transfer.lands ? step_landing(transfer) : step_packed(transfer);
    case VisMethod::best:
      break;
  }
  return true;
}

// All of a packed put has been copied.
void Transfers::tell_source_free(Transfer& transfer) {
  if (transfer.source_free == nullptr) return;
  *transfer.source_free = true;
  transfer.source_free = nullptr;
}

// Once the data are visible that went to their place by themselves.
void Transfers::send_flag(Transfer& transfer) {
  if (!transfer.signal) return;
  fabric_.put_signal(transfer.target, transfer.signal->offset, {nullptr, 0}, *transfer.signal,
                     *transfer.done);
}

void Transfers::complete(Transfer& transfer) {
  --transfer.done->pending;
  transfer.done = nullptr;
  // What step() works on, it gives back itself.
  if (!transfer.beginning) release(transfer);
}

void Transfers::release(Transfer& transfer) { tokens_.push_back(transfer.token); }

bool Transfers::has_regions(const Transfer& transfer) {
  return transfer.strided ? !transfer.pairs.done() : !transfer.list.done();
}

Region Transfers::next_region(Transfer& transfer) {
  if (transfer.strided) {
    const RunPair pair = transfer.pairs.next(1);
    return {static_cast<uint64_t>(pair.remote), transfer.local + pair.local, pair.bytes};
  }
  const Region region = transfer.list.peek(UINT64_MAX);
  transfer.list.skip(region.bytes);
  return region;
}

bool Transfers::step_direct(Transfer& transfer) {
  const bool is_put = transfer.direction == Direction::put;
  fabric::Counter& counter = *transfer.done;
  while (has_regions(transfer) && counter.pending <= transfer.window) {
    count_operation(transfer);
    if (transfer.method == VisMethod::native_iov) {
      pieces_.clear();
      do {
        pieces_.push_back(next_region(transfer));
      } while (pieces_.size() < fabric_.info().iov_limit && has_regions(transfer));
      is_put ? fabric_.putv(transfer.target, pieces_, counter)
             : fabric_.getv(transfer.target, pieces_, counter);
    } else {
      const Region region = next_region(transfer);
      is_put ? fabric_.put(transfer.target, region.offset, {region.memory, region.bytes}, counter)
             : fabric_.get({region.memory, region.bytes}, transfer.target, region.offset, counter);
    }
  }
  if (has_regions(transfer) || (transfer.signal && counter.pending > 1)) return false;
  send_flag(transfer);
  complete(transfer);  // as far as it is ours: the operations count on the same counter
  return true;
}

bool Transfers::step_box(Transfer& transfer) {
  if (!transfer.asked) {
    transfer.asked = true;
    statistics_.boxes = std::max(statistics_.boxes, ++boxes_in_use_);
    const auto bytes = static_cast<size_t>(transfer.extent.high - transfer.extent.low);
    if (!boxes_.empty()) {
      transfer.box = std::move(boxes_.back());
      boxes_.pop_back();
    }
    if (transfer.box.capacity < bytes) {
      transfer.box.memory = std::make_unique_for_overwrite<std::byte[]>(bytes);  // NOLINT
      transfer.box.capacity = bytes;
    }
    count_operation(transfer);
    fabric_.get({transfer.box.memory.get(), bytes}, transfer.target,
                static_cast<uint64_t>(transfer.extent.low), transfer.in_box);
    return false;
  }
  scatter_box(transfer);
  --boxes_in_use_;
  boxes_.push_back(std::move(transfer.box));
  transfer.box = {};
  complete(transfer);
  return true;
}

void Transfers::scatter_box(const Transfer& transfer) {
  const auto in_box = [&](uint64_t offset) {
    return transfer.box.memory.get() + (offset - static_cast<uint64_t>(transfer.extent.low));
  };
  if (!transfer.strided) {
    RegionCursor list;
    for (list.start(transfer.regions); !list.done();) {
      const Region region = list.peek(UINT64_MAX);
      list.skip(region.bytes);
      copy_rows(region.memory, 0, in_box(region.offset), 0, 1, region.bytes);
      count_copy(fabric_.work(), 1, region.bytes);
    }
    return;
  }
  PairCursor cursor;
  for (cursor.start(transfer.shape); !cursor.done();) {
    const RunPair run = cursor.next(UINT64_MAX);
    copy_rows(transfer.local + run.local, run.local_stride,
              in_box(static_cast<uint64_t>(run.remote)), run.remote_stride, run.count, run.bytes);
    count_copy(fabric_.work(), run.count, run.bytes);
  }
}

}  // namespace stripline::vis
