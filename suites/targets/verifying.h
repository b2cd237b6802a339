// One more validation of an export where it is: its stages, and its probes. For the command, and
// for a server.
#pragma once

#include "base/result.h"
#include "suites/targets/commands.h"
#include "suites/targets/export_record.h"

namespace stripline::suites::tune {

/// The record of the export with what was found now, and without what a search has found. Where it
/// holds the record beside the file has the version, kernel and configuration that are here from
/// then on. Errors: those of open_session(), of launches and of prove_reading();
/// failed_precondition also for an export that is unsafe or overridden.
Result<ExportRecord> verify_export(const VerifyOptions& options, const Tell& tell);

}  // namespace stripline::suites::tune
