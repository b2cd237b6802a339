// A model that the server offers, looked at before this node's programs use it.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "agent/description.h"
#include "agent/targets.h"
#include "base/result.h"
#include "proto/agent_protocol/messages.h"

namespace stripline::agent {

/// What the folder holds of the networks that this node can open: the first 12 digits of the
/// model's sha256, by network.
std::map<std::string, std::string> installed_models(const std::filesystem::path& folder,
                                                    const Description& description);

/// Checks the offer's hash, its network, and its fingerprint against what the agent knows of the
/// node, and puts the model in force (base/pushed_models.h). Settings of another runtime are
/// installed, and kept there as what is in force. Errors, which say why the offer is rejected:
/// data_loss, failed_precondition, unavailable, those of install_settings().
Status accept_offer(const ModelOffer& offer, const std::filesystem::path& folder,
                    const Description& description, const TargetOptions& targets);

/// What is withdrawn is not in force any more; false if something else is. Errors: unavailable,
/// those of uninstall_settings().
Result<bool> remove_offered(const ModelWithdrawal& withdrawal, const std::filesystem::path& folder,
                            const TargetOptions& targets);

}  // namespace stripline::agent
