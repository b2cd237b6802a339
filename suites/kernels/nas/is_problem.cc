#include "suites/kernels/nas/is_problem.h"

#include <string>

#include "suites/kernels/nas/nas_random.h"

namespace stripline::suites::nas {
namespace {

constexpr std::array<IsProblem, 5> kProblems = {{
    {16,
     11,
     9,
     {{{48427, 0, 1, 0},
       {17148, 18, 1, 0},
       {23627, 346, 1, 0},
       {62548, 64917, -1, 0},
       {4431, 65463, -1, 0}}}},
    {20,
     16,
     10,
     {{{357773, 1249, 1, 2},
       {934767, 11698, 1, 2},
       {875723, 1039987, -1, 0},
       {898999, 1043896, -1, 0},
       {404505, 1048018, -1, 0}}}},
    {23,
     19,
     10,
     {{{2112377, 104, 1, 1},
       {662041, 17523, 1, 1},
       {5336171, 123928, 1, 1},
       {3642833, 8288932, -1, 1},
       {4250760, 8388264, -1, 1}}}},
    {25,
     21,
     10,
     {{{41869, 33422937, -1, 0},
       {812306, 10244, 1, 0},
       {5102857, 59149, 1, 0},
       {18232239, 33135281, -1, 0},
       {26860214, 99, 1, 0}}}},
    {27,
     23,
     10,
     {{{44172927, 61147, 1, 0},
       {72999161, 882988, 1, 0},
       {74326391, 266290, 1, 0},
       {129606274, 133997595, -1, 0},
       {21736814, 133525895, -1, 0}}}},
}};

// The changed keys, two for each iteration and counted from 1, are all the first rank's.
constexpr size_t kFewestKeys = 2 * kIsIterations + 1;

}  // namespace

const IsProblem& is_problem(NasClass problem_class) {
  return kProblems[static_cast<size_t>(problem_class)];
}

void make_is_keys(const IsProblem& problem, size_t begin, std::span<uint32_t> keys) {
  NasRandom random;
  random.skip(4 * begin);
  const double quarter = static_cast<double>(problem.max_key()) / 4;
  for (uint32_t& key : keys) {
    double sum = random.next();
    sum += random.next();
    sum += random.next();
    sum += random.next();
    key = static_cast<uint32_t>(quarter * sum);
  }
}

Result<IsPartition> IsPartition::create(const IsProblem& problem, uint32_t ranks) {
  if (ranks == 0 || problem.keys() % ranks != 0 || problem.keys() / ranks < kFewestKeys ||
      ranks > problem.buckets()) {
    return Error(ErrorCode::invalid_argument,
                 "NAS IS cannot divide " + std::to_string(problem.keys()) + " keys over " +
                     std::to_string(ranks) + " ranks; use a power of two up to " +
                     std::to_string(problem.buckets()));
  }
  return IsPartition(problem, ranks);
}

IsPartition::IsPartition(const IsProblem& problem, uint32_t ranks)
    : ranks_(ranks),
      buckets_(problem.buckets()),
      keys_per_rank_(problem.keys() / ranks),
      room_(whole_lines(keys_per_rank_ + 4 * problem.keys() / problem.buckets())) {}

}  // namespace stripline::suites::nas
