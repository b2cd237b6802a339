// Shared updates by threads and by ranks against the same updates one after the other.
#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/shared_updates.h>

#include "base/random.h"
#include "optimizer/model/model_fixture.h"
#include "runtime/bootstrap/testing/rank_fixtures.h"
#include "runtime/loop/testing/model_file.h"
#include "runtime/rma/context_state.h"
#include "runtime/update/team_fixture.h"

namespace stripline::update {
namespace {

using plan::SharedStrategy;

// As a machine of several cores has them, so that choices do not depend on how busy this one is.
plan::SharedCosts typical_costs() {
  return {.plain_s = 1e-9,
          .atomic_s = 5e-9,
          .lock_s = 12e-9,
          .transfer_s = 60e-9,
          .box_s = 3e-9,
          .fold_s = 1e-9,
          .barrier_s = 1e-6};
}

// What a test forces; none: the choice is free.
using Forced = std::optional<SharedStrategy>;
constexpr std::array<Forced, 7> kAll = {std::nullopt,           SharedStrategy::locked,
                                        SharedStrategy::atomic, SharedStrategy::replicate,
                                        SharedStrategy::hybrid, SharedStrategy::mirror,
                                        SharedStrategy::boxes};

SharedUpdatesOptions options_of(const Forced& forced) {
  SharedUpdatesOptions options;
  options.force = forced;
  options.hot = {5, 40};
  options.costs = typical_costs();
  return options;
}

class Shared : public testing::TestWithParam<std::tuple<TeamKind, uint32_t>> {
 protected:
  void on_workers(const std::function<void(worker_team&)>& body) {
    on_team(std::get<0>(GetParam()), std::get<1>(GetParam()), body);
  }
};
INSTANTIATE_TEST_SUITE_P(All, Shared,
                         testing::Combine(testing::Values(TeamKind::threads, TeamKind::ranks),
                                          testing::Values(1u, 2u, 3u, 4u)),
                         [](const auto& of) {
                           return (std::get<0>(of.param) == TeamKind::threads ? "Threads"
                                                                              : "Ranks") +
                                  std::to_string(std::get<1>(of.param));
                         });

// No operator of the library: neither associative nor with an identity as far as it says.
struct op_add_mod_97 {
  static constexpr bool kCommutative = true;
  uint32_t operator()(uint32_t a, uint32_t b) const { return (a + b) % 97; }
};

// Three words, which no atomic operation takes at once.
struct Triple {
  uint32_t a = 0;
  uint32_t b = 0;
  uint32_t c = 0;
  friend bool operator==(const Triple&, const Triple&) = default;
};
struct op_add_triples {
  static constexpr bool kAssociative = true;
  static constexpr bool kCommutative = true;
  template <typename T>
  static constexpr T identity() {
    return {};
  }
  Triple operator()(const Triple& x, const Triple& y) const {
    return {x.a + y.a, x.b + y.b, x.c + y.c};
  }
};

// Epochs of random updates, half of them of few cells, whose values value(random) says.
template <typename T, typename Op, typename Value>
void expect_same_as_sequential(worker_team& team, const SharedUpdatesOptions& options,
                               uint64_t cells, T start, const Value& value) {
  SCOPED_TRACE(options.force ? to_string(*options.force) : "free");
  const TeamCells<T> shared(team, cells, start);
  auto updates = SharedUpdates<T, Op>::create(team, shared.all(), options);
  ASSERT_TRUE(updates.ok()) << updates.error().message();
  std::vector<T> expected(cells, start);
  constexpr uint64_t kUpdates = 3000;  // of a worker
  for (uint64_t epoch = 0; epoch < 3; ++epoch) {
    for (uint32_t worker = 0; worker < team.count(); ++worker) {
      SplitMix64 random(derive_seed(epoch, worker));
      const auto next = [&](uint64_t) {
        const uint64_t index = random.next() % (random.next() % 2 == 0 ? cells : 10);
        return std::pair(index, value(random));
      };
      if (worker != team.index()) {
        for (uint64_t i = 0; i < kUpdates; ++i) {
          const auto [index, by] = next(i);
          expected[index] = Op{}(expected[index], by);
        }
        continue;
      }
      std::vector<std::pair<uint64_t, T>> mine;
      for (uint64_t i = 0; i < kUpdates; ++i) mine.push_back(next(i));
      for (const auto& [index, by] : mine) expected[index] = Op{}(expected[index], by);
      if (epoch == 1) {
        updates->update_all(mine.size(), [&](uint64_t i) { return mine[i]; });
      } else {
        for (const auto& [index, by] : mine) updates->update(index, by);
      }
    }
    updates->finish();
    ASSERT_TRUE(std::ranges::equal(shared.all(), expected)) << "epoch " << epoch;
    team.barrier();
  }
  EXPECT_LE(updates->state().replica_bytes, options.replica_bytes);
}

TEST_P(Shared, UpdatesAreThoseOfOneAfterTheOther) {
  on_workers([](worker_team& team) {
    for (const Forced& forced : kAll) {
      const SharedUpdatesOptions options = options_of(forced);
      expect_same_as_sequential<uint64_t, op_add>(team, options, 1000, 7,
                                                  [](auto& random) { return random.next(); });
      expect_same_as_sequential<double, op_add>(team, options, 77, 0.0, [](auto& random) {
        return static_cast<double>(random.next() % 1000);
      });
      expect_same_as_sequential<int32_t, op_max>(team, options, 300, -5, [](auto& random) {
        return static_cast<int32_t>(random.next() % 100000);
      });
      expect_same_as_sequential<uint8_t, op_bit_xor>(
          team, options, 200, 0, [](auto& random) { return static_cast<uint8_t>(random.next()); });
      if (forced != SharedStrategy::atomic) {
        expect_same_as_sequential<Triple, op_add_triples>(
            team, options, 150, Triple{}, [](auto& random) {
              const auto part = static_cast<uint32_t>(random.next());
              return Triple{part, part + 1, 2 * part};
            });
      }
      if (!forced || forced == SharedStrategy::atomic || forced == SharedStrategy::locked) {
        expect_same_as_sequential<uint32_t, op_add_mod_97>(team, options, 100, 1, [](auto& random) {
          return static_cast<uint32_t>(random.next() % 97);
        });
      }
    }
  });
}

TEST_P(Shared, UpdatesAreTheSameByMeasuredCosts) {
  on_workers([](worker_team& team) {
    SharedUpdatesOptions options;
    expect_same_as_sequential<uint64_t, op_add>(team, options, 500, 0,
                                                [](auto& random) { return random.next(); });
  });
}

TEST_P(Shared, FillsCells) {
  on_workers([](worker_team& team) {
    const grid_extent shape{5, 3, 7};
    const TeamCells<double> grid(team, shape.cells(), 1.0);
    auto updates =
        SharedUpdates<double, op_add>::create(team, grid.all().data(), shape, options_of({}));
    ASSERT_TRUE(updates.ok()) << updates.error().message();
    updates->fill(4.0);
    EXPECT_EQ(std::ranges::count(grid.all(), 4.0), static_cast<std::ptrdiff_t>(shape.cells()));
    team.barrier();
  });
}

struct Particle {
  grid_cell corner;
  uint64_t number = 0;
};
constexpr grid_extent kPatch{4, 3, 4};
constexpr grid_extent kGrid{29, 11, 21};

double force_of(uint64_t number, uint64_t k) { return static_cast<double>(number % 50 + k); }

// Particles in a few planes, which drift along x.
class Swarm {
 public:
  Swarm(worker_team& team, size_t count)
      : team_(team), particles_(team, count, Particle{}), expected_(kGrid.cells(), 0.0) {
    if (team.index() == 0) {
      SplitMix64 random(3);
      for (uint64_t i = 0; i < count; ++i) {
        particles_.all()[i] = {{8 + random.next() % 6, random.next() % (kGrid.y - kPatch.y + 1),
                                random.next() % (kGrid.z - kPatch.z + 1)},
                               i};
      }
    }
    team.barrier();
  }
  std::span<Particle> all() const { return particles_.all(); }
  // Collective.
  void expect_forces(std::span<const double> grid) {
    for (const Particle& particle : all()) {
      for (uint64_t k = 0; k < kPatch.cells(); ++k) {
        const uint64_t x = particle.corner.x + k / kPatch.z / kPatch.y;
        const uint64_t y = particle.corner.y + k / kPatch.z % kPatch.y;
        const uint64_t z = particle.corner.z + k % kPatch.z;
        expected_[(x * kGrid.y + y) * kGrid.z + z] += force_of(particle.number, k);
      }
    }
    ASSERT_TRUE(std::ranges::equal(grid, expected_));
    team_.barrier();
    if (team_.index() == 0) {
      for (Particle& particle : all()) {
        particle.corner.x = (particle.corner.x + 1) % (kGrid.x - kPatch.x + 1);
      }
    }
    team_.barrier();
  }

 private:
  worker_team& team_;
  TeamCells<Particle> particles_;
  std::vector<double> expected_;
};

grid_cell corner_of(const Particle& particle) { return particle.corner; }

void spread_all(SharedUpdates<double, op_add>& updates, std::span<const Particle> particles) {
  std::array<double, kPatch.cells()> patch;
  for (const Particle& particle : particles) {
    for (uint64_t k = 0; k < patch.size(); ++k) patch[k] = force_of(particle.number, k);
    if (particle.number % 5 == 0) {
      updates.spread(kPatch, particle.corner, patch.data());
    } else {
      updates.spread<kPatch.x, kPatch.y, kPatch.z>(particle.corner, patch.data());
    }
  }
}

TEST_P(Shared, PatchesAreSpread) {
  on_workers([](worker_team& team) {
    for (const Forced& forced : kAll) {
      SCOPED_TRACE(forced ? to_string(*forced) : "free");
      const TeamCells<double> grid(team, kGrid.cells(), 0.0);
      Swarm swarm(team, 300);
      auto updates =
          SharedUpdates<double, op_add>::create(team, grid.all().data(), kGrid, options_of(forced));
      ASSERT_TRUE(updates.ok()) << updates.error().message();
      for (int epoch = 0; epoch < 3; ++epoch) {
        const size_t count = swarm.all().size();
        const size_t begin = detail::share_begin(0, count, team.index(), team.count());
        const size_t end = detail::share_begin(0, count, team.index() + 1, team.count());
        spread_all(*updates, swarm.all().subspan(begin, end - begin));
        updates->finish();
        swarm.expect_forces(grid.all());
      }
    }
  });
}

TEST_P(Shared, ArrangedPointsAreSpreadWhileTheyDrift) {
  on_workers([](worker_team& team) {
    for (const Forced& forced : kAll) {
      SCOPED_TRACE(forced ? to_string(*forced) : "free");
      const TeamCells<double> grid(team, kGrid.cells(), 0.0);
      Swarm swarm(team, 400);
      SharedUpdatesOptions options = options_of(forced);
      options.sort_interval = 3;
      auto updates = SharedUpdates<double, op_add>::create(team, grid.all().data(), kGrid, options);
      ASSERT_TRUE(updates.ok()) << updates.error().message();
      for (int epoch = 0; epoch < 8; ++epoch) {
        spread_all(*updates, updates->arrange(swarm.all(), corner_of, kPatch));
        updates->finish();
        swarm.expect_forces(grid.all());
      }
      EXPECT_EQ(updates->state().sorts, 3u);
      EXPECT_EQ(updates->state().sort_interval > 0, true);
    }
  });
}

TEST_P(Shared, SlabsHaveAsManyPointsEach) {
  on_workers([](worker_team& team) {
    const TeamCells<double> grid(team, kGrid.cells(), 0.0);
    Swarm swarm(team, 4000);
    auto updates = SharedUpdates<double, op_add>::create(team, grid.all().data(), kGrid,
                                                         options_of(SharedStrategy::boxes));
    ASSERT_TRUE(updates.ok()) << updates.error().message();
    const std::span<Particle> mine = updates->arrange(swarm.all(), corner_of, kPatch);
    const double mean = 4000.0 / team.count();
    EXPECT_LT(static_cast<double>(mine.size()), 1.25 * mean);
    EXPECT_TRUE(std::ranges::is_sorted(
        mine, {}, [](const Particle& one) { return one.corner.x * kGrid.y + one.corner.y; }));
    const plan::Slab slab = updates->state().slab;
    // Planes without points are somebody's, too.
    uint64_t cells = 0;
    for (const uint64_t one :
         team.allgather((slab.x_end - slab.x_first) * (slab.y_end - slab.y_first))) {
      cells += one;
    }
    EXPECT_EQ(cells, kGrid.x * kGrid.y);
    updates->finish();
  });
}

TEST_P(Shared, BoxesKeepTheirBudget) {
  on_workers([](worker_team& team) {
    for (const bool arranged : {false, true}) {
      const TeamCells<double> grid(team, kGrid.cells(), 0.0);
      Swarm swarm(team, 300);
      SharedUpdatesOptions options = options_of(SharedStrategy::boxes);
      options.box = {2, 2, 4};
      options.replica_bytes = 1500;  // some ten boxes
      auto updates = SharedUpdates<double, op_add>::create(team, grid.all().data(), kGrid, options);
      ASSERT_TRUE(updates.ok()) << updates.error().message();
      for (int epoch = 0; epoch < 3; ++epoch) {
        if (arranged) {
          spread_all(*updates, updates->arrange(swarm.all(), corner_of, kPatch));
        } else {
          const size_t begin = detail::share_begin(0, 300, team.index(), team.count());
          const size_t end = detail::share_begin(0, 300, team.index() + 1, team.count());
          spread_all(*updates, swarm.all().subspan(begin, end - begin));
        }
        EXPECT_LE(updates->state().replica_bytes, options.replica_bytes);
        updates->finish();
        swarm.expect_forces(grid.all());
      }
    }
  });
}

TEST(Choice, FollowsTheDensity) {
  on_team(TeamKind::threads, 2, [](worker_team& team) {
    constexpr uint64_t kCells = 400000;
    const TeamCells<uint64_t> cells(team, kCells, 0);
    auto updates = SharedUpdates<uint64_t, op_add>::create(team, cells.all(), options_of({}));
    ASSERT_TRUE(updates.ok()) << updates.error().message();
    EXPECT_EQ(updates->state().strategy, SharedStrategy::atomic);
    // Few cells at the beginning are hot, then few at the end.
    for (const uint64_t hot : {uint64_t{0}, kCells - 3000}) {
      for (int epoch = 0; epoch < 20; ++epoch) {
        SplitMix64 random(derive_seed(team.index(), static_cast<uint64_t>(epoch)));
        for (int i = 0; i < 5000; ++i) updates->update(hot + random.next() % 3000, 1);
        updates->finish();
      }
      const plan::CellRange& range = updates->state().replicated;
      EXPECT_EQ(updates->state().strategy, SharedStrategy::hybrid);
      EXPECT_LE(range.first, hot);
      EXPECT_GE(range.first + range.count, hot + 3000);
      EXPECT_LT(range.count, kCells / 2);
    }
    EXPECT_GE(updates->state().changes, 2u);
    uint64_t sum = 0;
    for (const uint64_t one : cells.all()) sum += one;
    EXPECT_EQ(sum, 2u * 2 * 20 * 5000);
    team.barrier();
  });
}

TEST(Choice, IsReplicasForManyPointsInASmallGrid) {
  on_team(TeamKind::threads, 2, [](worker_team& team) {
    const TeamCells<double> grid(team, kGrid.cells(), 0.0);
    Swarm swarm(team, 4000);
    auto updates =
        SharedUpdates<double, op_add>::create(team, grid.all().data(), kGrid, options_of({}));
    ASSERT_TRUE(updates.ok()) << updates.error().message();
    spread_all(*updates, updates->arrange(swarm.all(), corner_of, kPatch));
    EXPECT_EQ(updates->state().strategy, SharedStrategy::replicate);
    updates->finish();
    swarm.expect_forces(grid.all());
  });
}

TEST(Choice, IsBoxesForPointsThatAreFarApartUntilTheyNeedTooMany) {
  on_team(TeamKind::threads, 2, [](worker_team& team) {
    constexpr grid_extent kLong{1000, 12, 20};
    constexpr uint64_t kPoints = 600;
    const TeamCells<double> grid(team, kLong.cells(), 0.0);
    const TeamCells<Particle> particles(team, kPoints, {});
    const std::span<Particle> all = particles.all();
    if (team.index() == 0) {
      for (uint64_t i = 0; i < kPoints; ++i) all[i].corner.x = i * 7 % kPoints;
    }
    team.barrier();
    SharedUpdatesOptions options = options_of({});
    options.sort_interval = 1000000;  // what sorting takes here and now does not matter
    options.replica_bytes = 20000;
    auto updates = SharedUpdates<double, op_add>::create(team, grid.all().data(), kLong, options);
    ASSERT_TRUE(updates.ok()) << updates.error().message();
    spread_all(*updates, updates->arrange(all, corner_of, kPatch));
    EXPECT_EQ(updates->state().strategy, SharedStrategy::boxes);
    updates->finish();
    EXPECT_GT(updates->state().boxes, 0u);
    EXPECT_GT(updates->state().away_updates, 0u);
    // All points fly apart before anybody sorts again: there is no room for this many boxes.
    const std::span<Particle> mine = updates->arrange(all, corner_of, kPatch);
    for (Particle& point : mine) point.corner.x = (point.corner.x + 300) % kPoints;
    spread_all(*updates, mine);
    EXPECT_LE(updates->state().replica_bytes, options.replica_bytes);
    updates->finish();
    EXPECT_EQ(std::accumulate(grid.all().begin(), grid.all().end(), 0.0),
              // Each has number 0, and values 0, 1, ...
              static_cast<double>(kPoints * kPatch.cells() * (kPatch.cells() - 1)));
    team.barrier();
  });
}

// What teams of any placement take by a model: updates that compete are slow.
model::TunedModel model_of_teams() {
  model::TunedModel known = model::example_model();
  known.shared_update = model::SharedUpdateModel{};
  for (const auto type : {model::CellType::integer8, model::CellType::float8}) {
    for (size_t i = 0; i < model::kSharedPlacementNames.size(); ++i) {
      model::SharedUpdatePoint point = model::full_example().shared_update->points.front();
      point.type = type;
      point.placement = static_cast<model::SharedPlacement>(i);
      point.workers = 4;
      point.footprint_bytes = 4096;
      point.plain_s.value = point.plain_s.ci_low = point.plain_s.ci_high = 1.25e-9;
      point.transfer_s.value = point.transfer_s.ci_low = point.transfer_s.ci_high = 1e-6;
      known.shared_update->points.push_back(point);
    }
  }
  return known;
}

// Runs a team of threads of a rank with this model.
void with_model(const model::TunedModel& known, const std::string& trace,
                const std::function<void(worker_team&)>& body, bool guard = true) {
  const ModelFile model("shared_updates", known);
  bootstrap::ThreadGroupOptions options;
  options.ranks = 1;
  options.context.model_path = model.path();
  options.context.guard = guard;
  if (!trace.empty()) options.context.trace = trace;
  bootstrap::on_ranks(options,
                      [&](Context& context) { thread_workers(2, {}, &context).run(body); });
}

TEST(SharedModel, SaysWhatTheMachineTakes) {
  const auto plain_s = [](worker_team& team, auto value) {
    const TeamCells<decltype(value)> cells(team, 100, value);
    auto updates = SharedUpdates<decltype(value), op_add>::create(team, cells.all());
    EXPECT_TRUE(updates.ok());
    return updates.ok() ? updates->state().costs.plain_s : 0;
  };
  with_model(model_of_teams(), {}, [&](worker_team& team) {
    EXPECT_EQ(plain_s(team, uint64_t{0}), 1.25e-9);
    EXPECT_EQ(plain_s(team, 0.0), 1.25e-9);
    EXPECT_EQ(plain_s(team, uint32_t{0}), 1.25e-9) << "those of eight bytes";
    EXPECT_NE(plain_s(team, uint16_t{0}), 1.25e-9) << "the model does not know these cells";
  });
  with_model(model::example_model(), {},
             [&](worker_team& team) { EXPECT_GT(plain_s(team, uint64_t{0}), 0); });
}

// What a trace says of the swarm's 100 epochs.
std::string trace_of_swarm(bool guard) {
  ::testing::internal::CaptureStderr();
  with_model(
      model_of_teams(), "sites",
      [&](worker_team& team) {
        const TeamCells<double> grid(team, kGrid.cells(), 0.0);
        Swarm swarm(team, 300);
        SharedUpdatesOptions options;
        options.sort_interval = 20;
        auto updates =
            SharedUpdates<double, op_add>::create(team, grid.all().data(), kGrid, options);
        ASSERT_TRUE(updates.ok()) << updates.error().message();
        for (int epoch = 0; epoch < 100; ++epoch) {
          spread_all(*updates, updates->arrange(swarm.all(), corner_of, kPatch));
          updates->finish();
          swarm.expect_forces(grid.all());
        }
      },
      guard);
  return ::testing::internal::GetCapturedStderr();
}

// With a guard, by which some epochs are carried out as the baseline, and all of them where that is
// faster on this host: then no command yields what is carried out.
TEST(SharedModel, DecidesOnPointsAndIsShownAndExplained) {
  EXPECT_NE(trace_of_swarm(true).find("shared updates of 6699 cells"), std::string::npos);
  const std::string said = trace_of_swarm(false);
  EXPECT_NE(said.find("shared updates of 6699 cells"), std::string::npos) << said;
  const size_t command = said.find("stripline explain shared ");
  ASSERT_NE(command, std::string::npos) << said;
  const std::string line = said.substr(command, said.find('\n', command) - command);
  EXPECT_NE(line.find(" --workers 2"), std::string::npos) << line;
  EXPECT_NE(line.find(" --type float8"), std::string::npos) << line;
  EXPECT_EQ(line.find(" --plain"), std::string::npos) << "the model says it: " << line;
}

TEST(SharedModel, DecidesOnUpdatesInNoOrderAndIsShownAndExplained) {
  ::testing::internal::CaptureStderr();
  with_model(model_of_teams(), "sites", [&](worker_team& team) {
    constexpr uint64_t kCells = 1000;
    constexpr uint64_t kUpdates = 2000;  // of a worker, in an epoch
    const TeamCells<uint64_t> cells(team, kCells, 0);
    auto updates = SharedUpdates<uint64_t, op_add>::create(team, cells.all());
    ASSERT_TRUE(updates.ok()) << updates.error().message();
    for (uint64_t epoch = 1; epoch <= 100; ++epoch) {
      for (uint64_t i = 0; i < kUpdates; ++i) updates->update(i % kCells, 1);
      updates->finish();
      const uint64_t each = epoch * team.count() * kUpdates / kCells;
      EXPECT_EQ(std::ranges::count(cells.all(), each), static_cast<std::ptrdiff_t>(kCells));
      team.barrier();
    }
  });
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("shared updates of 1000 cells"), std::string::npos) << said;
  const size_t command = said.find("stripline explain shared ");
  ASSERT_NE(command, std::string::npos) << said;
  const std::string line = said.substr(command, said.find('\n', command) - command);
  EXPECT_NE(line.find(" --unordered"), std::string::npos) << line;
  EXPECT_EQ(line.find(" --plain"), std::string::npos) << "the model says it: " << line;
}

TEST(SharedModel, TakesTheStrategyThatARuleForces) {
  const std::vector<std::pair<std::string, SharedStrategy>> rules = {
      {"shared:*:replicate", SharedStrategy::replicate},
      {"shared:*:locked", SharedStrategy::locked},
      {"shared:*:baseline", SharedStrategy::atomic},
      {"shared:*:locked;shared:0-4K:replicate", SharedStrategy::replicate}};
  for (const auto& rule : rules) {
    bootstrap::ThreadGroupOptions options;
    options.ranks = 1;
    options.context.tuning = rule.first;
    bootstrap::on_ranks(options, [&](Context& context) {
      thread_workers(2, {}, &context).run([&](worker_team& team) {
        const TeamCells<uint64_t> cells(team, 100, 0);
        SharedUpdatesOptions how;
        how.costs = typical_costs();
        auto updates = SharedUpdates<uint64_t, op_add>::create(team, cells.all(), how);
        ASSERT_TRUE(updates.ok()) << updates.error().message();
        EXPECT_EQ(updates->state().strategy, rule.second) << rule.first;
        // What the program asks for stands.
        how.force = SharedStrategy::atomic;
        auto asked = SharedUpdates<uint64_t, op_add>::create(team, cells.all(), how);
        ASSERT_TRUE(asked.ok()) << asked.error().message();
        EXPECT_EQ(asked->state().strategy, SharedStrategy::atomic) << rule.first;
      });
    });
  }
}

// Nothing is compared then, which the other workers would have to follow.
TEST(SharedModel, WithoutOneThePlanStays) {
  bootstrap::on_ranks({.ranks = 1, .context = {}, .am_config = {}}, [](Context& context) {
    thread_workers(2, {}, &context).run([](worker_team& team) {
      const TeamCells<double> grid(team, kGrid.cells(), 0.0);
      Swarm swarm(team, 4000);
      SharedUpdatesOptions options = options_of({});
      options.sort_interval = 1000000;  // what sorting takes here and now does not matter
      auto updates = SharedUpdates<double, op_add>::create(team, grid.all().data(), kGrid, options);
      ASSERT_TRUE(updates.ok()) << updates.error().message();
      for (int epoch = 0; epoch < 5; ++epoch) {
        spread_all(*updates, updates->arrange(swarm.all(), corner_of, kPatch));
        EXPECT_EQ(updates->state().strategy, SharedStrategy::replicate);
        updates->finish();
        swarm.expect_forces(grid.all());
      }
    });
    EXPECT_EQ(context.state().mechanisms.site_savings().taken_s, 0);
  });
}

TEST(Options, AreRefusedWithAReason) {
  on_team(TeamKind::threads, 2, [](worker_team& team) {
    const TeamCells<uint32_t> cells(team, 1000, 0);
    const auto message = [&](SharedUpdatesOptions options) {
      options.costs = typical_costs();
      const auto made = SharedUpdates<uint32_t, op_add>::create(team, cells.all(), options);
      return made.ok() ? std::string("made") : made.error().message();
    };
    EXPECT_EQ(message({}), "made");
    EXPECT_NE(message({.force = SharedStrategy::replicate, .replica_bytes = 100})
                  .find("'replicate' take 4000 B for replicas, but `replica_bytes` permits 100 B"),
              std::string::npos);
    EXPECT_NE(message({.force = SharedStrategy::hybrid, .hot = {990, 11}}).find("`hot`"),
              std::string::npos);
    EXPECT_EQ(message({.force = static_cast<SharedStrategy>(17)}),
              "shared updates with SharedUpdatesOptions::force = 17, which is not a valid "
              "SharedStrategy");
    EXPECT_NE(message({.box = {3, 4, 4}}).find("powers of two"), std::string::npos);
    for (const double cost : {-1e-9, std::numeric_limits<double>::quiet_NaN()}) {
      SharedUpdatesOptions options{.costs = typical_costs()};
      options.costs->barrier_s = cost;
      EXPECT_EQ(
          (SharedUpdates<uint32_t, op_add>::create(team, cells.all(), options).error().message()),
          "shared updates take costs of 0 or more; one of SharedUpdatesOptions::costs is "
          "negative, or not a number");
    }
    EXPECT_NE((SharedUpdates<uint32_t, op_add>::create(team, std::span<uint32_t>())
                   .error()
                   .message()
                   .find("at least one cell")),
              std::string::npos);
    EXPECT_NE((SharedUpdates<uint32_t, op_add_mod_97>::create(team, cells.all(),
                                                              {.force = SharedStrategy::replicate})
                   .error()
                   .message()
                   .find("not associative")),
              std::string::npos);
    EXPECT_NE((SharedUpdates<uint32_t, op_add>::create(
                   team, cells.all().data(), {(uint64_t{1} << 32) + 1, uint64_t{1} << 32, 1})
                   .error()
                   .message()
                   .find("need cells that memory can hold")),
              std::string::npos);
    const TeamCells<Triple> triples(team, 10, {});
    EXPECT_NE((SharedUpdates<Triple, op_add_triples>::create(team, triples.all(),
                                                             {.force = SharedStrategy::atomic})
                   .error()
                   .message()
                   .find("take locked")),
              std::string::npos);
  });
}

TEST(MistakesDeathTest, EndTheJob) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto with = [](const auto& mistake) {
    thread_workers(1).run([&](worker_team& team) {
      std::vector<double> cells(60);
      auto updates = SharedUpdates<double, op_add>::create(team, cells.data(), {3, 4, 5},
                                                           {.costs = typical_costs()});
      mistake(*updates);
    });
  };
  EXPECT_EXIT(with([](auto& updates) { updates.update(60, 1); }), testing::ExitedWithCode(2),
              "update of cell 60, but there are 60 cells");
  EXPECT_EXIT(with([](auto& updates) {
                const double patch[8] = {};
                updates.template spread<2, 2, 2>({2, 0, 0}, patch);
              }),
              testing::ExitedWithCode(2), "2,2,2 cells from 2,0,0 on is not within");
  const auto at = [](const grid_cell& corner) { return corner; };
  const auto arrange = [&](std::vector<grid_cell> points, const grid_extent& patch) {
    with([&](auto& updates) { updates.arrange(std::span(points), at, patch); });
  };
  EXPECT_EXIT(arrange({{0, 0, 0}, {1, 3, 0}}, {1, 2, 2}), testing::ExitedWithCode(2),
              "SharedUpdates::arrange: a patch of 1,2,2 cells from 1,3,0 on is not within");
  // From where a patch without cells would begin, there is no column of cells.
  EXPECT_EXIT(arrange({{3, 0, 0}}, {0, 1, 1}), testing::ExitedWithCode(2),
              "SharedUpdates::arrange of patches without cells");
  EXPECT_EXIT(arrange({}, {1, 1, 0}), testing::ExitedWithCode(2),
              "SharedUpdates::arrange of patches without cells");
  EXPECT_EXIT(
      with([&](auto& updates) {
        updates.arrange(std::span<grid_cell>(static_cast<grid_cell*>(nullptr), 2), at, {1, 1, 1});
      }),
      testing::ExitedWithCode(2), "SharedUpdates::arrange of points at a null pointer");
  EXPECT_EXIT(
      with([&](auto& updates) {
        std::vector<grid_cell> points(2);
        updates.arrange(std::span(points), std::function<grid_cell(const grid_cell&)>(), {1, 1, 1});
      }),
      testing::ExitedWithCode(2), "SharedUpdates::arrange with an empty std::function");
  EXPECT_EXIT(with([](auto& updates) {
                updates.update_all(3, std::function<std::pair<uint64_t, double>(uint64_t)>());
              }),
              testing::ExitedWithCode(2), "SharedUpdates::update_all with an empty std::function");
}

TEST(MistakesDeathTest, CallsOfWhatHasBeenMovedAreNamed) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  using Updates = SharedUpdates<double, op_add>;
  const std::vector<std::pair<const char*, std::function<void(Updates&)>>> calls = {
      {"update", [](Updates& updates) { updates.update(0, 1); }},
      {"update_all",
       [](Updates& updates) {
         updates.update_all(1, [](uint64_t k) { return std::pair(k, 1.0); });
       }},
      {"spread",
       [](Updates& updates) {
         const double patch[1] = {1};
         updates.spread<1, 1, 1>({0, 0, 0}, patch);
       }},
      {"arrange",
       [](Updates& updates) {
         updates.arrange(std::span<grid_cell>(), [](const grid_cell& corner) { return corner; },
                         {1, 1, 1});
       }},
      {"fill", [](Updates& updates) { updates.fill(1); }},
      {"finish", [](Updates& updates) { updates.finish(); }},
      {"state", [](Updates& updates) { (void)updates.state(); }},
  };
  for (const auto& [name, call] : calls) {
    EXPECT_EXIT(thread_workers(1).run([&call = call](worker_team& team) {
      std::vector<double> cells(60);
      Updates made = *Updates::create(team, cells.data(), {3, 4, 5}, {.costs = typical_costs()});
      const Updates moved = std::move(made);
      call(made);  // NOLINT(bugprone-use-after-move)
    }),
                testing::ExitedWithCode(2),
                std::string("SharedUpdates::") + name + " of an object that has been moved from");
  }
}

TEST(MistakesDeathTest, WorkersArrangeAsManyPoints) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  std::vector<double> cells(60);
  EXPECT_EXIT(thread_workers(2).run([&](worker_team& team) {
    auto updates = SharedUpdates<double, op_add>::create(team, cells.data(), {3, 4, 5},
                                                         {.costs = typical_costs()});
    std::vector<grid_cell> points(4 - team.index());
    updates->arrange(std::span(points), [](const grid_cell& corner) { return corner; }, {1, 1, 1});
  }),
              testing::ExitedWithCode(2),
              "SharedUpdates::arrange of 3 points by worker 1, and of 4 by worker 0");
}

TEST_P(Shared, NoPointsAreArranged) {
  on_workers([](worker_team& team) {
    const TeamCells<double> grid(team, kGrid.cells(), 1.0);
    auto updates =
        SharedUpdates<double, op_add>::create(team, grid.all().data(), kGrid, options_of({}));
    ASSERT_TRUE(updates.ok()) << updates.error().message();
    for (int epoch = 0; epoch < 2; ++epoch) {
      EXPECT_TRUE(updates->arrange(std::span<Particle>(), corner_of, kPatch).empty());
      updates->finish();
    }
    EXPECT_EQ(std::ranges::count(grid.all(), 1.0), static_cast<std::ptrdiff_t>(kGrid.cells()));
    team.barrier();
  });
}

}  // namespace
}  // namespace stripline::update
