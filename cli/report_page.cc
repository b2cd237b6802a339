#include "cli/report_page.h"

#include <string_view>

#include "base/html_text.h"
#include "dashboards/bundle.h"

namespace stripline::cli {
namespace {

// The page runs only the code that it contains, and makes no requests.
constexpr std::string_view kPolicy =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: "
    "blob:";

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
  return text;
}

}  // namespace

Result<std::string> report_page(const ReportContent& content) {
  const auto script = dashboards::bundled_file("/app.js");
  const auto style = dashboards::bundled_file("/app.css");
  if (!script || !style) {
    return Error(ErrorCode::unimplemented,
                 "this stripline was built without the dashboard, which reports are made of: build "
                 "it with nodejs and npm, and without -DSTRIPLINE_DASHBOARD=OFF; 'stripline model "
                 "plot' and 'model show' need none");
  }
  const Json data = {{"title", content.title},
                     {"made", content.made},
                     {"start", content.start},
                     {"answers", content.answers}};
  std::string page =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"";
  page += kPolicy;
  page += "\">\n<title>" + html_text(content.title) + " · Stripline</title>\n<style>\n";
  page += style->content;
  page +=
      "</style>\n</head>\n<body>\n<div id=\"app\"><p class=\"first-paint\">Loading…</p></div>\n"
      "<noscript>This report needs JavaScript.</noscript>\n"
      "<script type=\"application/json\" id=\"report\">";
  // No text of the data ends the element.
  page += replaced(dumped(data), "<", "\\u003c");
  page += "</script>\n<script type=\"module\">\n";
  page += script->content;
  page += "</script>\n</body>\n</html>\n";
  return page;
}

}  // namespace stripline::cli
