// Orders of the server about the models that programs of this node use, offers and withdrawals
// (model_offer.h), which are carried out one after another. Settings of other runtimes are
// installed, and taken away, beside the caller's loop: that takes longer than a server waits for
// heartbeats.
#pragma once

#include <deque>
#include <filesystem>
#include <functional>
#include <variant>
#include <vector>

#include "agent/description.h"
#include "agent/side_task.h"
#include "agent/targets.h"
#include "proto/agent_protocol/messages.h"

namespace stripline::agent {

/// All calls come from one thread. The destructor waits for what is being installed.
class ModelOrders {
 public:
  /// `models_folder`: where models are in force; empty: withdrawals are passed over. `wake` has the
  /// loop call follow(), and is called by another thread. `description` must outlive this object,
  /// and must not change.
  ModelOrders(std::filesystem::path models_folder, TargetOptions targets,
              const Description& description, std::function<void()> wake);

  /// The order waits for follow().
  void add(ModelOffer offer);
  void add(ModelWithdrawal withdrawal);

  /// Carries orders out, in the order in which they came; none is begun unless `may_begin`. Returns
  /// the answers to the offers that have been carried out, or rejected, since the last call.
  std::vector<ModelAck> follow(bool may_begin);

  /// True from the follow() that begins to install settings of another runtime, or to take them
  /// away, to the one that finds it over.
  bool installing() const { return beside_.runs(); }

 private:
  template <typename Order>
  void begin(const Order& order);
  // Read what does not change; the rest is left to what they return, on the caller's thread.
  SideTask::Then carry_out(const ModelOffer& offer);
  SideTask::Then carry_out(const ModelWithdrawal& withdrawal) const;

  const std::filesystem::path models_folder_;
  const TargetOptions targets_;
  const Description& description_;
  std::deque<std::variant<ModelOffer, ModelWithdrawal>> orders_;  // not begun
  std::vector<ModelAck> answers_;
  SideTask beside_;  // ends before what it reads
};

}  // namespace stripline::agent
