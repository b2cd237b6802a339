// What carries the error codes of base/result.h over the network. Include from .cc files.
#pragma once

#include <array>
#include <cstddef>
#include <utility>

#include <grpcpp/support/status_code_enum.h>

#include "base/result.h"

namespace stripline {

/// Each code once, on either side.
inline constexpr std::array<std::pair<ErrorCode, grpc::StatusCode>, 12> kStatusCodes = {
    {{ErrorCode::invalid_argument, grpc::StatusCode::INVALID_ARGUMENT},
     {ErrorCode::not_found, grpc::StatusCode::NOT_FOUND},
     {ErrorCode::already_exists, grpc::StatusCode::ALREADY_EXISTS},
     {ErrorCode::failed_precondition, grpc::StatusCode::FAILED_PRECONDITION},
     {ErrorCode::resource_exhausted, grpc::StatusCode::RESOURCE_EXHAUSTED},
     {ErrorCode::unavailable, grpc::StatusCode::UNAVAILABLE},
     {ErrorCode::deadline_exceeded, grpc::StatusCode::DEADLINE_EXCEEDED},
     {ErrorCode::cancelled, grpc::StatusCode::CANCELLED},
     {ErrorCode::aborted, grpc::StatusCode::ABORTED},
     {ErrorCode::data_loss, grpc::StatusCode::DATA_LOSS},
     {ErrorCode::unimplemented, grpc::StatusCode::UNIMPLEMENTED},
     {ErrorCode::internal, grpc::StatusCode::INTERNAL}}};
static_assert(kStatusCodes.size() == static_cast<size_t>(ErrorCode::internal) + 1);

}  // namespace stripline
