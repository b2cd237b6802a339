// What the methods of Api share: a call as it came in, and answers in their JSON form. Include from
// .cc files of the API.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <google/protobuf/util/json_util.h>

#include "base/json.h"
#include "server/core/reads.h"
#include "server/doors/api.h"
#include "server/doors/carry_out.h"

namespace stripline::server {

// A path below /api/v1 with what it was asked by.
struct Api::Call {
  const http::Request& request;
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

/// An option that is a whole number; 0 where it is not there. Problems: INVALID_FIELD.
Answer<int64_t> number_from(const http::Request& request, const std::string& name);

/// What lists have in common. Problems: INVALID_FIELD.
template <typename Request>
std::optional<Problem> set_page(const http::Request& from, Request& request) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto size, number_from(from, "page_size"));
  request.set_page_size(static_cast<int32_t>(std::min<int64_t>(size, INT32_MAX)));
  if (const auto token = from.query.find("page_token"); token != from.query.end()) {
    request.set_page_token(token->second);
  }
  return std::nullopt;
}

/// What a POST says, in the JSON form of the method's request; a GET says nothing. Problems:
/// INVALID_FIELD.
template <typename Request>
Answer<Request> request_from(const http::Request& from) {
  Request request;
  if (from.post && !from.body.empty()) {
    const auto read = google::protobuf::util::JsonStringToMessage(from.body, &request);
    if (!read.ok()) return invalid_field("body", std::string(read.message()));
  }
  return request;
}

template <auto kCall>
Answer<http::Response> Api::asked(const Call& call) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto request, request_from<RequestOf<kCall>>(call.request));
  return answered(carry_out(kCall, core_, request, call.caller));
}

template <auto kCall>
Answer<http::Response> Api::named(const Call& call) {
  STRIPLINE_ASSIGN_OR_RETURN(auto request, request_from<RequestOf<kCall>>(call.request));
  request.set_name(call.name(call.path.size() - (call.request.post ? 1 : 0)));
  return answered(carry_out(kCall, core_, request, call.caller));
}

template <auto kCall>
Answer<http::Response> Api::listed(const Call& call) {
  RequestOf<kCall> list;
  if constexpr (requires { list.set_parent(std::string()); }) {
    list.set_parent(call.name(call.path.size() - 1));
  }
  if (const auto problem = set_page(call.request, list)) return *problem;
  return answered(carry_out(kCall, core_, list, call.caller));
}

}  // namespace stripline::server
