// Ghost cells: borders that travel together are packed, put with one signal, and unpacked.
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <stripline/halo.h>
#include <stripline/team.h>
#include <stripline/vis.h>

#include "runtime/array/halo_layout.h"
#include "runtime/rma/context_state.h"
#include "runtime/rma/turns.h"
#include "runtime/vis/copy_rows.h"
#include "runtime/vis/cursor.h"
#include "runtime/vis/stream.h"
#include "runtime/vis/strided.h"

namespace stripline::detail {
namespace {

using array::HaloBox;
using array::HaloLayout;
using array::HaloParcel;
using array::HaloPart;
using array::PerDimension;

class Halo final : public HaloExchange {
 public:
  Halo(Context& context, const HaloLayout& layout, const HaloPart& part);
  ~Halo() override;
  void start(std::byte* array, CallSite site) override;
  void wait(CallSite site) override;
  size_t neighbours() const override { return neighbours_; }

  /// Takes the memory, which is the same on all ranks.
  Status allocate(const HaloLayout& layout, CallSite site);

 private:
  /// Cells that lie side by side in transit.
  struct Border {
    HaloBox box;
    vis::Side side;  // where they lie in the array
    size_t bytes = 0;
  };
  struct Incoming {
    size_t number = 0;  // of its flags
    size_t here = 0;    // from this rank's landing places
    std::vector<Border> ghosts;
    rma::Landing landing;
  };
  struct Outgoing {
    rank_t rank = 0;
    size_t number = 0;  // of its flags at that rank
    size_t there = 0;   // from that rank's landing places
    size_t bytes = 0;
    std::vector<Border> borders;
    rma::TurnSender sender;
  };

  std::ptrdiff_t byte_offset(const HaloBox& box) const;
  vis::Strided shape_of(const HaloBox& box) const;
  Border border_of(const HaloBox& box) const;
  size_t flag_bytes() const { return array::halo_padded(2 * directions_ * sizeof(uint64_t)); }
  rma::Landing landing(rank_t rank, size_t number, size_t place) const;
  void send(Outgoing& parcel, CallSite site);
  void pack(const Outgoing& parcel, std::byte* out);
  void unpack(const Incoming& parcel);
  void copy_own();

  Context& context_;
  const std::shared_ptr<const ContextLife> life_;
  size_t dimensions_;
  size_t directions_;
  size_t element_bytes_;
  PerDimension<std::ptrdiff_t> strides_{};  // of the array, in bytes
  size_t neighbours_ = 0;
  std::vector<Outgoing> outgoing_;
  std::vector<Incoming> incoming_;
  std::vector<vis::Strided> own_;  // borders of this rank that are its own ghosts
  global_ptr<std::byte> memory_;   // flags, then two turns of landing places
  size_t turn_bytes_ = 0;
  uint64_t round_ = 0;  // of the exchange in progress, or of the next one
  std::byte* array_ = nullptr;
  uint64_t array_bytes_ = 0;
};

Halo::Halo(Context& context, const HaloLayout& layout, const HaloPart& part)
    : context_(context),
      life_(context.state().job.life()),
      dimensions_(layout.dimensions()),
      directions_(layout.directions()),
      element_bytes_(part.element_bytes) {
  auto stride = static_cast<std::ptrdiff_t>(element_bytes_);
  for (size_t d = dimensions_; d-- > 0;) {
    strides_[d] = stride;
    stride *= static_cast<std::ptrdiff_t>(part.interior[d] + 2 * part.width[d]);
  }
  array_bytes_ = static_cast<uint64_t>(stride);
  const rank_t me = context.rank_me();
  for (const HaloParcel& parcel : layout.incoming(me)) {
    Incoming& in = incoming_.emplace_back(
        Incoming{.number = parcel.number(), .here = parcel.offset, .ghosts = {}, .landing = {}});
    for (const size_t direction : parcel.directions) {
      in.ghosts.push_back(border_of(layout.ghosts(me, direction)));
    }
  }
  std::vector<bool> seen(context.rank_n(), false);
  for (size_t direction = 0; direction < directions_; ++direction) {
    const auto rank = layout.neighbour(me, direction);
    if (!rank) continue;
    ++neighbours_;
    if (*rank == me) {
      vis::Strided copy = shape_of(layout.ghosts(me, direction));
      copy.remote =
          std::exchange(copy.local, byte_offset(layout.sent(me, layout.opposite(direction))));
      for (vis::Dimension& dimension : copy.dimensions) {
        dimension.remote_stride = dimension.local_stride;
      }
      vis::normalise(copy);
      own_.push_back(copy);
    }
    if (*rank == me || seen[*rank]) continue;
    seen[*rank] = true;
    for (const HaloParcel& parcel : layout.incoming(*rank)) {
      if (parcel.source != me) continue;
      Outgoing& out = outgoing_.emplace_back(Outgoing{.rank = *rank,
                                                      .number = parcel.number(),
                                                      .there = parcel.offset,
                                                      .bytes = parcel.bytes,
                                                      .borders = {},
                                                      .sender = {}});
      for (const size_t there : parcel.directions) {
        out.borders.push_back(border_of(layout.sent(me, layout.opposite(there))));
      }
    }
  }
}

Status Halo::allocate(const HaloLayout& layout, CallSite site) {
  for (rank_t rank = 0; rank < context_.rank_n(); ++rank) {
    turn_bytes_ = std::max(turn_bytes_, HaloLayout::landing_bytes(layout.incoming(rank)));
  }
  STRIPLINE_ASSIGN_OR_RETURN(
      memory_, context_.new_symmetric_array<std::byte>(flag_bytes() + 2 * turn_bytes_, site));
  std::memset(context_.local(memory_), 0, flag_bytes());
  for (Incoming& in : incoming_) in.landing = landing(context_.rank_me(), in.number, in.here);
  for (Outgoing& out : outgoing_) {
    out.sender = rma::TurnSender(landing(out.rank, out.number, out.there));
  }
  context_.barrier(site);
  return {};
}

Halo::~Halo() {
  if (life_->is_over()) return;
  context_.state().mechanisms.arrays_in_use().remove(this);
  if (!memory_.is_null()) context_.delete_symmetric_array(memory_);
}

std::ptrdiff_t Halo::byte_offset(const HaloBox& box) const {
  std::ptrdiff_t offset = 0;
  for (size_t d = 0; d < dimensions_; ++d) {
    offset += static_cast<std::ptrdiff_t>(box.first[d]) * strides_[d];
  }
  return offset;
}

// From the array, locally, to dense memory.
vis::Strided Halo::shape_of(const HaloBox& box) const {
  vis::Strided shape;
  shape.local = byte_offset(box);
  shape.bytes = element_bytes_;
  auto dense = static_cast<int64_t>(element_bytes_);
  for (size_t d = dimensions_; d-- > 0;) {
    shape.dimensions.push_back({box.count[d], dense, strides_[d]});
    dense *= static_cast<int64_t>(box.count[d]);
  }
  return shape;
}

Halo::Border Halo::border_of(const HaloBox& box) const {
  Border border{.box = box, .side = {}, .bytes = 0};
  vis::Strided shape = shape_of(box);
  border.bytes = shape.total_bytes();
  vis::normalise(shape);
  vis::local_side(shape, border.side);
  return border;
}

// Flags, and behind them the places of both turns, lie alike on all ranks.
rma::Landing Halo::landing(rank_t rank, size_t number, size_t place) const {
  const global_ptr<std::byte> memory = context_.on_rank(memory_, rank);
  return {.first = memory + static_cast<std::ptrdiff_t>(flag_bytes() + place),
          .turn_bytes = turn_bytes_,
          .flags = memory.reinterpret<uint64_t>() + static_cast<std::ptrdiff_t>(2 * number)};
}

void Halo::start(std::byte* array, CallSite site) {
  const rma::Call call("halo_exchange::start", site);
  life_->check(call);
  if (array == nullptr) {
    context_.state().fail(
        Error(ErrorCode::invalid_argument,
              text(call) + " of a null pointer; it takes an array of elements() elements"));
  }
  if (array_ != nullptr) {
    context_.state().fail(
        Error(ErrorCode::invalid_argument,
              text(call) + " while an exchange of this object is in progress; wait() comes "
                           "first"));
  }
  array_ = array;
  context_.state().mechanisms.arrays_in_use().add({this, call, array, array_bytes_});
  for (Outgoing& parcel : outgoing_) send(parcel, site);
}

void Halo::send(Outgoing& parcel, CallSite site) {
  if (parcel.borders.size() > 1) {
    parcel.sender.send_packed(
        context_, round_, parcel.bytes, [&](std::byte* to) { pack(parcel, to); }, site);
    return;
  }
  const HaloBox& box = parcel.borders.front().box;
  PerDimension<std::ptrdiff_t> dense{};
  auto stride = static_cast<std::ptrdiff_t>(element_bytes_);
  for (size_t d = dimensions_; d-- > 0;) {
    dense[d] = stride;
    stride *= static_cast<std::ptrdiff_t>(box.count[d]);
  }
  const rma::Landing& there = parcel.sender.there();
  const VisStrided transfer{.local = array_ + byte_offset(box),
                            .local_strides = std::span(strides_).first(dimensions_),
                            .target = parcel.rank,
                            .offset = there.place(round_).offset(),
                            .remote_strides = std::span(dense).first(dimensions_),
                            .extents = std::span(box.count).first(dimensions_),
                            .element_bytes = element_bytes_};
  const VisSignal signal{"flag of halo_exchange", there.flag(round_),
                         rma::Landing::value_of(round_)};
  future& put = parcel.sender.begin(round_, site);
  put = start_strided(context_, "halo_exchange", VisDirection::put, transfer, {}, site, &signal);
}

void Halo::wait(CallSite site) {
  if (array_ == nullptr) return;
  copy_own();
  for (const Incoming& parcel : incoming_) {
    context_.wait_signal(parcel.landing.flag(round_), rma::Landing::value_of(round_), site);
    unpack(parcel);
  }
  for (const Outgoing& parcel : outgoing_) parcel.sender.wait_source(round_, site);
  ++round_;
  array_ = nullptr;
  context_.state().mechanisms.arrays_in_use().remove(this);
}

void Halo::pack(const Outgoing& parcel, std::byte* out) {
  Work* const work = context_.state().job.fabric().work();
  for (const Border& border : parcel.borders) {
    vis::SideCursor from;
    from.start(border.side);
    const auto packed = vis::gather(from, array_, border.bytes, out, work);
    if (packed.data() != out) context_.state().memory.copy_here(out, packed.data(), border.bytes);
    out += border.bytes;
  }
}

void Halo::unpack(const Incoming& parcel) {
  const std::byte* from = context_.local(parcel.landing.place(round_));
  for (const Border& border : parcel.ghosts) {
    vis::SideCursor to;
    to.start(border.side);
    vis::scatter(to, {from, border.bytes}, array_, context_.state().job.fabric().work());
    from += border.bytes;
  }
}

void Halo::copy_own() {
  for (const vis::Strided& copy : own_) {
    vis::PairCursor cursor;
    for (cursor.start(copy); !cursor.done();) {
      const vis::RunPair run = cursor.next(UINT64_MAX);
      vis::copy_rows(array_ + run.remote, run.remote_stride, array_ + run.local, run.local_stride,
                     run.count, run.bytes);
      count_copy(context_.state().job.fabric().work(), run.count, run.bytes);
    }
  }
}

}  // namespace

Result<std::unique_ptr<HaloExchange>> HaloExchange::create(Context& context, const HaloShape& shape,
                                                           CallSite site) {
  HaloPart mine;
  for (size_t d = 0; d < shape.grid.size(); ++d) {
    mine.interior[d] = shape.interior[d];
    mine.width[d] = shape.width[d];
    mine.grid[d] = shape.grid[d];
    mine.periodic[d] = shape.periodic[d] ? 1 : 0;
  }
  mine.corners = static_cast<uint32_t>(shape.neighbours);
  mine.element_bytes = static_cast<uint32_t>(shape.element_bytes);
  mine.together_bytes = context.state().operations.one_way_signalled_bytes();
  std::vector<HaloPart> parts(context.rank_n());
  team::world(context).allgather(std::span(&mine, 1), parts, collective_algorithm::automatic, site);
  const HaloLayout layout(shape.grid.size(), parts);
  if (const std::string mistake = layout.mistake(); !mistake.empty()) {
    return Error(ErrorCode::invalid_argument, "halo_exchange: " + mistake);
  }
  auto halo = std::make_unique<Halo>(context, layout, mine);
  STRIPLINE_RETURN_IF_ERROR(halo->allocate(layout, site));
  return std::unique_ptr<HaloExchange>(std::move(halo));
}

}  // namespace stripline::detail
