#include "optimizer/targets/packed_export.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/formatted.h"
#include "base/json.h"
#include "base/packed_export.h"
#include "base/quantity.h"
#include "base/sha256.h"
#include "optimizer/stats/compare.h"
#include "optimizer/targets/decide.h"
#include "optimizer/targets/registry.h"

namespace stripline::targets {
namespace {

// The name of a target's own settings in a cell (Candidate).
constexpr std::string_view kDefault = "default";

// It comes from a node, and is shown in one line.
constexpr size_t kMaxTextBytes = 200;
constexpr size_t kMaxRankCounts = 64;

Result<std::string> short_text(const Json& object, std::string_view key, std::string_view what) {
  STRIPLINE_ASSIGN_OR_RETURN(std::string text, get_string(object, key, what));
  if (text.size() <= kMaxTextBytes) return text;
  return Error(ErrorCode::data_loss, std::string(what) + ": its " + std::string(key) +
                                         " is longer than " + std::to_string(kMaxTextBytes) +
                                         " bytes");
}

// Not a finite number above 0: nothing was compared.
double ratio_in(const Json& check, const char* key) {
  const auto found = check.find(key);
  const double value = found != check.end() && found->is_number() ? found->get<double>() : 0;
  return std::isfinite(value) && value > 0 ? value : 0;
}

// The least of the factors of all proofs that the target reads what is exported; 0 where one is
// missing.
double least_factor(const Json& record) {
  const auto proofs = record.find("proofs");
  if (proofs == record.end() || !proofs->is_array() || proofs->empty()) return 0;
  double least = std::numeric_limits<double>::infinity();
  for (const Json& one : *proofs) least = std::min(least, ratio_in(one, "factor"));
  return least;
}

Status check_files(const Json& whole, const Json& record, std::string_view what) {
  STRIPLINE_ASSIGN_OR_RETURN(const Json* files, get_object(whole, "files", what));
  STRIPLINE_ASSIGN_OR_RETURN(const Json* listed, get_object(record, "files", what));
  bool same = files->size() == listed->size() && !files->empty();
  for (const auto& [name, hash] : listed->items()) {
    const auto text = files->find(name);
    same = same && text != files->end() && text->is_string() &&
           hash == Json(sha256_hex(text->get<std::string>()));
  }
  if (same) return {};
  return Error(ErrorCode::data_loss,
               std::string(what) + ": its files are not those that its record lists");
}

Status read_checks(const Json& record, std::string_view what, PackedExport& read) {
  STRIPLINE_ASSIGN_OR_RETURN(const Json* checks, get_array(record, "checks", what));
  double logs = 0;
  double lower_logs = 0;
  for (const Json& check : *checks) {
    STRIPLINE_ASSIGN_OR_RETURN(const std::string verdict, get_string(check, "verdict", what));
    const double ratio = ratio_in(check, "ratio");
    const double lower = ratio_in(check, "lower");
    if (verdict == stats::to_string(stats::NonInferiority::inconclusive)) {
      stats::NonInferiorityTest test;
      test.upper = ratio_in(check, "upper");
      if (!is_accepted(test)) ++read.inconclusive;
    } else if (verdict == stats::to_string(stats::NonInferiority::inferior)) {
      ++read.slower;
      if (ratio > read.worst_ratio) {
        STRIPLINE_ASSIGN_OR_RETURN(const std::string name, short_text(check, "operation", what));
        STRIPLINE_ASSIGN_OR_RETURN(const int64_t ranks, get_integer(check, "ranks", what));
        STRIPLINE_ASSIGN_OR_RETURN(const int64_t bytes, get_integer(check, "bytes", what));
        read.worst =
            name + ", " + std::to_string(ranks) + " ranks, " + std::to_string(bytes) + " bytes";
        read.worst_ratio = ratio;
      }
    }
    if (ratio == 0 || lower == 0) continue;
    ++read.compared;
    logs += std::log(ratio);
    lower_logs += std::log(lower);
  }
  if (read.compared == 0) return {};
  read.ratio = std::exp(logs / static_cast<double>(read.compared));
  read.ratio_low = std::exp(lower_logs / static_cast<double>(read.compared));
  return {};
}

}  // namespace

Result<PackedExport> read_packed_export(std::string_view text, std::string_view what) {
  STRIPLINE_ASSIGN_OR_RETURN(const Json whole, parse_json(text, what));
  STRIPLINE_ASSIGN_OR_RETURN(const std::string format, get_string(whole, "format", what));
  if (format != kPackedExportFormat) {
    return Error(ErrorCode::data_loss,
                 std::string(what) + " is not a packed export that this version reads");
  }
  STRIPLINE_ASSIGN_OR_RETURN(const Json* record, get_object(whole, "record", what));
  STRIPLINE_RETURN_IF_ERROR(check_files(whole, *record, what));
  PackedExport read;
  STRIPLINE_ASSIGN_OR_RETURN(read.target, short_text(*record, "target", what));
  if (const auto known = find_target(read.target); !known.ok()) {
    return Error(ErrorCode::data_loss, std::string(what) + ": " + known.error().message());
  }
  STRIPLINE_ASSIGN_OR_RETURN(read.version, short_text(*record, "version", what));
  STRIPLINE_ASSIGN_OR_RETURN(read.path, short_text(*record, "path", what));
  STRIPLINE_ASSIGN_OR_RETURN(read.host, short_text(*record, "host", what));
  STRIPLINE_ASSIGN_OR_RETURN(read.time, short_text(*record, "time", what));
  STRIPLINE_ASSIGN_OR_RETURN(read.validated, get_bool(*record, "validated", what));
  STRIPLINE_ASSIGN_OR_RETURN(const Json* ranks, get_array(*record, "ranks", what));
  for (const Json& one : *ranks) {
    if (!one.is_number_unsigned() || one.get<uint64_t>() > 1 << 20 ||
        read.ranks.size() == kMaxRankCounts) {
      return Error(ErrorCode::data_loss, std::string(what) + ": its ranks are not valid");
    }
    read.ranks.push_back(one.get<uint32_t>());
  }
  STRIPLINE_ASSIGN_OR_RETURN(const Json* cells, get_array(*record, "cells", what));
  for (const Json& cell : *cells) {
    STRIPLINE_ASSIGN_OR_RETURN(const std::string chosen, get_string(cell, "chosen", what));
    if (chosen != kDefault) ++read.departing;
  }
  const auto settings = record->find("settings");
  if (settings != record->end()) read.settings = settings->size();
  read.probe_factor = least_factor(*record);
  STRIPLINE_RETURN_IF_ERROR(read_checks(*record, what, read));
  return read;
}

std::string describe(const PackedExport& one) {
  const auto target = find_target(one.target);
  std::string ranks;
  for (const uint32_t count : one.ranks) {
    ranks += (ranks.empty() ? "" : ", ") + std::to_string(count);
  }
  std::string text = std::string(target.ok() ? (*target)->title : std::string_view(one.target)) +
                     " " + one.version + ", " + one.path + ", " + ranks +
                     " ranks: " + count_text(one.departing, "cell") + " and " +
                     count_text(one.settings, "knob") + " depart from the default";
  if (one.compared == 0) return text;
  return text + ", " + formatted("%.2f", one.ratio) + " of its time in the mean of " +
         count_text(one.compared, "comparison");
}

}  // namespace stripline::targets
