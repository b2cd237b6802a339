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

/// The model in what find_file() has given for a source, without asking the server again. Errors:
/// those of find_model().
Result<model::TunedModel> model_in(const std::string& source, const Result<std::string>& file);

/// `error`, which the server gave for the model `name`; if there is none of the name, with the
/// nearest one that there is.
Error with_nearest_model(Service& service, const std::string& name, const Error& error);

}  // namespace stripline::cli
