#include "runtime/rma/load_model.h"

#include <cstdio>
#include <utility>

#include "optimizer/model/fingerprint.h"
#include "optimizer/model/model_json.h"

namespace stripline::rma {

Result<SharedModel> load_model(const std::string& path) {
  if (path.empty()) return SharedModel();
  auto model = model::load_model(path);
  if (model.ok()) return std::make_shared<const model::TunedModel>(std::move(*model));
  // To the program a model is an input file: whatever is wrong with it is bad input.
  const ErrorCode code = model.error().code() == ErrorCode::data_loss
                             ? ErrorCode::data_loss
                             : ErrorCode::failed_precondition;
  return Error(code, model.error().message());
}

std::string misfit_text(const model::TunedModel& model,
                        const std::map<std::string, std::string>& machine) {
  const model::MatchReport report = model::match(model.fingerprint, machine);
  return report.usable() ? std::string() : report.text();
}

Result<std::string> check_fit(const model::TunedModel& model, const std::string& path,
                              const std::map<std::string, std::string>& machine) {
  const model::MatchReport report = model::match(model.fingerprint, machine);
  if (!report.usable()) {
    return Error(ErrorCode::failed_precondition,
                 "model file '" + path + "' was not made for this machine and fabric:\n" +
                     report.text() +
                     "\nrun a campaign here, fetch the model of this machine with 'stripline model "
                     "fetch', or run without --model");
  }
  return report.soft.empty() ? std::string() : report.text();
}

void say_left_aside(const std::string& path, const std::string& why) {
  std::fprintf(stderr, "stripline: model '%s' is left aside, this run goes without: %s\n",
               path.c_str(), why.c_str());
}

}  // namespace stripline::rma
