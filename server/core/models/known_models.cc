#include "server/core/models/known_models.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include "server/core/models/model_gate.h"

namespace stripline::server {
namespace {

constexpr size_t kPage = 100;
constexpr size_t kHashDigits = 12;

// The versions that the labels of a model name.
Result<std::vector<LabelledVersion>> labelled_of(Store& store, const ModelRecord& model) {
  std::vector<LabelledVersion> versions;
  STRIPLINE_ASSIGN_OR_RETURN(const auto moves, store.labels(model.name));
  for (const std::string_view label : {kStableLabel, kCanaryLabel}) {
    const LabelRecord* const current = current_of(moves, label);
    if (current == nullptr) continue;
    STRIPLINE_ASSIGN_OR_RETURN(const auto version, store.model_version(current->key));
    if (!version || !version->withdrawn.empty()) continue;
    STRIPLINE_ASSIGN_OR_RETURN(std::string content, store.model_content(current->key));
    versions.push_back({current->key, std::string(label), model.fabric, version->sha256,
                        current->nodes, current->time_unix_s,
                        std::make_shared<const std::string>(std::move(content)),
                        version->stale.empty()});
  }
  return versions;
}

// Withdrawn and stale versions of a model.
Status add_unfit(Store& store, const std::string& model, std::map<std::string, std::string>& all) {
  int64_t before = 0;
  while (true) {
    STRIPLINE_ASSIGN_OR_RETURN(const auto versions, store.model_versions(model, before, kPage));
    for (const ModelVersionRecord& version : versions) {
      before = version.key.version;
      if (version.withdrawn.empty() && version.stale.empty()) continue;
      all[short_hash(version.sha256)] =
          version_name(version.key) + (version.withdrawn.empty()
                                           ? " is stale: " + version.stale
                                           : " is withdrawn: " + version.withdrawn);
    }
    if (versions.size() < kPage) return {};
  }
}

Result<KnownModels> read_model(Store& store, const ModelRecord& model) {
  KnownModels known;
  STRIPLINE_ASSIGN_OR_RETURN(known.labelled, labelled_of(store, model));
  STRIPLINE_RETURN_IF_ERROR(add_unfit(store, model.name, known.unfit));
  return known;
}

}  // namespace

std::string short_hash(const std::string& sha256) { return sha256.substr(0, kHashDigits); }

Result<KnownModels> read_models(Store& store) {
  KnownModels known;
  std::set<std::string> undecided;  // fabrics
  std::string after;
  size_t read = kPage;
  while (read == kPage) {
    STRIPLINE_ASSIGN_OR_RETURN(const auto models, store.models(after, kPage));
    read = models.size();
    for (const ModelRecord& model : models) {
      after = model.name;
      auto one = read_model(store, model);
      if (one.ok()) {
        std::ranges::move(one->labelled, std::back_inserter(known.labelled));
        known.unfit.merge(one->unfit);
      } else if (one.error().code() == ErrorCode::data_loss) {
        known.unreadable[model.name] = one.error().message();
        undecided.insert(model.fabric);
      } else {
        return one.error();
      }
    }
  }
  std::erase_if(known.labelled,
                [&](const LabelledVersion& version) { return undecided.contains(version.fabric); });
  // The same file may have been published twice: it is fit where one that is labelled is.
  for (const LabelledVersion& version : known.labelled) {
    if (version.is_fit) known.unfit.erase(short_hash(version.sha256));
  }
  return known;
}

}  // namespace stripline::server
