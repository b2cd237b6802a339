#include "suites/kernels/stencil_transfers.h"

#include <algorithm>
#include <utility>

namespace stripline::suites {
namespace {

// Parts of the interior between which transfers are looked after.
constexpr size_t kInteriorParts = 8;

// True if ghosts come into buffers, of which there are two for each face, and are copied from
// there. Who puts them to where they belong must know that those of the step before have been used.
bool lands(StridedVariant variant) { return variant == StridedVariant::packed || signals(variant); }

}  // namespace

Result<StencilTransfers> StencilTransfers::create(Context& context, const StridedManner& manner,
                                                  const prk::StencilPartition& partition) {
  const size_t buffers = lands(manner.variant) ? kTurns * kSides * partition.largest_face() : 0;
  STRIPLINE_ASSIGN_OR_RETURN(
      auto memory, SymmetricMemory<double>::create(context, partition.shared_elements() + buffers));
  STRIPLINE_ASSIGN_OR_RETURN(auto flags, SymmetricMemory<uint64_t>::create(context, 2 * kSides));
  return StencilTransfers(context, manner, partition, std::move(memory), std::move(flags));
}

StencilTransfers::StencilTransfers(Context& context, const StridedManner& manner,
                                   const prk::StencilPartition& partition,
                                   SymmetricMemory<double> memory, SymmetricMemory<uint64_t> flags)
    : context_(&context),
      manner_(manner),
      partition_(partition),
      memory_(std::move(memory)),
      flags_(std::move(flags)) {
  manner_.transfers.compute = VisCompute::light;
  for (const prk::StencilSide side : prk::kStencilSides) {
    const auto face = partition.face(context.rank_me(), side);
    if (!face) continue;
    Side added;
    added.face = *face;
    added.back = *partition.face(face->neighbour, opposite(side));
    added.index = static_cast<size_t>(side);
    added.opposite = static_cast<size_t>(opposite(side));
    if (packs()) added.packed.resize(face->elements());
    sides_.push_back(std::move(added));
  }
}

bool StencilTransfers::overlaps() const { return !waits(manner_.variant); }

size_t StencilTransfers::buffer_place(size_t index) const {
  return partition_.shared_elements() +
         (step_ % kTurns * kSides + index) * partition_.largest_face();
}

global_ptr<uint64_t> StencilTransfers::flag(Flag what, size_t index, rank_t rank) const {
  return flags_.on(rank) + static_cast<std::ptrdiff_t>(static_cast<size_t>(what) * kSides + index);
}

void StencilTransfers::raise(Flag what, const Side& side) {
  const global_ptr<uint64_t> there = flag(what, side.opposite, side.face.neighbour);
  context_->rput_signal<uint64_t>(nullptr, there, 0, there, step_);
}

void StencilTransfers::await(Flag what, const Side& side, uint64_t step) {
  context_->wait_signal(flag(what, side.index, context_->rank_me()), step);
}

void StencilTransfers::ghosts(prk::StencilShare& share) {
  ++step_;
  for (Side& side : sides_) {
    if (packs()) {
      put_packed(side);
      continue;
    }
    if (!lands(manner_.variant)) await(Flag::used, side, step_ - 1);
    if (manner_.variant == StridedVariant::fine) {
      put_elements(side);
    } else {
      put(side);
    }
    side.told = signals(manner_.variant);
    if (overlaps()) continue;
    side.transfer.wait();
    tell(side);
  }
  const size_t rows = share.interior_rows();
  if (overlaps()) {
    for (size_t part = 0; part < kInteriorParts; ++part) {
      share.compute_interior(rows * part / kInteriorParts, rows * (part + 1) / kInteriorParts);
      look_after();
    }
    for (Side& side : sides_) {
      if (side.told) continue;
      side.transfer.wait();
      tell(side);
    }
  }
  for (const Side& side : sides_) {
    await(Flag::filled, side, step_);
    if (lands(manner_.variant)) unpack(side);
  }
  if (!overlaps()) share.compute_interior(0, rows);
}

void StencilTransfers::used(prk::StencilShare& /*share*/) {
  for (const Side& side : sides_) {
    if (signals(manner_.variant)) side.transfer.wait_source();  // what left is written next
    if (!lands(manner_.variant)) raise(Flag::used, side);
  }
}

double StencilTransfers::sum(prk::StencilShare& /*share*/, double value) {
  return context_->reduce_all(value, Context::ReduceOp::sum);
}

void StencilTransfers::put(Side& side) {
  const auto pitch_bytes = static_cast<std::ptrdiff_t>(partition_.pitch() * sizeof(double));
  const std::array<std::ptrdiff_t, 2> strides = {sizeof(double), pitch_bytes};
  const double* const source = memory_.here() + side.face.source;
  const std::array<size_t, 2> extents = {side.face.columns, side.face.rows};
  const auto there = [&](size_t place) {
    return memory_.on(side.face.neighbour) + static_cast<std::ptrdiff_t>(place);
  };
  if (!signals(manner_.variant)) {
    side.transfer = rput_strided<2, double>(*context_, source, strides, there(side.face.ghosts),
                                            strides, extents, manner_.transfers);
    return;
  }
  // Keeps the flags of two steps in their order.
  side.transfer.wait();
  const auto row_bytes = static_cast<std::ptrdiff_t>(side.face.columns * sizeof(double));
  const std::array<std::ptrdiff_t, 2> in_buffer = {sizeof(double), row_bytes};
  side.transfer = rput_strided_signal<2, double>(
      *context_, source, strides, there(buffer_place(side.opposite)), in_buffer, extents,
      flag(Flag::filled, side.opposite, side.face.neighbour), step_, manner_.transfers);
}

// A put has ended that did not take its flag along.
void StencilTransfers::tell(Side& side) {
  raise(Flag::filled, side);
  side.told = true;
}

void StencilTransfers::put_elements(Side& side) {
  const prk::StencilFace& face = side.face;
  const global_ptr<double> target = memory_.on(face.neighbour);
  for (size_t row = 0; row < face.rows; ++row) {
    for (size_t column = 0; column < face.columns; ++column) {
      const size_t offset = row * partition_.pitch() + column;
      context_->rput(memory_.here()[face.source + offset],
                     target + static_cast<std::ptrdiff_t>(face.ghosts + offset));
    }
  }
}

void StencilTransfers::put_packed(Side& side) {
  const prk::StencilFace& face = side.face;
  // Also keeps the flags of two steps in their order.
  side.transfer.wait();
  double* packed = side.packed.data();
  for (size_t row = 0; row < face.rows; ++row) {
    const double* const points = memory_.here() + face.source + row * partition_.pitch();
    packed = std::copy_n(points, face.columns, packed);
  }
  count_copy(context_->work(), face.rows, face.columns * sizeof(double));
  const auto place = static_cast<std::ptrdiff_t>(buffer_place(side.opposite));
  side.transfer =
      context_->rput_signal(side.packed.data(), memory_.on(face.neighbour) + place, face.elements(),
                            flag(Flag::filled, side.opposite, face.neighbour), step_);
}

void StencilTransfers::unpack(const Side& side) {
  const prk::StencilFace& back = side.back;
  const double* packed = memory_.here() + buffer_place(side.index);
  for (size_t row = 0; row < back.rows; ++row) {
    double* const ghosts = memory_.here() + back.ghosts + row * partition_.pitch();
    std::copy_n(packed, back.columns, ghosts);
    packed += back.columns;
  }
  count_copy(context_->work(), back.rows, back.columns * sizeof(double));
}

// Makes progress for the neighbours' sake, too, and tells them what has come.
void StencilTransfers::look_after() {
  context_->progress();
  for (Side& side : sides_) {
    if (!side.told && side.transfer.is_ready()) tell(side);
  }
}

}  // namespace stripline::suites
