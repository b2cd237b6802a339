// Ghost cells. A direction is a vector of -1, 0 and 1, numbered in base 3, so that the opposite of
// number i is the last number minus i.
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <stripline/halo.h>
#include <stripline/team.h>
#include <stripline/vis.h>

#include "runtime/rma/context_state.h"

namespace stripline::detail {
namespace {

constexpr size_t kMost = 4;
constexpr size_t kAlignment = 64;

template <typename T>
using PerDimension = std::array<T, kMost>;

size_t padded(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

/// What each rank says of itself. Dimensions that are not there have one place and no ghosts.
struct Part {
  PerDimension<uint64_t> interior{1, 1, 1, 1};
  PerDimension<uint64_t> width{};
  PerDimension<uint32_t> grid{1, 1, 1, 1};
  PerDimension<uint8_t> periodic{};
  uint32_t corners = 0;
  uint32_t element_bytes = 0;

  bool same_but_interior(const Part& other) const {
    return width == other.width && grid == other.grid && periodic == other.periodic &&
           corners == other.corners && element_bytes == other.element_bytes;
  }
};

/// A box of elements in an array.
struct Box {
  PerDimension<size_t> first{};
  PerDimension<size_t> count{};
};

class Halo final : public HaloExchange {
 public:
  Halo(Context& context, size_t dimensions, std::span<const Part> parts);
  ~Halo() override;
  void start(std::byte* array, CallSite site) override;
  void wait() override;
  size_t neighbours() const override { return borders_.size(); }

  static std::string mistake(size_t dimensions, std::span<const Part> parts);
  /// Takes the memory, which is the same on all ranks.
  Status allocate(std::span<const Part> parts, CallSite site);

 private:
  /// What goes to a neighbour, and what comes from it.
  struct Border {
    size_t direction = 0;  // to the neighbour
    rank_t rank = 0;
    Box sent;
    Box ghosts;
    size_t there = 0;  // where the neighbour keeps what it gets from here, from its landing places
    size_t here = 0;   // and this rank what it gets from there
    size_t ghost_bytes = 0;
    std::array<future, 2> put;
  };

  PerDimension<size_t> place_of(rank_t rank) const;
  std::optional<rank_t> neighbour(rank_t rank, size_t direction) const;
  PerDimension<int> vector_of(size_t direction) const;
  size_t directions() const;
  size_t border_bytes(const Part& part, size_t direction) const;
  /// Where `rank` keeps what comes from a direction, in one of the two turns; with the number of
  /// directions: the length of all.
  size_t landing_offset(const Part& part, rank_t rank, size_t direction) const;
  global_ptr<uint64_t> flag(rank_t rank, size_t direction) const;
  std::ptrdiff_t byte_offset(const Box& box) const;
  void unpack(const Border& border);

  Context& context_;
  size_t dimensions_;
  Part part_;
  PerDimension<std::ptrdiff_t> strides_{};  // of the array, in bytes
  std::vector<Border> borders_;
  global_ptr<std::byte> memory_;  // flags, then two turns of landing places
  size_t turn_bytes_ = 0;
  uint64_t round_ = 0;  // of the exchange under way, or of the next one
  std::byte* array_ = nullptr;
};

size_t Halo::directions() const {
  size_t count = 1;
  for (size_t d = 0; d < dimensions_; ++d) count *= 3;
  return count;
}

PerDimension<int> Halo::vector_of(size_t direction) const {
  PerDimension<int> vector{};
  for (size_t d = 0; d < dimensions_; ++d, direction /= 3) {
    vector[d] = static_cast<int>(direction % 3) - 1;
  }
  return vector;
}

PerDimension<size_t> Halo::place_of(rank_t rank) const {
  PerDimension<size_t> place{};
  for (size_t d = dimensions_; d-- > 0;) {
    place[d] = rank % part_.grid[d];
    rank /= part_.grid[d];
  }
  return place;
}

// None: the grid ends there, or nothing is exchanged in this direction.
std::optional<rank_t> Halo::neighbour(rank_t rank, size_t direction) const {
  const PerDimension<int> vector = vector_of(direction);
  const PerDimension<size_t> place = place_of(rank);
  size_t nonzero = 0;
  uint64_t found = 0;
  for (size_t d = 0; d < dimensions_; ++d) {
    auto there = static_cast<int64_t>(place[d]) + vector[d];
    const auto ranks = static_cast<int64_t>(part_.grid[d]);
    if (vector[d] != 0) {
      ++nonzero;
      if (part_.width[d] == 0) return std::nullopt;
    }
    if (there < 0 || there >= ranks) {
      if (part_.periodic[d] == 0) return std::nullopt;
      there = (there + ranks) % ranks;
    }
    found = found * part_.grid[d] + static_cast<uint64_t>(there);
  }
  if (nonzero == 0 || (nonzero > 1 && part_.corners == 0)) return std::nullopt;
  return static_cast<rank_t>(found);
}

// The border that a rank of this shape gets from a direction, and sends into it.
size_t Halo::border_bytes(const Part& part, size_t direction) const {
  const PerDimension<int> vector = vector_of(direction);
  size_t bytes = part.element_bytes;
  for (size_t d = 0; d < dimensions_; ++d) {
    bytes *= vector[d] == 0 ? part.interior[d] : part.width[d];
  }
  return bytes;
}

size_t Halo::landing_offset(const Part& part, rank_t rank, size_t direction) const {
  size_t offset = 0;
  for (size_t before = 0; before < direction; ++before) {
    if (neighbour(rank, before)) offset += padded(border_bytes(part, before));
  }
  return offset;
}

Halo::Halo(Context& context, size_t dimensions, std::span<const Part> parts)
    : context_(context), dimensions_(dimensions), part_(parts[context.rank_me()]) {
  auto stride = static_cast<std::ptrdiff_t>(part_.element_bytes);
  for (size_t d = dimensions_; d-- > 0;) {
    strides_[d] = stride;
    stride *= static_cast<std::ptrdiff_t>(part_.interior[d] + 2 * part_.width[d]);
  }
  const rank_t me = context.rank_me();
  for (size_t direction = 0; direction < directions(); ++direction) {
    const auto rank = neighbour(me, direction);
    if (!rank) continue;
    Border border{.direction = direction, .rank = *rank, .sent = {}, .ghosts = {}, .put = {}};
    const PerDimension<int> vector = vector_of(direction);
    for (size_t d = 0; d < dimensions_; ++d) {
      const size_t width = part_.width[d];
      const size_t interior = part_.interior[d];
      border.sent.first[d] = vector[d] > 0 ? interior : width;
      border.ghosts.first[d] = vector[d] > 0 ? interior + width : (vector[d] < 0 ? 0 : width);
      border.sent.count[d] = border.ghosts.count[d] = vector[d] == 0 ? interior : width;
    }
    border.there = landing_offset(parts[*rank], *rank, directions() - 1 - direction);
    border.here = landing_offset(part_, me, direction);
    border.ghost_bytes = border_bytes(part_, direction);
    borders_.push_back(border);
  }
}

std::string Halo::mistake(size_t dimensions, std::span<const Part> parts) {
  const auto of_dimension = [](size_t d) { return " in dimension " + std::to_string(d); };
  uint64_t places = 1;
  for (size_t d = 0; d < dimensions; ++d) {
    places *= parts[0].grid[d];
    if (places == 0 || places > parts.size()) break;
  }
  if (places != parts.size()) {
    std::string grid;
    for (size_t d = 0; d < dimensions; ++d) {
      grid += (d == 0 ? "" : " x ") + std::to_string(parts[0].grid[d]);
    }
    return "a grid of " + grid + " ranks, but the job has " + std::to_string(parts.size());
  }
  for (size_t rank = 0; rank < parts.size(); ++rank) {
    const std::string its = " of rank " + std::to_string(rank);
    if (!parts[rank].same_but_interior(parts[0])) {
      return "width, grid, periodic, neighbours or the element's size" + its +
             " differ from those of rank 0";
    }
    size_t below = 1;  // ranks of the dimensions behind this one
    for (size_t d = dimensions; d-- > 0;) {
      const Part& part = parts[rank];
      if (part.interior[d] < std::max<uint64_t>(part.width[d], 1)) {
        return "the interior" + its + " has " + std::to_string(part.interior[d]) + " elements" +
               of_dimension(d) + ", fewer than one, or than the " + std::to_string(part.width[d]) +
               " layers that its neighbour needs";
      }
      const size_t place = rank / below % part.grid[d];
      const Part& first = parts[place * below];  // at the beginning of all other dimensions
      if (part.interior[d] != first.interior[d]) {
        return "the interior" + its + " has " + std::to_string(part.interior[d]) + " elements" +
               of_dimension(d) + ", that of rank " + std::to_string(place * below) +
               " at the same place of it has " + std::to_string(first.interior[d]);
      }
      below *= part.grid[d];
    }
  }
  return {};
}

Status Halo::allocate(std::span<const Part> parts, CallSite site) {
  for (rank_t rank = 0; rank < parts.size(); ++rank) {
    turn_bytes_ = std::max(turn_bytes_, landing_offset(parts[rank], rank, directions()));
  }
  const size_t flag_bytes = padded(2 * directions() * sizeof(uint64_t));
  STRIPLINE_ASSIGN_OR_RETURN(
      memory_, context_.new_symmetric_array<std::byte>(flag_bytes + 2 * turn_bytes_, site));
  std::memset(context_.local(memory_), 0, flag_bytes);
  context_.barrier(site);
  return {};
}

Halo::~Halo() {
  if (!memory_.is_null()) context_.delete_symmetric_array(memory_);
}

global_ptr<uint64_t> Halo::flag(rank_t rank, size_t direction) const {
  return context_.on_rank(memory_, rank).reinterpret<uint64_t>() +
         static_cast<std::ptrdiff_t>(2 * direction + round_ % 2);
}

std::ptrdiff_t Halo::byte_offset(const Box& box) const {
  std::ptrdiff_t offset = 0;
  for (size_t d = 0; d < dimensions_; ++d) {
    offset += static_cast<std::ptrdiff_t>(box.first[d]) * strides_[d];
  }
  return offset;
}

// Flags of one turn go up by one each time. The puts of two turns are unordered, and have flags of
// their own; those of one turn are ordered by the exchange between them.
void Halo::start(std::byte* array, CallSite site) {
  if (array_ != nullptr) {
    context_.state().fail(Error(ErrorCode::invalid_argument,
                                "halo_exchange::start while an exchange of this object is under "
                                "way; wait() comes first"));
  }
  array_ = array;
  const size_t turn = round_ % 2;
  const size_t flag_bytes = padded(2 * directions() * sizeof(uint64_t));
  for (Border& border : borders_) {
    border.put[turn].wait();  // that of the exchange before the last has long been answered
    PerDimension<std::ptrdiff_t> dense{};
    auto stride = static_cast<std::ptrdiff_t>(part_.element_bytes);
    for (size_t d = dimensions_; d-- > 0;) {
      dense[d] = stride;
      stride *= static_cast<std::ptrdiff_t>(border.sent.count[d]);
    }
    const VisStrided transfer{
        .local = array + byte_offset(border.sent),
        .local_strides = std::span(strides_).first(dimensions_),
        .target = border.rank,
        .offset = memory_.offset() + flag_bytes + turn * turn_bytes_ + border.there,
        .remote_strides = std::span(dense).first(dimensions_),
        .extents = std::span(border.sent.count).first(dimensions_),
        .element_bytes = part_.element_bytes};
    const VisSignal signal{"flag of halo_exchange",
                           flag(border.rank, directions() - 1 - border.direction), round_ / 2 + 1};
    border.put[turn] =
        start_strided(context_, "halo_exchange", VisDirection::put, transfer, {}, site, &signal);
  }
}

void Halo::wait() {
  if (array_ == nullptr) return;
  for (const Border& border : borders_) {
    context_.wait_signal(flag(context_.rank_me(), border.direction), round_ / 2 + 1);
    unpack(border);
  }
  for (const Border& border : borders_) border.put[round_ % 2].wait_source();
  ++round_;
  array_ = nullptr;
}

void Halo::unpack(const Border& border) {
  ContextState& state = context_.state();
  const size_t flag_bytes = padded(2 * directions() * sizeof(uint64_t));
  const std::byte* from =
      context_.local(memory_) + flag_bytes + round_ % 2 * turn_bytes_ + border.here;
  // Rows along the last dimension, the others counted as the digits of a number.
  const Box& box = border.ghosts;
  const size_t row_bytes = box.count[dimensions_ - 1] * part_.element_bytes;
  PerDimension<size_t> row{};
  for (size_t left = border.ghost_bytes / row_bytes; left > 0; --left) {
    std::ptrdiff_t offset = byte_offset(box);
    for (size_t d = 0; d + 1 < dimensions_; ++d) {
      offset += static_cast<std::ptrdiff_t>(row[d]) * strides_[d];
    }
    state.copy_here(array_ + offset, from, row_bytes);
    from += row_bytes;
    for (size_t d = dimensions_ - 1; d-- > 0 && ++row[d] == box.count[d];) row[d] = 0;
  }
}

}  // namespace

Result<std::unique_ptr<HaloExchange>> HaloExchange::create(Context& context, const HaloShape& shape,
                                                           CallSite site) {
  const size_t dimensions = shape.grid.size();
  Part mine;
  for (size_t d = 0; d < dimensions; ++d) {
    mine.interior[d] = shape.interior[d];
    mine.width[d] = shape.width[d];
    mine.grid[d] = shape.grid[d];
    mine.periodic[d] = shape.periodic[d] ? 1 : 0;
  }
  mine.corners = shape.corners ? 1 : 0;
  mine.element_bytes = static_cast<uint32_t>(shape.element_bytes);
  std::vector<Part> parts(context.rank_n());
  team::world(context).allgather(std::span(&mine, 1), parts, collective_algorithm::automatic, site);
  if (const std::string mistake = Halo::mistake(dimensions, parts); !mistake.empty()) {
    return Error(ErrorCode::invalid_argument, "halo_exchange: " + mistake);
  }
  auto halo = std::make_unique<Halo>(context, dimensions, parts);
  STRIPLINE_RETURN_IF_ERROR(halo->allocate(parts, site));
  return std::unique_ptr<HaloExchange>(std::move(halo));
}

}  // namespace stripline::detail
