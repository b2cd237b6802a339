#include "cli/feedback_commands.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

#include "base/exit_codes.h"
#include "base/quantity.h"
#include "base/table.h"
#include "cli/console.h"
#include "cli/find_model.h"
#include "cli/format.h"
#include "cli/names.h"
#include "cli/service.h"
#include "optimizer/model/feedback.h"
#include "stripline/v1/models.pb.h"

namespace stripline::cli {
namespace {

constexpr uint32_t kReportsPerPage = 20;

std::string time_text(double seconds) { return seconds > 0 ? seconds_text(seconds) : "-"; }

// Gain of the model's decision over the baseline, where the guard has timed both.
std::string gain_text(const v1::FeedbackPlace& place) {
  if (!(place.measured_s() > 0) || !(place.simple_s() > 0)) return "-";
  return percent_text(1 - place.measured_s() / place.simple_s());
}

std::string demoted_text(const v1::FeedbackPlace& place) {
  if (place.demoted_ranks() == 0) return "";
  return "demoted on " + std::to_string(place.demoted_ranks()) + " of " +
         count_text(place.ranks(), "rank", "ranks");
}

std::string text_of(const v1::Feedback& feedback) {
  std::string text = short_name(feedback.version()) + ", " + date_text(feedback.time()) + ": " +
                     feedback.program() + " over " + feedback.fabric() + ", " +
                     count_text(feedback.ranks(), "rank", "ranks") + ", " +
                     duration_text(feedback.elapsed_s()) + ", from " +
                     short_name(feedback.sender()) + "\n";
  Table table({{"PLACE"},
               {"WHAT"},
               {"TIMES", Table::Align::right},
               {"CHOSEN"},
               {"PREDICTED", Table::Align::right},
               {"MEASURED", Table::Align::right},
               {"BASELINE", Table::Align::right},
               {"SAVED", Table::Align::right},
               {"GUARD"}});
  for (const v1::FeedbackPlace& place : feedback.places()) {
    table.add({place.place(), place.what(), std::to_string(place.executions()), place.choice(),
               time_text(place.predicted_s()), time_text(place.measured_s()),
               time_text(place.simple_s()), gain_text(place), demoted_text(place)});
  }
  text += table.empty() ? "  nothing was decided by the model\n" : table.text(2);
  if (feedback.places_left_out() > 0) {
    text += "  and " + count_text(feedback.places_left_out(), "place", "places") + " more\n";
  }
  return text;
}

// Errors: not_found.
Result<std::string> content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  // Writing none of an empty file's bytes counts as a failure of `content`.
  if (file) content << file.rdbuf();
  if (!file || file.bad()) {
    return Error(ErrorCode::not_found, "cannot read '" + path + "'; 'stripline run --report " +
                                           path + "' writes a report there");
  }
  return content.str();
}

}  // namespace

Result<int> run(const Global& global, const FeedbackSend& command) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto content, content_of(command.file));
  STRIPLINE_RETURN_IF_ERROR(model::parse_feedback(content, "'" + command.file + "'"));
  v1::SendFeedbackRequest request;
  request.set_content(content);
  Service service(global);
  STRIPLINE_ASSIGN_OR_RETURN(const auto version, service.call<v1::SendFeedbackResponse>(request));
  print(global.json ? json_line(version)
                    : "the server has it: it is about " + short_name(version.version()) + "\n");
  return kExitOk;
}

Result<int> run(const Global& global, const FeedbackList& command) {
  Service service(global);
  uint32_t left = command.limit;
  bool any = false;
  v1::ListFeedbackRequest request;
  request.set_parent(command.name);
  do {
    request.set_page_size(static_cast<int>(std::min(left, kReportsPerPage)));
    const auto page = service.call<v1::ListFeedbackResponse>(request);
    if (!page.ok()) return with_nearest_model(service, command.name, page.error());
    for (const v1::Feedback& feedback : page->feedback()) {
      if (global.json) {
        print(json_line(feedback));
      } else {
        print((any ? "\n" : "") + text_of(feedback));
      }
      any = true;
      --left;
    }
    request.set_page_token(page->next_page_token());
  } while (!request.page_token().empty() && left > 0);
  if (!any && !global.json) {
    print("no run has reported of it; 'stripline run --report agent' does\n");
  }
  if (!request.page_token().empty()) print_note("there are more; --limit shows them\n");
  return kExitOk;
}

}  // namespace stripline::cli
