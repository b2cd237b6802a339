// The file form of a tuned model: NAME.stripline.json, pretty-printed JSON whose member `sha256` is
// taken over the canonical form (base/json.h) of everything else. docs/model-file.md explains each
// member; docs/schema/model-v1.schema.json is the formal description.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "optimizer/model/tuned_model.h"

namespace stripline::model {

/// No model file is larger.
inline constexpr size_t kMaxModelFileBytes = size_t{16} << 20;

/// The complete document, `schema_version` and `sha256` included. Errors: invalid_argument when the
/// model breaks a rule of validate.h or an unknown section's name or text cannot stand in the file.
Result<Json> to_json(const TunedModel& model);

/// The JSON Schema of model files: docs/schema/model-v1.schema.json.
Json model_schema();

/// The hash that identifies the model's content. Errors: as to_json.
Result<std::string> content_sha256(const TunedModel& model);

/// Reads a model from text. `what` names it in messages. Errors, each saying what to do:
/// data_loss when the text is malformed, truncated, altered (the hash does not agree), lacks its
/// hash or breaks a rule; failed_precondition when it was written for another schema.
/// Top-level sections unknown to this build are kept in `unknown_sections`; an unknown member
/// inside a known section is refused, because dropping or guessing it would change what the model
/// says.
Result<TunedModel> parse_model(std::string_view text, std::string_view what = "model");

/// Reads a model file. Errors: not_found, and those of parse_model.
Result<TunedModel> load_model(const std::filesystem::path& path);

/// Writes a model file atomically. Errors: those of to_json, invalid_argument when it would be
/// larger than kMaxModelFileBytes, unavailable when it cannot be written.
Status save_model(const TunedModel& model, const std::filesystem::path& path);

}  // namespace stripline::model
