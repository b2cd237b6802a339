// Calls of global_ptr.h, pointer_to_shared.h and layout.h.
#include <algorithm>
#include <cstddef>
#include <vector>

#include <stripline/global_ptr.h>
#include <stripline/layout.h>
#include <stripline/pointer_to_shared.h>
#include <stripline/shared_array.h>

#include "tests/edges/edges.h"

namespace stripline::edges {
namespace {

using enum Argument;

void add_pointers(std::vector<Call>& calls) {
  calls.push_back({"global_ptr.h", "rget", false, {place, count}, [](Trial& t) {
                     // Some elements on; back from what is near the end of the array, and from
                     // below the segment, where elements on would be in it.
                     const global_ptr<uint64_t> from = t.place(0);
                     const bool back = t.kind(0) == Kind::largest || t.kind(0) == Kind::nonsense;
                     const auto n = back ? -static_cast<std::ptrdiff_t>(t.count(1))
                                         : static_cast<std::ptrdiff_t>(t.count(1));
                     const global_ptr<uint64_t> to = from + n;
                     t.right(to.where() == from.where() && to - n == from);
                     t.right(to - from == n || t.kind(1) == Kind::nonsense || from.is_null());
                     const uint64_t expected =
                         t.value_at(0, 0) + static_cast<uint64_t>(from.is_null() ? 0 : n);
                     t.right(t.context.rget(to) == expected);
                   }});
  calls.push_back({"global_ptr.h", "rget", false, {rank, option}, [](Trial& t) {
                     // usual: element 3 of the rank; zero: the first; nonsense: beyond what 44 bits
                     // hold.
                     const uint64_t element = t.kind(1) == Kind::usual ? 3 : 0;
                     const uint64_t offset =
                         t.array.offset() + element * sizeof(uint64_t) +
                         (t.kind(1) == Kind::nonsense ? uint64_t{1} << kOffsetBits : 0);
                     const global_ptr<uint64_t> there(t.rank(0), offset);
                     t.right(there.where() == std::min(t.rank(0), kMaxRanks - 1));
                     // Symmetric memory of two ranks: the elements between the offsets.
                     t.right(there - t.context.on_rank(t.array, t.other) ==
                                 static_cast<std::ptrdiff_t>(element) ||
                             t.kind(1) == Kind::nonsense);
                     t.right(t.context.rget(there) == Trial::first(t.rank(0), element));
                   }});
}

void add_forms_of_pointers(std::vector<Call>& calls) {
  // As a number, as a pointer to bytes, and beside others, which is what is read through it.
  calls.push_back({"global_ptr.h", "rget", false, {place}, [](Trial& t) {
                     const global_ptr<uint64_t> from = t.place(0);
                     t.right(global_ptr<uint64_t>::from_word(from.word()) == from);
                     const auto bytes = from.reinterpret<std::byte>();
                     t.right(bytes.is_null() == from.is_null() && bytes.word() == from.word());
                     const global_ptr<uint64_t> next = from + 1;
                     t.right(from.is_null() ? next.is_null() : next != from);
                     t.right(t.kind(0) == Kind::nonsense || next >= from);
                     t.right(static_cast<bool>(from) != from.is_null());
                     const global_ptr<const uint64_t> constant = from;
                     t.right(t.context.rget(constant) == t.value_at(0, 0));
                   }});
}

// usual: the other rank's element; zero: this rank's own; nonsense: none.
void add_pointers_to_shared(std::vector<Call>& calls) {
  using Pointer = shared_array<uint64_t>::pointer<>;
  calls.push_back({"pointer_to_shared.h", "local", false, {option}, [](Trial& t) {
                     const uint64_t element = t.kind(0) == Kind::zero ? t.me : t.other;
                     const Pointer at =
                         t.kind(0) == Kind::nonsense ? Pointer() : t.elements.ptr(element);
                     t.right(at.is_null() == (t.kind(0) == Kind::nonsense));
                     t.right(at.get(t.context) == Trial::first(0, element));
                     at.put(t.context, 4);
                     t.right(at.get(t.context) == 4);
                     at.put(t.context, Trial::first(0, element));
                     const uint64_t* const own = at.local(t.context);
                     t.right(at.is_local(t.context) == (own != nullptr));
                     t.right(own == nullptr || *own == Trial::first(0, element));
                   }});
  // Elements on from the first one, and back again; what is not of the array is not read.
  calls.push_back({"pointer_to_shared.h",
                   "rget",
                   false,
                   {element},
                   [](Trial& t) {
                     const auto n = static_cast<std::ptrdiff_t>(t.element(0));
                     const auto& layout = t.elements.distribution();
                     const auto first = t.elements.ptr(0);
                     const auto packed = advance(first, n, layout);
                     t.right(distance(first, packed, layout) == n);
                     t.right(advance(packed, -n, layout) == first);
                     const auto wide = t.elements.ptr<pointer_form::wide>(0) + n;
                     t.right(wide.global() == packed.global());
                     t.right(wide - t.elements.ptr<pointer_form::wide>(0) == n);
                     t.right((wide <=> t.elements.ptr<pointer_form::wide>(0)) == (n <=> 0));
                     if (t.kind(0) == Kind::beyond || t.kind(0) == Kind::nonsense) return;
                     t.right(t.context.rget(packed.global()) == Trial::first(0, t.element(0)));
                   },
                   {Kind::beyond, Kind::nonsense}});
  // Blocks of more elements than one word counts: wide pointers do. zero: packed ones where they
  // suffice; nonsense: packed ones in any case.
  calls.push_back({"pointer_to_shared.h",
                   "packed pointer",
                   true,
                   {count, option},
                   [](Trial& t) {
                     using Blocks = shared_array<uint64_t, block_cyclic<>>;
                     auto made = Blocks::create(t.context, 10, block_cyclic<>{t.count(0)});
                     if (!made.ok()) return t.refused(made.error());
                     const auto last = made->global(9);
                     const bool packs = t.kind(1) == Kind::nonsense ||
                                        (t.kind(1) == Kind::zero && made->packed_fits());
                     t.right(packs ? made->ptr(9).global() == last
                                   : made->ptr<pointer_form::wide>(9).global() == last);
                     made->destroy();
                   },
                   {Kind::beyond, Kind::nonsense}});
}

// A distribution alone knows no size: it says where further elements would be.
void add_layouts(std::vector<Call>& calls) {
  calls.push_back({"layout.h",
                   "distribution",
                   false,
                   {element, count},
                   [](Trial& t) {
                     const uint64_t index = t.element(0);
                     const distribution<block_cyclic<3>, static_ranks<2>> blocks{};
                     const stripline::place at = blocks.locate(index);
                     t.right(at.rank < 2 && at.rank == blocks.affinity(index));
                     t.right(blocks.index_of(at) == index);
                     t.right(blocks.count_below(index, at.rank) == at.index);
                     const auto parts = blocked(t.count(1), Trial::kRanks);
                     t.right(parts.block() >= 1 && parts.block() >= t.count(1) / Trial::kRanks);
                     const distribution<indefinite> whole{{1}, {Trial::kRanks}};
                     t.right(whole.locate(index) == stripline::place{1, index});
                     t.right(whole.count_below(index, 0) == 0);
                   },
                   {Kind::beyond, Kind::nonsense}});
}

}  // namespace

void add_pointer_calls(std::vector<Call>& calls) {
  add_pointers(calls);
  add_forms_of_pointers(calls);
  add_pointers_to_shared(calls);
  add_layouts(calls);
}

}  // namespace stripline::edges
