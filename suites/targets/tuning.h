// One run of tuning: knobs, collectives, files, validation, proofs. For the commands that do it
// here, and for a server.
#pragma once

#include <filesystem>

#include "base/result.h"
#include "suites/targets/commands.h"
#include "suites/targets/export_record.h"
#include "suites/targets/search.h"

namespace stripline::suites::tune {

struct Tuned {
  ExportRecord record;
  std::filesystem::path folder;  ///< where the record is
  std::filesystem::path file;    ///< what programs read; empty: nothing was validated
};

/// Takes the time of the options at most. Errors: those of open_session(), the searches and the
/// validation; already_exists for files that are not ours; cancelled.
Result<Tuned> tune(const TuneOptions& options, const Tell& tell);

/// Something was found to be slower than with the default settings.
bool has_loser(const ExportRecord& record);

/// Why no file was written, the part of a sentence behind "keep the default, as".
std::string why_default(const ExportRecord& record);

/// What came of it, a sentence: what was written, or why the default is kept.
std::string conclusion(const Tuned& tuned);

}  // namespace stripline::suites::tune
