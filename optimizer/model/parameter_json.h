// Reading and writing the parts that all sections of a model file are made of. For the files of
// this folder.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "optimizer/model/parameter.h"
#include "optimizer/model/validate.h"

namespace stripline::model::detail {

/// The error of a file that cannot be what was written.
Error damaged(const std::string& message);

Json parameter_to_json(const Parameter& parameter, const ParameterRule& rule);

/// Adds the member if it is present.
void put_parameter(Json& object, const char* key, const std::optional<Parameter>& parameter,
                   const ParameterRule& rule);

/// Errors: data_loss when `object`, which is at `where`, is not an object or has another member.
Status only_known(const Json& object, const std::string& where,
                  std::initializer_list<std::string_view> known);

/// An integer from 0 to `maximum`.
Result<uint64_t> read_count(const Json& object, std::string_view key, const std::string& where,
                            uint64_t maximum);
Result<uint32_t> read_count32(const Json& object, std::string_view key, const std::string& where);

/// The parameter at `where` itself; checks its form and unit, not its values (validate.h).
Result<Parameter> read_parameter(const Json& json, const std::string& where,
                                 const ParameterRule& rule);

/// A member that may be absent.
Status read_optional(const Json& object, const char* key, const std::string& where,
                     const ParameterRule& rule, std::optional<Parameter>& out);

}  // namespace stripline::model::detail
