// What a request of HTTP asks for, as the message of its method. Pure. Include from .cc files of
// the API.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <google/protobuf/message.h>

#include "server/doors/http/message.h"
#include "server/doors/openapi.h"
#include "server/problem.h"

namespace stripline::server {

/// Members that a GET says behind '?', in the order of the .proto file: texts and numbers, but for
/// those that hold the name in the path. Their names live as long as the program.
std::vector<const char*> options_of(const google::protobuf::Descriptor& request);

/// Sets the members of an empty message by what a request for this route says: a POST by its body,
/// in the JSON form of the message, a GET by those options of the route that are members; and the
/// member that holds the name in the path, up to the last placeholder ("models/a/versions/1" of
/// ".../versions/{version}/promote"): `name`, `parent`, or the one that is called as the
/// placeholder. `path`: below /api/v1/. Problems: INVALID_FIELD.
std::optional<Problem> read_request(const http::Request& from, const Route& route,
                                    const std::string& path, google::protobuf::Message& message);

}  // namespace stripline::server
