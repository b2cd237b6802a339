// Random programs of single reads and writes in fine-grained regions, and of other operations
// between them, against what they would do if each access were made where it stands: what each read
// returns, whenever it is used, and what memory holds in the end.
//
// A part of the memory of each rank is written by one rank only, which reads it, too; another part
// changes between barriers, and is read by all. So there is one outcome.
//
// STRIPLINE_TEST_FINE (accesses of a rank, default 2600) and STRIPLINE_TEST_FINE_SEEDS (default 2)
// make it long.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/atomic.h>
#include <stripline/bulk.h>
#include <stripline/fine.h>
#include <stripline/loop.h>
#include <stripline/rpc.h>
#include <stripline/update.h>
#include <stripline/vis.h>

#include "base/random.h"
#include "base/testing/test_size.h"
#include "optimizer/model/model_fixture.h"
#include "runtime/bootstrap/testing/rank_fixtures.h"
#include "runtime/loop/testing/model_file.h"

namespace stripline {
namespace {

constexpr uint64_t kPartBytes = 6000;  // a box, and some more
constexpr uint64_t kUnit = 8;
constexpr uint64_t kCells = 64;  // of a rank, for updates

using Triple = std::array<uint64_t, 3>;

// One value of a type that is being read, with what it has to be.
template <typename T>
struct Awaited {
  lazy<T> value;
  T expected;
};

// A rank's own program.
class FineProgram {
 public:
  FineProgram(Context& context, uint64_t seed, const FineOptions& options)
      : context_(context),
        seed_(seed),
        options_(options),
        random_(stripline::hash_of(seed, context.rank_me())),
        mine_(*context.new_symmetric_array<std::byte>(kPartBytes * (context.rank_n() + 1))),
        signals_(*context.new_symmetric_array<uint64_t>(context.rank_n())),
        cells_(*context.new_symmetric_array<uint64_t>(kCells)),
        atomics_(context),
        epoch_(context),
        signalled_(context.rank_n()),
        added_(context.rank_n() * kCells),
        mirror_(context.rank_n(), std::vector<std::byte>(kPartBytes * (context.rank_n() + 1))) {
    region_ = std::make_unique<fine_region>(context_, options_);
  }

  void round(uint64_t number, uint64_t accesses) {
    context_.barrier();
    publish(number);
    context_.barrier();
    for (uint64_t i = 0; i < accesses; ++i) step();
    use_all();
    check_others();
  }
  // Read by other means: what this rank has written, at all ranks.
  void verify() {
    region_.reset();
    bulk_.reset();
    std::vector<std::byte> part(kPartBytes);
    for (rank_t rank = 0; rank < context_.rank_n(); ++rank) {
      context_.rget(place(rank, own_part()), part.data(), kPartBytes).wait();
      const auto first = mirror_[rank].begin() + static_cast<std::ptrdiff_t>(own_part());
      ASSERT_TRUE(std::equal(part.begin(), part.end(), first)) << "at rank " << rank;
    }
    region_ = std::make_unique<fine_region>(context_, options_);
  }

 private:
  uint64_t own_part() const { return kPartBytes * context_.rank_me(); }
  uint64_t public_part() const { return kPartBytes * context_.rank_n(); }
  global_ptr<std::byte> place(rank_t rank, uint64_t offset) const {
    return context_.on_rank(mine_, rank) + static_cast<std::ptrdiff_t>(offset);
  }
  template <typename T>
  global_ptr<T> place_of(rank_t rank, uint64_t offset) const {
    return place(rank, offset).template reinterpret<T>();
  }

  // What all ranks may read from now on; each knows it of all.
  void publish(uint64_t number) {
    for (rank_t rank = 0; rank < context_.rank_n(); ++rank) {
      std::mt19937_64 values(stripline::hash_of(seed_, number, rank));
      std::byte* const part = mirror_[rank].data() + public_part();
      for (uint64_t i = 0; i < kPartBytes; i += kUnit) {
        const uint64_t value = values();
        std::memcpy(part + i, &value, kUnit);
      }
    }
    std::memcpy(context_.local(mine_) + public_part(),
                mirror_[context_.rank_me()].data() + public_part(), kPartBytes);
  }

  // What others have done to this rank beside its parts, of which each tells here.
  void check_others() {
    epoch_.end();
    for (rank_t rank = 0; rank < context_.rank_n(); ++rank) {
      for (rank_t by = 0; by < context_.rank_n(); ++by) {
        const uint64_t raised = context_.reduce_all(
            by == context_.rank_me() ? signalled_[rank] : uint64_t{0}, Context::ReduceOp::max);
        if (rank == context_.rank_me()) context_.wait_signal(signals_ + by, raised);
      }
      for (uint64_t cell = 0; cell < kCells; cell += 16) {  // some of them
        const uint64_t sum =
            context_.reduce_all(added_[rank * kCells + cell], Context::ReduceOp::sum);
        if (rank != context_.rank_me()) continue;
        ASSERT_EQ(context_.local(cells_)[cell], sum) << "at rank " << rank;
      }
    }
    context_.barrier();
  }

  template <typename T>
  uint64_t any_offset() {
    // Near each other, now and then.
    if (random_() % 4 == 0) near_ = random_() % kPartBytes;
    const uint64_t at = near_ + random_() % 200;
    return std::min(at, kPartBytes - sizeof(T)) / alignof(T) * alignof(T);
  }

  template <typename T>
  void access(std::vector<Awaited<T>>& awaited) {
    const auto rank = static_cast<rank_t>(random_() % context_.rank_n());
    const uint64_t kind = random_() % 16;
    const bool reads = kind < 8;
    if (random_() % 16 == 0) return other_operation(rank, kind);
    const uint64_t part = reads && random_() % 3 == 0 ? public_part() : own_part();
    const uint64_t offset = part + any_offset<T>();
    const auto there = place_of<T>(rank, offset);
    std::byte* const here = mirror_[rank].data() + offset;
    T value{};
    if (reads) {
      std::memcpy(&value, here, sizeof(T));
      if (kind == 0) {
        ASSERT_EQ(context_.rget(there), value);
      } else if (kind < 4) {
        ASSERT_EQ(region_->value(there), value);
      } else {
        awaited.push_back({region_->read(there), value});
      }
      return;
    }
    if (kind == 8) {
      use(awaited, random_() % 4);
      return;
    }
    const uint64_t drawn = random_();
    for (size_t i = 0; i < sizeof(T); ++i) {
      reinterpret_cast<std::byte*>(&value)[i] = static_cast<std::byte>(drawn >> (8 * (i % 8)));
    }
    std::memcpy(here, &value, sizeof(T));
    if (kind == 9) {
      context_.rput(value, there);
    } else if (kind == 10) {
      memput(context_, there, &value, 1);
    } else {
      region_->write(there, value);
    }
  }

  // By whatever else reads and writes words: in order with what the region does.
  void other_operation(rank_t rank, uint64_t kind) {
    const uint64_t offset = own_part() + any_offset<uint64_t>();
    const auto there = place_of<uint64_t>(rank, offset);
    std::byte* const here = mirror_[rank].data() + offset;
    const uint64_t value = random_();
    uint64_t held = 0;
    std::memcpy(&held, here, sizeof held);
    const auto becomes = [here](uint64_t now) { std::memcpy(here, &now, sizeof now); };
    switch (kind) {
      case 0:
      case 1:
        ASSERT_EQ(atomics_.fetch_add(there, value), held);
        return becomes(held + value);
      case 2:
      case 3:
        atomics_.bit_xor(there, value).wait();
        return becomes(held ^ value);
      case 4:
      case 5:
        context_
            .rput_signal(&value, there, 1, context_.on_rank(signals_, rank) + context_.rank_me(),
                         ++signalled_[rank])
            .wait();
        return becomes(value);
      case 6: {
        const uint64_t asked =
            rpc(
                context_, rank,
                [](Context& owner, global_ptr<uint64_t> word) { return *owner.local(word); }, there)
                .wait();
        ASSERT_EQ(asked, held);
        return;
      }
      case 7:
      case 8:
        return put_rows(rank);
      case 9:
      case 10:
        return get_rows(rank);
      case 11:
      case 12:
        return go_over(rank);
      default: {
        const uint64_t cell = value % kCells;
        epoch_.update(context_.on_rank(cells_, rank) + static_cast<std::ptrdiff_t>(cell), value);
        added_[rank * kCells + cell] += value;
      }
    }
  }
  // Every other one of some words of the own part.
  static constexpr uint64_t kRows = 12;
  uint64_t any_rows() { return own_part() + random_() % (kPartBytes / kUnit - 2 * kRows) * kUnit; }
  static constexpr std::array<std::ptrdiff_t, 1> kSideBySide = {kUnit};
  static constexpr std::array<std::ptrdiff_t, 1> kEveryOther = {2 * kUnit};
  static constexpr std::array<size_t, 1> kAllRows = {kRows};
  void put_rows(rank_t rank) {
    const uint64_t offset = any_rows();
    std::array<uint64_t, kRows> words{};
    for (uint64_t i = 0; i < kRows; ++i) {
      words[i] = random_();
      std::memcpy(mirror_[rank].data() + offset + 2 * i * kUnit, &words[i], kUnit);
    }
    rput_strided<1>(context_, words.data(), kSideBySide.data(), place_of<uint64_t>(rank, offset),
                    kEveryOther.data(), kAllRows.data())
        .wait();
  }
  void get_rows(rank_t rank) {
    const uint64_t offset = any_rows();
    std::array<uint64_t, kRows> words{};
    rget_strided<1>(context_, place_of<uint64_t>(rank, offset), kEveryOther.data(), words.data(),
                    kSideBySide.data(), kAllRows.data())
        .wait();
    for (uint64_t i = 0; i < kRows; ++i) {
      ASSERT_EQ(std::memcmp(&words[i], mirror_[rank].data() + offset + 2 * i * kUnit, kUnit), 0);
    }
  }
  void go_over(rank_t rank) {
    const uint64_t offset = any_rows();
    const std::byte* const expected = mirror_[rank].data() + offset;
    bool is_right = true;
    strip_for(context_, place_of<uint64_t>(rank, offset), kRows,
              [&](size_t begin, size_t end, const uint64_t* strip) {
                is_right = is_right &&
                           std::memcmp(strip, expected + begin * kUnit, (end - begin) * kUnit) == 0;
              });
    ASSERT_TRUE(is_right) << "at rank " << context_.rank_me();
  }

  void step() {
    switch (random_() % 40) {
      case 0:
        return region_->issue();
      case 1:
        return context_.progress();
      case 2:
        return context_.compute_for(1e-6);
      case 3:
        if (random_() % 8 == 0) words_.clear();  // which no one uses
        return;
      case 4:
        if (bulk_) return bulk_.reset();
        bulk_.emplace(context_);
        return;
      case 5:
        use_all();
        region_.reset();
        region_ = std::make_unique<fine_region>(context_, options_);
        return;
      default:
        break;
    }
    switch (random_() % 4) {
      case 0:
        return access(halves_);
      case 1:
        return access(triples_);
      default:
        return access(words_);
    }
  }

  // The last ones, or all.
  template <typename T>
  void use(std::vector<Awaited<T>>& awaited, size_t count) {
    for (; count > 0 && !awaited.empty(); --count) {
      ASSERT_EQ(awaited.back().value.get(), awaited.back().expected)
          << "at rank " << context_.rank_me();
      awaited.pop_back();
    }
  }
  void use_all() {
    use(halves_, halves_.size());
    use(words_, words_.size());
    use(triples_, triples_.size());
  }

  Context& context_;
  const uint64_t seed_;
  const FineOptions options_;
  std::mt19937_64 random_;
  const global_ptr<std::byte> mine_;
  const global_ptr<uint64_t> signals_;  // by the rank that raises them
  const global_ptr<uint64_t> cells_;
  const atomic_domain<uint64_t> atomics_;
  UpdateEpoch<uint64_t, op_add> epoch_;
  std::vector<uint64_t> signalled_;             // by this rank, by target
  std::vector<uint64_t> added_;                 // by this rank, by target and cell
  std::vector<std::vector<std::byte>> mirror_;  // of all ranks, as far as this one knows
  uint64_t near_ = 0;
  std::optional<bulk_region> bulk_;
  std::unique_ptr<fine_region> region_;
  std::vector<Awaited<uint32_t>> halves_;
  std::vector<Awaited<uint64_t>> words_;
  std::vector<Awaited<Triple>> triples_;
};

class FineOracle : public bootstrap::RanksTest {
 protected:
  static void run(uint64_t seed, uint64_t accesses, const std::string& tuning = {},
                  const std::string& model_path = {}) {
    constexpr uint64_t kRounds = 4;
    bootstrap::ThreadGroupOptions group =
        bootstrap::group_on(GetParam(), static_cast<rank_t>(2 + seed % 3));
    group.context.tuning = tuning;
    group.context.model_path = model_path;
    on_ranks(group, [&](Context& context) {
      // From too little for anything to enough for everything.
      FineProgram program(
          context, seed, {.keeps = seed % 5 != 0, .buffer_bytes = size_t{128} << (3 * (seed % 6))});
      for (uint64_t round = 0; round < kRounds; ++round) {
        program.round(round, accesses / kRounds);
        program.verify();
      }
      context.barrier();
    });
  }
};

TEST_P(FineOracle, RandomProgramsDoWhatTheyDoWithoutARegion) {
  const uint64_t accesses = test_size("STRIPLINE_TEST_FINE", 2600);
  const uint64_t seeds = test_size("STRIPLINE_TEST_FINE_SEEDS", 2);
  for (uint64_t seed = 1; seed <= seeds; ++seed) run(seed, accesses);
}

// By whatever method regions are carried out, and with a model, by which methods are compared.
TEST_P(FineOracle, ByEachMethod) {
  model::TunedModel known = model::example_model();
  known.pack = model::example_pack();
  const ModelFile model("fine_methods", known);
  for (const char* const tuning : {"fine:*:blocking", "fine:*:single", "fine:*:boxes",
                                   "fine:*:lists", "fine:*:baseline", ""}) {
    run(3, 1050, tuning, model.path());
    run(5, 1050, tuning, model.path());
  }
}

INSTANTIATE_TEST_SUITE_P(Fabrics, FineOracle,
                         ::testing::ValuesIn(bootstrap::every_fabric_and_nodes()),
                         bootstrap::FabricLabel());

}  // namespace
}  // namespace stripline
