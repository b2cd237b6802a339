// What the server remembers of models, as plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "optimizer/fit/judge_model.h"
#include "optimizer/model/feedback.h"
#include "server/store/names.h"

namespace stripline::server {

struct ModelRecord {
  std::string name;  ///< without "models/"
  std::string fabric;
  double created_unix_s = 0;
  /// The newest that is not withdrawn, one that is provisional, stale or was not judged only if
  /// there is no other, and one that failed its validation last of all; 0: all are withdrawn.
  int64_t latest_version = 0;
  int64_t last_number = 0;  ///< The highest number given out.
};

/// What a fit found besides parameters.
struct Finding {
  /// OUTLIERS, DRIFT, BETWEEN_RUNS, LEFT_OUT, UNVERIFIED, NO_TIME, NOT_FITTED, NODES_DIFFER,
  /// HOST_CHANGED.
  std::string kind;
  std::string subject;  ///< An operation or fields of fingerprints; empty: the campaign as a whole.
  double value = 0;     ///< A share or a count, as the kind has one.
  std::string message;  ///< For a person.
  bool operator==(const Finding&) const = default;
};

/// How a version did on points that it was not fitted to.
struct ValidationRecord {
  VersionKey key;
  double time_unix_s = 0;
  /// Full names of those whose points judged it. Empty: its own, of which some were held out from a
  /// second fit.
  std::vector<std::string> campaigns;
  fit::Judgement judgement;
  bool operator==(const ValidationRecord&) const = default;
};

/// Points that were measured again, against a version.
struct CheckRecord {
  VersionKey key;
  std::string campaign;  ///< The full name of the one that measured them.
  double time_unix_s = 0;
  fit::SentinelReading reading;
  bool operator==(const CheckRecord&) const = default;
};

/// A label of a model names this version since then. Moves of a label are numbered from 1; the last
/// one counts, the others are what a rollback goes back to.
struct LabelRecord {
  VersionKey key;
  std::string label;
  int64_t place = 0;
  std::string actor;
  double time_unix_s = 0;
  /// For a canary: those that try it. For what is stable: those that may use it, after runs of
  /// others have lost with it; empty: all.
  std::vector<std::string> nodes = {};
  bool operator==(const LabelRecord&) const = default;
};

/// What a node has answered to the offer of a version.
struct NodeModelRecord {
  std::string node;
  VersionKey key;
  bool applied = false;
  std::string reason;  ///< Why it was rejected.
  double time_unix_s = 0;
  bool operator==(const NodeModelRecord&) const = default;
};

/// What a run saw of a version.
struct FeedbackRecord {
  uint64_t id = 0;  ///< Assigned by the store; ascending in order of arrival.
  VersionKey key;
  double time_unix_s = 0;  ///< When it came.
  std::string sender;      ///< "nodes/{node}" or "users/{user}"
  model::Feedback report;
  bool operator==(const FeedbackRecord&) const = default;
};

/// Its content is immutable once stored.
struct ModelVersionRecord {
  VersionKey key;
  std::string sha256;
  std::vector<std::string> campaigns;  ///< Full names.
  double created_unix_s = 0;
  uint64_t size_bytes = 0;
  std::string summary;
  std::string provisional;  ///< Why it is; empty: it is not.
  std::string withdrawn;    ///< Why it must not be used any more; empty: it may.
  std::string stale;        ///< Why it does not hold any more; empty: nothing is known against it.
  bool stale_in_use = false;  ///< It was stable when it was found not to hold.
  std::string lost;  ///< What runs with it lost against running without a model; empty: nothing.
  // A label names it, or did before its moves were taken back.
  bool was_canary = false;
  bool was_stable = false;
  std::vector<Finding> findings;
  std::optional<ValidationRecord> validation;  ///< The last one.
  std::vector<std::string> labels;             ///< That name it now.
  std::vector<CheckRecord> checks;             ///< In the order of their times.
};

}  // namespace stripline::server
