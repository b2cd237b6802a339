#include "runtime/decide/run_guard.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace stripline::decide {
namespace {

using Method = RunGuard::Method;

// A program whose calls take longer in one mode than in the other, on a clock of its own.
class Program {
 public:
  explicit Program(double noise = 0, uint64_t seed = 1) : noise_(noise), random_(seed) {}

  // Iterations whose calls are named by letters. What a call takes is what it was asked to do times
  // the seconds of that mode.
  void run(std::string_view calls, int iterations, double tuned_s, double simple_s) {
    for (int i = 0; i < iterations; ++i) {
      for (const char call : calls) make(call, tuned_s, simple_s);
    }
  }
  void make(char call, double tuned_s, double simple_s) {
    const RunGuard::Turn turn = guard_.report({hash_of(call), 1, 64});
    if (differs_) guard_.differs(expected_, 1);
    ++(turn.method == Method::tuned ? tuned_ : simple_);
    decided_ += turn.method == Method::tuned && !turn.check ? 1 : 0;
    demoted_ = turn.demoted;
    const double expected_s = turn.method == Method::tuned ? tuned_s : simple_s;
    expected_s_ += expected_s;
    double actual_s = expected_s * std::exp(std::normal_distribution<>(0, noise_)(random_));
    if (noise_ > 0 && std::uniform_real_distribution<>()(random_) < 0.01) actual_s *= 5;
    now_s_ += actual_s;
  }
  void clear() { tuned_ = simple_ = decided_ = 0, expected_s_ = 0; }
  void set_differs(bool differs) { differs_ = differs; }
  // What the baseline is expected to take longer, where the tuned method takes 1 s.
  void expect(double excess_s) { expected_ = excess_s; }
  // Not a call that the guard sees.
  void spend(double seconds) { now_s_ += seconds; }

  int tuned() const { return tuned_; }
  int simple() const { return simple_; }
  int decided() const { return decided_; }
  bool demoted() const { return demoted_; }
  double expected_s() const { return expected_s_; }
  int clock_reads() const { return clock_reads_; }
  RunGuard& guard() { return guard_; }

 private:
  double noise_;
  std::mt19937_64 random_;
  double now_s_ = 0;
  int clock_reads_ = 0;
  bool differs_ = true;
  bool demoted_ = false;
  std::optional<double> expected_;
  int tuned_ = 0;
  int simple_ = 0;
  int decided_ = 0;
  double expected_s_ = 0;
  RunGuard guard_{[this] {
    ++clock_reads_;
    return now_s_;
  }};
};

// One call; a cycle over grids; axes in turn, back and forth.
const std::vector<std::string> kPrograms = {"a", "abcDcbaab", "xyzzyx", "aabb"};
constexpr int kWarmUp = 1500;
constexpr int kTimes = 6000;

TEST(RunGuard, GivesABadModelUp) {
  for (const std::string& calls : kPrograms) {
    for (const double slower : {1.05, 1.5, 10.0}) {
      Program program(0.01);
      program.run(calls, kWarmUp, slower, 1);
      program.clear();
      program.run(calls, kTimes, slower, 1);
      EXPECT_LT(program.expected_s() / static_cast<double>(kTimes * calls.size()), 1.012)
          << calls << " " << slower;
    }
  }
}

TEST(RunGuard, KeepsAGoodModel) {
  for (const std::string& calls : kPrograms) {
    for (const double faster : {0.95, 0.5, 0.1}) {
      Program program(0.01);
      program.run(calls, kWarmUp, faster, 1);
      program.clear();
      program.run(calls, kTimes, faster, 1);
      EXPECT_LT(program.expected_s() / static_cast<double>(kTimes * calls.size()), 1.012 * faster)
          << calls << " " << faster;
    }
  }
}

TEST(RunGuard, LosesNothingBetweenMethodsThatAreEqual) {
  Program program(0.02);
  program.run("abc", 2000, 1, 1.002);
  program.clear();
  program.run("abc", kTimes, 1, 1.002);
  EXPECT_LT(program.expected_s() / (3 * kTimes), 1.004);
}

// Until there is something to say, sites do as they do without it.
TEST(RunGuard, LeavesTheFirstIterationsAlone) {
  Program program;
  program.run("abc", 250, 2, 1);
  EXPECT_EQ(program.decided(), 3 * 250);
  program.run("abc", 300, 2, 1);
  EXPECT_GT(program.simple(), 0);
}

// What was fast becomes slow: ranks that avoid each other's answers, another job on the node.
TEST(RunGuard, SoonComparesWhatHasBecomeSlower) {
  Program program(0.01);
  program.expect(0.05);
  program.run("abc", 100, 1, 1.05);
  program.clear();
  program.run("abc", 60, 2, 1.05);
  EXPECT_TRUE(program.demoted());
  EXPECT_GT(program.simple(), 3 * 30);
}

// What checks are expected to take decides when the first one is made; it is never more than a part
// of what all iterations took.
TEST(RunGuard, KeepsTheBudget) {
  int before = 1 << 30;
  for (const double expected : {2.0, 0.9, 0.2, 0.05}) {
    Program program;
    program.expect(expected);
    int first = 0;
    while (program.simple() == 0 && ++first < 5000) program.run("abc", 1, 1, 1 + expected);
    EXPECT_LT(first, before) << expected;
    before = first;
    for (int i = 0; i < 3000; ++i) {
      program.run("abc", 1, 1, 1 + expected);
      const Savings savings = program.guard().savings();
      ASSERT_LE(savings.excess_s, plan::Guard::kBudget * savings.taken_s) << expected << " " << i;
    }
    EXPECT_FALSE(program.demoted());
  }
}

// However many iterations there are, and however they scatter.
TEST(RunGuard, KeepsTheBudgetOfShortProgramsWhoseTimesScatter) {
  struct Case {
    double tuned_s;
    double baseline_s;
    double expected_s;
  };
  for (const int iterations : {30, 200, 1000}) {
    for (const auto& [tuned_s, baseline_s, expected_s] :
         {Case{1, 1, 0.02}, Case{1, 1.2, 0.2}, Case{1.3, 1, 0.02}}) {
      Savings all;
      for (uint64_t seed = 1; seed <= 10000U / static_cast<uint64_t>(iterations); ++seed) {
        Program program(0.2, seed);
        program.expect(expected_s);
        program.run("abc", iterations, tuned_s, baseline_s);
        all.add(program.guard().savings());
      }
      EXPECT_GT(all.taken_s, 0);
      EXPECT_LE(all.excess_s, plan::Guard::kBudget * all.taken_s)
          << iterations << ": " << tuned_s << ", " << baseline_s;
    }
  }
}

TEST(RunGuard, TakesNoTimeWhereNothingDiffers) {
  Program program;
  program.set_differs(false);
  program.run("abc", 1000, 1, 1);
  EXPECT_EQ(program.clock_reads(), 0);
  EXPECT_EQ(program.guard().savings().sites, 0);
  program.set_differs(true);
  program.run("abc", 100, 1, 2);
  EXPECT_GT(program.clock_reads(), 0);
}

TEST(RunGuard, LeavesSitesToThemselvesWhereNothingDiffers) {
  Program program;
  program.set_differs(false);
  program.run("a", 1000, 1, 1);
  EXPECT_EQ(program.decided(), 1000);
  // Then it is compared as a whole.
  program.set_differs(true);
  program.run("a", kWarmUp, 1.5, 1);
  program.clear();
  program.run("a", kTimes, 1.5, 1);
  EXPECT_LT(program.expected_s() / kTimes, 1.012);
}

// For good, and with the sites in it.
TEST(RunGuard, DemotesWhatLoses) {
  Program program(0.01);
  program.run("abc", kWarmUp, 1.5, 1);
  EXPECT_TRUE(program.demoted());
  program.clear();
  program.run("abc", kTimes, 0.1, 1);
  EXPECT_EQ(program.tuned(), 0);
  EXPECT_EQ(program.guard().savings().demoted, 1);
}

// A rank whose times differ a little uses the same mode in the same iterations.
TEST(RunGuard, RanksCheckTogether) {
  for (const double slower : {0.6, 0.97, 1.02, 1.4}) {
    Program one(0.002, 1);
    Program other(0.002, 2);
    int apart = 0;
    int last = 0;
    for (int i = 0; i < 2000; ++i) {
      // The other one has two neighbours more.
      one.run("ab", 1, slower, 1);
      other.run("abcd", 1, slower, 1);
      const bool same = 2 * one.simple() - last == other.simple();
      last = 2 * one.simple() - other.simple();
      apart += same ? 0 : 1;
    }
    EXPECT_LT(apart, 60) << slower;
  }
}

TEST(RunGuard, RanksCheckTogetherThoughTheyExpectDifferentLosses) {
  for (const double expected : {0.08, 0.11, 0.3, 0.45, 0.9}) {
    Program one;
    Program other;
    one.expect(expected);
    other.expect(std::min(1.0, 2 * expected));
    for (int i = 0; i < 2000; ++i) {
      one.run("ab", 1, 1, 1.1);
      other.run("ab", 1, 1, 1.1);
      ASSERT_EQ(one.simple(), other.simple()) << expected << ", iteration " << i;
    }
    EXPECT_GT(one.simple(), 0) << expected;
  }
}

TEST(RunGuard, FollowsTheProgramFromPhaseToPhase) {
  Program program(0.005);
  program.run("abc", kWarmUp, 1.5, 1);
  ASSERT_TRUE(program.demoted());
  // Where the model is right again, it is tried again.
  program.run("de", 500, 0.5, 1);
  program.clear();
  program.run("de", 1000, 0.5, 1);
  EXPECT_LT(program.simple(), 2 * 1000 / 50);
  EXPECT_EQ(program.guard().savings().sites, 2);
  EXPECT_EQ(program.guard().savings().demoted, 1);
  // What was known of the first one is known still: it is not judged again.
  program.run("abc", 40, 1.5, 1);
  program.clear();
  program.run("abc", 30, 1.5, 1);
  EXPECT_EQ(program.tuned(), 0);
  EXPECT_EQ(program.guard().savings().sites, 2);
}

// In between, what was in use stays.
TEST(RunGuard, AModelThatLostIsNotTriedWhereNothingRepeats) {
  Program program;
  program.run("abc", kWarmUp, 1.5, 1);
  std::mt19937_64 random(1);
  const auto at_random = [&](int calls) {
    for (int i = 0; i < calls; ++i) program.make(static_cast<char>(random() % 100), 1.5, 1);
  };
  at_random(300);
  program.clear();
  at_random(300);
  EXPECT_EQ(program.tuned(), 0);
}

// An iteration with calls of its own now and then, and pauses of the program.
TEST(RunGuard, ToleratesWhatIsNotOfTheIteration) {
  for (const double slower : {0.6, 1.4}) {
    Program program(0.005);
    const auto run = [&](int repetitions) {
      for (int i = 0; i < repetitions; ++i) {
        program.run("xyc", 1, slower, 1);
        program.spend(50);
        program.run("abcd", 5, slower, 1);
      }
    };
    run(200);
    program.clear();
    run(600);
    const double calls = 600 * 23;
    EXPECT_LT(program.expected_s() / calls, 1.02 * std::min(slower, 1.0)) << slower;
  }
}

// The call with which the baseline is first carried out, if `make(i)` is call number i, which takes
// a second.
template <typename Make>
size_t first_check(size_t calls, const Make& make) {
  double now_s = 0;
  RunGuard guard([&now_s] { return now_s; });
  for (size_t i = 0; i < calls; ++i) {
    if (guard.report(make(i)).method == Method::baseline) return i;
    guard.differs(0.01, 1);
    ++now_s;
  }
  return calls;
}

// Two calls that differ in their place only are one iteration, whose checks are twice as far away.
TEST(RunGuard, TellsTwoPlacesApart) {
  const size_t of_one = first_check(2000, [](uint64_t) {
    return RunGuard::Call{hash_of('a'), 1, 0, 64};
  });
  const size_t of_two = first_check(2000, [](uint64_t i) {
    return RunGuard::Call{hash_of('a'), 1, 0, i % 2 * 64};
  });
  EXPECT_LT(of_one, 200U);
  EXPECT_GT(of_two, 3 * of_one / 2);
  EXPECT_LT(of_two, 400U);
}

// Where places follow the data they say nothing, and ranks would find different iterations.
TEST(RunGuard, TakesNoNoticeOfPlacesWithoutOrder) {
  std::vector<size_t> first;
  for (const uint64_t of_rank : {1, 2, 3}) {
    std::mt19937_64 random(of_rank);
    first.push_back(first_check(2000, [&](uint64_t) {
      const bool new_place = random() % of_rank != 0;
      return RunGuard::Call{hash_of('a'), 1, 0, new_place ? random() : 64};
    }));
  }
  EXPECT_LT(first[0], 200U);
  EXPECT_EQ(first[1], first[0]);
  EXPECT_EQ(first[2], first[0]);
}

// What an iteration has begun may be waited for in the next one.
TEST(RunGuard, CountsNoIterationThatPaysForTheOtherMethod) {
  double now_s = 0;
  RunGuard guard([&now_s] { return now_s; });
  Method before = Method::tuned;
  int tuned = 0;
  for (int i = 0; i < 2000; ++i) {
    const Method method = guard.report({hash_of('a'), 1, 64}).method;
    guard.differs({}, 1);
    now_s += before == Method::tuned ? 1.5 : 1;
    before = method;
    tuned += i >= 1000 && method == Method::tuned ? 1 : 0;
  }
  EXPECT_EQ(tuned, 0);
}

// Calls that only their places tell apart are no iterations by themselves.
TEST(RunGuard, KnowsCallsByTheirPlaces) {
  const size_t of_one = first_check(2000, [](uint64_t) {
    return RunGuard::Call{hash_of('a'), 1, 0};
  });
  const size_t of_eight = first_check(2000, [](uint64_t i) {
    return RunGuard::Call{hash_of('a'), 1, i % 8};
  });
  EXPECT_EQ(of_eight, 8 * of_one);
}

// A program that never does the same to the same memory, but the same.
TEST(RunGuard, FallsBackToWhatIsDone) {
  double now_s = 0;
  RunGuard guard([&now_s] { return now_s; });
  bool simple = false;
  for (uint64_t i = 0; i < RunGuard::kPatience + 500; ++i) {
    const RunGuard::Turn turn = guard.report({hash_of(i % 3), i, 64});
    guard.differs(0.01, 1);
    ++now_s;
    simple = simple || turn.method == Method::baseline;
  }
  EXPECT_TRUE(simple);
}

TEST(RunGuard, LooksLessOftenWhereNothingRepeats) {
  RunGuard guard([] { return 0.0; });
  std::mt19937_64 random(1);
  // Far faster than looking each time, which would take minutes.
  for (int i = 0; i < 20'000'000; ++i) {
    guard.report({hash_of(random()), 1, 64});
  }
  EXPECT_EQ(guard.savings().sites, 0);
}

}  // namespace
}  // namespace stripline::decide
