// The exchange of ghost cells between ranks that hold the parts of a regular grid.
//
//   // 64 x 64 x 64 cells on each of 2 x 2 x 2 ranks, one layer of ghosts, with edges and corners:
//   auto halo = stripline::halo_exchange<double, 3>::create(
//       ctx, {.interior = {64, 64, 64}, .width = {1, 1, 1}, .grid = {2, 2, 2},
//             .neighbours = stripline::halo_neighbours::all});
//   if (!halo.ok()) return stripline::report(halo.error());
//   std::vector<double> u(halo->elements());
//   for (int step = 0; step < steps; ++step) {
//     halo->start(u.data());        // sends the borders
//     update_inside(u);             // what needs no ghosts
//     halo->wait();                 // the ghosts are here
//     update_border(u);
//   }
//
// A rank's array has interior[d] + 2 width[d] elements in dimension d, the last dimension
// contiguous (row-major); the first and last width[d] of each are ghosts. It may be any memory, and
// another array of the same shape in each exchange. Ranks are places of the grid in row-major
// order, the last dimension fastest. Where a dimension is not periodic, the ghosts at its ends are
// not touched.
//
// What goes to one neighbour, which may lie in many directions, is packed and travels as one put
// with a signal; as several of them if it is more than one such put carries over the
// network (about 64 KiB over tcp). A border larger than that goes by itself, as a strided put with
// a signal (<stripline/vis.h>). They land in memory that the neighbour keeps for them, and are
// copied to the ghosts by wait(). There are two such places for each neighbour, used in turn: a
// neighbour's data of the next exchange, for which wait() has waited, say that it has read those of
// the last one, so that nothing is overwritten that is not read, and no message is needed to say
// so. Ranks may be one exchange apart. Borders of a rank that are its own ghosts, in a periodic
// dimension of one rank, are copied by wait().
//
// No barrier, and no synchronisation with ranks that are no neighbours. A call makes progress.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include <stripline/call_site.h>
#include <stripline/context.h>

namespace stripline {

/// The neighbours whose cells a rank needs.
enum class halo_neighbours : uint8_t {
  faces,  ///< a star: two in each dimension
  all,    ///< edges and corners as well: 3^N - 1
};

/// How a grid of N dimensions is distributed. The same on every rank, but for `interior`, which may
/// differ between places of the grid, in dimension d by the place in dimension d only.
template <size_t N>
struct halo_shape {
  std::array<size_t, N> interior{};  ///< this rank's own elements, without ghosts
  std::array<size_t, N> width{};     ///< layers of ghosts at either end; at most interior
  std::array<rank_t, N> grid{};      ///< ranks; their product is all ranks of the job
  std::array<bool, N> periodic{};    ///< whether the last one is the neighbour of the first
  halo_neighbours neighbours = halo_neighbours::faces;  ///< with which ranks it exchanges
};

namespace detail {

/// The same without types.
struct HaloShape {
  size_t element_bytes = 0;
  std::span<const size_t> interior;
  std::span<const size_t> width;
  std::span<const rank_t> grid;
  std::span<const bool> periodic;
  halo_neighbours neighbours = halo_neighbours::faces;
};

class HaloExchange {
 public:
  static Result<std::unique_ptr<HaloExchange>> create(Context& context, const HaloShape& shape,
                                                      CallSite site);
  virtual ~HaloExchange() = default;
  HaloExchange(const HaloExchange&) = delete;
  HaloExchange& operator=(const HaloExchange&) = delete;
  virtual void start(std::byte* array, CallSite site) = 0;
  virtual void wait(CallSite site) = 0;
  virtual size_t neighbours() const = 0;

 protected:
  HaloExchange() = default;
};

}  // namespace detail

/// One exchange, to be made again and again. Moves: neighbours() and calls of the other one that
/// communicate end the process. Used by the rank's thread that communicates.
template <typename T, size_t N>
class halo_exchange {
  static_assert(std::is_trivially_copyable_v<T>, "ghost cells are trivially copyable");
  static_assert(N >= 1 && N <= 4, "grids have one to four dimensions");

 public:
  /// Collective, as the end of the object: takes twice the size of all borders from the segment.
  /// Errors, the same on every rank: invalid_argument if the shapes do not fit each other or the
  /// job, or no memory holds an array of this shape; resource_exhausted if the segment has no room.
  static Result<halo_exchange> create(Context& context, const halo_shape<N>& shape,
                                      CallSite site = CallSite::current()) {
    auto core = detail::HaloExchange::create(context,
                                             {.element_bytes = sizeof(T),
                                              .interior = shape.interior,
                                              .width = shape.width,
                                              .grid = shape.grid,
                                              .periodic = shape.periodic,
                                              .neighbours = shape.neighbours},
                                             site);
    if (!core.ok()) return core.error();
    return halo_exchange(shape, std::move(*core));
  }

  /// Elements of the array in each dimension, and of all, ghosts included.
  std::array<size_t, N> extents() const {
    std::array<size_t, N> all{};
    for (size_t d = 0; d < N; ++d) all[d] = shape_.interior[d] + 2 * shape_.width[d];
    return all;
  }
  /// Elements of the array, ghosts included.
  size_t elements() const {
    size_t count = 1;
    for (const size_t extent : extents()) count *= extent;
    return count;
  }
  /// Ranks that this one sends to, one by each border; one that lies on several sides counts as
  /// often.
  size_t neighbours(CallSite site = CallSite::current()) const {
    check_whole("halo_exchange::neighbours", site);
    return core_->neighbours();
  }

  /// Sends the borders of `array`; does not wait for other ranks. Until wait() the array stays, its
  /// borders are not changed, and its ghosts are not used. Ends the job if an exchange is in
  /// progress.
  void start(T* array, CallSite site = CallSite::current()) {
    check_whole("halo_exchange::start", site);
    core_->start(reinterpret_cast<std::byte*>(array), site);
  }
  /// Returns when the ghosts of that array are those of the neighbours' exchange of the same
  /// number, and its borders may be changed.
  void wait(CallSite site = CallSite::current()) {
    check_whole("halo_exchange::wait", site);
    core_->wait(site);
  }
  /// Both.
  void exchange(T* array, CallSite site = CallSite::current()) {
    start(array, site);
    wait(site);
  }

 private:
  halo_exchange(const halo_shape<N>& shape, std::unique_ptr<detail::HaloExchange> core)
      : shape_(shape), core_(std::move(core)) {}
  void check_whole(const char* call, CallSite site) const {
    if (core_ == nullptr) [[unlikely]]
      detail::fail_moved_from(call, site);
  }

  halo_shape<N> shape_;
  std::unique_ptr<detail::HaloExchange> core_;
};

}  // namespace stripline
