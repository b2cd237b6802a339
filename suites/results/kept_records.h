// What a command has measured, one record a line of a file, so that it measures what is missing and
// nothing twice.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "suites/results/json_lines.h"

namespace stripline::suites::results {

/// Records by their key, which `kKey` (a member of Record) says. They are written by
/// to_json(Record).
template <typename Record, auto kKey>
class KeptRecords {
 public:
  /// Reads a file that need not exist; of records with the same key the last one counts. Errors:
  /// those of read_json_lines() and of `parse`.
  template <typename Parse>
  static Result<KeptRecords> open(std::filesystem::path file, const Parse& parse) {
    KeptRecords records(std::move(file));
    STRIPLINE_ASSIGN_OR_RETURN(const std::vector<Json> lines, read_json_lines(records.file_));
    for (const Json& line : lines) {
      STRIPLINE_ASSIGN_OR_RETURN(Record record, parse(line));
      const std::string key = std::invoke(kKey, record);
      records.known_.insert_or_assign(key, std::move(record));
    }
    return records;
  }

  /// The record of this key, null if it is not known.
  const Record* find(const std::string& key) const {
    const auto found = known_.find(key);
    return found == known_.end() ? nullptr : &found->second;
  }

  /// The record of this key: a known one, or what `measure` returns, which is known from then on.
  /// Errors: those of `measure` and append_json_line().
  template <typename Measure>
  Result<Record> get(const std::string& key, const Measure& measure) {
    if (const auto found = known_.find(key); found != known_.end()) return found->second;
    STRIPLINE_ASSIGN_OR_RETURN(Record record, measure());
    STRIPLINE_RETURN_IF_ERROR(append_json_line(file_, to_json(record)));
    return known_.insert_or_assign(key, std::move(record)).first->second;
  }

 private:
  explicit KeptRecords(std::filesystem::path file) : file_(std::move(file)) {}

  std::filesystem::path file_;
  std::map<std::string, Record> known_;
};

}  // namespace stripline::suites::results
