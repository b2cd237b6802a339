#include "optimizer/targets/mpich/mpich.h"

#include <map>
#include <string>

#include <gtest/gtest.h>

#include "optimizer/targets/environment_file.h"

namespace stripline::targets::mpich {
namespace {

TEST(Mpich, NumbersAreThoseOfTheWords) {
  // As MPI_T of 4.0.2 gives them when the variable is set by its word.
  std::map<std::string, int> numbers;
  for (const Candidate& candidate : candidates(Collective::bcast)) {
    numbers[candidate.name] = candidate.id;
  }
  EXPECT_EQ(numbers, (std::map<std::string, int>{{"default", 0},
                                                 {"binomial", 1},
                                                 {"nb", 2},
                                                 {"scatter_recursive_doubling_allgather", 4},
                                                 {"scatter_ring_allgather", 5}}));
}

TEST(Mpich, EachCandidateIsASettingThatIsAccepted) {
  for (const Collective collective : kCollectives) {
    std::vector<Setting> settings;
    for (const Candidate& candidate : candidates(collective)) {
      const auto setting = setting_of(collective, candidate);
      EXPECT_EQ(setting.has_value(), candidate.id != 0);
      if (!setting) continue;
      EXPECT_TRUE(check_settings(target(), {*setting}).ok()) << setting->name << setting->value;
      const auto text = write_environment({*setting}, {});
      ASSERT_TRUE(text.ok());
      EXPECT_EQ(*read_environment(*text, "file"), std::vector<Setting>{*setting});
    }
  }
}

}  // namespace
}  // namespace stripline::targets::mpich
