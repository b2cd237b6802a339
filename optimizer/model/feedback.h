// What the ranks of one run saw of the model that they decided by, place by place: times that it
// predicted, and what was measured. A run writes a report (`stripline run --report`), the server
// keeps it with the version.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stripline::model {

/// Bounds of a report: whoever writes one keeps within, whoever reads one refuses more.
inline constexpr size_t kMaxFeedbackPlaces = 200;
inline constexpr size_t kMaxFeedbackTextBytes = 200;
inline constexpr size_t kMaxFeedbackBytes = size_t{128} << 10;

/// Executions of one decision at one place of the program, of all ranks. Means are of one
/// execution, in seconds; 0: not known.
struct FeedbackPlace {
  std::string place;           ///< "transpose.cc:17"
  std::string what;            ///< "get 1 MiB"
  std::string choice;          ///< "packed, 8 KiB, window 4, tuned"
  uint32_t ranks = 0;          ///< That were there.
  uint64_t executions = 0;     ///< In all.
  uint64_t as_chosen = 0;      ///< Those by the model's decision.
  double predicted_s = 0;      ///< Their mean, by the model.
  double measured_s = 0;       ///< Mean of those that were timed.
  uint64_t simple = 0;         ///< Carried out as the baseline because the guard wanted that.
  double simple_s = 0;         ///< Mean of those that were timed.
  uint32_t demoted_ranks = 0;  ///< Where the guard had left the decision for the baseline.
  bool operator==(const FeedbackPlace&) const = default;
};

/// What guards did, of all ranks (runtime/decide): the comparison of decisions with the baseline.
struct FeedbackGuard {
  uint64_t checks = 0;  ///< Executions and iterations of the program that were compared.
  double excess_s = 0;  ///< What checks took longer than the method in use would have.
  double taken_s = 0;   ///< What all that is guarded took, checks included.
  bool operator==(const FeedbackGuard&) const = default;
  /// The share of taken_s by which checks took longer.
  double share() const { return taken_s > 0 ? excess_s / taken_s : 0; }
};

struct Feedback {
  std::string model_sha256;  ///< Whole, as in the model file.
  std::string run;           ///< Random: tells runs apart.
  std::string program;       ///< The file's name.
  std::string fabric;
  uint32_t ranks = 0;
  double elapsed_s = 0;               ///< From the job's beginning to its end, on rank 0.
  FeedbackGuard guard;                ///< All zero in reports of builds that do not tell.
  uint64_t buffer_bytes = 0;          ///< What update epochs and regions took, of the rank that
                                      ///< had the most; 0 in reports of builds that do not tell.
  std::vector<FeedbackPlace> places;  ///< The places that took the longest first.
  uint64_t places_left_out = 0;       ///< Beyond the bounds.
  bool operator==(const Feedback&) const = default;
};

/// What ranks have seen, a list for each, brought together: the same place and kind is one entry,
/// whose means are over all executions, and whose choice is that of most of them. A rank counts
/// once in an entry, however often its list has it. Those that take the longest come first.
std::vector<FeedbackPlace> places_of_ranks(const std::vector<std::vector<FeedbackPlace>>& of_ranks);

/// All of it in one line, however long; of a report that was read it may be longer than what was:
/// numbers are written in one form.
std::string feedback_text(const Feedback& feedback);

/// As a run writes it, in one line. Of what exceeds the bounds, texts are cut, and the last places
/// left out and counted. Bytes that are not UTF-8 are replaced by U+FFFD.
std::string report_text(Feedback feedback);

/// The report in a text, with all its bounds. `what` names the text in messages. Errors: data_loss
/// for what is no report or a damaged one, failed_precondition for one of a later form.
Result<Feedback> parse_feedback(std::string_view text, std::string_view what);

}  // namespace stripline::model
