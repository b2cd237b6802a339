// The exchange of addresses when a job starts, which also carries what ranks tell about themselves
// when somebody wants to see it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <stripline/context.h>

#include "base/result.h"
#include "optimizer/model/tuned_model.h"
#include "runtime/bootstrap/bootstrap.h"
#include "runtime/fabric/fabric.h"
#include "runtime/machine/fingerprint.h"
#include "runtime/rma/rank_facts.h"

namespace stripline::rma {

/// What one rank gives the others: its address, and its description or nothing.
struct Introduction {
  std::string address;
  std::string description;
  std::string terms;     ///< what must not differ between ranks, for a person to read
  std::string handlers;  ///< likewise, of the runtime itself: am::HandlerTable::terms()
  std::string model;     ///< its name and hash; "none"
  /// Variables of libfabric that are in force, as fabric::to_text(); empty on emulated networks.
  std::string variables = {};
  /// What leave_facts() returns; empty without a model, and on emulated networks.
  std::string facts = {};

  std::string encode() const;
  /// Errors: data_loss if the bytes were not written by encode().
  static Result<Introduction> decode(std::string_view bytes);
};

/// Errors: invalid_argument if two ranks differ where they must not.
Status check_alike(const Introduction& mine, rank_t my_rank, const Introduction& theirs,
                   rank_t their_rank);

/// What this rank learns of all.
struct Introduced {
  std::vector<std::string> addresses;  ///< by rank
  bool all_described = true;           ///< all have described themselves; the same on every rank
  /// With Options::model_may_not_fit, which ranks have different models, for a person to read;
  /// empty: none have. Empty on every rank or on none.
  std::string models_differ;
  /// The ranks that have other variables of libfabric than rank 0, for a person to read; empty:
  /// none have. The same on every rank.
  std::string variables_differ;
  /// The facts that this rank has left for others; empty where it leaves none.
  machine::Facts facts;
  /// The digests that differ, each with its first rank, by rank, for fetch_facts().
  /// The same on every rank; empty unless all have left theirs.
  std::vector<DigestOfRank> digests;
};

/// Introduced::variables_differ of the variables of all ranks, by rank.
std::string differing_variables(const std::vector<std::string>& of_ranks);

/// Bootstrap::exchange() of `fabric`'s address; returns what came. With
/// `options.verbose`, rank 0 writes the table of ranks and settings (runtime/machine/job_table.h)
/// to standard error: before connecting, so that it is there when that fails. So does a warning of
/// variables of libfabric that differ, which may be why. Errors: as
/// exchange(); data_loss if a rank runs another version; invalid_argument if ranks disagree on the
/// size of segments, the path between ranks of one node, debug mode, the content of `model` (null:
/// none) if it has to fit, what replaces its choices, or `handlers` (am::HandlerTable::terms). With
/// a model the facts of this rank's machine are left in `place` (rank_facts.h), where others can
/// fetch them until all ranks have met.
Result<Introduced> introduce(bootstrap::Bootstrap& job, const fabric::Fabric& fabric,
                             const Options& options, const model::TunedModel* model,
                             const std::string& handlers, std::span<std::byte> place);

}  // namespace stripline::rma
