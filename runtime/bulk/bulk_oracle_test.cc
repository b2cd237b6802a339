// Random programs of blocking copies in bulk regions, and of other operations between them, against
// the same programs carried out one call after the other: what each call fetches, and what memory
// holds in the end.
//
// Programs have phases between barriers, which they go through several times with other values, and
// now and then with other calls. In a phase a block of memory is written by one rank, which reads
// it, too, or it is only read: so there is one outcome.
//
// STRIPLINE_TEST_BULK (calls of a job, default 5200) and STRIPLINE_TEST_BULK_SEEDS (default 2) make
// it long.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/atomic.h>
#include <stripline/bulk.h>
#include <stripline/loop.h>
#include <stripline/rpc.h>
#include <stripline/team.h>
#include <stripline/update.h>
#include <stripline/vis.h>

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
constexpr uint64_t kCells = 64;  // of a rank, for updates

enum class Kind : uint8_t {
  memput,
  memget,
  copy,
  rput,
  rget,
  nbi,
  put_rows,  // every other word
  get_rows,
  loop,
  add,     // an atomic operation
  signal,  // a put with one
  ask,     // a word, by an RPC
  update,  // of a cell
  begin_burst,
  end_burst,
  compute
};

// True if a call of this kind stores in the blocks.
bool stores(Kind kind) {
  switch (kind) {
    case Kind::memput:
    case Kind::copy:
    case Kind::rput:
    case Kind::nbi:
    case Kind::put_rows:
    case Kind::add:
    case Kind::signal:
      return true;
    default:
      return false;
  }
}

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
        call.kind = uses_own || kind < 22 ? Kind::memget
                    : kind < 24           ? Kind::rget
                    : kind < 26           ? Kind::get_rows
                    : kind < 29           ? Kind::loop
                    // Its target gives up what it has fetched ahead.
                    : phase == kPhases - 1 ? Kind::ask
                                           : Kind::memget;
      } else if (kind < 5) {
        call.kind = Kind::copy;
        call.source = static_cast<rank_t>(drawn() % ranks_);
        uint64_t words = 0;
        std::tie(call.source_word, words) = range(drawn, phase, ranks_);
        call.words = std::min(call.words, words);
      } else {
        call.kind = uses_own || kind < 20 ? Kind::memput
                    : kind < 22           ? Kind::rput
                    : kind < 24           ? Kind::nbi
                    : kind < 26           ? Kind::put_rows
                    : kind < 28           ? Kind::add
                    : kind < 30           ? Kind::signal
                                          : Kind::update;
      }
      all.push_back(call);
    }
    if (in_burst) all.push_back({.kind = Kind::end_burst});
    return all;
  }

  // What a call sends, after `before` at the beginning of the phase.
  static Words sent(const Call& call, const std::vector<Words>& before) {
    Words values(call.kind == Kind::put_rows ? (call.words + 1) / 2 : call.words);
    for (uint64_t i = 0; i < values.size(); ++i) {
      values[i] =
          call.kind == Kind::copy ? before[call.source][call.source_word + i] : call.value + i;
    }
    return values;
  }
  // What memory is after a call.
  static void store(const Call& call, const std::vector<Words>& before,
                    std::vector<Words>& memory) {
    if (!stores(call.kind)) return;
    uint64_t* const there = memory[call.target].data() + call.word;
    if (call.kind == Kind::add) {
      *there += call.value;
      return;
    }
    const Words values = sent(call, before);
    const uint64_t step = call.kind == Kind::put_rows ? 2 : 1;
    for (uint64_t i = 0; i < values.size(); ++i) there[i * step] = values[i];
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
        signals_(*context.new_symmetric_array<uint64_t>(context.rank_n())),
        cells_(*context.new_symmetric_array<uint64_t>(kCells)),
        atomics_(context),
        epoch_(context),
        halves_(team::world(context).split(context.rank_me() % 2, context.rank_me())),
        memory_(context.rank_n(), Words(program.words())),
        signalled_(context.rank_n()),
        received_(context.rank_n()),
        sums_(kCells) {}

  void phase(uint64_t round, uint64_t phase, bulk_region& region) {
    const std::vector<Words> before = memory_;
    // At a place of its own.
    context_.barrier(CallSite{"phase", static_cast<int>(phase)});
    const std::vector<Call> own = program_.calls(round, phase, context_.rank_me());
    for (size_t i = 0; i < own.size(); ++i) {
      if (phase == 1 && i == 4) halves_.barrier();
      carry_out(own[i], before, region);
    }
    burst_.reset();
    check_fetched();
    for (rank_t rank = 0; rank < context_.rank_n(); ++rank) {
      for (const Call& call : program_.calls(round, phase, rank)) {
        if (rank != context_.rank_me()) Program::store(call, before, memory_);
        expect_of(call, rank);
      }
    }
    for (rank_t rank = 0; rank < context_.rank_n(); ++rank) {
      context_.wait_signal(signals_ + rank, received_[rank]);
    }
    epoch_.end();
    const uint64_t* const cells = context_.local(cells_);
    ASSERT_EQ(Words(cells, cells + kCells), sums_) << "at rank " << context_.rank_me();
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
  // What a call of a rank does to this one beside its blocks.
  void expect_of(const Call& call, rank_t by) {
    if (call.target != context_.rank_me()) return;
    if (call.kind == Kind::signal) ++received_[by];
    if (call.kind == Kind::update) sums_[call.word % kCells] += call.value;
  }

  // Where a call is to find what memory holds.
  Fetched& expecting(const Call& call, uint64_t words, uint64_t step = 1) {
    Fetched& made = *fetched_.emplace_back(std::make_unique<Fetched>());
    made = {call, {}, Words(words, UINT64_MAX)};
    for (uint64_t i = 0; i < words; ++i) {
      made.expected.push_back(memory_[call.target][call.word + i * step]);
    }
    return made;
  }

  void carry_out(const Call& call, const std::vector<Words>& before, bulk_region& region) {
    const auto there = place(call.target, call.word);
    const std::array<std::ptrdiff_t, 1> side_by_side = {sizeof(uint64_t)};
    const std::array<std::ptrdiff_t, 1> every_other = {2 * sizeof(uint64_t)};
    const std::array<size_t, 1> rows = {(call.words + 1) / 2};
    if (stores(call.kind)) {
      sources_.push_back(std::make_unique<Words>(Program::sent(call, before)));
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
      case Kind::put_rows:
        rput_strided<1>(context_, sources_.back()->data(), side_by_side.data(), there,
                        every_other.data(), rows.data())
            .wait();
        break;
      case Kind::add:
        if (call.value % 2 == 0) {
          atomics_.add(there, call.value).wait();
        } else {
          expecting(call, 1).words[0] = atomics_.fetch_add(there, call.value);
        }
        break;
      case Kind::signal:
        context_
            .rput_signal(sources_.back()->data(), there, call.words,
                         context_.on_rank(signals_, call.target) + context_.rank_me(),
                         ++signalled_[call.target])
            .wait();
        break;
      case Kind::update:
        epoch_.update(
            context_.on_rank(cells_, call.target) + static_cast<std::ptrdiff_t>(call.word % kCells),
            call.value);
        break;
      case Kind::memget:
        memget(context_, expecting(call, call.words).words.data(), there, call.words);
        break;
      case Kind::rget:
        context_.rget(there, expecting(call, call.words).words.data(), call.words).wait();
        break;
      case Kind::get_rows:
        rget_strided<1>(context_, there, every_other.data(),
                        expecting(call, rows[0], 2).words.data(), side_by_side.data(), rows.data())
            .wait();
        break;
      case Kind::loop: {
        Words& seen = expecting(call, call.words).words;
        strip_for(
            context_, there, call.words, [&](size_t begin, size_t end, const uint64_t* strip) {
              std::copy_n(strip, end - begin, seen.begin() + static_cast<std::ptrdiff_t>(begin));
            });
        break;
      }
      case Kind::ask:
        expecting(call, 1).words[0] =
            rpc(
                context_, call.target,
                [](Context& owner, global_ptr<uint64_t> word) { return *owner.local(word); }, there)
                .wait();
        break;
      case Kind::begin_burst:
        burst_.reset(new bulk_region::burst(region.aggregate()));
        break;
      case Kind::end_burst:
        burst_.reset();
        break;
      case Kind::compute:
        context_.compute_for(2e-6);
    }
    Program::store(call, before, memory_);
    if (burst_ != nullptr) return;
    check_fetched();
    if (stable_) return;
    for (const auto& source : sources_) std::fill(source->begin(), source->end(), 77);
    sources_.clear();
  }
  void check_fetched() {
    for (const auto& fetched : fetched_) {
      ASSERT_EQ(fetched->words, fetched->expected)
          << "call of kind " << static_cast<int>(fetched->call.kind) << ", " << fetched->call.words
          << " words from " << fetched->call.word << " of rank " << fetched->call.target
          << ", by rank " << context_.rank_me();
    }
    fetched_.clear();
  }

  Context& context_;
  const Program& program_;
  const bool stable_;
  const global_ptr<uint64_t> mine_;
  const global_ptr<uint64_t> signals_;  // by the rank that raises them
  const global_ptr<uint64_t> cells_;
  const atomic_domain<uint64_t> atomics_;
  UpdateEpoch<uint64_t, op_add> epoch_;
  const team halves_;          // even ranks and odd ones
  std::vector<Words> memory_;  // of all ranks, as far as this one knows: its own blocks
  Words signalled_;            // by this rank, by target
  Words received_;             // by this rank
  Words sums_;                 // of this rank's cells
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
