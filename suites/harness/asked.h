// What is asked of the figures of docs/results, by page. Bounds of ratios are of times, of which 1
// is no difference; shares are parts of 1. Data.
#pragma once

namespace stripline::suites::asked {

/// Not slower than something else: by this share at most (verdicts.h).
inline constexpr double kMargin = 0.02;

/// compare: beside bare libfabric 5 % more latency, 95 % of the rate, 98 % of the bandwidth, and
/// ten times the rate where puts may be combined; beside plain loads and stores, and memcpy.
namespace compare {
inline constexpr double kLatency = 1.05;
inline constexpr double kRate = 1 / 0.95;
inline constexpr double kBandwidth = 1 / 0.98;
inline constexpr double kCombining = 0.1;
inline constexpr double kWord = 2;
inline constexpr double kCopy = 1 / 0.98;
}  // namespace compare

/// strided: what is chosen, than the better of a loop and packing by hand.
inline constexpr double kStridedMargin = 0.05;

/// arrays: Chen, section 4.3.3: equal to private pointers by hand; 20 % faster than the test.
namespace arrays {
inline constexpr double kPrivatised = 1.03;
inline constexpr double kTestRemoved = 0.80;
}  // namespace arrays

/// neighbours: no one chooses a system for less than 2 %; an interval that reaches beyond 10 % says
/// too little for "equal"; within 5 % of bare libfabric a loss is the provider's.
namespace neighbours {
inline constexpr double kEqual = 1.02;
inline constexpr double kEqualAtMost = 1.10;
inline constexpr double kNearProvider = 1.05;
}  // namespace neighbours

/// recovery: of parameters whose interval holds the truth; half-widths of L and G.
namespace recovery {
inline constexpr double kShare = 0.9;
inline constexpr double kHalfWidth = 0.05;
}  // namespace recovery

/// prediction: mean errors on emulated and on real networks.
namespace prediction {
inline constexpr double kEmulated = 0.02;
inline constexpr double kReal = 0.10;
}  // namespace prediction

/// quality, scale: over the best plan on average and in the worst cell; the share of the best
/// plan's gain, on networks that hide at least this share of a transfer.
namespace quality {
inline constexpr double kMean = 1.03;
inline constexpr double kWorstCell = 1.15;
inline constexpr double kShareOfGain = 0.9;
inline constexpr double kOverlap = 0.2;
}  // namespace quality

/// strips: of loops that gain, those with half of what is possible; the share of the gain of
/// kernels. Chen, section 5.5: close to 20 % with FT on all three clusters, more than 10 % with IS
/// on two of them, and IS slower than bulk on the third, whose ranks share network interfaces.
namespace strips {
inline constexpr double kWithHalf = 0.9;
inline constexpr double kShareOfGain = 0.9;
inline constexpr double kGainOfFt = 0.2;
inline constexpr double kGainOfIs = 0.1;
}  // namespace strips

/// ablation: with a model that is wrong, over without one.
inline constexpr double kWrongModel = 1.02;

/// analysis: the share of a kernel's time.
inline constexpr double kAnalysisShare = 0.005;

/// bulk: Chen, section 7.3: fewer seconds than blocking with 16 and 64 ranks; of what the programs
/// by hand gain; over blocking in the slowest program; FT whose sources stay, over that by hand.
namespace bulk {
inline constexpr double kFewerOf16 = 0.26;
inline constexpr double kFewerOf64 = 0.29;
inline constexpr double kShareOfManual = 0.85;
inline constexpr double kWorst = 1.01;
inline constexpr double kStable = 1.03;
}  // namespace bulk

/// Losses of choices, on average and at worst.
struct Losses {
  double mean;
  double worst;
};
inline constexpr Losses kVis{0.02, 0.15};
/// Choices of updates and of gathers, on emulated networks and on others.
namespace choices {
inline constexpr Losses kEmulated{0.01, 0.15};
inline constexpr Losses kReal{0.04, 0.15};
/// Cells with as many ranks or more in which a method for each pair of ranks is faster than each
/// method for all.
inline constexpr unsigned kMixedRanks = 16;
inline constexpr unsigned kMixedCells = 5;
}  // namespace choices

/// budgets: ratios to the best, over models and of the worst model or cell.
inline constexpr Losses kBudgetedStrips{1.03, 1.08};
inline constexpr Losses kBudgetedShapes{1.05, 1.25};

}  // namespace stripline::suites::asked
