#include "server/core/models/feedback.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "server/clock.h"
#include "server/core/page_token.h"
#include "server/core/reads.h"

namespace stripline::server {
namespace {

// A report has up to 128 KiB.
constexpr size_t kMaxPerPage = 50;

v1::Feedback to_wire(const FeedbackRecord& record) {
  const model::Feedback& report = record.report;
  v1::Feedback message;
  message.set_version(version_name(record.key));
  message.set_time(rfc3339(record.time_unix_s));
  message.set_sender(record.sender);
  message.set_program(report.program);
  message.set_fabric(report.fabric);
  message.set_ranks(report.ranks);
  message.set_elapsed_s(report.elapsed_s);
  for (const model::FeedbackPlace& place : report.places) {
    v1::FeedbackPlace& added = *message.add_places();
    added.set_place(place.place);
    added.set_what(place.what);
    added.set_choice(place.choice);
    added.set_ranks(place.ranks);
    added.set_executions(place.executions);
    added.set_as_chosen(place.as_chosen);
    added.set_predicted_s(place.predicted_s);
    added.set_measured_s(place.measured_s);
    added.set_simple(place.simple);
    added.set_simple_s(place.simple_s);
    added.set_demoted_ranks(place.demoted_ranks);
  }
  message.set_places_left_out(report.places_left_out);
  return message;
}

// A model's name stands for all its versions.
Answer<VersionKey> key_of(Store& store, const std::string& parent) {
  const auto model = parse_model_name(parent);
  if (!model) {
    STRIPLINE_ASSIGN_OR_RETURN(const auto version, find_version(store, parent));
    return version.key;
  }
  STRIPLINE_RETURN_IF_ERROR(find_model(store, parent));
  return VersionKey{*model, 0};
}

}  // namespace

Answer<VersionKey> take_feedback(Store& store, const std::string& content,
                                 const std::string& sender) {
  auto report = model::parse_feedback(content, "the report");
  if (!report.ok()) return invalid_field("content", report.error().message());
  // Checked as it is stored: what is larger than a report may be could not be read any more.
  if (const size_t bytes = model::feedback_text(*report).size(); bytes > model::kMaxFeedbackBytes) {
    return invalid_field("content", "the report has " + std::to_string(bytes) +
                                        " bytes with its numbers in the usual form, at most " +
                                        std::to_string(model::kMaxFeedbackBytes) + " are accepted");
  }
  STRIPLINE_ASSIGN_OR_RETURN(const auto version, store.version_of_content(report->model_sha256));
  if (!version) {
    return Problem{ErrorCode::not_found,
                   "MODEL_VERSION_NOT_FOUND",
                   "no version here has the hash " + report->model_sha256 +
                       ", which the report names; 'stripline model import' publishes a file",
                   {}};
  }
  Changes changes;
  changes.feedback.push_back({0, *version, unix_seconds(), sender, *std::move(report)});
  if (const Status stored = store.apply(changes); !stored.ok()) return stored.error();
  return *version;
}

Answer<v1::ListFeedbackResponse> list_feedback(Store& store,
                                               const v1::ListFeedbackRequest& request) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto key, key_of(store, request.parent()));
  STRIPLINE_ASSIGN_OR_RETURN(const auto asked, page_limit(request.page_size()));
  const size_t limit = std::min(asked, kMaxPerPage);
  const std::string list = request.parent() + "/feedback";
  STRIPLINE_ASSIGN_OR_RETURN(const auto token, read_page_token(list, request.page_token()));
  const uint64_t before = std::strtoull(token.c_str(), nullptr, 10);
  STRIPLINE_ASSIGN_OR_RETURN(const auto records, store.feedback(key, before, limit + 1));
  v1::ListFeedbackResponse response;
  for (size_t i = 0; i < records.size() && i < limit; ++i) {
    *response.add_feedback() = to_wire(records[i]);
  }
  if (records.size() > limit) {
    response.set_next_page_token(make_page_token(list, std::to_string(records[limit - 1].id)));
  }
  return response;
}

}  // namespace stripline::server
