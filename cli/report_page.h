// A page in one file: the dashboard with what it would have asked a server for.
#pragma once

#include <string>

#include "base/json.h"
#include "base/result.h"

namespace stripline::cli {

struct ReportContent {
  std::string title;  ///< "tcp@2"
  std::string made;   ///< RFC 3339
  std::string start;  ///< the address of the first page, as after '#': "/models/tcp"
  /// What /api/v1 would answer (docs/http.md), by path. Options of a question follow in the order
  /// of their names, not encoded: "models/m/versions/1/decisions/loop?bytes=8&direction=get".
  Json answers = Json::object();
};

/// HTML that needs nothing else. Errors: unimplemented in a build without the dashboard.
Result<std::string> report_page(const ReportContent& content);

}  // namespace stripline::cli
