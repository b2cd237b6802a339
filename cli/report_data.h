// What a report holds: gathered from a file, or from the server.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/command.h"
#include "cli/report_page.h"

namespace stripline::cli {

/// The data of a model file, or of what a model or a campaign is named. Errors: those of reading
/// it.
Result<ReportContent> report_content(const Global& global, const std::string& source,
                                     double now_unix_s);

}  // namespace stripline::cli
