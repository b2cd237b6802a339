// Settings of another runtime, as a server keeps them (base/packed_export.h), for people. Pure.
#pragma once

#include <string>

#include "base/result.h"

namespace stripline::cli {

/// What a packed export is of, how its validation ended, and its files, whose comments say who made
/// them, what for and what they gain. Errors: data_loss.
Result<std::string> settings_text(const std::string& packed);

/// What the second departs from the default by where the first does not, or otherwise: a line each.
/// `one`, `other`: what they are called. Errors: data_loss.
Result<std::string> settings_diff(const std::string& a, const std::string& b,
                                  const std::string& one, const std::string& other);

}  // namespace stripline::cli
