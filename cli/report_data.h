// What a report holds: gathered from a file, or from the server.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/command.h"
#include "cli/report_page.h"

namespace stripline::cli {

/// Of a model file, a model's name or a campaign's. Errors: those of reading it, with what to do.
Result<ReportContent> report_content(const Global& global, const std::string& source,
                                     double now_unix_s);

}  // namespace stripline::cli
