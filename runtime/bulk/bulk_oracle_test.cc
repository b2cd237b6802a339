// Random programs of blocking copies in bulk regions, against the same programs carried out one
// call after the other: what each call fetches, and what memory holds in the end.
//
// Programs have phases between barriers, which they go through several times with other values, and
// now and then with other calls. In a phase a block of memory is written by one rank, which reads
// it, too, or it is only read: so there is one outcome.
//
// STRIPLINE_TEST_BULK (calls of a job, default 5200) and STRIPLINE_TEST_BULK_SEEDS (default 2) make
// it long.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/bulk.h>

#include "base/random.h"
#include "base/testing/test_size.h"
#include "optimizer/model/model_fixture.h"
#include "runtime/bootstrap/testing/rank_fixtures.h"
#include "runtime/loop/testing/model_file.h"

namespace stripline {
namespace {

using bootstrap::every_fabric_and_nodes;
using Words = std::vector<uint64_t>;

constexpr uint64_t kBlockWords = 48;
constexpr uint64_t kPhases = 3;

enum class Kind : uint8_t {
  memput,
  memget,
  copy,
  rput,
  rget,
  nbi,
  begin_burst,
  end_burst,
  compute
};

struct Call {
  Kind kind = Kind::memput;
  rank_t target = 0;
  uint64_t word = 0;
  uint64_t words = 0;
  rank_t source = 0;  // of a copy
  uint64_t source_word = 0;
  uint64_t value = 0;
};

// A program, of which every rank knows all.
class Program {
 public:
  Program(uint64_t seed, rank_t ranks, uint64_t calls_of_phase)
      : seed_(seed), ranks_(ranks), calls_(calls_of_phase) {}

  uint64_t blocks() const { return 3 * (ranks_ + uint64_t{1}); }
  uint64_t words() const { return blocks() * kBlockWords; }

  std::vector<Call> calls(uint64_t round, uint64_t phase, rank_t rank) const {
    std::mt19937_64 same(stripline::hash_of(seed_, phase, rank));
    std::mt19937_64 other(stripline::hash_of(seed_, phase, rank, round + 1));
    std::vector<Call> all;
    bool in_burst = false;
    for (uint64_t i = 0; i < calls_; ++i) {
      // Drawn from the phase, so that a round does what the round before did, but for some.
      std::mt19937_64 drawn(same());
      if (other() % 16 == 0) drawn.seed(other());
      Call call;
      call.value = other() % 1000000;
      const uint64_t kind = drawn() % 32;
      call.target = static_cast<rank_t>(drawn() % ranks_);
      const bool reads = drawn() % 2 == 0;
      // What a burst may be about, so that only its own calls use it.
      const bool uses_own = in_burst && call.target == rank;
      std::tie(call.word, call.words) =
          range(drawn, phase, reads && drawn() % 2 == 0 ? ranks_ : rank);
      if (kind < 2) {
        call.kind = in_burst ? Kind::end_burst : Kind::begin_burst;
        in_burst = !in_burst;
      } else if (kind == 2) {
        call.kind = Kind::compute;
      } else if (reads) {
        call.kind = kind < 28 || uses_own ? Kind::memget : Kind::rget;
      } else if (kind < 5) {
        call.kind = Kind::copy;
        call.source = static_cast<rank_t>(drawn() % ranks_);
        uint64_t words = 0;
        std::tie(call.source_word, words) = range(drawn, phase, ranks_);
        call.words = std::min(call.words, words);
      } else {
        call.kind = kind < 26 || uses_own ? Kind::memput : kind < 29 ? Kind::rput : Kind::nbi;
      }
      all.push_back(call);
    }
    if (in_burst) all.push_back({.kind = Kind::end_burst});
    return all;
  }

  // What a call stores, after `before` at the beginning of the phase; null: it stores nothing.
  static std::optional<Words> stored(const Call& call, const std::vector<Words>& before) {
    Words values(call.words);
    switch (call.kind) {
      case Kind::memput:
      case Kind::rput:
      case Kind::nbi:
        for (uint64_t i = 0; i < call.words; ++i) values[i] = call.value + i;
        return values;
      case Kind::copy:
        for (uint64_t i = 0; i < call.words; ++i) {
          values[i] = before[call.source][call.source_word + i];
        }
        return values;
      default:
        return std::nullopt;
    }
  }

 private:
  // A range of a block that in this phase is the rank's; of ranks_: that is only read.
  std::pair<uint64_t, uint64_t> range(std::mt19937_64& drawn, uint64_t phase, rank_t role) const {
    const uint64_t roles = ranks_ + uint64_t{1};
    const uint64_t block = (role + roles - phase % roles) % roles + roles * (drawn() % 3);
    const uint64_t first = drawn() % kBlockWords;
    return {block * kBlockWords + first, 1 + drawn() % (kBlockWords - first)};
  }

  uint64_t seed_;
  rank_t ranks_;
  uint64_t calls_;
};

// A rank's own part in a program.
class Runner {
 public:
  Runner(Context& context, const Program& program, bool stable)
      : context_(context),
        program_(program),
        stable_(stable),
        mine_(*context.new_symmetric_array<uint64_t>(program.words())),
        memory_(context.rank_n(), Words(program.words())) {}

  void phase(uint64_t round, uint64_t phase, bulk_region& region) {
    const std::vector<Words> before = memory_;
    // At a place of its own.
    context_.barrier(CallSite{"phase", static_cast<int>(phase)});
    for (const Call& call : program_.calls(round, phase, context_.rank_me())) {
      carry_out(call, before, region);
    }
    burst_.reset();
    check_fetched();
    for (rank_t rank = 0; rank < context_.rank_n(); ++rank) {
      if (rank == context_.rank_me()) continue;
      for (const Call& call : program_.calls(round, phase, rank)) store(call, before);
    }
  }
  void verify() {
    context_.barrier();
    const uint64_t* const here = context_.local(mine_);
    ASSERT_EQ(Words(here, here + program_.words()), memory_[context_.rank_me()]);
    context_.barrier();
    sources_.clear();
  }

 private:
  struct Fetched {
    Call call;
    Words expected;
    Words words;
  };

  global_ptr<uint64_t> place(rank_t rank, uint64_t word) const {
    return context_.on_rank(mine_, rank) + static_cast<std::ptrdiff_t>(word);
  }
  void store(const Call& call, const std::vector<Words>& before) {
    const auto values = Program::stored(call, before);
    if (!values) return;
    std::copy(values->begin(), values->end(),
              memory_[call.target].begin() + static_cast<std::ptrdiff_t>(call.word));
  }

  void carry_out(const Call& call, const std::vector<Words>& before, bulk_region& region) {
    const auto there = place(call.target, call.word);
    if (const auto values = Program::stored(call, before)) {
      sources_.push_back(std::make_unique<Words>(*values));
    }
    switch (call.kind) {
      case Kind::memput:
        memput(context_, there, sources_.back()->data(), call.words);
        break;
      case Kind::copy:
        memcpy(context_, there, place(call.source, call.source_word), call.words);
        break;
      case Kind::rput:
        context_.rput(sources_.back()->data(), there, call.words).wait();
        break;
      case Kind::nbi:
        context_.rput_nbi(sources_.back()->data(), there, call.words);
        context_.fence();
        break;
      case Kind::memget:
      case Kind::rget: {
        const auto first = memory_[call.target].begin() + static_cast<std::ptrdiff_t>(call.word);
        Fetched& fetched = *fetched_.emplace_back(std::make_unique<Fetched>());
        fetched = {call, Words(first, first + static_cast<std::ptrdiff_t>(call.words)),
                   Words(call.words, UINT64_MAX)};
        if (call.kind == Kind::memget) {
          memget(context_, fetched.words.data(), there, call.words);
        } else {
          context_.rget(there, fetched.words.data(), call.words).wait();
        }
        break;
      }
      case Kind::begin_burst:
        burst_.reset(new bulk_region::burst(region.aggregate()));
        break;
      case Kind::end_burst:
        burst_.reset();
        break;
      case Kind::compute:
        context_.compute_for(2e-6);
    }
    store(call, before);
    if (burst_ != nullptr) return;
    check_fetched();
    if (stable_) return;
    for (const auto& source : sources_) std::fill(source->begin(), source->end(), 77);
    sources_.clear();
  }
  void check_fetched() {
    for (const auto& fetched : fetched_) {
      ASSERT_EQ(fetched->words, fetched->expected)
          << fetched->call.words << " words from " << fetched->call.word << " of rank "
          << fetched->call.target << ", by rank " << context_.rank_me();
    }
    fetched_.clear();
  }

  Context& context_;
  const Program& program_;
  const bool stable_;
  const global_ptr<uint64_t> mine_;
  std::vector<Words> memory_;  // of all ranks, as far as this one knows: its own blocks
  std::vector<std::unique_ptr<Words>> sources_;
  std::vector<std::unique_ptr<Fetched>> fetched_;
  std::unique_ptr<bulk_region::burst> burst_;
};

class BulkOracle : public bootstrap::RanksTest {
 protected:
  static void run(uint64_t seed, uint64_t calls, const std::string& tuning = {},
                  const std::string& model_path = {}) {
    constexpr uint64_t kRounds = 6;
    const auto ranks = static_cast<rank_t>(2 + seed % 4);
    const Program program(seed, ranks, std::max<uint64_t>(calls / ranks / kPhases / kRounds, 8));
    bootstrap::ThreadGroupOptions group = bootstrap::group_on(GetParam(), ranks);
    group.context.tuning = tuning;
    group.context.model_path = model_path;
    on_ranks(group, [&](Context& context) {
      const bool stable = seed % 3 == 0;
      // From too little for anything to enough for everything; in a region of each phase, too.
      const BulkOptions options{.stable_sources = stable,
                                .buffer_bytes = size_t{128} << (seed * 5 % 13)};
      const bool by_phase = seed % 4 == 1;
      Runner runner(context, program, stable);
      std::unique_ptr<bulk_region> region;
      if (!by_phase) region = std::make_unique<bulk_region>(context, options);
      for (uint64_t round = 0; round < kRounds; ++round) {
        for (uint64_t phase = 0; phase < kPhases; ++phase) {
          if (by_phase) region = std::make_unique<bulk_region>(context, options);
          runner.phase(round, phase, *region);
          if (by_phase) region.reset();
        }
        runner.verify();
      }
    });
  }
};

TEST_P(BulkOracle, RandomProgramsDoWhatTheyDoWithoutARegion) {
  const uint64_t calls = test_size("STRIPLINE_TEST_BULK", 5200);
  const uint64_t seeds = test_size("STRIPLINE_TEST_BULK_SEEDS", 2);
  for (uint64_t seed = 1; seed <= seeds; ++seed) run(seed, calls);
}

// By whatever method phases are carried out, and with a model, by which methods are compared.
TEST_P(BulkOracle, ByEachMethod) {
  model::TunedModel known = model::example_model();
  known.pack = model::example_pack();
  const ModelFile model("bulk_methods", known);
  for (const char* const tuning :
       {"bulk:*:blocking", "bulk:*:puts", "bulk:*:gets", "bulk:*:both", "bulk:*:baseline", ""}) {
    run(2, 1300, tuning, model.path());
    run(3, 1300, tuning, model.path());
  }
}

INSTANTIATE_TEST_SUITE_P(Fabrics, BulkOracle, ::testing::ValuesIn(every_fabric_and_nodes()),
                         bootstrap::FabricLabel());

}  // namespace
}  // namespace stripline
