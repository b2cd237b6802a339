// Calls of loop.h, nest.h, nest_template.h and wavefront.h that write, and the numbers that a
// NestTemplate gives out.
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <stripline/loop.h>
#include <stripline/nest.h>
#include <stripline/nest_template.h>
#include <stripline/wavefront.h>

#include "tests/edges/edges.h"

namespace stripline::edges {
namespace {

using enum Argument;

void add_writing_loops(std::vector<Call>& calls) {
  calls.push_back({"loop.h",
                   "loop",
                   false,
                   {place, count, memory},
                   [](Trial& t) {
                     // The first block has a place of the program, unless that is null.
                     const std::array<LoopBlock<uint64_t>, 2> blocks = {
                         {{t.place(0), t.count(1), t.memory(2)}, {t.array, 2, nullptr}}};
                     strip_write_blocks<uint64_t>(
                         t.context, blocks, {},
                         [](size_t, size_t begin, size_t end, uint64_t* strip) {
                           for (size_t i = begin; i < end; ++i) strip[i - begin] = 100 + i;
                         });
                     t.right(t.context.rget(t.array + 1) == 101);
                     t.right(t.count(1) == 0 || t.context.rget(t.place(0)) == 100);
                   },
                   {Kind::null}});
  // A range that does not begin at 0. zero: with a step of 0; nonsense: beyond the segment.
  calls.push_back(
      {"nest.h", "for_nest", false, {place, option}, [](Trial& t) {
         const size_t end = t.kind(1) == Kind::nonsense ? size_t{1} << 61 : 4;
         const size_t step = t.kind(1) == Kind::zero ? 0 : 1;
         const auto [i] = loop_indices<1>();
         for_nest(
             t.context, {{1, end, step}}, [](uint64_t& x) { x = 70; }, write(t.place(0), i));
         for_nest(
             t.context, {{1, end, step}}, [](uint64_t& x) { x += 1; }, update(t.place(0), i));
         t.right(t.context.rget(t.place(0) + 1) == 71);
         t.right(t.context.rget(t.place(0) + 3) == 71);
       }});
}

// What a strip of a NestTemplate is asked about, by the number of a loop and of a reference.
struct OfStrip {
  int64_t (*ask)(const NestTemplate&, size_t loop, size_t reference);
};

constexpr std::array kOfStrips = {
    OfStrip{[](const NestTemplate& nest, size_t loop, size_t) { return nest.first(loop) - 2; }},
    OfStrip{[](const NestTemplate& nest, size_t loop, size_t) { return nest.count(loop) - 1; }},
    OfStrip{[](const NestTemplate& nest, size_t, size_t reference) {
      return int64_t{nest.address(reference) != nullptr ? 1 : -1};
    }},
    OfStrip{[](const NestTemplate& nest, size_t loop, size_t reference) {
      return nest.stride_bytes(reference, loop) - 8;
    }},
};

void add_numbers_of_nests(std::vector<Call>& calls) {
  // zero: before there is a strip; nonsense: numbers that were not given out.
  for (const OfStrip& one : kOfStrips) {
    calls.push_back({"nest_template.h", "NestTemplate", false, {option}, [of = &one](Trial& t) {
                       const global_ptr<uint64_t> there = t.context.on_rank(t.array, t.other);
                       NestTemplate nest(t.context);
                       const size_t i = nest.add_loop(2, 6);
                       const size_t a =
                           nest.add_reference(access::Mode::read, there.where(), there.offset(), 8);
                       nest.set_stride(a, i, 8);
                       nest.analyze();
                       if (t.kind(0) == Kind::zero) t.right(of->ask(nest, i, a) >= 0);
                       const size_t beyond = t.kind(0) == Kind::nonsense ? 200 : 0;
                       while (nest.next()) t.right(of->ask(nest, i + beyond, a + beyond) >= 0);
                       t.right(t.kind(0) == Kind::usual);
                     }});
  }
  calls.push_back({"nest_template.h", "NestTemplate", false, {option}, [](Trial& t) {
                     const global_ptr<uint64_t> there = t.context.on_rank(t.array, t.other);
                     const auto mode = t.option<access::Mode>(0);
                     NestTemplate nest(t.context);
                     const size_t i = nest.add_loop(0, 4);
                     const size_t a = nest.add_reference(mode, there.where(), there.offset(), 8);
                     nest.set_stride(a, i, 8);
                     while (nest.next()) {
                       for (int64_t s = 0; s < nest.count(i); ++s) {
                         auto* const element = reinterpret_cast<uint64_t*>(
                             nest.address(a) + s * nest.stride_bytes(a, i));
                         if (mode == access::Mode::write) *element = 7;
                       }
                     }
                     t.right(t.context.rget(there + 3) ==
                             (mode == access::Mode::write ? 7 : Trial::first(t.other, 3)));
                   }});
}

void add_wavefronts(std::vector<Call>& calls) {
  calls.push_back({"wavefront.h", "Wavefront", true, {memory}, [](Trial& t) {
                     auto made = Wavefront::create(t.context, 1,
                                                   {.stages = Trial::kRanks, .all_busy = false});
                     if (!made.ok()) return t.refused(made.error());
                     Wavefront::Stage<uint64_t> stage;
                     stage.lines = Trial::kCount;
                     if (t.me > 0) {
                       stage.comes = 0;
                     } else {
                       stage.leaves = 0;
                       stage.width = 1;
                       stage.results = t.memory(0);
                       stage.place = t.context.on_rank(t.array, t.other);
                     }
                     made->run(stage, [&](size_t begin, size_t end) {
                       for (size_t i = begin; i < end; ++i) t.own[i] = 77;
                     });
                     made->finish();
                     t.right(t.me == 0 || t.context.local(t.array)[0] == 77);
                     // Nothing was sent at a crossing that there is not.
                     t.right((made->pieces(0) > 0) == (t.me == 0) && made->pieces(9) == 0);
                   }});
}

}  // namespace

void add_loop_calls(std::vector<Call>& calls) {
  add_writing_loops(calls);
  add_numbers_of_nests(calls);
  add_wavefronts(calls);
}

}  // namespace stripline::edges
