// What is kept beside exported files, as JSON: for whom and what they are, what was found, and what
// it takes to validate them again. Pure, but for reading files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "optimizer/targets/rules.h"
#include "suites/targets/owned_files.h"
#include "suites/targets/search.h"
#include "suites/targets/session.h"
#include "suites/targets/validation.h"

namespace stripline::suites::tune {

struct Proof {
  Probe probe;
  double factor = 0;  ///< by which the probe slowed its cell down
};

/// A choice for a number of ranks that was not measured, as those on both sides agree.
struct Prediction {
  targets::Collective collective = targets::Collective::allreduce;
  uint32_t ranks = 0;
  targets::SizeRange range;
};

struct ExportRecord {
  std::string target;
  std::string version;
  targets::Path path = targets::Path::shared_memory;
  std::vector<uint32_t> ranks;
  uint32_t processors = 1;
  std::string host;
  std::string kernel;
  std::string configuration;  ///< a SHA-256; empty: an earlier version did not record it
  std::string user;
  std::string time;  ///< RFC 3339
  uint64_t seed = 1;
  uint32_t largest_job = 0;  ///< ranks that the memory of settings was estimated for
  double margin = 0.03;
  bool commutative_only = false;
  bool validated = false;
  std::map<std::string, std::string> files;  ///< SHA-256 by name
  SearchReport search;
  std::vector<Prediction> predicted;
  std::vector<StageResult> stages;  ///< those that were reached
  std::vector<Checked> checked;     ///< of all of them
  /// A proof of each thing that is exported (rules, settings); empty: it is not shown that the
  /// target reads them.
  std::vector<Proof> proofs;
};

Json to_json(const ExportRecord& record);

/// What a later validation needs: all but the search's and the checks' details. Errors: data_loss.
Result<ExportRecord> record_from_json(const Json& json);

/// What has changed since an export was validated, a sentence each.
std::vector<std::string> stale_reasons(const ExportRecord& record, const Basis& here);

/// The record beside a file, of which its SHA-256 must be one. Errors: not_found without a record,
/// data_loss where the file is not what was exported.
Result<ExportRecord> read_record_of(const std::filesystem::path& file);

/// Comments for the head of every file: who, when, what for, and the gains with their intervals.
std::vector<std::string> comments_of(const ExportRecord& record, const std::string& use);

/// For people: gains per cell, knobs, what was rejected, how validation and proofs ended.
std::string summary_of(const ExportRecord& record);

}  // namespace stripline::suites::tune
