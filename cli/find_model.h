// The model that a command is about.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/command.h"
#include "cli/service.h"
#include "optimizer/model/tuned_model.h"

namespace stripline::cli {

/// Whether "FILE|NAME" is a file: there is one, or it looks like one.
bool names_file(const std::string& source);

/// The model behind "FILE|NAME": a file, or the server's.
Result<model::TunedModel> find_model(const Global& global, const std::string& source);

/// The text of such a file, a model's or packed settings of another runtime. Errors: the same.
Result<std::string> find_file(const Global& global, const std::string& source);

/// `error`, which the server gave for the model `name`; if there is none of the name, with the
/// nearest one that there is.
Error with_nearest_model(Service& service, const std::string& name, const Error& error);

}  // namespace stripline::cli
