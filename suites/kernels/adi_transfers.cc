#include "suites/kernels/adi_transfers.h"

#include <algorithm>
#include <utility>

namespace stripline::suites {
namespace {

nas::Side opposite(nas::Side side) {
  return side == nas::Side::low ? nas::Side::high : nas::Side::low;
}

constexpr std::array<nas::Side, 2> kBothSides = {nas::Side::low, nas::Side::high};

std::ptrdiff_t distance(size_t doubles) { return static_cast<std::ptrdiff_t>(doubles); }

std::ptrdiff_t bytes(size_t doubles) {
  return static_cast<std::ptrdiff_t>(doubles * sizeof(double));
}

// As strided calls take them; source and target of a face have the same ones.
std::array<std::ptrdiff_t, 3> strides_of(const nas::AdiRegion& region) {
  return {sizeof(double), bytes(region.stride[0]), bytes(region.stride[1])};
}
std::array<size_t, 3> extents_of(const nas::AdiRegion& region) {
  return {region.run, region.count[0], region.count[1]};
}

size_t runs_of(const nas::AdiRegion& region) { return region.count[0] * region.count[1]; }

// Calls visit(begin) for each run of a region.
template <typename Visit>
void for_each_run(const nas::AdiRegion& region, const Visit& visit) {
  for (size_t b = 0; b < region.count[1]; ++b) {
    for (size_t a = 0; a < region.count[0]; ++a) {
      visit(region.begin + a * region.stride[0] + b * region.stride[1]);
    }
  }
}

// The faces that `peer` has, and those of them on one side of its cells along an axis, in its
// order.
std::vector<nas::AdiFace> faces_of(const nas::AdiPartition& mine, nas::AdiWidths widths,
                                   uint32_t ranks, uint32_t peer) {
  const auto partition = nas::AdiPartition::create(mine.points(), ranks, peer).value();
  return nas::AdiLayout(partition, widths).faces();
}
std::vector<nas::AdiFace> faces_of(const nas::AdiPartition& mine, nas::AdiWidths widths,
                                   uint32_t ranks, uint32_t peer, int axis, nas::Side side) {
  std::vector<nas::AdiFace> faces = faces_of(mine, widths, ranks, peer);
  std::erase_if(faces,
                [&](const nas::AdiFace& face) { return face.axis != axis || face.side != side; });
  return faces;
}

}  // namespace

size_t AdiTransfers::side_doubles(const nas::AdiLayout& layout) {
  const nas::AdiPartition& partition = layout.partition();
  const auto points = static_cast<size_t>(partition.slice_points(0));
  const auto cells = static_cast<size_t>(partition.cells_per_axis());
  return (cells - 1) * points * points * nas::kGhosts * nas::kComponents;
}

Result<AdiTransfers> AdiTransfers::create(Context& context, const NasManner& manner,
                                          const nas::AdiLayout& layout) {
  const size_t buffers = manner.variant == NasVariant::packed ? kSides * side_doubles(layout) : 0;
  const auto boundaries = static_cast<size_t>(layout.partition().cells_per_axis() - 1);
  const size_t sweeps = size_t{3} * boundaries * 2 * manner.pieces;
  STRIPLINE_ASSIGN_OR_RETURN(
      auto memory, SymmetricMemory<double>::create(context, layout.shared_doubles() + buffers));
  STRIPLINE_ASSIGN_OR_RETURN(auto flags, SymmetricMemory<uint64_t>::create(
                                             context, kSides + layout.faces().size() + sweeps));
  return AdiTransfers(context, manner, layout, std::move(memory), std::move(flags));
}

AdiTransfers::AdiTransfers(Context& context, const NasManner& manner, const nas::AdiLayout& layout,
                           SymmetricMemory<double> memory, SymmetricMemory<uint64_t> flags)
    : context_(&context),
      manner_(manner),
      layout_(layout),
      faces_(layout.faces()),
      side_doubles_(side_doubles(layout)),
      memory_(std::move(memory)),
      flags_(std::move(flags)),
      arriving_(faces_.size()) {
  const nas::AdiPartition& partition = layout.partition();
  const auto boundaries = static_cast<size_t>(partition.cells_per_axis() - 1);
  leaving_.reserve(size_t{3} * boundaries * 2 * manner.pieces);
  if (boundaries == 0) return;
  if (signals(manner.variant)) plan_filling();
  if (manner.variant != NasVariant::packed) return;
  for (int axis = 0; axis < 3; ++axis) {
    for (const nas::Side side : kBothSides) {
      // What leaves on our side is what the neighbour has on its opposite one.
      Outgoing& out = outgoing_[side_index(axis, side)];
      for (const nas::AdiFace& face :
           faces_of(partition, layout.widths(), context.rank_n(), partition.neighbour(axis, side),
                    axis, opposite(side))) {
        out.regions.push_back(face.source);
      }
      out.packed.resize(side_doubles_);
    }
  }
}

void AdiTransfers::raise(rank_t peer, size_t flag) {
  const global_ptr<uint64_t> there = flags_.on(peer) + distance(flag);
  context_->rput_signal<uint64_t>(nullptr, there, 0, there, iteration_);
}

void AdiTransfers::await(size_t flag) {
  context_->wait_signal(flags_.on(context_->rank_me()) + distance(flag), iteration_);
}

size_t AdiTransfers::sweep_flag(const nas::AdiSweepStep& step, int boundary, size_t piece) const {
  const auto boundaries = static_cast<size_t>(layout_.partition().cells_per_axis() - 1);
  const size_t crossing =
      static_cast<size_t>(step.axis) * boundaries + static_cast<size_t>(boundary);
  return kSides + faces_.size() + (2 * crossing + (step.forward ? 0 : 1)) * manner_.pieces + piece;
}

void AdiTransfers::hand_on(const nas::AdiSweepStep& step, size_t begin, size_t end, size_t flag) {
  const double* const source = memory_.here() + step.out + begin * step.width;
  const global_ptr<double> target = memory_.on(step.to) + distance(step.to_in + begin * step.width);
  const size_t count = (end - begin) * step.width;
  if (manner_.variant == NasVariant::blocking) {
    context_->rput(source, target, count).wait();
    raise(step.to, flag);
    return;
  }
  leaving_.push_back(context_->rput_signal(source, target, count,
                                           flags_.on(step.to) + distance(flag), iteration_));
}

void AdiTransfers::copy_faces(nas::AdiShare& share) {
  ++iteration_;
  wait_all(leaving_);
  leaving_.clear();
  const nas::AdiPartition& partition = layout_.partition();
  const int cells = partition.cells_per_axis();
  if (manner_.variant == NasVariant::packed) return copy_packed_faces(share);
  if (signals(manner_.variant)) return put_faces(share);

  if (cells > 1) {
    for (int axis = 0; axis < 3; ++axis) {
      for (const nas::Side side : kBothSides) {
        raise(partition.neighbour(axis, side), side_index(axis, opposite(side)));
      }
    }
  }
  for (size_t i = 0; i < faces_.size(); ++i) {
    await(side_index(faces_[i].axis, faces_[i].side));
    arriving_[i] = fetch(faces_[i]);
    if (manner_.variant == NasVariant::blocking) arriving_[i].wait();
  }
  size_t next = 0;
  for (int cell = 0; cell < cells; ++cell) {
    for (; next < faces_.size() && faces_[next].cell == cell; ++next) arriving_[next].wait();
    share.rhs(cell);
  }
}

// The neighbours' faces that are ours on the opposite side, first those of their first cells.
void AdiTransfers::plan_filling() {
  const nas::AdiPartition& partition = layout_.partition();
  for (int axis = 0; axis < 3; ++axis) {
    for (const nas::Side side : kBothSides) {
      const rank_t peer = partition.neighbour(axis, side);
      const auto faces = faces_of(partition, layout_.widths(), context_->rank_n(), peer);
      for (size_t i = 0; i < faces.size(); ++i) {
        if (faces[i].axis != axis || faces[i].side != opposite(side)) continue;
        filled_.push_back({faces[i], peer, face_flag(i)});
      }
    }
  }
  std::stable_sort(filled_.begin(), filled_.end(), [](const Filled& one, const Filled& other) {
    return one.face.cell < other.face.cell;
  });
  filling_.resize(filled_.size());
}

void AdiTransfers::put_faces(nas::AdiShare& share) {
  for (size_t i = 0; i < filled_.size(); ++i) filling_[i] = fill(filled_[i]);
  size_t next = 0;
  for (int cell = 0; cell < layout_.partition().cells_per_axis(); ++cell) {
    for (; next < faces_.size() && faces_[next].cell == cell; ++next) await(face_flag(next));
    share.rhs(cell);
  }
  wait_all(filling_);
}

future AdiTransfers::fill(const Filled& filled) {
  const nas::AdiRegion& to = filled.face.target;
  const auto strides = strides_of(to);
  return rput_strided_signal<3, double>(
      *context_, memory_.here() + filled.face.source.begin, strides,
      memory_.on(filled.peer) + distance(to.begin), strides, extents_of(to),
      flags_.on(filled.peer) + distance(filled.flag), iteration_, manner_.transfers);
}

future AdiTransfers::fetch(const nas::AdiFace& face) {
  const nas::AdiRegion& to = face.target;
  const auto strides = strides_of(to);
  VisOptions options = manner_.transfers;
  // Until the layers of a later cell are waited for, the right-hand sides of others are computed.
  if (manner_.variant != NasVariant::blocking && face.cell != 0) {
    options.compute = VisCompute::heavy;
  }
  return rget_strided<3, double>(*context_, memory_.on(face.peer) + distance(face.source.begin),
                                 strides, memory_.here() + to.begin, strides, extents_of(to),
                                 options);
}

void AdiTransfers::copy_packed_faces(nas::AdiShare& share) {
  const nas::AdiPartition& partition = layout_.partition();
  const int cells = partition.cells_per_axis();
  double* const mine = memory_.here();
  for (int axis = 0; axis < 3 && cells > 1; ++axis) {
    for (const nas::Side side : kBothSides) {
      Outgoing& out = outgoing_[side_index(axis, side)];
      const rank_t peer = partition.neighbour(axis, side);
      const size_t there = side_index(axis, opposite(side));
      out.leaving.wait();
      double* packed = out.packed.data();
      for (const nas::AdiRegion& region : out.regions) {
        for_each_run(region,
                     [&](size_t at) { packed = std::copy_n(mine + at, region.run, packed); });
        count_copy(context_->work(), runs_of(region), region.run * sizeof(double));
      }
      out.leaving = context_->rput_signal(
          out.packed.data(),
          memory_.on(peer) + distance(layout_.shared_doubles() + there * side_doubles_),
          static_cast<size_t>(packed - out.packed.data()), flags_.on(peer) + distance(there),
          iteration_);
    }
  }
  std::array<const double*, kSides> arrived{};
  for (const nas::AdiFace& face : faces_) {
    const size_t side = side_index(face.axis, face.side);
    if (arrived[side] == nullptr) {
      await(side);
      arrived[side] = mine + layout_.shared_doubles() + side * side_doubles_;
    }
    for_each_run(face.target, [&](size_t at) {
      std::copy_n(arrived[side], face.target.run, mine + at);
      arrived[side] += face.target.run;
    });
    count_copy(context_->work(), runs_of(face.target), face.target.run * sizeof(double));
  }
  for (int cell = 0; cell < cells; ++cell) share.rhs(cell);
}

void AdiTransfers::sum(std::span<double> values) {
  for (double& value : values) value = context_->reduce_all(value, Context::ReduceOp::sum);
}

}  // namespace stripline::suites
