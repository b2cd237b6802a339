// The coordinator's side of models: which versions are offered to which nodes, and what they
// answer.
#include <algorithm>

#include <spdlog/spdlog.h>

#include "server/clock.h"
#include "server/coordinator.h"
#include "server/feedback.h"
#include "server/model_gate.h"

namespace stripline::server {
namespace {

constexpr size_t kPage = 100;
constexpr size_t kMaxReasonBytes = 1000;
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

struct Known {
  std::vector<LabelledVersion> labelled;
  std::map<std::string, std::string> unfit;  // why, by the first digits of the hash
};

// Withdrawn and stale versions of a model.
Status add_unfit(Store& store, const std::string& model, std::map<std::string, std::string>& all) {
  int64_t before = 0;
  while (true) {
    STRIPLINE_ASSIGN_OR_RETURN(const auto versions, store.model_versions(model, before, kPage));
    for (const ModelVersionRecord& version : versions) {
      before = version.key.version;
      if (version.withdrawn.empty() && version.stale.empty()) continue;
      all[version.sha256.substr(0, kHashDigits)] =
          version_name(version.key) + (version.withdrawn.empty()
                                           ? " is stale: " + version.stale
                                           : " is withdrawn: " + version.withdrawn);
    }
    if (versions.size() < kPage) return {};
  }
}

Result<Known> read_models(Store& store) {
  Known known;
  std::string after;
  while (true) {
    STRIPLINE_ASSIGN_OR_RETURN(const auto models, store.models(after, kPage));
    for (const ModelRecord& model : models) {
      STRIPLINE_ASSIGN_OR_RETURN(const auto versions, labelled_of(store, model));
      known.labelled.insert(known.labelled.end(), versions.begin(), versions.end());
      STRIPLINE_RETURN_IF_ERROR(add_unfit(store, model.name, known.unfit));
      after = model.name;
    }
    if (models.size() == kPage) continue;
    // The same file may have been published twice: it is fit where one that is labelled is.
    for (const LabelledVersion& version : known.labelled) {
      if (version.is_fit) known.unfit.erase(version.sha256.substr(0, kHashDigits));
    }
    return known;
  }
}

}  // namespace

Status Coordinator::recover_models() {
  STRIPLINE_ASSIGN_OR_RETURN(auto known, read_models(store_));
  STRIPLINE_ASSIGN_OR_RETURN(const auto answers, store_.node_models());
  const MutexLock lock(mutex_);
  labelled_ = std::move(known.labelled);
  unfit_ = std::move(known.unfit);
  ++labels_moved_;
  for (const NodeModelRecord& answer : answers) {
    model_answers_[{answer.node, version_name(answer.key)}] = answer;
  }
  return {};
}

void Coordinator::offer_models() {
  auto known = read_models(store_);
  const MutexLock lock(mutex_);
  if (!known.ok()) return report(known.error());
  labelled_ = std::move(known->labelled);
  unfit_ = std::move(known->unfit);
  ++labels_moved_;
  step();
}

std::vector<NodeModelRecord> Coordinator::answers_to(const VersionKey& version) {
  const MutexLock lock(mutex_);
  std::vector<NodeModelRecord> answers;
  for (const auto& [key, answer] : model_answers_) {
    if (answer.key == version) answers.push_back(answer);
  }
  return answers;
}

std::vector<std::string> Coordinator::nodes_for_models(const std::string& fabric) {
  const MutexLock lock(mutex_);
  std::vector<std::string> nodes;
  for (const auto& [id, session] : sessions_) {
    if (session.takes_models && session.fabrics->contains(fabric)) {
      nodes.push_back(session.record.name);
    }
  }
  return nodes;
}

// What an agent has rejected it is offered again in its next session, and when a label is moved:
// what was in the way may be gone. To agents that do not measure: what they get while they do would
// be in their way.
void Coordinator::send_offers() {
  for (auto& [id, session] : sessions_) {
    if (!session.takes_models || session.holding || session.offered == labels_moved_) continue;
    session.offered = labels_moved_;
    const auto wanted = wanted_by(session.record.name, *session.fabrics, labelled_);
    send_withdrawals(session, wanted);
    for (const LabelledVersion* version : wanted) {
      const auto has = session.models.find(version->fabric);
      const bool is_there =
          has != session.models.end() && has->second == version->sha256.substr(0, kHashDigits);
      const auto answer = model_answers_.find({session.record.name, version_name(version->key)});
      if (is_there && answer != model_answers_.end() && answer->second.applied) continue;
      const bool was_rejected = answer != model_answers_.end() && !answer->second.applied;
      std::string& last = session.offers[version->fabric];
      if (last == version_name(version->key) && !was_rejected) continue;
      last = version_name(version->key);
      session.link->send(
          ModelOffer{version_name(version->key), version->sha256, version->label, version->fabric,
                     is_there ? std::make_shared<const std::string>() : version->content});
    }
  }
}

bool Coordinator::has_rejected(const Session& session, const LabelledVersion& version) const {
  const auto answer = model_answers_.find({session.record.name, version_name(version.key)});
  return answer != model_answers_.end() && !answer->second.applied;
}

// What another server has pushed, or a person has put there, stays.
void Coordinator::send_withdrawals(Session& session,
                                   const std::vector<const LabelledVersion*>& wanted) {
  for (auto it = session.models.begin(); it != session.models.end();) {
    const auto& [fabric, sha256] = *it;
    const auto unfit = unfit_.find(sha256);
    const auto instead = std::ranges::find(wanted, fabric, &LabelledVersion::fabric);
    const bool is_replaced = instead != wanted.end() && !has_rejected(session, **instead);
    if (unfit == unfit_.end() || is_replaced) {
      ++it;
      continue;
    }
    session.link->send(ModelWithdrawal{fabric, sha256, unfit->second});
    // What it has rejected it is not offered again for that.
    if (instead == wanted.end()) session.offers.erase(fabric);
    it = session.models.erase(it);
  }
}

// Without the lock while it is stored.
void Coordinator::receive_feedback(uint64_t id, const FeedbackReport& report) {
  std::string node;
  {
    const MutexLock lock(mutex_);
    const Session* session = heard(id);
    if (session == nullptr) return;
    node = node_name(session->record.name);
  }
  const auto version = take_feedback(store_, report.content, node);
  if (version) {
    spdlog::info("{} tells what a run saw of {}", node, version_name(*version));
  } else {
    spdlog::warn("a report of a run on {} is dropped: {}", node, version.problem().message);
  }
}

bool Coordinator::handle(Session& session, const ModelAck& ack) {
  const auto key = parse_version_name(ack.version);
  const auto offered = std::ranges::find_if(
      labelled_, [&](const LabelledVersion& one) { return key && one.key == *key; });
  if (offered == labelled_.end()) return false;  // It was labelled when it was offered.
  const std::string& node = session.record.name;
  NodeModelRecord answer{node, *key, ack.applied, ack.reason.substr(0, kMaxReasonBytes),
                         unix_seconds()};
  if (ack.applied) session.models[offered->fabric] = offered->sha256.substr(0, kHashDigits);
  NodeModelRecord& known = model_answers_[{node, ack.version}];
  if (known.node == node && known.applied == answer.applied && known.reason == answer.reason) {
    return false;
  }
  Changes changes;
  changes.node_models.push_back(answer);
  if (const Status stored = store_.apply(changes); !stored.ok()) {
    report(stored);  // Said again in the agent's next session.
    model_answers_.erase({node, ack.version});
    return false;
  }
  known = answer;
  if (ack.applied) {
    spdlog::info("{} has {}", node_name(node), ack.version);
  } else {
    spdlog::warn("{} rejected {}: {}", node_name(node), ack.version, answer.reason);
    send_withdrawals(session, wanted_by(node, *session.fabrics, labelled_));
  }
  return false;
}

// What a node is to have, and what it has answered.
std::vector<NodeModelView> Coordinator::models_of(const NodeRecord& node) const {
  std::vector<NodeModelView> views;
  for (const LabelledVersion* version :
       wanted_by(node.name, {node.fabrics.begin(), node.fabrics.end()}, labelled_)) {
    NodeModelView view{version->key, version->label, version->fabric, std::nullopt};
    const auto answer = model_answers_.find({node.name, version_name(version->key)});
    if (answer != model_answers_.end()) view.answer = answer->second;
    const auto unfit = unfit_.find(version->sha256.substr(0, kHashDigits));
    if (unfit != unfit_.end()) view.unfit = unfit->second;
    views.push_back(std::move(view));
  }
  return views;
}

}  // namespace stripline::server
