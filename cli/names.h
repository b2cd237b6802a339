// Resource names as users write them: "c3", "tcp", "tcp@2", or in full.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace stripline::cli {

/// "c3" or "campaigns/c3" -> "campaigns/c3". Errors: invalid_argument.
Result<std::string> campaign_resource(std::string_view text);

/// "tcp" or "models/tcp" -> "models/tcp"; "tcp@2" or "models/tcp/versions/2" ->
/// "models/tcp/versions/2"; "tcp@stable" -> "models/tcp/labels/stable". Errors: invalid_argument.
Result<std::string> model_resource(std::string_view text);

/// "c3/2" or "campaigns/c3/runs/2" -> "campaigns/c3/runs/2". Errors: invalid_argument.
Result<std::string> run_resource(std::string_view text);

/// "o3" or "operations/o3" -> "operations/o3". Errors: invalid_argument.
Result<std::string> operation_resource(std::string_view text);

/// "a" or "nodes/a" -> "nodes/a". Errors: invalid_argument.
Result<std::string> node_resource(std::string_view text);

/// The short form: "campaigns/c3" -> "c3", "models/tcp" -> "tcp", "models/tcp/versions/2" ->
/// "tcp@2", "models/tcp/labels/stable" -> "tcp@stable".
std::string short_name(std::string_view resource);

/// The model's own segment: "models/tcp/versions/2" -> "tcp".
std::string model_segment(std::string_view resource);

}  // namespace stripline::cli
