#include "cli/find_model.h"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "base/suggest.h"
#include "base/whole_file.h"
#include "cli/names.h"
#include "optimizer/model/model_json.h"
#include "stripline/v1/models.pb.h"

namespace stripline::cli {

bool names_file(const std::string& source) {
  std::error_code ignored;
  if (std::filesystem::exists(source, ignored)) return true;
  const bool is_resource = source.starts_with("models/") || source.starts_with("campaigns/");
  return !is_resource && (source.find('/') != std::string::npos || source.ends_with(".json"));
}

Result<model::TunedModel> find_model(const Global& global, const std::string& source) {
  if (names_file(source)) return model::load_model(source);
  return model_in(source, find_file(global, source));
}

Result<model::TunedModel> model_in(const std::string& source, const Result<std::string>& file) {
  if (names_file(source)) return model::load_model(source);
  if (!file.ok()) return file.error();
  return model::parse_model(*file, source);
}

Result<std::string> find_file(const Global& global, const std::string& source) {
  if (names_file(source)) return read_whole_file(source);
  STRIPLINE_ASSIGN_OR_RETURN(const std::string name, model_resource(source));
  Service service(global);
  Result<FetchedModel> fetched = service.fetch_model(name, "", Service::Failed::accept);
  if (!fetched.ok()) return with_nearest_model(service, name, fetched.error());
  return std::move(fetched->data);
}

Error with_nearest_model(Service& service, const std::string& name, const Error& error) {
  constexpr int kMaxNames = 1000;
  if (error.code() != ErrorCode::not_found) return error;
  const auto models =
      service.call<v1::ListModelsResponse>(page_request<v1::ListModelsRequest>(kMaxNames, ""));
  if (!models.ok()) return error;
  std::vector<std::string> names;
  for (const v1::Model& model : models->models()) names.push_back(short_name(model.name()));
  const std::string wanted = model_segment(name);
  if (std::ranges::find(names, wanted) != names.end()) return error;
  return {error.code(), error.message() + did_you_mean(wanted, names)};
}

}  // namespace stripline::cli
