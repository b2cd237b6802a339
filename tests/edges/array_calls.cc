// Calls of shared_array.h, layout.h, pointer_to_shared.h, forall.h and halo.h.
#include <cstddef>
#include <cstdint>
#include <vector>

#include <stripline/forall.h>
#include <stripline/halo.h>
#include <stripline/layout.h>
#include <stripline/pointer_to_shared.h>
#include <stripline/shared_array.h>

#include "tests/edges/edges.h"

namespace stripline::edges {
namespace {

using enum Argument;

void add_shared_arrays(std::vector<Call>& calls) {
  calls.push_back({"shared_array.h",
                   "shared_array",
                   true,
                   {count},
                   [](Trial& t) {
                     auto made = shared_array<uint64_t>::create(t.context, t.count(0));
                     if (!made.ok()) return t.refused(made.error());
                     t.right(made->size() == t.count(0));
                     made->destroy();
                   },
                   {Kind::beyond}});
  calls.push_back({"layout.h",
                   "shared_array",
                   true,
                   {count},
                   [](Trial& t) {
                     using Blocks = shared_array<uint64_t, block_cyclic<>>;
                     auto made = Blocks::create(t.context, 10, block_cyclic<>{t.count(0)});
                     if (!made.ok()) return t.refused(made.error());
                     t.right(made->affinity(9) == 9 / t.count(0) % Trial::kRanks);
                     made->destroy();
                   },
                   {Kind::beyond, Kind::nonsense}});
  calls.push_back({"layout.h", "shared_array", true, {rank}, [](Trial& t) {
                     auto made = shared_array<uint64_t, indefinite>::create(t.context, 10,
                                                                            indefinite{t.rank(0)});
                     if (!made.ok()) return t.refused(made.error());
                     t.right(made->affinity(9) == t.rank(0));
                     made->destroy();
                   }});
  calls.push_back({"shared_array.h", "shared_array::destroy", true, {array}, [](Trial& t) {
                     if (t.kind(0) == Kind::usual) return;
                     auto handle = t.handle(0);
                     handle.destroy();
                   }});
  calls.push_back({"shared_array.h", "shared_array::read", false, {array, element}, [](Trial& t) {
                     t.right(t.handle(0).read(t.element(1)) == Trial::first(0, t.element(1)));
                   }});
  calls.push_back({"shared_array.h", "shared_array::write", false, {array, element}, [](Trial& t) {
                     t.handle(0).write(t.element(1), 4);
                     t.right(t.handle(0).read(t.element(1)) == 4);
                   }});
  calls.push_back({"shared_array.h", "rget", false, {array, element, memory}, [](Trial& t) {
                     t.handle(0).rget(t.element(1), t.memory(2)).wait();
                     t.right(*t.memory(2) == Trial::first(0, t.element(1)));
                   }});
  calls.push_back({"shared_array.h", "rput", false, {array, element, memory}, [](Trial& t) {
                     t.handle(0).rput(t.memory(2), t.element(1)).wait();
                     t.right(t.handle(0).read(t.element(1)) == *t.memory(2));
                   }});
  calls.push_back(
      {"shared_array.h", "read_range", false, {array, element, memory, count}, [](Trial& t) {
         t.handle(0).read_range(t.element(1) == Trial::kElements - 1 ? 8 : t.element(1), t.count(3),
                                t.memory(2));
         t.right(t.count(3) == 0 ||
                 t.own[0] == Trial::first(0, t.element(1) == 15 ? 8 : t.element(1)));
       }});
  calls.push_back(
      {"shared_array.h", "write_range", false, {array, element, memory, count}, [](Trial& t) {
         const uint64_t from = t.element(1) == Trial::kElements - 1 ? 8 : t.element(1);
         t.handle(0).write_range(from, t.count(3), t.memory(2));
         t.right(t.count(3) == 0 || t.handle(0).read(from) == 5000);
       }});
  calls.push_back({"shared_array.h",
                   "shared_array::global",
                   false,
                   {array, element},
                   [](Trial& t) {
                     const auto place = t.handle(0).global(t.element(1));
                     t.right(t.element(1) == Trial::kElements ||
                             t.context.rget(place) == Trial::first(0, t.element(1)));
                   },
                   {Kind::beyond}});
  calls.push_back({"pointer_to_shared.h",
                   "shared_array::ptr",
                   false,
                   {array, element},
                   [](Trial& t) {
                     auto pointer = t.handle(0).ptr(t.element(1));
                     if (t.element(1) == Trial::kElements) return;
                     t.right(t.context.rget(pointer.global()) == Trial::first(0, t.element(1)));
                   },
                   {Kind::beyond}});
  calls.push_back({"shared_array.h",
                   "local_span",
                   false,
                   {array},
                   [](Trial& t) {
                     t.right(t.handle(0).local_span().size() ==
                             (t.kind(0) == Kind::null ? 0 : Trial::kElements / 2));
                   },
                   {Kind::null}});
}

// A position in a rank's part of the array, for an element argument.
uint64_t position_of(const Trial& t, size_t element_argument) {
  const uint64_t element = t.element(element_argument);
  return element == ~uint64_t{0}           ? element
         : element >= Trial::kElements - 1 ? element - Trial::kElements / 2
                                           : element;
}

void add_places(std::vector<Call>& calls) {
  calls.push_back(
      {"shared_array.h", "shared_array::affinity", false, {array, element}, [](Trial& t) {
         t.right(t.handle(0).affinity(t.element(1)) == t.element(1) % Trial::kRanks);
       }});
  calls.push_back(
      {"shared_array.h", "shared_array::is_local", false, {array, element}, [](Trial& t) {
         t.right(t.handle(0).is_local(t.element(1)) == (t.element(1) % Trial::kRanks == t.me));
       }});
  calls.push_back(
      {"shared_array.h", "shared_array::local_size", false, {array, rank}, [](Trial& t) {
         t.right(t.handle(0).local_size(t.rank(1)) ==
                 (t.kind(0) == Kind::null ? 0 : Trial::kElements / Trial::kRanks));
       }});
  calls.push_back(
      {"shared_array.h", "shared_array::index_of", false, {array, element}, [](Trial& t) {
         const uint64_t position = position_of(t, 1);
         t.right(t.handle(0).index_of(position) == position * Trial::kRanks + t.me);
       }});
  // One rank has all elements of an indefinite array, and the others have none of its positions.
  calls.push_back({"shared_array.h", "shared_array::index_of", true, {element}, [](Trial& t) {
                     auto made = shared_array<uint64_t, indefinite>::create(
                         t.context, Trial::kElements / 2, indefinite{1});
                     if (!made.ok()) return t.refused(made.error());
                     const bool has_none = t.kind(0) == Kind::nonsense;
                     const uint64_t position = has_none ? 0 : position_of(t, 0);
                     if (t.me == (has_none ? 0 : 1)) {
                       t.right(made->index_of(position) == position);
                     }
                     t.context.barrier();
                     made->destroy();
                   }});
  calls.push_back({"shared_array.h",
                   "shared_array::local_span",
                   false,
                   {array, element, element},
                   [](Trial& t) {
                     // One beyond the last element may begin an empty part.
                     const uint64_t first = t.element(1) + (t.kind(1) == Kind::beyond ? 1 : 0);
                     const uint64_t last =
                         t.kind(2) == Kind::usual ? Trial::kElements : t.element(2) + 1;
                     const auto mine = t.handle(0).local_span(first, last);
                     size_t expected = 0;
                     for (uint64_t i = first; i < last; ++i) expected += i % 2 == t.me ? 1 : 0;
                     t.right(mine.size() == expected);
                     const uint64_t own = first + (first % 2 == t.me ? 0 : 1);
                     t.right(mine.empty() || mine[0] == Trial::first(0, own));
                   }});
}

void add_foralls(std::vector<Call>& calls) {
  calls.push_back(
      {"forall.h",
       "forall",
       true,
       {array, option},
       [](Trial& t) {
         const auto a = t.handle(0);
         const int64_t step = t.kind(1) == Kind::usual ? 1 : t.kind(1) == Kind::zero ? 0 : 100;
         size_t made = 0;
         forall(t.context, range(0, static_cast<int64_t>(a.size()), step), owner_of(a),
                [&](int64_t i) { made += a.is_local(static_cast<uint64_t>(i)) ? 1 : 0; });
         if (t.kind(1) == Kind::usual) t.right(made == a.size() / Trial::kRanks);
       },
       {Kind::null, Kind::nonsense}});
  calls.push_back({"forall.h", "forall", true, {array, count}, [](Trial& t) {
                     const auto a = t.handle(0);
                     uint64_t sum = 0;
                     // beyond: one iteration more than the array has elements.
                     const auto end = t.kind(1) == Kind::beyond ? int64_t{Trial::kElements} + 1
                                      : t.kind(1) == Kind::nonsense
                                          ? int64_t{1} << 62
                                          : static_cast<int64_t>(t.count(1));
                     forall(t.context, range(0, end), owner_of(a),
                            [&](int64_t i) { sum += a.read(static_cast<uint64_t>(i)); });
                     t.right(sum == 0 || sum >= Trial::first(0));
                   }});
  calls.push_back({"forall.h",
                   "forall",
                   true,
                   {array, array},
                   [](Trial& t) {
                     uint64_t sum = 0;
                     forall(t.context, zip(t.handle(0), t.handle(1)),
                            [&](uint64_t& a, uint64_t& b) { sum += a == b ? 1 : 0; });
                     t.right(sum == t.elements.size() / 2 || t.kind(0) == Kind::null);
                   },
                   {Kind::null}});
  calls.push_back({"forall.h",
                   "forall",
                   true,
                   {rank},
                   [](Trial& t) {
                     size_t made = 0;
                     forall(t.context, range(0, 10), rank_by([&t](int64_t) { return t.rank(0); }),
                            [&](int64_t) { ++made; });
                     t.right(made == (t.rank(0) == t.me ? 10U : 0U));
                   },
                   {Kind::beyond, Kind::nonsense}});
}

// The rank that iteration i belongs to by a i + b, as if that could not overflow.
rank_t rank_of(uint64_t a, int64_t i, uint64_t b) {
  return static_cast<rank_t>((a * static_cast<uint64_t>(i) + b) % Trial::kRanks);
}

void add_affinities(std::vector<Call>& calls) {
  static constexpr int64_t kIterations = 10;
  calls.push_back({"forall.h",
                   "forall",
                   true,
                   {element, element},
                   [](Trial& t) {
                     const uint64_t a = t.element(0);
                     const uint64_t b = t.element(1);
                     int64_t made = 0;
                     int64_t expected = 0;
                     for (int64_t i = 0; i < kIterations; ++i) {
                       expected += rank_of(a, i, b) == t.me ? 1 : 0;
                     }
                     forall(t.context, range(0, kIterations),
                            affinity(static_cast<int64_t>(a), static_cast<int64_t>(b)),
                            [&](int64_t i) {
                              ++made;
                              t.right(rank_of(a, i, b) == t.me);
                            });
                     t.right(made == expected);
                     forall(t.context, range(0, kIterations),
                            affinity_by([a](int64_t i) { return static_cast<int64_t>(a) + i; }),
                            [&](int64_t i) { t.right(rank_of(1, i, a) == t.me); });
                   },
                   {Kind::beyond, Kind::nonsense}});
  // zero: a step of 0; nonsense: from the end on, which is no iteration.
  calls.push_back(
      {"forall.h",
       "forall",
       true,
       {option},
       [](Trial& t) {
         const int64_t step = t.kind(0) == Kind::usual ? 1 : t.kind(0) == Kind::zero ? 0 : -1;
         int64_t made = 0;
         forall(t.context, range(0, kIterations, step), every_rank, [&](int64_t) { ++made; });
         t.right(made == (t.kind(0) == Kind::usual ? kIterations : 0));
       },
       {Kind::nonsense}});
  // zero: a pointer to nothing; nonsense: elements before the beginning of the segment.
  calls.push_back({"forall.h", "forall", true, {option}, [](Trial& t) {
                     const auto at = t.kind(0) == Kind::zero ? shared_array<uint64_t>::pointer<>()
                                                             : t.elements.ptr(3);
                     const int64_t k = t.kind(0) == Kind::nonsense ? -(int64_t{1} << 50) : 0;
                     forall(t.context, range(0, 4), owner_of(at, t.elements.distribution(), 1, k),
                            [&](int64_t i) { t.right(rank_of(1, i, 3) == t.me); });
                     t.right(t.kind(0) == Kind::usual);
                   }});
  // zero: a step of 0; nonsense: from before the first element on.
  calls.push_back({"forall.h",
                   "forall",
                   true,
                   {element, option},
                   [](Trial& t) {
                     const auto end = static_cast<int64_t>(t.element(0));
                     const index_range loop = range(t.kind(1) == Kind::nonsense ? -2 : 0, end,
                                                    t.kind(1) == Kind::zero ? 0 : 1);
                     forall(t.context, loop, zip(t.elements, t.elements),
                            [&](int64_t i, uint64_t& a, uint64_t& b) {
                              const auto index = static_cast<uint64_t>(i);
                              t.right(&a == &b && a == Trial::first(0, index));
                              t.right(t.elements.is_local(index));
                            });
                   },
                   {Kind::beyond, Kind::nonsense}});
}

// Halos of N dimensions, the last of which is that of the arguments, and between the two ranks.
template <size_t N>
void exchange_halos(Trial& t) {
  halo_shape<N> shape;
  shape.interior.fill(1);
  shape.grid.fill(1);
  shape.periodic.fill(true);
  shape.interior.front() = 2;
  shape.width.front() = 1;
  shape.interior.back() = 2 * t.count(0);
  shape.width.back() = t.kind(1) == Kind::usual ? 1 : t.count(1);
  shape.grid.back() = Trial::kRanks;
  shape.neighbours = halo_neighbours::all;
  auto made = halo_exchange<uint64_t, N>::create(t.context, shape);
  if (!made.ok()) return t.refused(made.error());
  t.right(made->extents().back() == shape.interior.back() + 2 * shape.width.back());
  t.right(made->neighbours() > 0);
  std::vector<uint64_t> cells(made->elements(), t.me);
  made->exchange(cells.data());
  // A corner, which comes from where the last dimension ends.
  const rank_t from = shape.width.back() > 0 ? t.other : t.me;
  t.right(cells.front() == from && cells.back() == from);
}

void add_halos_of_dimensions(std::vector<Call>& calls) {
  for (const auto make : {exchange_halos<2>, exchange_halos<3>, exchange_halos<4>}) {
    calls.push_back({"halo.h", "halo_exchange", true, {count, count}, make, {Kind::beyond}});
  }
}

void add_halos(std::vector<Call>& calls) {
  calls.push_back({"halo.h",
                   "halo_exchange",
                   true,
                   {count, rank, option},
                   [](Trial& t) {
                     halo_shape<1> shape{
                         .interior = {t.count(0)}, .width = {1}, .grid = {2}, .periodic = {true}};
                     if (t.kind(1) != Kind::usual) shape.grid = {t.rank(1)};
                     shape.neighbours = t.option<halo_neighbours>(2);
                     auto made = halo_exchange<uint64_t, 1>::create(t.context, shape);
                     if (!made.ok()) return t.refused(made.error());
                     std::vector<uint64_t> cells(made->elements(), t.me);
                     made->exchange(cells.data());
                     t.right(cells.front() == t.other && cells.back() == t.other);
                   },
                   {Kind::beyond}});
  calls.push_back({"halo.h", "halo_exchange", true, {memory, option}, [](Trial& t) {
                     const halo_shape<1> shape{
                         .interior = {4}, .width = {1}, .grid = {2}, .periodic = {true}};
                     auto made = halo_exchange<uint64_t, 1>::create(t.context, shape);
                     if (!made.ok()) return t.refused(made.error());
                     made->wait();  // no exchange is in flight
                     made->start(t.memory(0));
                     if (t.kind(1) == Kind::nonsense) made->start(t.memory(0));
                     made->wait();
                     t.right(t.own[0] == 5004 && t.kind(1) != Kind::nonsense);
                     for (size_t i = 0; i < t.own.size(); ++i) t.own[i] = 5000 + i;
                   }});
}

}  // namespace

void add_array_calls(std::vector<Call>& calls) {
  add_shared_arrays(calls);
  add_places(calls);
  add_foralls(calls);
  add_affinities(calls);
  add_halos(calls);
  add_halos_of_dimensions(calls);
}

}  // namespace stripline::edges
