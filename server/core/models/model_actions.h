// What is done with versions of models: requests of stripline.v1 to messages. The caller has been
// let in, and is `actor` to the audit trail. Include from .cc files of the services.
#pragma once

#include <optional>
#include <string>

#include "server/core/coordinator.h"
#include "server/problem.h"
#include "server/store/store.h"
#include "stripline/v1/models.pb.h"

namespace stripline::server {

// Problems are those that the .proto file names, and the store's. Where it changes what nodes are
// to have, agents are offered it.

Answer<v1::ModelVersion> validate_model(Store& store,
                                        const v1::ValidateModelVersionRequest& request,
                                        const std::string& actor);
Answer<v1::ModelVersion> check_model(Coordinator& coordinator, Store& store,
                                     const v1::CheckModelVersionRequest& request,
                                     const std::string& actor);
/// Why promote_model() would not let the label name the version; nullopt: it would, as far as can
/// be known without reading samples: how it does beside the stable one is looked at when it is
/// promoted.
Answer<std::optional<std::string>> label_refusal(Coordinator& coordinator, Store& store,
                                                 const ModelVersionRecord& version,
                                                 const std::string& label);
/// A canary that becomes stable is not canary any more: its trial ends in the same step.
Answer<v1::ModelVersion> promote_model(Coordinator& coordinator, Store& store,
                                       const v1::PromoteModelVersionRequest& request,
                                       const std::string& actor);
Answer<v1::ModelVersion> rollback_label(Coordinator& coordinator, Store& store,
                                        const v1::RollbackModelLabelRequest& request,
                                        const std::string& actor);
/// Takes the label stable from a version that is stale: it goes back to the last version before
/// that may be used, or to nothing.
Answer<v1::ModelVersion> retire_stale(Coordinator& coordinator, Store& store,
                                      const VersionKey& stale, const std::string& actor);
/// A version that is stable does not hold any more, for this reason; with `rollback` it loses the
/// label, too, as by retire_stale().
Answer<v1::ModelVersion> mark_stale(Coordinator& coordinator, Store& store, const VersionKey& key,
                                    const std::string& reason, bool rollback,
                                    const std::string& actor);
/// Takes a label back from a version as a rollback does, or, where there is none before it, to
/// nothing, in one step with `changes`, which say why.
Answer<v1::ModelVersion> retire_lost(Coordinator& coordinator, Store& store,
                                     const LabelRecord& label, Changes changes);
Answer<v1::ModelVersion> import_model(Store& store, const v1::ImportModelVersionRequest& request,
                                      const std::string& actor);
Answer<v1::ModelVersion> withdraw_model(Coordinator& coordinator, Store& store,
                                        const v1::WithdrawModelVersionRequest& request,
                                        const std::string& actor);
/// Stores what a run saw, and does what follows from it (heed_losses.h).
Answer<v1::SendFeedbackResponse> send_feedback(Coordinator& coordinator, Store& store,
                                               const v1::SendFeedbackRequest& request,
                                               const std::string& actor);

}  // namespace stripline::server
