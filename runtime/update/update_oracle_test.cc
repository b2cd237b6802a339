// Random updates, of several operators, sizes and epochs that are open at the same time, against
// the same updates carried out one by one.
//
// STRIPLINE_TEST_UPDATES (updates of a job, default 6000) and STRIPLINE_TEST_UPDATE_SEEDS (default
// 2) make it long; scripts/check.sh updates does.
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/update.h>

#include "base/testing/test_size.h"
#include "runtime/bootstrap/testing/rank_fixtures.h"

namespace stripline {
namespace {

using bootstrap::fabrics_under_test;

struct Record {
  std::array<uint32_t, 9> words{};
  friend bool operator==(const Record&, const Record&) = default;
};
// Neither commutative nor without an effect on what comes later.
struct chain {
  static constexpr bool kAssociative = false;
  Record operator()(Record cell, const Record& value) const {
    for (size_t i = 0; i < cell.words.size(); ++i) {
      cell.words[i] = cell.words[i] * 2654435761U + value.words[i];
    }
    return cell;
  }
};

template <typename T>
T value_of(uint64_t random) {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<T>(random % 1000);
  } else {
    T value;
    value.words.fill(static_cast<uint32_t>(random));
    return value;
  }
}

/// An epoch of some type with its cells.
class Subject {
 public:
  virtual ~Subject() = default;
  /// An update by `rank`, of which this rank knows all.
  virtual void update(rank_t rank, uint64_t cell, uint64_t value) = 0;
  virtual void flush() = 0;
  virtual void end() = 0;
  virtual void verify(const std::string& where) = 0;
};

template <typename T, typename Op, typename Layout>
class SubjectOf final : public Subject {
 public:
  SubjectOf(Context& context, uint64_t cells, Layout layout, const UpdateOptions& options)
      : context_(context),
        cells_(cells),
        array_(*shared_array<T, Layout>::create(context, cells, layout)),
        expected_(cells) {
    for (T& cell : array_.local_span()) cell = T{};
    context.barrier();
    epoch_ = std::make_unique<UpdateEpoch<T, Op>>(context, options);
  }
  void update(rank_t rank, uint64_t cell, uint64_t random) override {
    cell %= cells_;
    // Without commutativity a cell has one source.
    if (!operator_algebra<Op, T>::commutative()) {
      cell = cell - cell % context_.rank_n() + rank;
      if (cell >= cells_) return;
    } else if (random % 5 == 0) {
      return update_run(rank, cell, random);
    }
    const T value = value_of<T>(random);
    expected_[cell] = Op{}(expected_[cell], value);
    if (rank != context_.rank_me()) return;
    if (random % 2 == 0) {
      epoch_->into(array_).update(cell, value);
    } else {
      epoch_->update(array_.global(cell), value);
    }
  }
  void flush() override { epoch_->flush(); }
  void end() override { epoch_->end(); }
  void verify(const std::string& where) override {
    const std::span<const T> mine = array_.local_span();
    for (size_t i = 0; i < mine.size(); ++i) {
      ASSERT_TRUE(
          std::ranges::equal(std::as_bytes(mine.subspan(i, 1)),
                             std::as_bytes(std::span(expected_).subspan(array_.index_of(i), 1))))
          << where << ", cell " << array_.index_of(i);
    }
    context_.barrier();
  }

 private:
  void update_run(rank_t rank, uint64_t cell, uint64_t random) {
    std::vector<T> values(std::min<uint64_t>(random / 64 % 20, cells_ - cell));
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = value_of<T>(random / 64 + i);
      expected_[cell + i] = Op{}(expected_[cell + i], values[i]);
    }
    if (rank == context_.rank_me()) epoch_->into(array_).update_run(cell, values);
  }

  Context& context_;
  uint64_t cells_;
  shared_array<T, Layout> array_;
  std::vector<T> expected_;
  std::unique_ptr<UpdateEpoch<T, Op>> epoch_;
};

// One of the methods that such updates may go by.
template <typename T, typename Op>
UpdateMethod any_method(Context& context, std::mt19937_64& random, UpdateMode mode) {
  using Algebra = operator_algebra<Op, T>;
  bool by_provider = false;
  if constexpr (detail::update_atomic<T, Op>().op != detail::AtomicOp::load) {
    by_provider = atomic_domain<T>::provider_has_all(context);
  }
  const bool unordered = Algebra::commutative() && (mode != UpdateMode::log || Algebra::exact());
  const auto method = static_cast<UpdateMethod>(random() % 12);
  switch (method) {
    case UpdateMethod::messages:
      return unordered ? method : UpdateMethod::automatic;
    case UpdateMethod::provider:
      return unordered && by_provider ? method : UpdateMethod::automatic;
    case UpdateMethod::owner_locks:
    case UpdateMethod::cell_locks:
    case UpdateMethod::buffers:
      return method;
    default:
      return UpdateMethod::automatic;
  }
}

template <typename T, typename Op>
std::unique_ptr<Subject> subject(Context& context, std::mt19937_64& random, UpdateOptions options) {
  options.settings.method = any_method<T, Op>(context, random, options.mode);
  const uint64_t cells = random() % 2 == 0 ? 3 + random() % 20 : 1000 + random() % 5000;
  switch (random() % 4) {
    case 0:
      return std::make_unique<SubjectOf<T, Op, cyclic>>(context, cells, cyclic{}, options);
    case 1:
      return std::make_unique<SubjectOf<T, Op, block_cyclic<>>>(
          context, cells, blocked(cells, context.rank_n()), options);
    case 2:
      return std::make_unique<SubjectOf<T, Op, block_cyclic<5>>>(context, cells, block_cyclic<5>{},
                                                                 options);
    default:
      return std::make_unique<SubjectOf<T, Op, indefinite>>(
          context, cells, indefinite{static_cast<rank_t>(random() % context.rank_n())}, options);
  }
}

// All ranks draw the same.
std::unique_ptr<Subject> any_subject(Context& context, std::mt19937_64& random) {
  UpdateOptions options;
  if (random() % 2 == 0) options.mode = UpdateMode::log;
  options.fills_gaps = random() % 2 == 0;
  options.settings.hops = static_cast<uint32_t>(random() % 3);
  options.settings.encoding = static_cast<UpdateEncoding>(random() % 4);
  if (random() % 3 != 0) options.settings.buffer_bytes = 80 + random() % 3000;
  switch (random() % 7) {
    case 0:
      return subject<uint64_t, op_add>(context, random, options);
    case 1:
      return subject<uint8_t, op_bit_xor>(context, random, options);
    case 2:
      return subject<int32_t, op_min>(context, random, options);
    case 3:
      return subject<double, op_max>(context, random, options);
    case 4:
      return subject<float, op_replace>(context, random, options);
    case 5:
      return subject<uint16_t, op_mul>(context, random, options);
    default:
      return subject<Record, chain>(context, random, options);
  }
}

class UpdateOracle : public bootstrap::RanksTest {};

TEST_P(UpdateOracle, RandomUpdatesAreCarriedOutOnceEach) {
  const uint64_t updates = test_size("STRIPLINE_TEST_UPDATES", 6000);
  const uint64_t seeds = test_size("STRIPLINE_TEST_UPDATE_SEEDS", 2);
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    const auto ranks = static_cast<rank_t>(2 + seed * 5 % 6);
    on_ranks(ranks, [&](Context& context) {
      std::mt19937_64 random(seed);
      std::mt19937_64 own(seed * 100 + context.rank_me());
      constexpr uint64_t kTurns = 3;
      for (uint64_t turn = 0; turn < kTurns; ++turn) {
        std::vector<std::unique_ptr<Subject>> subjects;
        for (uint64_t i = 0; i < 1 + turn; ++i) subjects.push_back(any_subject(context, random));
        const std::string where = "seed " + std::to_string(seed) + ", turn " + std::to_string(turn);
        for (int ends = 0; ends < 2; ++ends) {
          for (uint64_t i = 0; i < updates / kTurns / 2; ++i) {
            Subject& one = *subjects[random() % subjects.size()];
            const auto rank = static_cast<rank_t>(random() % ranks);
            const uint64_t cell = random();
            one.update(rank, cell, random());
            if (own() % 2000 == 0) one.flush();
            if (own() % 1000 == 0) context.compute_for(1e-5);
          }
          for (const auto& one : subjects) one->end();
          for (const auto& one : subjects) one->verify(where);
        }
      }
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Fabrics, UpdateOracle, ::testing::ValuesIn(fabrics_under_test()),
                         bootstrap::FabricLabel());

}  // namespace
}  // namespace stripline
