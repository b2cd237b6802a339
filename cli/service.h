// The server as the commands see it: calls that return a Result. Every error carries what to do.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/command.h"
#include "cli/contexts.h"

namespace google::protobuf {
class Message;
}
namespace stripline {
namespace v1 {
class Campaign;
class CampaignEvent;
class ExportPlanRequest;
class FetchModelVersionRequest;
}  // namespace v1
}  // namespace stripline

namespace stripline::cli {

/// The message as one line of JSON in the proto3 mapping, with the field names of the .proto files
/// and all fields present.
std::string json_line(const google::protobuf::Message& message);

/// A request that says of what alone.
template <typename Request>
Request named(const std::string& name) {
  Request request;
  request.set_name(name);
  return request;
}

/// A request for a page of a list, the first one for an empty token.
template <typename Request>
Request page_request(int page_size, const std::string& page_token) {
  Request request;
  request.set_page_size(page_size);
  request.set_page_token(page_token);
  return request;
}

/// A model file as it came, and which version it is.
struct FetchedModel {
  std::string version;  ///< "models/m/versions/2"
  std::string sha256;
  std::string provisional;  ///< why it is; empty: it is not
  std::string withdrawn;    ///< why it was; empty: it was not
  std::string stale;        ///< why it does not hold any more; empty: it may
  std::string failed;       ///< what failed in its validation; empty: nothing
  std::string data;         ///< empty when it is the one the client has
};

class Service {
 public:
  /// How watching goes on after an event, or after a quarter of a second without one.
  enum class Next { go_on, stop };
  /// Called with null when nothing has happened.
  using OnEvent = std::function<Next(const v1::CampaignEvent*)>;

  /// With what the user has for each of the servers: a login, or the file of a --dev server of his
  /// own. Where there are several, a call goes to the one that serves.
  explicit Service(const Global& global);
  /// With this instead.
  Service(const Global& global, const Context& context);
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  /// Carries out the unary call of stripline.v1 that takes this request, as the .proto files say,
  /// and answers `Response`: other types are programming errors, and terminate. Where the answer
  /// was lost, a request with a request_id is sent once more. Errors: those that the .proto file
  /// names (server_errors.h), and data_loss for a list that does not end.
  template <typename Response>
  Result<Response> call(const google::protobuf::Message& request) {
    Response response;
    STRIPLINE_RETURN_IF_ERROR(call(request, response));
    return response;
  }

  /// Streams events after `cursor` until the campaign ends, `on_event` stops it, or a minute has
  /// passed: success in all three cases. Call it again with the last event's cursor to go on.
  Status watch_campaign(const std::string& name, uint64_t cursor, const OnEvent& on_event);
  /// Hands every chunk to `sink`; its error ends the call, as does `stop` when it returns true,
  /// which is asked from another thread all the while.
  Status export_samples(
      const std::string& name, const std::function<Status(std::string_view)>& sink,
      const std::function<bool()>& stop = [] { return false; });

  /// A model that failed its validation: who wants to use one does not want it, who looks at one
  /// does.
  enum class Failed { refuse, accept };
  /// `if_none_match`: a sha256, or empty. Errors: also data_loss when it exceeds the largest model,
  /// already_exists for a model without a version whose best one failed its validation.
  Result<FetchedModel> fetch_model(const std::string& name, const std::string& if_none_match,
                                   Failed failed);

  /// The file. Errors: also data_loss when it is larger than any plan.
  Result<std::string> export_plan(const v1::ExportPlanRequest& request);
  /// `text` is the file of results. No time limit: it may have many megabytes.
  Result<v1::Campaign> import_results(const std::string& text);

  const std::string& server() const;

 private:
  Status call(const google::protobuf::Message& request, google::protobuf::Message& response);
  // The calls of these names at one server.
  Status watch_here(const std::string& name, uint64_t cursor, const OnEvent& on_event);
  Status export_here(const std::string& name, const std::function<Status(std::string_view)>& sink,
                     const std::function<bool()>& stop);
  Result<FetchedModel> fetch_here(const v1::FetchModelVersionRequest& request);

  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace stripline::cli
