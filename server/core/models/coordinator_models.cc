// The coordinator's side of models: which versions are offered to which nodes, and what they
// answer.
#include <algorithm>

#include <spdlog/spdlog.h>

#include "server/clock.h"
#include "server/core/coordinator.h"
#include "server/core/models/feedback.h"
#include "server/core/models/heed_losses.h"
#include "server/core/models/model_gate.h"

namespace stripline::server {
namespace {

constexpr size_t kMaxReasonBytes = 1000;

}  // namespace

Status Coordinator::recover_models() {
  STRIPLINE_ASSIGN_OR_RETURN(auto known, read_models(store_));
  STRIPLINE_ASSIGN_OR_RETURN(const auto answers, store_.node_models());
  const MutexLock lock(mutex_);
  take_models(std::move(known));
  for (const NodeModelRecord& answer : answers) {
    model_answers_[{answer.node, version_name(answer.key)}] = answer;
  }
  return {};
}

void Coordinator::offer_models() {
  auto known = read_models(store_);
  const MutexLock lock(mutex_);
  if (!known.ok()) return report(known.error());
  take_models(*std::move(known));
  step();
}

// What cannot be read is reported once.
void Coordinator::take_models(KnownModels known) {
  for (const auto& [model, why] : known.unreadable) {
    const auto told = known_.unreadable.find(model);
    if (told != known_.unreadable.end() && told->second == why) continue;
    spdlog::error(
        "{} cannot be read ({}): nodes keep what they have of its fabric, and are offered "
        "nothing; restore the database from a backup",
        model_name(model), why);
  }
  known_ = std::move(known);
  ++labels_moved_;
}

std::map<std::string, std::string> Coordinator::unreadable_models() {
  const MutexLock lock(mutex_);
  return known_.unreadable;
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
    const auto wanted = wanted_by(session.record.name, *session.fabrics, known_.labelled);
    send_withdrawals(session, wanted);
    for (const LabelledVersion* version : wanted) {
      const auto has = session.models.find(version->fabric);
      const bool is_there =
          has != session.models.end() && has->second == short_hash(version->sha256);
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

// Why a node is not to use the version with this hash; empty: nothing is known against it.
std::string Coordinator::unfit_here(const std::string& node, const std::string& sha256) const {
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
void Coordinator::send_withdrawals(Session& session,
                                   const std::vector<const LabelledVersion*>& wanted) {
  for (auto it = session.models.begin(); it != session.models.end();) {
    const auto& [fabric, sha256] = *it;
    const std::string unfit = unfit_here(session.record.name, sha256);
    const auto instead = std::ranges::find(wanted, fabric, &LabelledVersion::fabric);
    const bool is_replaced = instead != wanted.end() && !has_rejected(session, **instead);
    if (unfit.empty() || is_replaced) {
      ++it;
      continue;
    }
    session.link->send(ModelWithdrawal{fabric, sha256, unfit});
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
    const auto heeded = heed_losses(*this, store_, *version);
    if (!heeded) spdlog::error("{}: {}", version_name(*version), heeded.problem().message);
  } else {
    spdlog::warn("a report of a run on {} is dropped: {}", node, version.problem().message);
  }
}

bool Coordinator::handle(Session& session, const ModelAck& ack) {
  const auto key = parse_version_name(ack.version);
  const auto offered = std::ranges::find_if(
      known_.labelled, [&](const LabelledVersion& one) { return key && one.key == *key; });
  if (offered == known_.labelled.end()) return false;  // It was labelled when it was offered.
  const std::string& node = session.record.name;
  NodeModelRecord answer{node, *key, ack.applied, ack.reason.substr(0, kMaxReasonBytes),
                         unix_seconds()};
  if (ack.applied) session.models[offered->fabric] = short_hash(offered->sha256);
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
    send_withdrawals(session, wanted_by(node, *session.fabrics, known_.labelled));
  }
  return false;
}

// What a node is to have, and what it has answered.
std::vector<NodeModelView> Coordinator::models_of(const NodeRecord& node) const {
  std::vector<NodeModelView> views;
  for (const LabelledVersion* version :
       wanted_by(node.name, {node.fabrics.begin(), node.fabrics.end()}, known_.labelled)) {
    NodeModelView view{version->key, version->label, version->fabric, std::nullopt};
    const auto answer = model_answers_.find({node.name, version_name(version->key)});
    if (answer != model_answers_.end()) view.answer = answer->second;
    const auto unfit = known_.unfit.find(short_hash(version->sha256));
    if (unfit != known_.unfit.end()) view.unfit = unfit->second;
    views.push_back(std::move(view));
  }
  return views;
}

}  // namespace stripline::server
