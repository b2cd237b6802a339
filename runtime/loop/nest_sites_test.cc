// Nests that are met again: with other bases, owners, counts and pieces, after others have taken
// their place, under another model, within themselves, and ended early. Whatever is kept of them,
// they do what plain loops do.
#include "runtime/loop/nest_sites.h"

#include <array>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "base/testing/test_size.h"
#include "runtime/bootstrap/testing/fabrics_under_test.h"
#include "runtime/bootstrap/testing/rank_fixtures.h"
#include "runtime/loop/loop_state.h"
#include "runtime/loop/testing/model_file.h"
#include "runtime/loop/testing/plain_nest.h"

namespace stripline {
namespace {

using access::Mode;
using access::Nest;
using access::Piece;
using access::Reference;

constexpr size_t kBytes = size_t{1} << 15;  // of each rank
constexpr uint32_t kRanks = 3;
constexpr size_t kMostCount = 24;
constexpr int kMeetings = 10;  // of a site

// A nest of a program, and how it differs from meeting to meeting.
class Site {
 public:
  Site(std::mt19937_64& random, uint64_t number, int64_t segment_base)
      : random_(random), number_(number), base_(segment_base) {
    const int64_t depth = between(1, 3);
    for (int64_t loop = 0; loop < depth; ++loop) {
      shape_.add_loop(static_cast<uint64_t>(between(1, loop == depth - 1 ? kMostCount : 6)));
    }
    element_ = between(0, 1) == 0 ? 4 : 8;
    // Few of the others update pieces and nothing else, so that it matters whether these overlap.
    const bool in_pieces = between(0, 3) == 0;
    const int64_t references = in_pieces ? 1 : between(1, 4);
    for (int64_t r = 0; r < references; ++r) add_reference(r, in_pieces);
    given_s_ = between(0, 1) == 0 ? 1e-4 : -1;
    limit_ = between(0, 2) == 0 ? static_cast<size_t>(between(64, 2048)) : size_t{1} << 20;
    for (auto& pieces : arrays_) draw_pieces(pieces);
  }

  NestOptions options() const {
    NestOptions options;
    options.site = number_;
    options.compute_s = given_s_;
    options.max_buffer_bytes = limit_;
    return options;
  }

  // The nest as it is met next. Valid until the next call; nothing where it would leave the memory.
  std::optional<Nest> next() {
    if (between(0, 2) == 0) draw_pieces(arrays_[static_cast<size_t>(between(0, 1))]);
    Nest nest = shape_;
    if (between(0, 3) == 0) {
      const auto loop = static_cast<size_t>(between(0, shape_.depth - 1));
      nest.counts[loop] =
          static_cast<uint64_t>(between(1, static_cast<int64_t>(nest.counts[loop])));
    }
    const std::array<uint32_t, 2> owners{rank(), rank()};
    const std::array<int64_t, 2> shifts{8 * between(0, 200), 8 * between(0, 200)};
    for (uint32_t r = 0; r < nest.references(); ++r) {
      Reference& reference = nest.reference[r];
      if (array_of_[r] < arrays_.size()) {
        reference.pieces = arrays_[array_of_[r]];
      } else {
        reference.owner = owners[r % 2];
        reference.base += base_ + (owners[0] == owners[1] ? shifts[0] : shifts[r % 2]);
      }
      if (!is_within(nest, reference)) return std::nullopt;
    }
    return nest;
  }

 private:
  int64_t between(int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random_);
  }
  uint32_t rank() { return static_cast<uint32_t>(between(0, kRanks - 1)); }

  void add_reference(int64_t r, bool in_pieces) {
    constexpr std::array<int64_t, 7> kFactors{0, 1, 1, 1, 2, -1, 3};
    Reference reference{.mode = static_cast<Mode>(between(0, 2)),
                        .element_bytes = static_cast<uint32_t>(element_),
                        .base = 8192 + element_ * between(0, 3) + (between(0, 1) * 2000 * r)};
    if (between(0, 1) == 0) reference.mode = Mode::read;
    int64_t stride = element_;
    for (uint32_t loop = shape_.depth; loop-- > 0;) {
      reference.stride_bytes[loop] = stride * kFactors[static_cast<size_t>(between(0, 6))];
      if (between(0, 2) > 0) stride *= static_cast<int64_t>(shape_.counts[loop]);
    }
    if (r > 0 && between(0, 1) == 0) reference.stride_bytes = shape_.reference[0].stride_bytes;
    reference.piece_loop = static_cast<uint32_t>(between(0, shape_.depth - 1));
    if (in_pieces) {
      reference.mode = Mode::update;
      reference.stride_bytes = {};
      reference.stride_bytes[shape_.depth - 1] = element_;
      reference.piece_loop = 0;
    }
    array_of_.push_back(static_cast<size_t>(between(0, in_pieces ? 1 : 3)));
    shape_.add(reference);
  }

  void draw_pieces(std::vector<Piece>& pieces) {
    const auto first = static_cast<uint32_t>(between(0, kRanks - 1));
    const bool anyhow = between(0, 2) == 0;
    pieces.clear();
    for (uint32_t k = 0; k < kMostCount; ++k) {
      pieces.push_back(
          {anyhow ? rank() : (first + k) % kRanks, base_ + int64_t{512} * (k / kRanks)});
    }
  }

  bool is_within(const Nest& nest, const Reference& reference) const {
    int64_t low = reference.base - (reference.in_pieces() ? 0 : base_);
    int64_t high = low + element_ + (reference.in_pieces() ? 512 * kMostCount / kRanks : 0);
    for (uint32_t loop = 0; loop < nest.depth; ++loop) {
      const int64_t span =
          reference.stride_bytes[loop] * static_cast<int64_t>(nest.counts[loop] - 1);
      (span < 0 ? low : high) += span;
    }
    return low >= 0 && high <= static_cast<int64_t>(kBytes);
  }

  std::mt19937_64& random_;
  uint64_t number_;
  int64_t base_;
  Nest shape_;
  int64_t element_ = 8;
  std::vector<size_t> array_of_;  // by reference; those beyond the arrays have an owner
  std::array<std::vector<Piece>, 2> arrays_;
  double given_s_ = -1;
  size_t limit_ = 0;
};

// What was seen of the sites, so that the test tests what it says.
struct Seen {
  int met = 0;
  int tuned = 0;
  int guarded = 0;
  int in_order = 0;
};

// One rank carries nests out; the others serve it.
class Meeting {
 public:
  Meeting(Context& context, std::mt19937_64& random, int64_t base)
      : context_(context), random_(random), base_(base) {}

  uint64_t carry_out(const Nest& nest, const NestOptions& options, Seen& seen) {
    uint64_t said = 0;
    detail::NestRun run(context_, nest, options, CallSite::current());
    while (const detail::NestTile* tile = run.next()) {
      for_each_iteration(nest, *tile, [&](const auto& at, const auto& element) {
        said = said * 3 + set_by_all_it_reads(nest, at, element);
      });
      context_.compute_for(1e-5);
      if (only_reads(nest) && random_() % 8 == 0) disturb(nest, options);
    }
    const plan::NestPlan& plan = run.plan();
    ++seen.met;
    seen.in_order += plan.obstacle ? 1 : 0;
    seen.tuned += !plan.obstacle && plan.reason == plan::Reason::tuned ? 1 : 0;
    seen.guarded += plan.reason == plan::Reason::guarded ? 1 : 0;
    return said;
  }

  // Some of its tiles, whose writes may or may not have been made.
  void end_early(const Nest& nest, const NestOptions& options) {
    detail::NestRun run(context_, nest, options, CallSite::current());
    for (uint64_t left = random_() % 4; left > 0 && run.next() != nullptr; --left) continue;
  }

  // As many other sites as there are places, and more.
  void overflow() {
    for (uint64_t site = 0; site < 160; ++site) visit_another(site);
  }

 private:
  static bool only_reads(const Nest& nest) {
    for (const Reference& reference : nest.reference) {
      if (writes(reference.mode)) return false;
    }
    return true;
  }

  // Within an execution: the same nest, whole and ended early, and others that take its place.
  void disturb(const Nest& nest, const NestOptions& options) {
    {
      detail::NestRun again(context_, nest, options, CallSite::current());
      while (again.next() != nullptr) continue;
    }
    end_early(nest, options);
    if (random_() % 2 == 0) overflow();
  }

  void visit_another(uint64_t site) {
    NestOptions options;
    options.site = 100000 + site;
    options.compute_s = 1e-4;
    Nest nest;
    nest.add_loop(4);
    nest.add({.mode = Mode::read, .owner = 1, .base = base_, .stride_bytes = {8}});
    detail::NestRun run(context_, nest, options, CallSite::current());
    while (run.next() != nullptr) continue;
  }

  Context& context_;
  std::mt19937_64& random_;
  int64_t base_;
};

// Another network, so that other plans are made.
std::shared_ptr<const model::TunedModel> slower_model() {
  model::TunedModel slower = model::example_model();
  for (auto& [name, path] : slower.network) {
    for (auto* operation : {&path.get, &path.put}) {
      for (model::Segment& segment : (*operation)->segments) {
        segment.G_s_per_byte = model::example_parameter(20e-9);
        segment.L_s = model::example_parameter(2e-6);
      }
    }
  }
  return std::make_shared<const model::TunedModel>(slower);
}

class NestSites : public ::testing::TestWithParam<bootstrap::FabricUnderTest> {};

TEST_P(NestSites, DoWhatTheLoopsSayEachTimeTheyAreMet) {
  const ModelFile file("nest_sites_test");
  auto group = bootstrap::group_on(GetParam(), kRanks);
  group.context.model_path = file.path();
  const auto sites = static_cast<int>(test_size("STRIPLINE_TEST_NEST_CASES", 40));
  bootstrap::on_ranks(group, [&](Context& context) {
    std::mt19937_64 random(5);  // all ranks draw the same
    std::mt19937_64 own(7);
    const auto memory = *context.new_symmetric_array<uint64_t>(kBytes / 8);
    auto* const mine = reinterpret_cast<std::byte*>(context.local(memory));
    const auto base = static_cast<int64_t>(context.on_rank(memory, 1).offset());
    const auto given = context.state().job.model();
    const auto slower = slower_model();
    Meeting meeting(context, own, base);
    Seen seen;
    const auto fill = [&](std::byte* bytes, uint32_t rank) {
      for (size_t i = 0; i < kBytes; ++i) bytes[i] = static_cast<std::byte>(i * 7 + i / 256 + rank);
    };
    for (int number = 0; number < sites; ++number) {
      Site site(random, 1 + static_cast<uint64_t>(number), base);
      if (number % 20 == 19) {
        ASSERT_TRUE(context.state().use_model(number % 40 == 19 ? slower : given).ok());
      }
      for (int time = 0; time < kMeetings; ++time) {
        const std::optional<Nest> nest = site.next();
        const bool ends_early = random() % 6 == 0;
        if (!nest) continue;
        if (ends_early) {
          if (context.rank_me() == 0) meeting.end_early(*nest, site.options());
          context.barrier();
        }
        fill(mine, context.rank_me());
        std::vector<std::byte> expected(kRanks * kBytes);
        for (uint32_t rank = 0; rank < kRanks; ++rank) fill(&expected[rank * kBytes], rank);
        context.barrier();
        uint64_t said = 0;
        if (context.rank_me() == 0) said = meeting.carry_out(*nest, site.options(), seen);
        context.barrier();
        Nest plain = *nest;
        for (Reference& reference : plain.reference) reference.base -= base;
        const uint64_t plainly = run_plainly(plain, kBytes, expected);
        ASSERT_EQ(std::memcmp(mine, &expected[context.rank_me() * kBytes], kBytes), 0)
            << "site " << number << ", meeting " << time;
        if (context.rank_me() == 0) {
          ASSERT_EQ(said, plainly) << "site " << number << ", meeting " << time;
        }
        context.barrier();
      }
    }
    if (context.rank_me() != 0) return;
    EXPECT_GT(seen.met, 4 * sites);
    EXPECT_GT(seen.in_order, sites / 4);
    if (GetParam().same_node == "mapped") return;  // in place
    EXPECT_GT(seen.tuned, sites / 4);
    EXPECT_GT(seen.guarded, 0);
  });
}

// What is asked of the planner about the other ranks.
TEST_P(NestSites, AreAskedForAsRanksThatDoTheSameOrAlone) {
  const bool by_network = GetParam().same_node != "mapped";
  bootstrap::on_ranks(bootstrap::group_on(GetParam(), 2), [&](Context& context) {
    const auto memory = *context.new_symmetric_array<uint64_t>(64);
    const auto theirs = context.on_rank(memory, 1 - context.rank_me());
    const fabric::Info& network = context.state().job.fabric().info();
    const auto asked = [&](Mode mode, bool alone) {
      Nest nest;
      nest.add_loop(64);
      nest.add({.mode = mode,
                .owner = theirs.where(),
                .base = static_cast<int64_t>(theirs.offset()),
                .stride_bytes = {8}});
      NestOptions options;
      options.alone = alone;
      const detail::NestKey key =
          detail::key_of(context.state(), nest, options, CallSite::current(), false);
      return detail::request_of(context.state(), key, 1e-4, 0);
    };
    const plan::NestRequest get = asked(Mode::read, false);
    EXPECT_EQ(get.surroundings.target_polls_only, by_network && network.gets_need_target);
    EXPECT_EQ(get.surroundings.nic_ranks, network.nic_ranks);
    EXPECT_EQ(asked(Mode::write, false).surroundings.target_polls_only,
              by_network && network.puts_need_target);
    const plan::NestRequest alone = asked(Mode::update, true);
    EXPECT_FALSE(alone.surroundings.target_polls_only);
    EXPECT_TRUE(alone.surroundings.alone);
    EXPECT_FALSE(get.surroundings.alone);
    EXPECT_EQ(alone.surroundings.nic_ranks, 1U);
    context.barrier();
  });
}

INSTANTIATE_TEST_SUITE_P(
    Fabrics, NestSites,
    ::testing::Values(bootstrap::FabricUnderTest{"emulated", "emulated:opteron-vapi,compute=none",
                                                 "virtual"},
                      bootstrap::FabricUnderTest{"tcp", "tcp", "real"},
                      bootstrap::FabricUnderTest{"mapped", "tcp", "real", "mapped"}),
    bootstrap::FabricLabel());

}  // namespace
}  // namespace stripline
