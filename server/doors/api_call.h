// What the methods of Api share: a call as it came in, and answers in their JSON form. Include from
// .cc files of the API.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "server/core/reads.h"
#include "server/doors/api.h"
#include "server/doors/carry_out.h"
#include "server/doors/request_message.h"

namespace stripline::server {

// A path below /api/v1 with what it was asked by.
struct Api::Call {
  const http::Request& request;
  const Route& route;
  std::vector<std::string> path;
  Caller caller;
  std::string payer;  // call_limits.h

  // The name that the first `length` parts of the path are.
  std::string name(size_t length) const {
    std::string joined;
    for (size_t i = 0; i < length; ++i) joined += (i > 0 ? "/" : "") + path[i];
    return joined;
  }
  std::string campaign() const { return name(2); }
  std::string model() const { return name(2); }
  std::string version() const { return name(4); }

  // What it says as the message of its method. Problems: INVALID_FIELD.
  template <typename Message>
  Answer<Message> as() const {
    Message message;
    auto problem = read_request(request, route, name(path.size()), message);
    if (problem) return std::move(*problem);
    return message;
  }
};

Answer<http::Response> answered(const Result<Json>& json);

template <typename Message>
Answer<http::Response> answered(const Answer<Message>& message) {
  if (!message) return message.problem();
  http::Response response;
  STRIPLINE_ASSIGN_OR_RETURN(response.body, json_text(*message));
  return response;
}

/// What does not change is worked out once, and not sent to who has it already.
template <typename Make>
Answer<http::Response> Api::unchanging(const Call& call, const std::string& tag, const Make& make) {
  const std::string etag = "\"" + tag + "\"";
  http::Response response;
  response.etag = etag;
  if (shows_tag(call.request.if_none_match, etag)) {
    response.status = http::kNotModified;
    return response;
  }
  std::string key = tag + call.request.path;
  for (const auto& [name, value] : call.request.query) {
    // With their lengths, as they may hold whatever would stand between them.
    for (const std::string& text : {name, value}) {
      key.append("&").append(std::to_string(text.size())).append(":").append(text);
    }
  }
  auto text = unchanging_.find(key);
  if (!text) {
    STRIPLINE_ASSIGN_OR_RETURN(http::Response made, make());
    text = unchanging_.keep(key, std::move(made.body));
  }
  response.lasting = *text;
  response.keeps = std::move(text);
  return response;
}

template <auto kCall>
Answer<http::Response> Api::asked(const Call& call) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto request, call.as<RequestOf<kCall>>());
  return answered(carry_out(kCall, core_, request, call.caller));
}

}  // namespace stripline::server
