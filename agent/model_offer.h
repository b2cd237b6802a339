// A model that the server offers, looked at before this node's programs use it.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "agent/description.h"
#include "base/result.h"
#include "proto/agent_protocol/messages.h"

namespace stripline::agent {

/// What the folder holds of the networks that this node can open: the first 12 digits of the
/// model's sha256, by network.
std::map<std::string, std::string> installed_models(const std::filesystem::path& folder,
                                                    const Description& description);

/// Checks the offer's hash, its network, and its fingerprint against what the agent knows of the
/// node, and puts the model in force (base/pushed_models.h). Errors, which say why the offer is
/// rejected: data_loss, failed_precondition, unavailable.
Status accept_offer(const ModelOffer& offer, const std::filesystem::path& folder,
                    const Description& description);

}  // namespace stripline::agent
