#include "suites/kernels/nas/exchanges/mg_transfers.h"

#include <algorithm>
#include <utility>

#include <stripline/team.h>

namespace stripline::suites {
namespace {

size_t elements_of(const nas::MgBlock& block) {
  return block.counts[0] * block.counts[1] * block.counts[2];
}

bool in_one_piece(const nas::MgBlock& block) {
  return block.counts[2] == 1 && block.counts[0] == block.strides[1];
}

// The distances of a block's doubles, in bytes.
std::array<std::ptrdiff_t, 3> strides_of(const nas::MgBlock& block) {
  std::array<std::ptrdiff_t, 3> strides{};
  for (size_t axis = 0; axis < 3; ++axis) {
    strides[axis] = static_cast<std::ptrdiff_t>(block.strides[axis] * sizeof(double));
  }
  return strides;
}

// The doubles of a block from the memory that its offset refers to, without gaps.
void pack(const double* memory, const nas::MgBlock& block, double* packed, Work* work) {
  count_copy(work, block.counts[1] * block.counts[2], block.counts[0] * sizeof(double));
  for (size_t k = 0; k < block.counts[2]; ++k) {
    for (size_t j = 0; j < block.counts[1]; ++j) {
      const double* const row = memory + block.offset + k * block.strides[2] + j * block.strides[1];
      packed = std::copy_n(row, block.counts[0], packed);
    }
  }
}

void unpack(const double* packed, const nas::MgBlock& block, double* memory, Work* work) {
  count_copy(work, block.counts[1] * block.counts[2], block.counts[0] * sizeof(double));
  for (size_t k = 0; k < block.counts[2]; ++k) {
    for (size_t j = 0; j < block.counts[1]; ++j) {
      double* const row = memory + block.offset + k * block.strides[2] + j * block.strides[1];
      std::copy_n(packed, block.counts[0], row);
      packed += block.counts[0];
    }
  }
}

}  // namespace

Result<MgTransfers> MgTransfers::create(Context& context, const StridedManner& manner,
                                        const nas::MgPartition& partition) {
  const bool lands = packs(manner.variant) || signals(manner.variant);
  const size_t buffers = lands ? kTurns * kSides * largest_face(partition) : 0;
  STRIPLINE_ASSIGN_OR_RETURN(
      auto memory, SymmetricMemory<double>::create(context, partition.shared_elements() + buffers));
  STRIPLINE_ASSIGN_OR_RETURN(auto flags,
                             SymmetricMemory<uint64_t>::create(context, (1 + kTurns) * kSides));
  return MgTransfers(context, manner, partition, std::move(memory), std::move(flags));
}

MgTransfers::MgTransfers(Context& context, const StridedManner& manner,
                         const nas::MgPartition& partition, SymmetricMemory<double> memory,
                         SymmetricMemory<uint64_t> flags)
    : context_(&context),
      manner_(manner),
      partition_(partition),
      face_elements_(largest_face(partition)),
      memory_(std::move(memory)),
      flags_(std::move(flags)),
      copies_(context, manner.variant == StridedVariant::plain_hand) {
  if (packs()) {
    for (auto& face : packed_) face.resize(face_elements_);
  }
  if (partition.ranks() == 1) return;
  block_.resize(elements_of(partition.replicated_block(0)));
  blocks_.resize(block_.size() * partition.ranks());
}

size_t MgTransfers::largest_face(const nas::MgPartition& partition) {
  size_t largest = 0;
  for (size_t axis = 0; axis < 3; ++axis) {
    const nas::MgFace face = partition.face(0, nas::MgArray::u, partition.levels(), axis, false);
    largest = std::max(largest, elements_of(face.block));
  }
  return largest;
}

MgTransfers::Side MgTransfers::side(size_t axis, bool up) const {
  return {partition_.neighbour(context_->rank_me(), axis, !up), axis, up};
}

// `block` of this rank to the place at `offset` of the peer.
future MgTransfers::put(const nas::MgBlock& block, size_t offset, rank_t peer) {
  if (manner_.variant == StridedVariant::fine) {
    put_elements(block, offset, peer);
    return {};
  }
  const auto strides = strides_of(block);
  return rput_strided<3, double>(*context_, memory_.here() + block.offset, strides,
                                 memory_.on(peer) + static_cast<std::ptrdiff_t>(offset), strides,
                                 block.counts, manner_.transfers);
}

void MgTransfers::put_elements(const nas::MgBlock& block, size_t offset, rank_t peer) {
  const double* const source = memory_.here() + block.offset;
  const global_ptr<double> target = memory_.on(peer) + static_cast<std::ptrdiff_t>(offset);
  for (size_t k = 0; k < block.counts[2]; ++k) {
    for (size_t j = 0; j < block.counts[1]; ++j) {
      for (size_t i = 0; i < block.counts[0]; ++i) {
        const size_t at = k * block.strides[2] + j * block.strides[1] + i;
        context_->rput(source[at], target + static_cast<std::ptrdiff_t>(at));
      }
    }
  }
}

global_ptr<uint64_t> MgTransfers::flag_on(rank_t peer, Flag flag, size_t index) const {
  const size_t place = flag == Flag::entered ? index : (1 + step_ % kTurns) * kSides + index;
  return flags_.on(peer) + static_cast<std::ptrdiff_t>(place);
}

void MgTransfers::raise(Flag flag, rank_t peer, size_t index) {
  const global_ptr<uint64_t> there = flag_on(peer, flag, index);
  context_->rput_signal<uint64_t>(nullptr, there, 0, there, step_);
}

void MgTransfers::await(Flag flag, size_t index) {
  context_->wait_signal(flag_on(context_->rank_me(), flag, index), step_);
}

size_t MgTransfers::buffer_place(size_t index) const {
  return partition_.shared_elements() + (step_ % kTurns * kSides + index) * face_elements_;
}

void MgTransfers::ghosts(nas::MgShare& share, nas::MgStep step) {
  ++step_;
  if (!packs() && !has_leave_) {
    // The rank that fills the ghosts on a side may do so from now on.
    for (size_t axis = 0; axis < 3; ++axis) {
      if (partition_.grid()[axis] == 1) continue;
      for (const bool up : {false, true}) {
        const Side mine = side(axis, !up);  // its peer is the neighbour on side `up`
        raise(Flag::entered, mine.peer, 2 * axis + (up ? 1 : 0));
      }
    }
  }
  await_departure(step_ % kTurns);
  share.compute(step, 0, share.planes(step));
  for (size_t axis = 0; axis < 3; ++axis) {
    if (partition_.grid()[axis] == 1) {
      for (const bool up : {false, true}) {
        const nas::MgFace face = share.face(step, axis, up);
        nas::copy_block(memory_.here() + face.source_offset, memory_.here() + face.block.offset,
                        face.block.counts, face.block.strides);
        count_copy(context_->work(), face.block.counts[1] * face.block.counts[2],
                   face.block.counts[0] * sizeof(double));
      }
    } else if (is_plain(manner_.variant)) {
      copy_packed_faces(share, step, axis);
    } else if (packs()) {
      put_packed_faces(share, step, axis);
    } else if (signals(manner_.variant)) {
      put_signalled_faces(share, step, axis);
    } else {
      put_faces(share, step, axis);
    }
  }
  has_leave_ = signals(manner_.variant);
}

void MgTransfers::put_faces(const nas::MgShare& share, nas::MgStep step, size_t axis) {
  const bool blocking = waits(manner_.variant);
  std::array<future, 2> puts;
  std::array<bool, 2> with_flag{};
  for (const bool up : {false, true}) {
    const Side theirs = side(axis, up);
    const nas::MgFace face = share.face(step, axis, up);
    nas::MgBlock source = face.block;
    source.offset = face.source_offset;
    await(Flag::entered, theirs.index());
    future& one = puts[up ? 1 : 0];
    if (!blocking && in_one_piece(source)) {
      one = put_with_flag(memory_.here() + source.offset, face.block.offset, elements_of(source),
                          theirs);
      with_flag[up ? 1 : 0] = true;
      continue;
    }
    one = put(source, face.block.offset, theirs.peer);
    if (!blocking) continue;
    one.wait();
    raise(Flag::filled, theirs.peer, theirs.index());
  }
  for (const bool up : {false, true}) {
    if (blocking || with_flag[up ? 1 : 0]) continue;
    const Side theirs = side(axis, up);
    puts[up ? 1 : 0].wait();
    raise(Flag::filled, theirs.peer, theirs.index());
  }
  for (const bool up : {false, true}) await(Flag::filled, side(axis, up).index());
  // The next step may write to the source.
  wait_all(puts);
}

// Contiguous doubles of this rank to the place at `offset` of the side's peer.
future MgTransfers::put_with_flag(const double* source, size_t offset, size_t count,
                                  const Side& theirs) {
  return context_->rput_signal(source,
                               memory_.on(theirs.peer) + static_cast<std::ptrdiff_t>(offset), count,
                               flag_on(theirs.peer, Flag::filled, theirs.index()), step_);
}

void MgTransfers::put_signalled_faces(const nas::MgShare& share, nas::MgStep step, size_t axis) {
  for (const bool up : {false, true}) {
    const Side theirs = side(axis, up);
    const size_t index = theirs.index();
    const nas::MgFace face = share.face(step, axis, up);
    nas::MgBlock to = face.block;
    if (in_one_piece(to)) {
      if (!has_leave_) await(Flag::entered, index);
    } else {
      to.offset = buffer_place(index);
      to.strides = {1, to.counts[0], to.counts[0] * to.counts[1]};
    }
    departing_[step_ % kTurns][index] = rput_strided_signal<3, double>(
        *context_, memory_.here() + face.source_offset, strides_of(face.block),
        memory_.on(theirs.peer) + static_cast<std::ptrdiff_t>(to.offset), strides_of(to), to.counts,
        flag_on(theirs.peer, Flag::filled, index), step_, manner_.transfers);
  }
  for (const bool up : {false, true}) {
    const nas::MgFace face = share.face(step, axis, up);
    const size_t index = side(axis, up).index();
    await(Flag::filled, index);
    if (in_one_piece(face.block)) continue;
    unpack(memory_.here() + buffer_place(index), face.block, memory_.here(), context_->work());
  }
}

// What a step puts from its place leaves while the next step computes, which writes to another
// array or level; so do their flags, each of which has a word of its own for that.
void MgTransfers::await_departure(size_t turn) { wait_all(departing_[turn]); }

void MgTransfers::await_departures() {
  for (size_t turn = 0; turn < kTurns; ++turn) await_departure(turn);
}

size_t MgTransfers::pack_face(const nas::MgFace& face, size_t index) {
  nas::MgBlock source = face.block;
  source.offset = face.source_offset;
  pack(memory_.here(), source, packed_[index].data(), context_->work());
  return elements_of(source);
}

void MgTransfers::unpack_face(const nas::MgShare& share, nas::MgStep step, size_t axis, bool up) {
  const nas::MgFace face = share.face(step, axis, up);
  unpack(memory_.here() + buffer_place(side(axis, up).index()), face.block, memory_.here(),
         context_->work());
}

void MgTransfers::put_packed_faces(nas::MgShare& share, nas::MgStep step, size_t axis) {
  for (const bool up : {false, true}) {
    const Side theirs = side(axis, up);
    const size_t index = theirs.index();
    // Also keeps the flags of two steps in their order.
    leaving_[index].wait();
    const size_t count = pack_face(share.face(step, axis, up), index);
    leaving_[index] = put_with_flag(packed_[index].data(), buffer_place(index), count, theirs);
  }
  for (const bool up : {false, true}) {
    await(Flag::filled, side(axis, up).index());
    unpack_face(share, step, axis, up);
  }
}

// A rank copies into a buffer again two steps later, behind a barrier that its neighbour enters
// when it has unpacked that buffer.
void MgTransfers::copy_packed_faces(const nas::MgShare& share, nas::MgStep step, size_t axis) {
  for (const bool up : {false, true}) {
    const Side theirs = side(axis, up);
    const size_t index = theirs.index();
    const size_t count = pack_face(share.face(step, axis, up), index);
    copies_.put(memory_.on(theirs.peer) + static_cast<std::ptrdiff_t>(buffer_place(index)),
                packed_[index].data(), count);
  }
  copies_.finish();
  context_->barrier();
  for (const bool up : {false, true}) unpack_face(share, step, axis, up);
}

void MgTransfers::gather(nas::MgShare& share, nas::MgStep step) {
  const rank_t me = context_->rank_me();
  const rank_t ranks = context_->rank_n();
  const nas::MgBlock own = partition_.replicated_block(me);
  if (packs() || signals(manner_.variant)) {
    share.compute(step, 0, share.planes(step));
    await_departures();
    pack(memory_.here(), own, block_.data(), context_->work());
    team::world(*context_).allgather(block_, blocks_);
    for (rank_t rank = 0; rank < ranks; ++rank) {
      if (rank == me) continue;
      unpack(blocks_.data() + rank * block_.size(), partition_.replicated_block(rank),
             memory_.here(), context_->work());
    }
    return;
  }
  const future entered = context_->barrier_async();
  share.compute(step, 0, share.planes(step));
  entered.wait();
  for (rank_t i = 1; i < ranks; ++i) {
    const future started = put(own, own.offset, (me + i) % ranks);
    if (waits(manner_.variant)) started.wait();
  }
  context_->barrier();
}

double MgTransfers::sum(nas::MgShare&, double value) {
  await_departures();
  has_leave_ = false;
  return context_->reduce_all(value, Context::ReduceOp::sum);
}

double MgTransfers::maximum(nas::MgShare&, double value) {
  return context_->reduce_all(value, Context::ReduceOp::max);
}

}  // namespace stripline::suites
