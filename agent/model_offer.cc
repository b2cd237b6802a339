#include "agent/model_offer.h"

#include <algorithm>

#include "base/network_name.h"
#include "base/pushed_models.h"
#include "base/sha256.h"
#include "optimizer/experiment/tuning.h"
#include "optimizer/model/fingerprint.h"
#include "optimizer/model/model_json.h"

namespace stripline::agent {
namespace {

// "models/tcp/versions/3" -> "tcp@3"; empty for what is not the name of a version.
std::string short_name(const std::string& version) {
  constexpr std::string_view kModels = "models/";
  constexpr std::string_view kVersions = "/versions/";
  const size_t at = version.find(kVersions);
  if (!version.starts_with(kModels) || at == std::string::npos) return "";
  const std::string model = version.substr(kModels.size(), at - kModels.size());
  const std::string number = version.substr(at + kVersions.size());
  const bool is_number =
      !number.empty() && std::ranges::all_of(number, [](char c) { return c >= '0' && c <= '9'; });
  // It becomes the name of a file.
  const bool is_safe = !model.empty() && model.find('/') == std::string::npos;
  return is_number && is_safe ? model + "@" + number : "";
}

// Compares the part of the model's fingerprint that an agent knows of its node. Programs know the
// rest once they have opened the network, and compare all of it.
Status check_fingerprint(const model::TunedModel& model, const ModelOffer& offer,
                         const Description& description) {
  model::Fingerprint known;
  for (const auto& [field, value] : model.fingerprint) {
    if (description.fingerprint.contains(field)) known[field] = value;
  }
  const auto report = model::match(known, description.fingerprint);
  if (!report.usable()) {
    return Error(ErrorCode::failed_precondition,
                 "it was measured on another machine: " + report.hard.front().field + " was '" +
                     report.hard.front().of_model + "', here it is '" +
                     report.hard.front().of_machine.value_or("") + "'");
  }
  const auto fabric = model.fingerprint.find("fabric");
  if (fabric == model.fingerprint.end() ||
      network_name(fabric->second.value) != network_name(offer.fabric)) {
    return Error(ErrorCode::failed_precondition, "it does not describe '" + offer.fabric + "'");
  }
  return {};
}

Status check_hash(const std::string& sha256, const ModelOffer& offer) {
  if (sha256 == offer.sha256) return {};
  return Error(ErrorCode::data_loss,
               "it came with the hash " + sha256 + " instead of " + offer.sha256);
}

}  // namespace

std::map<std::string, std::string> installed_models(const std::filesystem::path& folder,
                                                    const Description& description) {
  std::map<std::string, std::string> installed;
  for (const std::string& fabric : description.fabrics) {
    if (const auto model = find_pushed_model({folder}, fabric)) installed[fabric] = model->sha256;
  }
  return installed;
}

Status accept_offer(const ModelOffer& offer, const std::filesystem::path& folder,
                    const Description& description, const TargetOptions& targets) {
  const auto& fabrics = description.fabrics;
  if (std::ranges::find(fabrics, network_name(offer.fabric)) == fabrics.end()) {
    return Error(ErrorCode::failed_precondition,
                 "this node cannot open the network '" + offer.fabric + "'");
  }
  const std::string name = short_name(offer.version);
  if (name.empty()) {
    return Error(ErrorCode::data_loss, "'" + offer.version + "' is not the name of a version");
  }
  const auto present = find_pushed_model({folder}, offer.fabric);
  if (offer.content->empty() && present && offer.sha256.starts_with(present->sha256)) return {};
  const std::string target(experiment::target_of_settings(offer.fabric));
  if (!target.empty()) {
    STRIPLINE_RETURN_IF_ERROR(check_hash(sha256_hex(*offer.content), offer));
    STRIPLINE_RETURN_IF_ERROR(install_settings(targets, target, *offer.content, folder));
  } else {
    STRIPLINE_ASSIGN_OR_RETURN(const model::TunedModel model,
                               model::parse_model(*offer.content, offer.version));
    STRIPLINE_ASSIGN_OR_RETURN(const std::string sha256, model::content_sha256(model));
    STRIPLINE_RETURN_IF_ERROR(check_hash(sha256, offer));
    STRIPLINE_RETURN_IF_ERROR(check_fingerprint(model, offer, description));
  }
  return install_pushed_model(folder, offer.fabric, name, offer.sha256, *offer.content);
}

Result<bool> remove_offered(const ModelWithdrawal& withdrawal, const std::filesystem::path& folder,
                            const TargetOptions& targets) {
  const std::string target(experiment::target_of_settings(withdrawal.fabric));
  const auto present = find_pushed_model({folder}, withdrawal.fabric);
  if (!target.empty() && present && present->sha256 == withdrawal.sha256) {
    STRIPLINE_RETURN_IF_ERROR(uninstall_settings(targets, target));
  }
  return remove_pushed_model(folder, withdrawal.fabric, withdrawal.sha256);
}

}  // namespace stripline::agent
