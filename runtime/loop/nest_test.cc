#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/loop_index.h>
#include <stripline/nest.h>

#include "base/testing/test_size.h"
#include "runtime/bootstrap/testing/fabrics_under_test.h"
#include "runtime/bootstrap/testing/rank_fixtures.h"
#include "runtime/bootstrap/testing/thread_group.h"
#include "runtime/loop/testing/model_file.h"
#include "runtime/loop/testing/plain_nest.h"
#include "runtime/rma/context_state.h"

namespace stripline {
namespace {

using access::Mode;
using bootstrap::FabricUnderTest;
using bootstrap::group_on;
using plan::NestCandidate;
using plan::Schedule;

TEST(IndexExpression, HasCoefficientsAndKnowsZeroAndOne) {
  const auto [i, j] = loop_indices<2>();
  const int64_t columns = 7;
  const auto place = i * columns + j + 1;
  EXPECT_EQ(place.coefficients, (std::array<int64_t, 2>{7, 1}));
  EXPECT_EQ(place.constant, 1);
  EXPECT_EQ(place.kKnown[0], Coefficient::any);
  EXPECT_EQ(place.kKnown[1], Coefficient::one);
  const auto row = 3 - 2 * i;
  EXPECT_EQ(row.coefficients, (std::array<int64_t, 2>{-2, 0}));
  EXPECT_EQ(row.constant, 3);
  EXPECT_EQ(row.kKnown[1], Coefficient::zero);
  const auto difference = (i + j) - (j - 4);
  EXPECT_EQ(difference.coefficients, (std::array<int64_t, 2>{1, 0}));
  EXPECT_EQ(difference.constant, 4);
  EXPECT_EQ(difference.kKnown[0], Coefficient::one);
  EXPECT_EQ(difference.kKnown[1], Coefficient::any);  // 1 - 1, but that is not looked at
}

std::vector<std::optional<NestCandidate>> candidates() {
  return {std::nullopt,
          NestCandidate{Schedule::vectorised, {0, 1}, 1},
          NestCandidate{Schedule::vectorised, {1, 3}, 1},
          NestCandidate{Schedule::all_issued, {0, 2}, 1},
          NestCandidate{Schedule::pipelined, {0, 1}, 2},
          NestCandidate{Schedule::pipelined, {0, 3}, 1},
          NestCandidate{Schedule::pipelined, {1, 4}, 3},
          NestCandidate{Schedule::pipelined, {1, 7}, 1}};
}

class Nests : public ::testing::TestWithParam<FabricUnderTest> {
 protected:
  static constexpr size_t kWords = 1 << 13;

  // Rank 0 runs `body` on words of rank 1, which serves it; then rank 1 compares with what
  // `plain` does to the same words.
  void compare(const std::function<void(Context&, global_ptr<double>)>& body,
               const std::function<void(std::vector<double>&)>& plain) {
    bootstrap::on_ranks(group_on(GetParam(), 2), [&](Context& context) {
      const auto words = *context.new_symmetric_array<double>(kWords);
      double* const mine = context.local(words);
      std::vector<double> expected(kWords);
      for (size_t i = 0; i < kWords; ++i) {
        expected[i] = mine[i] = static_cast<double>((i * 2654435761U) % 1000);
      }
      context.barrier();
      if (context.rank_me() == 0) body(context, context.on_rank(words, 1));
      context.barrier();
      if (context.rank_me() == 1) {
        plain(expected);
        for (size_t i = 0; i < kWords; ++i) ASSERT_EQ(mine[i], expected[i]) << i;
      }
    });
  }
};

constexpr size_t kRows = 13;
constexpr size_t kColumns = 17;

TEST_P(Nests, MultiplyAMatrixByAVector) {
  for (const auto& force : candidates()) {
    compare(
        [&](Context& context, global_ptr<double> words) {
          const auto [i, j] = loop_indices<2>();
          const auto x = words + 1000;
          const auto y = words + 2000;
          const NestPlan plan = for_nest(
              context, {kRows, kColumns}, {.use_model = true, .force = force},
              [](const double& a, const double& b, double& sum) { sum += a * b; },
              read(words, i * kColumns + j), read(x, j), update(y, i));
          EXPECT_FALSE(plan.obstacle);
          if (force) {
            EXPECT_EQ(plan.reason, plan::Reason::forced);
          }
        },
        [](std::vector<double>& words) {
          for (size_t i = 0; i < kRows; ++i) {
            for (size_t j = 0; j < kColumns; ++j) {
              words[2000 + i] += words[i * kColumns + j] * words[1000 + j];
            }
          }
        });
  }
}

TEST_P(Nests, RelaxAGrid) {
  for (const auto& force : candidates()) {
    compare(
        [&](Context& context, global_ptr<double> words) {
          const auto [i, j] = loop_indices<2>();
          const auto at = [i = i, j = j](int64_t di, int64_t dj) {
            return (i + 1 + di) * kColumns + j + 1 + dj;
          };
          const NestPlan plan = for_nest(
              context, {kRows - 2, kColumns - 2}, {.force = force},
              [](const double& north, const double& south, const double& west, const double& east,
                 double& out) { out = (north + south) + (west + east); },
              read(words, at(-1, 0)), read(words, at(1, 0)), read(words, at(0, -1)),
              read(words, at(0, 1)), write(words + 4096, at(0, 0)));
          EXPECT_FALSE(plan.obstacle);
        },
        [](std::vector<double>& words) {
          for (size_t i = 1; i + 1 < kRows; ++i) {
            for (size_t j = 1; j + 1 < kColumns; ++j) {
              const double* const at = &words[i * kColumns + j];
              words[4096 + i * kColumns + j] =
                  (at[-static_cast<std::ptrdiff_t>(kColumns)] + at[kColumns]) + (at[-1] + at[1]);
            }
          }
        });
  }
}

TEST_P(Nests, TransposeAMatrix) {
  for (const auto& force : candidates()) {
    compare(
        [&](Context& context, global_ptr<double> words) {
          const auto [i, j] = loop_indices<2>();
          const NestPlan plan = for_nest(
              context, {kRows, kColumns}, {.force = force},
              [](const double& in, double& out) { out = in; }, read(words, j * kRows + i),
              write(words + 4096, i * kColumns + j));
          EXPECT_FALSE(plan.obstacle);
        },
        [](std::vector<double>& words) {
          for (size_t i = 0; i < kRows; ++i) {
            for (size_t j = 0; j < kColumns; ++j) {
              words[4096 + i * kColumns + j] = words[j * kRows + i];
            }
          }
        });
  }
}

// Both ranks' blocks, the own ones in place, the others fetched; then a row to each.
// A last step so much shorter than the others that as many of its length would reach the next row.
TEST_P(Nests, WriteRowsOfAPrimeLengthInAWiderArray) {
  constexpr size_t kLength = 457;
  constexpr size_t kPitch = 512;
  for (const uint64_t granule : {115, 112, 64, 58, 1}) {
    compare(
        [&](Context& context, global_ptr<double> words) {
          const auto [i, j] = loop_indices<2>();
          const NestPlan plan = for_nest(
              context, {size_t{4}, kLength},
              {.force = NestCandidate{Schedule::all_issued, {1, granule}, 1}},
              [](const double& from, double& to) { to = 2 * from; },
              read(words + 4 * kPitch, i * kLength + j), write(words, i * kPitch + j));
          EXPECT_FALSE(plan.obstacle);
        },
        [](std::vector<double>& words) {
          for (size_t i = 0; i < 4; ++i) {
            for (size_t j = 0; j < kLength; ++j) {
              words[i * kPitch + j] = 2 * words[4 * kPitch + i * kLength + j];
            }
          }
        });
  }
}

TEST_P(Nests, GoThroughTheRanksOfADistributedArray) {
  for (const auto& force : candidates()) {
    compare(
        [&](Context& context, global_ptr<double> words) {
          const auto own = global_ptr<double>(0, words.offset());
          const PieceArray<const double> blocks(
              std::array<global_ptr<const double>, 4>{words, own + 500, words + 700, own + 100});
          const PieceArray<double> sums(
              std::array<global_ptr<double>, 4>{words + 3000, words + 3200, words + 3400, own});
          const auto [r, i] = loop_indices<2>();
          const NestPlan read_plan = for_nest(
              context, {size_t{4}, kColumns}, {.force = force},
              [](const double& in, double& sum) { sum += in; }, read(blocks[r], 2 * i + 1),
              update(words + 2000, i));
          EXPECT_FALSE(read_plan.obstacle);
          const NestPlan write_plan = for_nest(
              context, {size_t{3}, kColumns}, {.force = force},
              [](const std::array<size_t, 2>& at, double& out) {
                out = static_cast<double>(100 * at[0] + at[1]);
              },
              write(sums[r], i));
          EXPECT_FALSE(write_plan.obstacle);
        },
        [](std::vector<double>& words) {
          const std::vector<double> before = words;  // rank 0 has the same
          for (const size_t block : {0, 500, 700, 100}) {
            for (size_t i = 0; i < kColumns; ++i) words[2000 + i] += before[block + 2 * i + 1];
          }
          for (size_t k = 0; k < 3; ++k) {
            for (size_t i = 0; i < kColumns; ++i) {
              words[3000 + 200 * k + i] = static_cast<double>(100 * k + i);
            }
          }
        });
  }
}

TEST_P(Nests, AddUpWithTheNumbersOfTheIteration) {
  compare(
      [&](Context& context, global_ptr<double> words) {
        const auto [i, j] = loop_indices<2>();
        for_nest(
            context, {kRows, kColumns}, {.force = NestCandidate{Schedule::pipelined, {0, 2}, 2}},
            [](const std::array<size_t, 2>& index, const double& in, double& sum) {
              sum += in * static_cast<double>(index[0] * 100 + index[1]);
            },
            read(words, i * kColumns + j), update(words + 5000, 0 * i));
      },
      [](std::vector<double>& words) {
        for (size_t i = 0; i < kRows; ++i) {
          for (size_t j = 0; j < kColumns; ++j) {
            words[5000] += words[i * kColumns + j] * static_cast<double>(i * 100 + j);
          }
        }
      });
}

TEST_P(Nests, AreCarriedOutAccessByAccessWhereIterationsDependOnEachOther) {
  compare(
      [&](Context& context, global_ptr<double> words) {
        const auto [i] = loop_indices<1>();
        const NestPlan plan = for_nest(
            context, {size_t{40}}, [](const double& before, double& after) { after = before + 1; },
            read(words, i), write(words, i + 1));
        ASSERT_TRUE(plan.obstacle);
        EXPECT_EQ(plan.obstacle->text(),
                  "reference 0 may read what reference 1 has written in an earlier iteration");
      },
      [](std::vector<double>& words) {
        for (size_t i = 0; i < 40; ++i) words[i + 1] = words[i] + 1;
      });
}

TEST_P(Nests, MayBeWithinEachOther) {
  compare(
      [&](Context& context, global_ptr<double> words) {
        const auto [i] = loop_indices<1>();
        for_nest(
            context, {size_t{5}}, {.force = NestCandidate{Schedule::pipelined, {0, 1}, 2}},
            [&, i = i](const std::array<size_t, 1>& outer, double& sum) {
              const auto row = words + static_cast<std::ptrdiff_t>(100 * (outer[0] + 1));
              double part = 0;
              for_nest(
                  context, {size_t{50}}, {.force = NestCandidate{Schedule::pipelined, {0, 8}, 2}},
                  [&](const double& in) { part += in; }, read(row, i));
              sum = part;
            },
            write(words + 6000, i));
      },
      [](std::vector<double>& words) {
        for (size_t i = 0; i < 5; ++i) {
          double part = 0;
          for (size_t k = 0; k < 50; ++k) part += words[100 * (i + 1) + k];
          words[6000 + i] = part;
        }
      });
}

TEST_P(Nests, DoNothingWithoutIterations) {
  compare(
      [](Context& context, global_ptr<double> words) {
        const auto [i, j] = loop_indices<2>();
        for_nest(
            context, {size_t{5}, size_t{0}}, [](double&) { ADD_FAILURE(); }, write(words, i + j));
      },
      [](std::vector<double>&) {});
}

// What is written may be in the place of what is read.
TEST_P(Nests, ReadAllBeforeTheyWriteWhereverTheDataAre) {
  bootstrap::on_ranks(group_on(GetParam(), 2), [](Context& context) {
    const auto words = *context.new_symmetric_array<double>(100);
    for (size_t at = 0; at < 100; ++at) context.local(words)[at] = 1;
    context.barrier();
    if (context.rank_me() == 0) {
      const auto [i] = loop_indices<1>();
      for (rank_t owner = 0; owner < 2; ++owner) {
        const auto there = context.on_rank(words, owner);
        const NestPlan plan = for_nest(
            context, {size_t{100}},
            [](const double& in, double& out) {
              out = 0;
              for (int k = 0; k < 3; ++k) out += in;
            },
            read(there, i), write(there, i));
        EXPECT_FALSE(plan.obstacle);
      }
    }
    context.barrier();
    for (size_t at = 0; at < 100; ++at) ASSERT_EQ(context.local(words)[at], 3);
  });
}

// The first executions are timed, then the plan is made again; a nest within may take its place.
TEST(NestsUnderAModel, ArePlannedTimedAndPlannedAgain) {
  const ModelFile file("nest_test");
  auto group = group_on({"", "emulated:opteron-vapi,compute=none", "virtual"}, 2);
  group.context.model_path = file.path();
  constexpr size_t kManyRows = 64;
  constexpr size_t kManyColumns = 512;
  bootstrap::on_ranks(group, [&](Context& context) {
    const auto matrix = *context.new_symmetric_array<double>(kManyRows * kManyColumns);
    const auto sums = *context.new_symmetric_array<double>(kManyRows);
    for (size_t at = 0; at < kManyRows * kManyColumns; ++at) context.local(matrix)[at] = 1;
    for (size_t at = 0; at < kManyRows; ++at) context.local(sums)[at] = 0;
    context.barrier();
    constexpr int kTimes = 6;
    if (context.rank_me() == 0) {
      const auto [i, j] = loop_indices<2>();
      const auto a = context.on_rank(matrix, 1);
      const auto y = context.on_rank(sums, 1);
      std::vector<NestPlan> plans;
      for (int time = 0; time < kTimes; ++time) {
        plans.push_back(for_nest(
            context, {kManyRows, kManyColumns}, {.self_check = false},
            [&](const std::array<size_t, 2>& index, const double& in, double& sum) {
              sum += in;
              if (index[1] % 64 == 0) context.compute_for(2e-6);
            },
            read(a, i * kManyColumns + j), update(y, i)));
      }
      // Nothing is known of the computation at first; 1 ms of it is worth hiding.
      EXPECT_EQ(plans.back().reason, plan::Reason::tuned);
      EXPECT_GT(plans.back().steps, 1U);
      EXPECT_GT(plans.back().baseline_s, plans.front().baseline_s);
      EXPECT_LT(plans.back().predicted_s, plans.back().baseline_s);
      const NestPlan without = for_nest(
          context, {kManyRows, kManyColumns}, {.use_model = false}, [](const double&) {},
          read(a, i * kManyColumns + j));
      EXPECT_EQ(without.reason, plan::Reason::no_model);
      EXPECT_EQ(without.steps, 1U);
    }
    context.barrier();
    if (context.rank_me() == 1) {
      for (size_t at = 0; at < kManyRows; ++at) {
        EXPECT_EQ(context.local(sums)[at], double{kTimes} * kManyColumns);
      }
    }
  });
}

// The rule names nests by their number of iterations; others are tuned.
TEST(NestsUnderAModel, AreTheBaselineWhereARuleSaysSo) {
  const ModelFile file("nest_test");
  auto group = group_on({"", "emulated:opteron-vapi,compute=none", "virtual"}, 2);
  group.context.model_path = file.path();
  group.context.tuning = "nest:32768:baseline";
  bootstrap::on_ranks(group, [](Context& context) {
    constexpr size_t kCount = 1 << 16;
    const auto words = *context.new_symmetric_array<double>(kCount);
    context.barrier();
    if (context.rank_me() == 0) {
      const auto [i] = loop_indices<1>();
      const NestOptions options{.loop = {.n_local_ref = 1, .n_fp_alu = 100}};
      const auto plan_of = [&, index = i](size_t count) {
        return for_nest(
            context, {count}, options, [](const double&) {},
            read(context.on_rank(words, 1), index));
      };
      const NestPlan forced = plan_of(kCount / 2);
      EXPECT_EQ(forced.reason, plan::Reason::no_model);
      EXPECT_EQ(forced.steps, 1U);
      EXPECT_NE(plan_of(kCount).reason, plan::Reason::no_model);
    }
    context.barrier();
  });
}

// The first time, what a nest computes is estimated by its operations.
TEST(NestsUnderAModel, AreOthersWhenTheyComputeMore) {
  const ModelFile file("nest_test");
  auto group = group_on({"", "emulated:opteron-vapi,compute=none", "virtual"}, 2);
  group.context.model_path = file.path();
  bootstrap::on_ranks(group, [](Context& context) {
    constexpr size_t kCount = 100000;
    const auto words = *context.new_symmetric_array<double>(kCount);
    context.barrier();
    if (context.rank_me() == 0) {
      const auto [i] = loop_indices<1>();
      std::vector<NestPlan> plans;
      for (const auto& [operations, local_bytes] :
           {std::pair(1U, size_t{0}), {100U, size_t{0}}, {1U, size_t{1} << 30}}) {
        NestOptions options{.loop = {.n_local_ref = 1, .n_fp_alu = operations}, .site = 7};
        options.local_bytes = local_bytes;
        plans.push_back(for_nest(
            context, {kCount}, options, [](const double&) {}, read(context.on_rank(words, 1), i)));
      }
      EXPECT_GT(plans[1].baseline_s, 2 * plans[0].baseline_s);
      EXPECT_GT(plans[2].baseline_s, plans[0].baseline_s);
    }
    context.barrier();
  });
}

// By place and shape: many nests of one file, and one that moves over a distributed array.
TEST(NestsUnderAModel, AreFoundAgain) {
  const ModelFile file("nest_test");
  auto group = group_on({"", "emulated:opteron-vapi,compute=none", "virtual"}, 3);
  group.context.model_path = file.path();
  bootstrap::on_ranks(group, [&](Context& context) {
    const auto words = *context.new_symmetric_array<double>(1 << 15);
    context.barrier();
    if (context.rank_me() == 0) {
      const std::vector<global_ptr<double>> where{context.on_rank(words, 1),
                                                  context.on_rank(words, 2)};
      const PieceArray<double> pieces(where);
      const auto [r, i] = loop_indices<2>();
      const auto body = [&](const std::array<size_t, 2>& at, const double&) {
        if (at[1] == 0) context.compute_for(1e-3);
      };
      constexpr int kSites = 32;
      std::vector<NestPlan> plans;
      for (int time = 0; time < 6; ++time) {
        plans.clear();
        for (int site = 0; site < kSites; ++site) {
          plans.push_back(for_nest(NestPlace(context, CallSite{"some/file.cc", 100 + 17 * site}),
                                   {size_t{2}, size_t{1000}}, {.self_check = false}, body,
                                   read(where[0], r * 1000 + i)));
        }
        plans.push_back(for_nest(context, {size_t{2}, size_t{1000}}, {.self_check = false}, body,
                                 read(pieces[r], i + 100 * time)));
      }
      // A nest that was timed knows of two milliseconds of computation.
      for (const NestPlan& plan : plans) EXPECT_GT(plan.baseline_s, 2e-3);
    }
    context.barrier();
  });
}

TEST(NestsUnderAModel, AreToldWhenThereIsNone) {
  bootstrap::on_ranks(
      group_on({"", "emulated:opteron-vapi,compute=none", "virtual"}, 2), [&](Context& context) {
        const auto words = *context.new_symmetric_array<double>(100);
        context.barrier();
        if (context.rank_me() == 0) {
          const auto [i] = loop_indices<1>();
          ::testing::internal::CaptureStderr();
          for_nest(
              context, {size_t{100}}, [](double& out) { out = 1; },
              write(context.on_rank(words, 1), i));
          const std::string said = ::testing::internal::GetCapturedStderr();
          EXPECT_NE(said.find("no tuned model is loaded"), std::string::npos) << said;
        }
        context.barrier();
      });
}

// The fields that are used follow each other: together they take 12 bytes.
struct Particle {
  double position;
  int charge;
  float unused;
};

TEST_P(Nests, GiveElementsWhereTheirTypesMayBe) {
  bootstrap::on_ranks(group_on(GetParam(), 2), [](Context& context) {
    constexpr size_t kParticles = 300;
    const auto particles = *context.new_symmetric_array<Particle>(kParticles);
    Particle* const mine = context.local(particles);
    for (size_t i = 0; i < kParticles; ++i) {
      mine[i] = {static_cast<double>(i), static_cast<int>(i), 2.0F};
    }
    context.barrier();
    if (context.rank_me() == 0) {
      const global_ptr<Particle> theirs = context.on_rank(particles, 1);
      const auto field = [&](auto type, size_t offset) {
        using Field = decltype(type);
        return global_ptr<Field>(theirs.where(), theirs.offset() + offset);
      };
      constexpr size_t kBytes = sizeof(Particle);
      const auto [i] = loop_indices<1>();
      size_t astray = 0;
      double sum = 0;
      const auto is_astray = [](const auto& element) {
        return reinterpret_cast<uintptr_t>(&element) %
                   alignof(std::remove_cvref_t<decltype(element)>) !=
               0;
      };
      for_nest(
          context, {kParticles}, {.use_model = false},
          [&](const double& position, const int& charge) {
            astray += is_astray(position) || is_astray(charge) ? 1 : 0;
            sum += position * charge;
          },
          read(field(0.0, offsetof(Particle, position)), i * (kBytes / sizeof(double))),
          read(field(0, offsetof(Particle, charge)), i * (kBytes / sizeof(int))));
      EXPECT_EQ(astray, 0U);
      double expected = 0;
      for (size_t k = 0; k < kParticles; ++k) expected += static_cast<double>(k * k);
      EXPECT_EQ(sum, expected);
    }
    context.barrier();
  });
}

// When two accesses of an iteration write the same element, the second one counts, also where
// the network delivers puts in any order.
TEST(NestsAccessByAccess, WriteInTheOrderOfTheAccesses) {
  for (const char* const fabric : {"emulated:cloud-ethernet", "emulated:opteron-vapi"}) {
    bootstrap::on_ranks(group_on({"", fabric, "virtual"}, 2), [](Context& context) {
      constexpr size_t kWords = 200;
      const auto words = *context.new_symmetric_array<int>(kWords);
      context.barrier();
      if (context.rank_me() == 0) {
        const auto [i] = loop_indices<1>();
        const auto theirs = context.on_rank(words, 1);
        const NestPlan plan = for_nest(
            context, {kWords}, {.use_model = false},
            [](int& first, int& second) {
              first = 1;
              second = 2;
            },
            write(theirs, i), write(theirs, i));
        EXPECT_TRUE(plan.obstacle.has_value());
      }
      context.barrier();
      if (context.rank_me() != 1) return;
      EXPECT_EQ(std::count(context.local(words), context.local(words) + kWords, 2),
                static_cast<std::ptrdiff_t>(kWords));
    });
  }
}

constexpr size_t kBytes = 4096;

struct Case {
  access::Nest nest;
  std::vector<access::Piece> pieces;  // of some of the references
  NestCandidate candidate;
};

std::string text_of(const Case& one) {
  std::string text = "schedule " + std::to_string(static_cast<int>(one.candidate.schedule)) +
                     ", cut at " + std::to_string(one.candidate.cut.loop) + " by " +
                     std::to_string(one.candidate.cut.granule) + ", window " +
                     std::to_string(one.candidate.window) + ", loops of";
  for (uint32_t loop = 0; loop < one.nest.depth; ++loop) {
    text += " " + std::to_string(one.nest.counts[loop]);
  }
  for (const access::Reference& reference : one.nest.reference) {
    text += "; mode " + std::to_string(static_cast<int>(reference.mode)) + " of " +
            std::to_string(reference.element_bytes) + " B at " + std::to_string(reference.base) +
            " by";
    for (uint32_t loop = 0; loop < one.nest.depth; ++loop) {
      text += " " + std::to_string(reference.stride_bytes[loop]);
    }
    if (!reference.in_pieces()) continue;
    text += ", loop " + std::to_string(reference.piece_loop) + " chooses of";
    for (const access::Piece& piece : one.pieces) {
      text += " " + std::to_string(piece.owner) + ":" + std::to_string(piece.base);
    }
  }
  return text;
}

// A few loops and references that stay within the memory.
Case random_case(std::mt19937_64& random) {
  const auto between = [&](int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random);
  };
  constexpr int64_t kStrides[] = {-32, -8, -4, 0, 0, 4, 4, 8, 8, 16, 32, 64, 96};
  while (true) {
    Case one;
    for (uint32_t k = 0; k < 6; ++k) {
      one.pieces.push_back({(k + 1) % 2, 256 * between(0, 3)});
    }
    const int64_t depth = between(1, 3);
    for (int64_t loop = 0; loop < depth; ++loop) {
      one.nest.add_loop(static_cast<uint64_t>(between(1, 6)));
    }
    const int64_t references = between(1, 4);
    const int64_t usual = between(0, 1) == 0 ? 4 : 8;
    bool within = true;
    for (int64_t r = 0; r < references; ++r) {
      const int64_t element = between(0, 3) == 0 ? 12 - usual : usual;
      access::Reference reference{.mode = static_cast<Mode>(between(0, 2)),
                                  .owner = 1,
                                  .element_bytes = static_cast<uint32_t>(element)};
      const bool in_pieces = between(0, 3) == 0;
      for (uint32_t loop = 0; loop < one.nest.depth; ++loop) {
        reference.stride_bytes[loop] = kStrides[between(0, std::size(kStrides) - 1)];
      }
      if (r > 0 && between(0, 1) == 0) {  // like the first one
        reference.stride_bytes = one.nest.reference[0].stride_bytes;
      }
      int64_t low = 0;
      int64_t high = element;
      for (uint32_t loop = 0; loop < one.nest.depth; ++loop) {
        const int64_t span =
            reference.stride_bytes[loop] * static_cast<int64_t>(one.nest.counts[loop] - 1);
        (span < 0 ? low : high) += span;
      }
      reference.base = 1024 + 4 * between(0, between(0, 3) == 0 ? 20 : 500);
      within = within && reference.base + low >= 0 &&
               reference.base + high + (in_pieces ? 1024 : 0) <= static_cast<int64_t>(kBytes);
      if (in_pieces) {
        reference.pieces = one.pieces;  // the memory stays where it is as the case moves
        reference.piece_loop = static_cast<uint32_t>(between(0, depth - 1));
      }
      one.nest.add(reference);
    }
    constexpr Schedule kSchedules[] = {Schedule::vectorised, Schedule::all_issued,
                                       Schedule::pipelined, Schedule::pipelined};
    one.candidate.schedule = kSchedules[between(0, 3)];
    one.candidate.cut.loop = static_cast<uint32_t>(between(0, depth - 1));
    one.candidate.cut.granule = static_cast<uint64_t>(between(1, 4));
    one.candidate.window = static_cast<uint32_t>(between(1, 4));
    if (within) return one;
  }
}

TEST_P(Nests, DoWhatTheLoopsSay) {
  const auto cases = static_cast<int>(test_size("STRIPLINE_TEST_NEST_CASES", 400));
  bootstrap::on_ranks(group_on(GetParam(), 2), [&](Context& context) {
    std::mt19937_64 random(17);
    const auto memory = *context.new_symmetric_array<uint64_t>(kBytes / 8);
    auto* const mine = reinterpret_cast<std::byte*>(context.local(memory));
    const auto base = static_cast<int64_t>(context.on_rank(memory, 1).offset());
    int cut = 0;
    for (int i = 0; i < cases; ++i) {
      Case one = random_case(random);
      for (size_t byte = 0; byte < kBytes; ++byte)
        mine[byte] = static_cast<std::byte>(byte * 7 + byte / 256);
      std::vector<std::byte> expected(2 * kBytes);  // both ranks' alike
      std::memcpy(expected.data(), mine, kBytes);
      std::memcpy(expected.data() + kBytes, mine, kBytes);
      const access::Nest plain = one.nest;
      for (access::Reference& reference : one.nest.reference) reference.base += base;
      context.barrier();
      if (context.rank_me() == 0) {
        NestOptions options;
        options.force = one.candidate;
        detail::NestRun run(context, one.nest, options, CallSite::current());
        while (const detail::NestTile* tile = run.next()) {
          for_each_iteration(one.nest, *tile, [&](const auto& at, const auto& element) {
            set_by_all_it_reads(one.nest, at, element);
          });
        }
        if (!run.plan().obstacle && run.plan().steps > 1) ++cut;
      }
      context.barrier();
      const bool in_order = access::dependence_of(plain).has_value();
      run_plainly(plain, kBytes, expected);
      ASSERT_EQ(std::memcmp(mine, &expected[context.rank_me() * kBytes], kBytes), 0)
          << "case " << i << (in_order ? ", in order: " : ": ") << text_of(one);
      context.barrier();
    }
    if (context.rank_me() == 0) {
      EXPECT_GT(cut, cases / 10);
    }
  });
}

TEST_P(Nests, GoThroughRanges) {
  bootstrap::on_ranks(group_on(GetParam(), 2), [](Context& context) {
    constexpr size_t kLines = 12;
    constexpr size_t kWidth = 20;
    const auto words = *context.new_symmetric_array<double>(kLines * kWidth);
    double* const mine = context.local(words);
    for (size_t at = 0; at < kLines * kWidth; ++at) mine[at] = static_cast<double>(at);
    context.barrier();
    if (context.rank_me() == 0) {
      const auto theirs = context.on_rank(words, 1);
      const auto [i, j] = loop_indices<2>();
      double sum = 0;
      double expected = 0;
      size_t astray = 0;
      const auto place = i * kWidth + j;
      for_nest(
          context, {{1, kLines - 1}, {3, kWidth, 4}},
          [&](const std::array<size_t, 2>& at, const double& left, const double& here) {
            astray += here != static_cast<double>(at[0] * kWidth + at[1]) ? 1 : 0;
            sum += here - 2 * left;
          },
          read(theirs, place - 1), read(theirs, place));
      for (size_t row = 1; row < kLines - 1; ++row) {
        for (size_t column = 3; column < kWidth; column += 4) {
          const auto here = static_cast<double>(row * kWidth + column);
          expected += here - 2 * (here - 1);
        }
      }
      EXPECT_EQ(sum, expected);
      EXPECT_EQ(astray, 0U);

      // Pieces from the second one on, written by neighbouring elements, and nothing at all.
      const std::vector<global_ptr<double>> rows{theirs, theirs + kWidth, theirs + 2 * kWidth};
      const PieceArray<double> pieces(rows);
      for_nest(
          context, {{1, 3}, {5, 9}}, [](double& out) { out = -1; }, write(pieces[i], j));
      for_nest(
          context, {{1, 3}, {9, 5}}, [](double& out) { out = -2; }, write(pieces[i], j));
    }
    context.barrier();
    if (context.rank_me() != 1) return;
    for (size_t at = 0; at < kLines * kWidth; ++at) {
      const size_t column = at % kWidth;
      const bool written = at / kWidth >= 1 && at / kWidth < 3 && column >= 5 && column < 9;
      EXPECT_EQ(mine[at], written ? -1 : static_cast<double>(at)) << at;
    }
  });
}

class NestDeathTest : public bootstrap::RanksDeathTest {};

TEST_F(NestDeathTest, RefusesRangesThatNoLoopGoesThrough) {
  const auto goes = [](size_t step) {
    on_ranks(1, [&](Context& context) {
      const auto words = *context.new_symmetric_array<double>(100);
      const std::vector<global_ptr<double>> where(8, words);
      const PieceArray<double> pieces(where);
      const auto [i] = loop_indices<1>();
      for_nest(
          context, {{0, 8, step}}, [](const double&) {}, read(pieces[i], i * 0));
    });
  };
  EXPECT_EXIT(goes(0), ::testing::ExitedWithCode(2), "a loop's step is not 0");
  EXPECT_EXIT(goes(2), ::testing::ExitedWithCode(2), "a loop that chooses pieces goes by ones");
  EXPECT_EXIT(goes(1), ::testing::ExitedWithCode(0), "");
}

// Also where an index leads from there into the segment.
TEST_F(NestDeathTest, RefusesNullPointersAndEmptyFunctions) {
  EXPECT_EXIT(on_ranks(1,
                       [](Context& context) {
                         const auto [i] = loop_indices<1>();
                         for_nest(
                             context, {{1, 8, 1}}, [](const double&) {},
                             read(global_ptr<double>(), i));
                       }),
              ::testing::ExitedWithCode(2),
              "nest_test.cc:[0-9]+: for_nest: an array is not at a null pointer");
  EXPECT_EXIT(on_ranks(1,
                       [](Context& context) {
                         const std::vector<global_ptr<double>> where(8);
                         const PieceArray<double> pieces(where);
                         const auto [i] = loop_indices<1>();
                         for_nest(
                             context, {size_t{8}}, [](const double&) {},
                             read(pieces[i], i * 0 + 1));
                       }),
              ::testing::ExitedWithCode(2),
              "nest_test.cc:[0-9]+: for_nest: a piece is not at a null pointer");
  EXPECT_EXIT(
      (void)PieceArray<double>(std::span(static_cast<const global_ptr<double>*>(nullptr), 3)),
      ::testing::ExitedWithCode(2),
      "nest_test.cc:[0-9]+: PieceArray of 3 elements at a null pointer");
  EXPECT_EXIT(on_ranks(1,
                       [](Context& context) {
                         const auto words = *context.new_symmetric_array<double>(8);
                         const auto [i] = loop_indices<1>();
                         for_nest(context, {size_t{8}}, std::function<void(const double&)>(),
                                  read(words, i));
                       }),
              ::testing::ExitedWithCode(2),
              "nest_test.cc:[0-9]+: for_nest with an empty std::function");
}

// Also where the number of bytes overflows.
TEST_F(NestDeathTest, StaysWithinTheSegments) {
  const auto goes = [](size_t count, size_t stride, size_t first) {
    on_ranks(2,
             [&](Context& context) {
               const auto words = *context.new_symmetric_array<double>(100);
               context.barrier();
               const auto [i] = loop_indices<1>();
               for_nest(
                   context, {count}, [](const double&) {},
                   read(context.on_rank(words, 1), i * stride + first));
             },
             {"", "emulated:opteron-vapi,compute=none", "virtual"});
  };
  EXPECT_EXIT(goes(100, 1, 0), ::testing::ExitedWithCode(0), "");
  const char* const said = "nest of .* out of bounds";
  EXPECT_EXIT(goes(size_t{1} << 40, 1, 0), ::testing::ExitedWithCode(2), said);
  EXPECT_EXIT(goes(5, size_t{1} << 59, 0), ::testing::ExitedWithCode(2), said);
  EXPECT_EXIT(goes(5, size_t{1} << 61, 0), ::testing::ExitedWithCode(2), said);
  EXPECT_EXIT(goes(5, size_t{0} - (size_t{1} << 59), 0), ::testing::ExitedWithCode(2), said);
  EXPECT_EXIT(goes(5, size_t{0} - (size_t{1} << 62), 0), ::testing::ExitedWithCode(2), said);
  EXPECT_EXIT(goes((size_t{1} << 61) + 1, 1, 0), ::testing::ExitedWithCode(2), said);
  EXPECT_EXIT(goes(1, 1, size_t{1} << 61), ::testing::ExitedWithCode(2), said);
  EXPECT_EXIT(goes(~size_t{0}, 1, 0), ::testing::ExitedWithCode(2), said);
}

INSTANTIATE_TEST_SUITE_P(Fabrics, Nests, ::testing::ValuesIn(bootstrap::fabrics_under_test()),
                         bootstrap::FabricLabel());

}  // namespace
}  // namespace stripline
