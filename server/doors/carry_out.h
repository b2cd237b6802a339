// How both doors, gRPC and HTTP, carry out a call of stripline.v1: by a function of the core, whose
// parameters say what it needs. Include from .cc files of the services.
#pragma once

#include <concepts>
#include <string>
#include <type_traits>

#include <google/protobuf/message.h>

#include "server/doors/core.h"
#include "server/problem.h"
#include "server/security/access.h"

namespace stripline::server {

/// A call that has been let in, as any parameter of such a function.
template <typename Request>
struct Asked {
  const Core& core;
  const Request& request;
  const Caller& caller;

  explicit operator Coordinator&() const { return core.coordinator; }
  explicit operator Store&() const { return core.store; }
  explicit operator Access&() const { return core.access; }
  explicit operator RunResults&() const { return core.results; }
  explicit operator const Request&() const { return request; }
  explicit operator const Caller&() const { return caller; }
  /// The actor of the audit trail.
  explicit operator const std::string&() const { return caller.name; }
};

template <typename Returned, typename... Parameters, typename Request>
Returned carry_out(Returned (*call)(Parameters...), const Core& core, const Request& request,
                   const Caller& caller) {
  const Asked<Request> asked{core, request, caller};
  return call(static_cast<Parameters>(asked)...);
}

namespace carry_out_detail {

template <typename First, typename... Others>
constexpr auto request_among() {
  using Type = std::remove_cvref_t<First>;
  if constexpr (std::derived_from<Type, google::protobuf::Message>) {
    return std::type_identity<Type>();
  } else {
    return request_among<Others...>();
  }
}

template <typename Returned, typename... Parameters>
auto request_of(Returned (*)(Parameters...)) -> decltype(request_among<Parameters...>());

template <typename Response, typename... Parameters>
auto response_of(Answer<Response> (*)(Parameters...)) -> std::type_identity<Response>;

}  // namespace carry_out_detail

/// The message that such a function is asked by.
template <auto kCall>
using RequestOf = typename decltype(carry_out_detail::request_of(kCall))::type;

/// The message that it answers.
template <auto kCall>
using ResponseOf = typename decltype(carry_out_detail::response_of(kCall))::type;

}  // namespace stripline::server
