// The rules that all sections of a model share, and those of the sections with files of their own.
// For the files of this folder. `where` is the path of a member in the file; all errors are
// invalid_argument and begin with it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "base/result.h"
#include "optimizer/model/validate.h"

namespace stripline::model::detail {

/// Points of one curve.
inline constexpr size_t kMaxFootprints = 1024;

Error wrong(const std::string& where, const std::string& what);

/// Valid UTF-8.
Status check_utf8(const std::string& where, const std::string& text);

/// Valid UTF-8 of limited length.
Status check_text(const std::string& where, const std::string& text);

/// Finite, within the rule and its own interval.
Status check_parameter(const std::string& where, const Parameter& parameter,
                       const ParameterRule& rule);
Status check_optional(const std::string& where, const std::optional<Parameter>& parameter,
                      const ParameterRule& rule);

/// The sections `pack` and `vis`, the latter of one path.
Status check_pack(const PackModel& pack);
Status check_vis(const std::string& where, const VisModel& vis);

/// The section `rma`.
Status check_rma(const RmaModel& rma);

/// The section `service_levels`.
Status check_service(const ServiceModel& service);

}  // namespace stripline::model::detail
