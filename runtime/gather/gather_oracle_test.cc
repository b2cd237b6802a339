// Random gathers, by several objects that are alive at the same time, whose indices change between
// uses, against the elements of the whole array.
//
// STRIPLINE_TEST_GATHERS (the longest index, default 3000) and STRIPLINE_TEST_GATHER_SEEDS (default
// 2) make it long; scripts/check.sh gathers does.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/cached_gather.h>
#include <stripline/gather_plan.h>

#include "base/testing/test_size.h"
#include "runtime/bootstrap/testing/rank_fixtures.h"
#include "runtime/gather/testing/gather_fixtures.h"

namespace stripline {
namespace {

using bootstrap::fabrics_under_test;
using gathers::value_of;

// An index of this rank: now and then empty, of few elements many times, or of one rank's alone.
std::vector<uint64_t> any_index(uint64_t elements, uint64_t longest, std::mt19937_64& own) {
  std::vector<uint64_t> index(own() % 4 == 0 ? 0 : 1 + own() % longest);
  const uint64_t width = own() % 2 == 0 ? elements : 1 + own() % elements;
  const uint64_t begin = own() % (elements - width + 1);
  for (uint64_t& element : index) element = begin + own() % width;
  if (own() % 3 == 0) std::ranges::sort(index);
  if (own() % 3 == 0) std::ranges::fill(index, elements - 1);
  return index;
}

GatherOptions any_options(std::mt19937_64& random) {
  GatherOptions options;
  options.method = static_cast<GatherMethod>(random() % 6);
  options.use_model = random() % 2 == 0;
  return options;
}

/// Arrays of some type and layout, and what gathers from them.
class Subject {
 public:
  virtual ~Subject() = default;
  /// Gathers values of this round; the index is another one on some ranks, at times.
  virtual void gather(uint64_t round, const std::string& where) = 0;
};

template <typename T, typename Layout>
class SubjectOf final : public Subject {
 public:
  // `random` is the same on all ranks, `own` is not.
  SubjectOf(Context& context, uint64_t elements, Layout layout, uint64_t longest,
            std::mt19937_64& random, std::mt19937_64& own)
      : context_(context), elements_(elements), longest_(longest), random_(random), own_(own) {
    options_ = any_options(random);
    options_.vectors = 1 + static_cast<uint32_t>(random() % 3);
    for (uint32_t i = 0; i < options_.vectors; ++i) {
      arrays_.push_back(std::make_unique<shared_array<T, Layout>>(
          *shared_array<T, Layout>::create(context, elements, layout)));
    }
    plan();
  }

  void gather(uint64_t round, const std::string& where) override {
    for (uint64_t v = 0; v < arrays_.size(); ++v) gathers::fill(*arrays_[v], round + v);
    switch (random_() % 4) {
      case 0:
        refuse(where);
        break;
      case 1:
        plan();
        break;
      case 2:
        return cached(round, where);
      default:
        break;
    }
    std::vector<const shared_array<T, Layout>*> arrays;
    for (const auto& array : arrays_) arrays.push_back(array.get());
    if (random_() % 2 == 0) {
      plan_->start(arrays);
      if (own_() % 2 == 0) context_.progress();
      plan_->wait();
    } else {
      uint64_t visits = 0;
      plan_->for_each(arrays, [&](size_t i, const gathered_values<T>& values) {
        ++visits;
        for (uint64_t v = 0; v < arrays_.size(); ++v) {
          ASSERT_EQ(values[v], value_of<T>(index_[i], round + v)) << where << ", read " << i;
        }
      });
      ASSERT_EQ(visits, index_.size()) << where;
    }
    for (uint32_t v = 0; v < arrays_.size(); ++v) {
      for (size_t i = 0; i < index_.size(); ++i) {
        ASSERT_EQ(plan_->value(v, i), value_of<T>(index_[i], round + v)) << where << ", read " << i;
      }
    }
  }

 private:
  void plan() {
    plan_.reset();
    index_ = any_index(elements_, longest_, own_);
    auto made = GatherPlan<T>::create(*arrays_.front(), index_, options_);
    ASSERT_TRUE(made.ok()) << made.error().message();
    plan_ = std::make_unique<GatherPlan<T>>(std::move(*made));
  }

  // An index that names no element on one rank alone.
  void refuse(const std::string& where) {
    std::vector<uint64_t> wrong = any_index(elements_, longest_, own_);
    if (random_() % context_.rank_n() == context_.rank_me()) {
      wrong.insert(wrong.begin() + static_cast<std::ptrdiff_t>(own_() % (wrong.size() + 1)),
                   elements_ + own_() % 3 * (own_() >> 1));
    }
    const auto made = GatherPlan<T>::create(*arrays_.front(), wrong, options_);
    ASSERT_FALSE(made.ok()) << where;
    EXPECT_EQ(made.error().code(), ErrorCode::invalid_argument) << where;
  }

  void cached(uint64_t round, const std::string& where) {
    if (own_() % 2 == 0) changing_ = any_index(elements_, longest_, own_);
    const Status status = cached_.gather(*arrays_.front(), changing_, {.method = options_.method});
    ASSERT_TRUE(status.ok()) << where << ": " << status.error().message();
    for (size_t i = 0; i < changing_.size(); ++i) {
      ASSERT_EQ(cached_[i], value_of<T>(changing_[i], round)) << where << ", cached read " << i;
    }
  }

  Context& context_;
  uint64_t elements_;
  uint64_t longest_;
  std::mt19937_64& random_;
  std::mt19937_64& own_;
  GatherOptions options_;
  std::vector<std::unique_ptr<shared_array<T, Layout>>> arrays_;
  std::vector<uint64_t> index_;
  std::unique_ptr<GatherPlan<T>> plan_;
  std::vector<uint64_t> changing_;
  CachedGather<T> cached_;
};

template <typename T>
std::unique_ptr<Subject> subject(Context& context, uint64_t longest, std::mt19937_64& random,
                                 std::mt19937_64& own) {
  const uint64_t elements = random() % 2 == 0 ? 1 + random() % 50 : 1000 + random() % 9000;
  switch (random() % 4) {
    case 0:
      return std::make_unique<SubjectOf<T, cyclic>>(context, elements, cyclic{}, longest, random,
                                                    own);
    case 1:
      return std::make_unique<SubjectOf<T, block_cyclic<>>>(
          context, elements, blocked(elements, context.rank_n()), longest, random, own);
    case 2:
      return std::make_unique<SubjectOf<T, block_cyclic<5>>>(context, elements, block_cyclic<5>{},
                                                             longest, random, own);
    default:
      return std::make_unique<SubjectOf<T, indefinite>>(
          context, elements, indefinite{static_cast<rank_t>(random() % context.rank_n())}, longest,
          random, own);
  }
}

std::unique_ptr<Subject> any_subject(Context& context, uint64_t longest, std::mt19937_64& random,
                                     std::mt19937_64& own) {
  switch (random() % 4) {
    case 0:
      return subject<uint8_t>(context, longest, random, own);
    case 1:
      return subject<float>(context, longest, random, own);
    case 2:
      return subject<uint64_t>(context, longest, random, own);
    default:
      return subject<gathers::Triple>(context, longest, random, own);
  }
}

class GatherOracle : public bootstrap::RanksTest {};

TEST_P(GatherOracle, RandomIndicesGiveTheElementsTheyName) {
  const uint64_t longest = test_size("STRIPLINE_TEST_GATHERS", 3000);
  const uint64_t seeds = test_size("STRIPLINE_TEST_GATHER_SEEDS", 2);
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    on_ranks(static_cast<rank_t>(2 + seed * 5 % 6), [&](Context& context) {
      std::mt19937_64 random(seed);
      std::mt19937_64 own(seed * 100 + context.rank_me());
      std::vector<std::unique_ptr<Subject>> subjects;
      for (int i = 0; i < 3; ++i) subjects.push_back(any_subject(context, longest, random, own));
      for (uint64_t round = 0; round < 12; ++round) {
        const std::string where =
            "seed " + std::to_string(seed) + ", round " + std::to_string(round);
        subjects[random() % subjects.size()]->gather(round, where);
        if (own() % 3 == 0) context.compute_for(1e-5);
        ASSERT_FALSE(::testing::Test::HasFatalFailure()) << where;
      }
      context.barrier();
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Fabrics, GatherOracle, ::testing::ValuesIn(fabrics_under_test()),
                         bootstrap::FabricLabel());

}  // namespace
}  // namespace stripline
