#include "cli/find_model.h"

#include <filesystem>

#include "cli/names.h"
#include "cli/service.h"
#include "optimizer/model/model_json.h"

namespace stripline::cli {

Result<model::TunedModel> find_model(const Global& global, const std::string& source) {
  const bool looks_like_file = source.find('/') != std::string::npos || source.ends_with(".json");
  std::error_code ignored;
  const bool is_resource = source.starts_with("models/");
  if (std::filesystem::exists(source, ignored) || (looks_like_file && !is_resource)) {
    return model::load_model(source);
  }
  STRIPLINE_ASSIGN_OR_RETURN(const std::string name, model_resource(source));
  Service service(global);
  STRIPLINE_ASSIGN_OR_RETURN(const FetchedModel fetched, service.fetch_model(name, ""));
  return model::parse_model(fetched.data, fetched.version);
}

}  // namespace stripline::cli
