#include "server/core/models/model_registry.h"

#include <algorithm>
#include <memory>

#include <spdlog/spdlog.h>

#include "server/clock.h"
#include "server/core/models/model_gate.h"

namespace stripline::server {
namespace {

constexpr size_t kMaxReasonBytes = 1000;

}  // namespace

Status ModelRegistry::recover() {
  STRIPLINE_RETURN_IF_ERROR(refresh());
  STRIPLINE_ASSIGN_OR_RETURN(const auto answers, store_.node_models());
  const MutexLock lock(mutex_);
  for (const NodeModelRecord& answer : answers) {
    answers_[{answer.node, version_name(answer.key)}] = answer;
  }
  return {};
}

Status ModelRegistry::refresh() {
  STRIPLINE_ASSIGN_OR_RETURN(auto known, read_models(store_));
  const MutexLock lock(mutex_);
  take(std::move(known));
  return {};
}

// What cannot be read is reported once.
void ModelRegistry::take(KnownModels known) {
  for (const auto& [model, why] : known.unreadable) {
    const auto reported = known_.unreadable.find(model);
    if (reported != known_.unreadable.end() && reported->second == why) continue;
    spdlog::error(
        "{} cannot be read ({}): nodes keep what they have of its fabric, and are offered "
        "nothing; restore the database from a backup",
        model_name(model), why);
  }
  known_ = std::move(known);
  ++labels_moved_;
}

std::map<std::string, std::string> ModelRegistry::unreadable() {
  const MutexLock lock(mutex_);
  return known_.unreadable;
}

size_t ModelRegistry::count_stale() {
  const MutexLock lock(mutex_);
  std::set<std::string> stale;  // two labels may name the same version
  for (const LabelledVersion& version : known_.labelled) {
    if (!version.is_fit) stale.insert(version_name(version.key));
  }
  return stale.size();
}

std::vector<NodeModelRecord> ModelRegistry::answers_to(const VersionKey& version) {
  const MutexLock lock(mutex_);
  std::vector<NodeModelRecord> answers;
  for (const auto& [key, answer] : answers_) {
    if (answer.key == version) answers.push_back(answer);
  }
  return answers;
}

std::vector<NodeModelView> ModelRegistry::models_of(const NodeRecord& node) {
  const MutexLock lock(mutex_);
  std::vector<NodeModelView> views;
  for (const LabelledVersion* version :
       wanted_by(node.name, {node.fabrics.begin(), node.fabrics.end()}, known_.labelled)) {
    NodeModelView view{version->key, version->label, version->fabric, std::nullopt};
    const auto answer = answers_.find({node.name, version_name(version->key)});
    if (answer != answers_.end()) view.answer = answer->second;
    const auto unfit = known_.unfit.find(short_hash(version->sha256));
    if (unfit != known_.unfit.end()) view.unfit = unfit->second;
    views.push_back(std::move(view));
  }
  return views;
}

void ModelRegistry::forget(const std::string& node) {
  const MutexLock lock(mutex_);
  std::erase_if(answers_, [&](const auto& answer) { return answer.first.first == node; });
}

std::vector<ServerMessage> ModelRegistry::offers_to(const std::string& node,
                                                    const std::set<std::string>& fabrics,
                                                    NodeModels& models) {
  const MutexLock lock(mutex_);
  std::vector<ServerMessage> messages;
  if (models.offered == labels_moved_) return messages;
  models.offered = labels_moved_;
  const auto wanted = wanted_by(node, fabrics, known_.labelled);
  add_withdrawals(node, wanted, models, messages);
  for (const LabelledVersion* version : wanted) {
    const std::string name = version_name(version->key);
    const auto has = models.has.find(version->fabric);
    const bool is_there = has != models.has.end() && has->second == short_hash(version->sha256);
    const auto answer = answers_.find({node, name});
    if (is_there && answer != answers_.end() && answer->second.applied) continue;
    std::string& last = models.offers[version->fabric];
    if (last == name && !has_rejected(node, *version)) continue;
    last = name;
    messages.push_back(
        ModelOffer{name, version->sha256, version->label, version->fabric,
                   is_there ? std::make_shared<const std::string>() : version->content});
  }
  return messages;
}

bool ModelRegistry::has_rejected(const std::string& node, const LabelledVersion& version) const {
  const auto answer = answers_.find({node, version_name(version.key)});
  return answer != answers_.end() && !answer->second.applied;
}

// Why a node is not to use the version with this hash; empty: nothing is known against it.
std::string ModelRegistry::unfit_here(const std::string& node, const std::string& sha256) const {
  const auto unfit = known_.unfit.find(sha256);
  if (unfit != known_.unfit.end()) return unfit->second;
  for (const LabelledVersion& version : known_.labelled) {
    if (short_hash(version.sha256) != sha256 || version.label != kStableLabel) continue;
    if (!is_for(version, node)) {
      return version_name(version.key) +
             " is not for this node: runs here, or near, lost time with it";
    }
  }
  return "";
}

// What another server has pushed, or a person has put there, stays.
void ModelRegistry::add_withdrawals(const std::string& node,
                                    const std::vector<const LabelledVersion*>& wanted,
                                    NodeModels& models,
                                    std::vector<ServerMessage>& messages) const {
  for (auto it = models.has.begin(); it != models.has.end();) {
    const auto& [fabric, sha256] = *it;
    const std::string unfit = unfit_here(node, sha256);
    const auto instead = std::ranges::find(wanted, fabric, &LabelledVersion::fabric);
    const bool is_replaced = instead != wanted.end() && !has_rejected(node, **instead);
    if (unfit.empty() || is_replaced) {
      ++it;
      continue;
    }
    messages.push_back(ModelWithdrawal{fabric, sha256, unfit});
    // What it has rejected it is not offered again for that.
    if (instead == wanted.end()) models.offers.erase(fabric);
    it = models.has.erase(it);
  }
}

Result<std::vector<ServerMessage>> ModelRegistry::take_answer(const std::string& node,
                                                              const std::set<std::string>& fabrics,
                                                              NodeModels& models,
                                                              const ModelAck& ack) {
  std::vector<ServerMessage> messages;
  const MutexLock lock(mutex_);
  const auto key = parse_version_name(ack.version);
  const auto offered = std::ranges::find_if(
      known_.labelled, [&](const LabelledVersion& one) { return key && one.key == *key; });
  if (offered == known_.labelled.end()) return messages;  // It was labelled when it was offered.
  NodeModelRecord answer{node, *key, ack.applied, ack.reason.substr(0, kMaxReasonBytes),
                         unix_seconds()};
  if (ack.applied) models.has[offered->fabric] = short_hash(offered->sha256);
  const auto known = answers_.find({node, ack.version});
  if (known != answers_.end() && known->second.applied == answer.applied &&
      known->second.reason == answer.reason) {
    return messages;
  }
  Changes changes;
  changes.node_models.push_back(answer);
  if (const Status stored = store_.apply(changes); !stored.ok()) {
    answers_.erase({node, ack.version});
    return stored.error();
  }
  answers_[{node, ack.version}] = answer;
  if (ack.applied) {
    spdlog::info("{} has {}", node_name(node), ack.version);
  } else {
    spdlog::warn("{} rejected {}: {}", node_name(node), ack.version, answer.reason);
    add_withdrawals(node, wanted_by(node, fabrics, known_.labelled), models, messages);
  }
  return messages;
}

}  // namespace stripline::server
