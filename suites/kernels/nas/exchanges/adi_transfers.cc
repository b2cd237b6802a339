#include "suites/kernels/nas/exchanges/adi_transfers.h"

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
size_t doubles_of(const nas::AdiRegion& region) { return region.run * runs_of(region); }

// The same doubles without gaps.
nas::AdiRegion packed(const nas::AdiRegion& region) {
  return {0, region.run, region.count, {region.run, region.run * region.count[0]}};
}

// Calls visit(begin) for each run of a region.
template <typename Visit>
void for_each_run(const nas::AdiRegion& region, const Visit& visit) {
  for (size_t b = 0; b < region.count[1]; ++b) {
    for (size_t a = 0; a < region.count[0]; ++a) {
      visit(region.begin + a * region.stride[0] + b * region.stride[1]);
    }
  }
}

// Boundaries between slices, along each axis, there and back.
size_t crossings_of(const nas::AdiLayout& layout) {
  return size_t{6} * static_cast<size_t>(layout.partition().cells_per_axis() - 1);
}

// The faces that `peer` has on one side of its cells along an axis, in its order.
std::vector<nas::AdiFace> faces_of(const nas::AdiPartition& mine, nas::AdiWidths widths,
                                   uint32_t ranks, uint32_t peer, int axis, nas::Side side) {
  const auto partition = nas::AdiPartition::create(mine.points(), ranks, peer).value();
  std::vector<nas::AdiFace> faces = nas::AdiLayout(partition, widths).faces();
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

Result<AdiTransfers> AdiTransfers::create(Context& context, const StridedManner& manner,
                                          const nas::AdiLayout& layout, PlainFaces plain_faces) {
  const bool lands = puts_packed(manner, plain_faces) || signals(manner.variant);
  const size_t buffers = lands ? kSides * side_doubles(layout) : 0;
  const size_t crossings = crossings_of(layout);
  STRIPLINE_ASSIGN_OR_RETURN(
      auto memory, SymmetricMemory<double>::create(context, layout.shared_doubles() + buffers));
  STRIPLINE_ASSIGN_OR_RETURN(auto flags,
                             SymmetricMemory<uint64_t>::create(context, kSides + crossings));
  const bool planned =
      manner.variant == StridedVariant::tuned || manner.variant == StridedVariant::guarded;
  const WavefrontOptions options{
      .stages = static_cast<uint32_t>(layout.partition().cells_per_axis()),
      .use_model = planned,
      .pieces = planned ? 0 : static_cast<uint32_t>(manner.pieces),
      .self_check = manner.transfers.self_check};
  STRIPLINE_ASSIGN_OR_RETURN(auto wavefront, Wavefront::create(context, crossings, options));
  return AdiTransfers(context, manner, layout, plain_faces, std::move(memory), std::move(flags),
                      std::move(wavefront));
}

AdiTransfers::AdiTransfers(Context& context, const StridedManner& manner,
                           const nas::AdiLayout& layout, PlainFaces plain_faces,
                           SymmetricMemory<double> memory, SymmetricMemory<uint64_t> flags,
                           Wavefront wavefront)
    : context_(&context),
      manner_(manner),
      layout_(layout),
      plain_faces_(plain_faces),
      copies_(context, manner.variant == StridedVariant::plain_hand),
      faces_(layout.faces()),
      side_doubles_(side_doubles(layout)),
      memory_(std::move(memory)),
      flags_(std::move(flags)),
      arriving_(faces_.size()),
      wavefront_(std::move(wavefront)) {
  const nas::AdiPartition& partition = layout.partition();
  if (partition.cells_per_axis() == 1) return;
  if (signals(manner.variant)) {
    buffered_ = places_of_faces();
    plan_filling();
  }
  if (!puts_packed(manner, plain_faces)) return;
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

size_t AdiTransfers::crossing(const nas::AdiSweepStep& step, int boundary) const {
  const auto boundaries = static_cast<size_t>(layout_.partition().cells_per_axis() - 1);
  const size_t there = static_cast<size_t>(step.axis) * boundaries + static_cast<size_t>(boundary);
  return 2 * there + (step.forward ? 0 : 1);
}

uint32_t AdiTransfers::most_pieces() const {
  uint32_t most = 1;
  for (size_t i = 0; i < crossings_of(layout_); ++i) most = std::max(most, wavefront_.pieces(i));
  return most;
}

void AdiTransfers::copy_faces(nas::AdiShare& share) {
  ++iteration_;
  wavefront_.finish();
  const nas::AdiPartition& partition = layout_.partition();
  const int cells = partition.cells_per_axis();
  if (manner_.variant == StridedVariant::packed) return copy_packed_faces(share);
  if (is_plain(manner_.variant)) return copy_plain_faces(share);
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
    if (waits(manner_.variant)) arriving_[i].wait();
  }
  size_t next = 0;
  for (int cell = 0; cell < cells; ++cell) {
    for (; next < faces_.size() && faces_[next].cell == cell; ++next) arriving_[next].wait();
    share.rhs(cell);
  }
}

// Where this rank's faces arrive: those of a side one after the other.
std::vector<size_t> AdiTransfers::places_of_faces() const {
  std::array<size_t, kSides> next{};
  for (size_t side = 0; side < kSides; ++side) next[side] = buffer_of(side);
  std::vector<size_t> places;
  for (const nas::AdiFace& face : faces_) {
    size_t& place = next[side_index(face.axis, face.side)];
    places.push_back(place);
    place += doubles_of(face.target);
  }
  return places;
}

// What leaves on one of our sides is what the neighbour there has on its opposite one, at the same
// places of its buffer for that side.
void AdiTransfers::plan_filling() {
  const nas::AdiPartition& partition = layout_.partition();
  for (int axis = 0; axis < 3; ++axis) {
    for (const nas::Side side : kBothSides) {
      Filled& filled = filled_[side_index(axis, side)];
      filled.peer = partition.neighbour(axis, side);
      filled.side = side_index(axis, opposite(side));
      for (const nas::AdiFace& face : faces_of(partition, layout_.widths(), context_->rank_n(),
                                               filled.peer, axis, opposite(side))) {
        filled.regions.push_back(face.source);
        for_each_run(face.source, [&](size_t at) {
          filled.runs.emplace_back(memory_.here() + at, face.source.run);
        });
        filled.doubles += doubles_of(face.source);
      }
    }
  }
}

void AdiTransfers::put_faces(nas::AdiShare& share) {
  std::array<bool, kSides> came{};
  if (layout_.partition().cells_per_axis() > 1) {
    for (Filled& filled : filled_) {
      filled.leaving.wait();  // keeps the flags of two iterations in their order
      filled.leaving = fill(filled);
    }
  }
  size_t next = 0;
  for (int cell = 0; cell < layout_.partition().cells_per_axis(); ++cell) {
    for (; next < faces_.size() && faces_[next].cell == cell; ++next) {
      const size_t side = side_index(faces_[next].axis, faces_[next].side);
      if (!std::exchange(came[side], true)) await(side);
      unpack(memory_.here() + buffered_[next], faces_[next].target);
    }
    share.rhs(cell);
  }
  for (const Filled& filled : filled_) filled.leaving.wait_source();
}

future AdiTransfers::fill(const Filled& filled) {
  const global_ptr<double> buffer = memory_.on(filled.peer) + distance(buffer_of(filled.side));
  const global_ptr<uint64_t> flag = flags_.on(filled.peer) + distance(filled.side);
  if (filled.regions.size() > 1) {
    const std::array<std::pair<global_ptr<double>, size_t>, 1> place = {{{buffer, filled.doubles}}};
    return rput_irregular_signal(*context_, filled.runs.begin(), filled.runs.end(), place.begin(),
                                 place.end(), flag, iteration_, manner_.transfers);
  }
  // A shape is shorter to describe.
  const nas::AdiRegion& from = filled.regions.front();
  return rput_strided_signal<3, double>(*context_, memory_.here() + from.begin, strides_of(from),
                                        buffer, strides_of(packed(from)), extents_of(from), flag,
                                        iteration_, manner_.transfers);
}

double* AdiTransfers::pack(const nas::AdiRegion& from, double* packed) {
  for_each_run(from,
               [&](size_t at) { packed = std::copy_n(memory_.here() + at, from.run, packed); });
  count_copy(context_->work(), runs_of(from), from.run * sizeof(double));
  return packed;
}

const double* AdiTransfers::unpack(const double* packed, const nas::AdiRegion& to) {
  for_each_run(to, [&](size_t at) {
    std::copy_n(packed, to.run, memory_.here() + at);
    packed += to.run;
  });
  count_copy(context_->work(), runs_of(to), to.run * sizeof(double));
  return packed;
}

future AdiTransfers::fetch(const nas::AdiFace& face) {
  if (manner_.variant == StridedVariant::fine) {
    fetch_elements(face);
    return {};
  }
  const nas::AdiRegion& to = face.target;
  const auto strides = strides_of(to);
  VisOptions options = manner_.transfers;
  // Until the layers of a later cell are waited for, the right-hand sides of others are computed.
  if (!waits(manner_.variant) && face.cell != 0) {
    options.compute = VisCompute::heavy;
  }
  return rget_strided<3, double>(*context_, memory_.on(face.peer) + distance(face.source.begin),
                                 strides, memory_.here() + to.begin, strides, extents_of(to),
                                 options);
}

// The source has the strides of the target.
void AdiTransfers::fetch_elements(const nas::AdiFace& face) {
  const nas::AdiRegion& to = face.target;
  const global_ptr<double> source = memory_.on(face.peer) + distance(face.source.begin);
  for_each_run(to, [&](size_t at) {
    for (size_t i = at; i < at + to.run; ++i) {
      memory_.here()[i] = context_->rget(source + distance(i - to.begin));
    }
  });
}

void AdiTransfers::hand_on(const nas::AdiSweepStep& step) {
  const double* const results = memory_.here() + step.out;
  const global_ptr<double> place = memory_.on(step.to) + distance(step.to_in);
  const size_t count = step.lines * step.width;
  if (manner_.variant != StridedVariant::fine) {
    context_->rput(results, place, count).wait();
    return;
  }
  for (size_t i = 0; i < count; ++i) context_->rput(results[i], place + distance(i));
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
      for (const nas::AdiRegion& region : out.regions) packed = pack(region, packed);
      out.leaving =
          context_->rput_signal(out.packed.data(), memory_.on(peer) + distance(buffer_of(there)),
                                static_cast<size_t>(packed - out.packed.data()),
                                flags_.on(peer) + distance(there), iteration_);
    }
  }
  std::array<const double*, kSides> arrived{};
  for (const nas::AdiFace& face : faces_) {
    const size_t side = side_index(face.axis, face.side);
    if (arrived[side] == nullptr) {
      await(side);
      arrived[side] = mine + buffer_of(side);
    }
    arrived[side] = unpack(arrived[side], face.target);
  }
  for (int cell = 0; cell < cells; ++cell) share.rhs(cell);
}

void AdiTransfers::copy_plain_faces(nas::AdiShare& share) {
  const int cells = layout_.partition().cells_per_axis();
  if (cells > 1 && plain_faces_ == PlainFaces::puts) put_plain_layers();
  if (cells > 1 && plain_faces_ == PlainFaces::gets) {
    context_->barrier();  // the cells of all ranks are up to date
    if (manner_.variant == StridedVariant::bulk_bursts) {
      bulk_region region(*context_);
      const auto burst = region.aggregate();
      fetch_runs();
    } else {
      fetch_runs();
    }
  }
  for (int cell = 0; cell < cells; ++cell) share.rhs(cell);
}

// The source has the strides of the target.
void AdiTransfers::fetch_runs() {
  for (const nas::AdiFace& face : faces_) {
    const global_ptr<double> source = memory_.on(face.peer) + distance(face.source.begin);
    for_each_run(face.target, [&](size_t at) {
      copies_.get(memory_.here() + at, source + distance(at - face.target.begin), face.target.run);
    });
  }
  copies_.finish();
}

// The buffers of the time step before have been read: all ranks have met in its sweeps since then,
// or in a sum.
void AdiTransfers::put_plain_layers() {
  const nas::AdiPartition& partition = layout_.partition();
  for (int axis = 0; axis < 3; ++axis) {
    for (const nas::Side side : kBothSides) {
      Outgoing& out = outgoing_[side_index(axis, side)];
      global_ptr<double> place = memory_.on(partition.neighbour(axis, side)) +
                                 distance(buffer_of(side_index(axis, opposite(side))));
      double* packed = out.packed.data();
      for (const nas::AdiRegion& region : out.regions) {
        const double* const layer = packed;
        packed = pack(region, packed);
        const auto count = static_cast<size_t>(packed - layer);
        copies_.put(place, layer, count);
        place = place + distance(count);
      }
    }
  }
  copies_.finish();
  context_->barrier();
  std::array<const double*, kSides> arrived{};
  for (size_t side = 0; side < kSides; ++side) arrived[side] = memory_.here() + buffer_of(side);
  for (const nas::AdiFace& face : faces_) {
    const double*& next = arrived[side_index(face.axis, face.side)];
    next = unpack(next, face.target);
  }
}

void AdiTransfers::sum(std::span<double> values) {
  for (double& value : values) value = context_->reduce_all(value, Context::ReduceOp::sum);
}

}  // namespace stripline::suites
