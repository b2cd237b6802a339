// The door of HTTP: /api/v1, the messages of stripline.v1 in their JSON form (docs/http.md), and
// the pages that show them. The same rules hold as for gRPC: one Access::authorize(), and the role
// that the .proto file asks of the method. Its table of calls is gRPC's, too (unary.h).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "server/core/coordinator.h"
#include "server/core/watch_hub.h"
#include "server/doors/answer_cache.h"
#include "server/doors/campaign_events.h"
#include "server/doors/core.h"
#include "server/doors/http/web_server.h"
#include "server/doors/openapi.h"
#include "server/doors/places.h"
#include "server/doors/reading_pool.h"
#include "server/doors/sign_in_pages.h"
#include "server/doors/uploads.h"
#include "server/meters.h"
#include "server/problem.h"
#include "server/security/access.h"
#include "server/security/call_limits.h"
#include "server/security/refusals.h"
#include "server/store/store.h"

namespace grpc::internal {
class MethodHandler;
}

namespace stripline::server {

struct GrpcDoor;

/// What a call of gRPC costs its caller (call_limits.h).
struct GrpcCharge {
  double least_s = 0;    ///< at least this; 0: nothing, and it is not refused
  bool by_call = false;  ///< just this, whatever the call takes
  bool is_long = false;  ///< it is carried out in the pool for long reads
};

/// The answer to a request that is not answered: the problem as JSON, with the status of its kind.
http::Response refused(const Problem& problem);

/// Whether what a caller shows as If-None-Match, a list of entity tags, names this one.
bool shows_tag(const std::string& if_none_match, const std::string& etag);

/// Thread-safe. All that it is made of must outlive it, and the streams that it has answered with.
class Api {
  struct Call;

 public:
  /// A line of the table of calls (calls.cc): the services of gRPC are made of it, too.
  struct Entry {
    Route route;  ///< without a path where HTTP does not have the call
    Answer<http::Response> (Api::*answer)(const Call&) = nullptr;
    double cost_s = kCallCost_s;  ///< what it is charged at least, by HTTP
    bool is_long = false;         ///< it is worked out in the pool for such
    GrpcCharge charge = {};       ///< by gRPC
    /// The handler of gRPC's method (unary.h); null where HTTP alone has the line, or the service
    /// has the method.
    std::unique_ptr<grpc::internal::MethodHandler> (*handler)(const GrpcDoor& door,
                                                              const GrpcCharge& charge) = nullptr;
  };
  static const std::vector<Entry>& entries();

  Api(const Core& core, WatchHub& hub, Meters& meters, CallLimits& limits, ReadingPool& reading);

  /// Answers /login by these; before anybody calls.
  void sign_in_by(std::unique_ptr<SignInPages> pages) { sign_in_ = std::move(pages); }

  /// Replies at once, from the pool for reads that take long, or when an issuer has answered.
  void answer(http::Request request, const http::WebServer::Reply& reply);

 private:
  class PointPieces;

  // Lines for a function of the core (carry_out.h), which terminate if the method answers another
  // message: what gRPC alone has; what HTTP alone has, or by one more path, where `about` is a
  // sentence; what both have.
  template <auto kCall>
  static Entry by_grpc(const GrpcCharge& charge = {});
  template <auto kCall>
  static Entry by_http(Route::Verb verb, const char* path, const char* operation, const char* about,
                       double cost_s, bool is_long = false);
  template <auto kCall>
  static Entry by_both(Route::Verb verb, const char* path, const char* operation, const char* about,
                       const GrpcCharge& charge = {}, double cost_s = kCallCost_s,
                       bool is_long = false);

  static http::Response page(const http::Request& request);
  void call(http::Request request, const http::WebServer::Reply& reply);
  Answer<http::Response> opened(const Call& call, const std::vector<Followed>& followed,
                                bool several);
  template <typename Make>
  Answer<http::Response> unchanging(const Call& call, const std::string& tag, const Make& make);

  // By a function of the core.
  template <auto kCall>
  Answer<http::Response> asked(const Call& call);

  // The number of the campaign that the path names. Problems: that there is none of this name.
  Answer<int64_t> campaign_of(const Call& call);

  // One for each other entry.
  Answer<http::Response> description(const Call& call);
  Answer<http::Response> points(const Call& call);
  Answer<http::Response> point_summary(const Call& call);
  Answer<http::Response> point_columns(const Call& call);
  Answer<http::Response> samples_of_point(const Call& call);
  Answer<http::Response> runs(const Call& call);
  Answer<http::Response> events(const Call& call);
  Answer<http::Response> all_events(const Call& call);
  Answer<http::Response> import(const Call& call);
  // Sent as pieces of this kind (comparison_pieces.h).
  template <typename Sent>
  Answer<http::Response> campaign_comparison(const Call& call);
  Answer<http::Response> questions(const Call& call);
  Answer<http::Response> file(const Call& call);
  Answer<http::Response> explanation(const Call& call);
  Answer<http::Response> decisions(const Call& call);
  Answer<http::Response> comparison(const Call& call);
  Answer<http::Response> sentinels(const Call& call);
  Answer<http::Response> gate(const Call& call);
  Answer<http::Response> labels(const Call& call);

  const Core core_;
  WatchHub& hub_;
  Refusals refusals_;
  const std::map<std::string, Role> roles_;
  CallLimits& limits_;
  ReadingPool& reading_;
  Places streams_;
  Places comparisons_of_payer_;
  Places comparisons_;
  Places points_of_payer_;
  AnswerCache unchanging_;
  Uploads uploads_;
  std::unique_ptr<SignInPages> sign_in_;  // null: no issuer signs people in
};

}  // namespace stripline::server
