// What is stored of models that matters to nodes: the versions that labels name, and those that are
// not to be used any more.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "server/core/models/rollout.h"
#include "server/store/store.h"

namespace stripline::server {

struct KnownModels {
  std::vector<LabelledVersion> labelled;
  /// Versions that are not to be used: why, by the first digits of their hashes.
  std::map<std::string, std::string> unfit;
  /// Models of which something is stored that cannot be read: what, by their names. Which version
  /// nodes are to have of their fabrics is not known, so that `labelled` has none of these.
  std::map<std::string, std::string> unreadable;
};

/// The digits of a hash by which a node says which file it has.
std::string short_hash(const std::string& sha256);

/// Errors: the store's, but for what it has and cannot read.
Result<KnownModels> read_models(Store& store);

}  // namespace stripline::server
