#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/nest_template.h>

#include "runtime/bootstrap/testing/rank_fixtures.h"
#include "runtime/bootstrap/testing/thread_group.h"

namespace stripline {
namespace {

using access::Mode;

class NestTemplates : public bootstrap::RanksTest {};

// As a generator would write it: three loops, whatever they are.
struct Loop {
  int64_t lower, upper, step;
};

TEST_P(NestTemplates, GoThroughWhatTheLoopsSay) {
  on_ranks(2, [](Context& context) {
    constexpr int64_t kWords = 8192;
    const auto words = *context.new_symmetric_array<int64_t>(kWords);
    int64_t* const mine = context.local(words);
    std::mt19937_64 random(5);
    const auto between = [&](int64_t least, int64_t most) {
      return std::uniform_int_distribution<int64_t>(least, most)(random);
    };
    for (int round = 0; round < 60; ++round) {
      for (int64_t at = 0; at < kWords; ++at) mine[at] = at;
      context.barrier();
      std::array<Loop, 3> loops{};
      for (Loop& loop : loops) {
        loop.step = between(0, 1) == 0 ? between(1, 3) : -between(1, 3);
        loop.lower = between(-5, 5);
        loop.upper = loop.lower + loop.step * between(round % 10 == 0 ? 0 : 1, 7) - (loop.step > 0);
      }
      // out[i, j] = in[i, j, k] of the last k, as numbers of the loops' variables.
      const std::array<int64_t, 3> in{40, between(1, 12), between(0, 2)};
      const std::array<int64_t, 3> out{64, 1, 0};
      const auto place = [](int64_t origin, const std::array<int64_t, 3>& factor, int64_t i,
                            int64_t j, int64_t k) {
        return origin + factor[0] * i + factor[1] * j + factor[2] * k;
      };
      constexpr int64_t kIn = 2048;
      constexpr int64_t kOut = 6144;
      // From numbers of its own: while one rank counts, the other may be through.
      std::vector<int64_t> expected(kWords);
      std::iota(expected.begin(), expected.end(), 0);
      int64_t iterations = 0;
      const auto runs = [](const Loop& loop, int64_t at) {
        return loop.step > 0 ? at < loop.upper : at > loop.upper;
      };
      for (int64_t i = loops[0].lower; runs(loops[0], i); i += loops[0].step) {
        for (int64_t j = loops[1].lower; runs(loops[1], j); j += loops[1].step) {
          for (int64_t k = loops[2].lower; runs(loops[2], k); k += loops[2].step) {
            expected[static_cast<size_t>(place(kOut, out, i, j, k))] =
                place(kIn, in, i, j, k) + 10000 * k;
            ++iterations;
          }
        }
      }
      if (context.rank_me() == 0) {
        const auto theirs = context.on_rank(words, 1);
        NestTemplate nest(context, {.use_model = false});
        for (const Loop& loop : loops) nest.add_loop(loop.lower, loop.upper, loop.step);
        const auto add = [&](Mode mode, int64_t origin, const std::array<int64_t, 3>& factor) {
          const int64_t first =
              place(origin, factor, loops[0].lower, loops[1].lower, loops[2].lower);
          const size_t reference = nest.add_reference(
              mode, theirs.where(), theirs.offset() + static_cast<uint64_t>(8 * first), 8);
          for (size_t loop = 0; loop < 3; ++loop) {
            nest.set_stride(reference, loop, 8 * factor[loop] * loops[loop].step);
          }
          return reference;
        };
        const size_t from = add(Mode::read, kIn, in);
        const size_t to = add(Mode::write, kOut, out);
        int64_t seen = 0;
        while (nest.next()) {
          for (int64_t r = 0; r < nest.count(0); ++r) {
            for (int64_t s = 0; s < nest.count(1); ++s) {
              for (int64_t t = 0; t < nest.count(2); ++t) {
                const std::array<int64_t, 3> at{r, s, t};
                const auto element = [&](size_t reference) {
                  std::byte* found = nest.address(reference);
                  for (size_t loop = 0; loop < 3; ++loop) {
                    found += nest.stride_bytes(reference, loop) * at[loop];
                  }
                  return reinterpret_cast<int64_t*>(found);
                };
                const int64_t k = nest.first(2) + t * loops[2].step;
                *element(to) = *element(from) + 10000 * k;
                ++seen;
              }
            }
          }
        }
        EXPECT_EQ(seen, iterations);
        EXPECT_FALSE(nest.next());
      }
      context.barrier();
      if (context.rank_me() == 1) {
        ASSERT_EQ(std::vector<int64_t>(mine, mine + kWords), expected) << "round " << round;
      }
      context.barrier();
    }
  });
}

// What a nest of for_nest() is decided to be, and where it is found again.
TEST_P(NestTemplates, SayWhatWasDecided) {
  on_ranks(2, [](Context& context) {
    const auto words = *context.new_symmetric_array<double>(1000);
    context.barrier();
    if (context.rank_me() == 0) {
      const auto theirs = context.on_rank(words, 1);
      NestTemplate nest(context, {.use_model = false});
      const size_t i = nest.add_loop(0, 999);
      const size_t from = nest.add_reference(Mode::read, 1, theirs.offset(), 8);
      const size_t to = nest.add_reference(Mode::write, 1, theirs.offset() + 8, 8);
      nest.set_stride(from, i, 8);
      nest.set_stride(to, i, 8);
      EXPECT_TRUE(nest.analyze().obstacle.has_value()) << "each iteration needs the one before";
      int64_t strips = 0;
      while (nest.next()) {
        EXPECT_EQ(nest.count(i), 1);
        EXPECT_EQ(nest.first(i), strips);
        const double next = *reinterpret_cast<double*>(nest.address(from)) + 1;
        std::memcpy(nest.address(to), &next, sizeof(next));
        ++strips;
      }
      EXPECT_EQ(strips, 999);
    }
    context.barrier();
    if (context.rank_me() == 1) {
      EXPECT_EQ(context.local(words)[999], 999);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Fabrics, NestTemplates,
                         ::testing::ValuesIn(bootstrap::fabrics_under_test()),
                         bootstrap::FabricLabel{});

class NestTemplateDeathTest : public bootstrap::RanksDeathTest {};

TEST_F(NestTemplateDeathTest, RefusesWhatIsNoNest) {
  const auto goes = [](const std::function<void(NestTemplate&)>& describe) {
    on_ranks(1, [&](Context& context) {
      const auto words = *context.new_symmetric_array<double>(100);
      NestTemplate nest(context);
      describe(nest);
      nest.add_loop(0, 100);
      nest.add_reference(Mode::read, 0, words.offset(), 8);
      nest.set_stride(0, 0, 8);
      while (nest.next()) {
      }
    });
  };
  const auto refused = ::testing::ExitedWithCode(2);
  EXPECT_EXIT(goes([](NestTemplate&) {}), ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(goes([](NestTemplate& nest) { nest.add_loop(0, 5, 0); }), refused,
              "nest_template_test.cc:[0-9]+: NestTemplate: .*step");
  EXPECT_EXIT(goes([](NestTemplate& nest) { nest.next(); }), refused, "loops and references");
  EXPECT_EXIT(goes([](NestTemplate& nest) { nest.set_stride(0, 0, 8); }), refused, "were added");
  EXPECT_EXIT(goes([](NestTemplate& nest) {
                for (int loop = 0; loop < 6; ++loop) nest.add_loop(0, 1);
              }),
              refused, "at most 6 loops");
  EXPECT_EXIT(goes([](NestTemplate& nest) { nest.add_reference(Mode::read, 0, 0, 0); }), refused,
              "at least one byte");
  EXPECT_EXIT(goes([](NestTemplate& nest) { nest.add_reference(Mode::read, 0, ~uint64_t{0}, 8); }),
              refused, "nest of .* out of bounds");
  EXPECT_EXIT(goes([](NestTemplate& nest) {
                nest.add_loop(0, 1);
                nest.add_reference(Mode::read, 0, 0, 8);
                nest.next();
              }),
              refused, "described before analyze");
  EXPECT_EXIT(goes([](NestTemplate& nest) { nest.add_reference(static_cast<Mode>(200), 0, 0, 8); }),
              refused,
              "nest_template_test.cc:[0-9]+: NestTemplate: a reference is of access::Mode");
}

TEST_F(NestTemplateDeathTest, RefusesQuestionsAboutNoStrip) {
  // The nest has one loop and one reference; next() has returned true `strips` times, or 2 for all.
  const auto asks = [](int strips, const std::function<void(const NestTemplate&)>& ask) {
    on_ranks(1, [&](Context& context) {
      const auto words = *context.new_symmetric_array<double>(100);
      NestTemplate nest(context);
      nest.add_loop(0, 100);
      nest.add_reference(Mode::read, 0, words.offset(), 8);
      if (strips > 0) nest.next();
      if (strips > 1) {
        while (nest.next()) {
        }
      }
      ask(nest);
    });
  };
  const std::vector<std::function<void(const NestTemplate&, size_t)>> questions = {
      [](const NestTemplate& nest, size_t number) { (void)nest.first(number); },
      [](const NestTemplate& nest, size_t number) { (void)nest.count(number); },
      [](const NestTemplate& nest, size_t number) { (void)nest.address(number); },
      [](const NestTemplate& nest, size_t number) { (void)nest.stride_bytes(number, 0); },
      [](const NestTemplate& nest, size_t number) { (void)nest.stride_bytes(0, number); },
  };
  const auto refused = ::testing::ExitedWithCode(2);
  for (const auto& question : questions) {
    EXPECT_EXIT(asks(1, [&](const NestTemplate& nest) { question(nest, 0); }),
                ::testing::ExitedWithCode(0), "");
    EXPECT_EXIT(asks(1, [&](const NestTemplate& nest) { question(nest, 1); }), refused,
                "nest_template_test.cc:[0-9]+: NestTemplate: .*that were added");
    for (const int strips : {0, 2}) {
      EXPECT_EXIT(asks(strips, [&](const NestTemplate& nest) { question(nest, 0); }), refused,
                  "NestTemplate: .*are about a strip, and there is none");
    }
  }
}

}  // namespace
}  // namespace stripline
