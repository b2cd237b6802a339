// What runs that use models report of them: taken from agents and users, and listed. Include from
// .cc files of the services.
#pragma once

#include <string>

#include "server/problem.h"
#include "server/store/store.h"
#include "stripline/v1/models.pb.h"

namespace stripline::server {

// Problems are those that models.proto names, and the store's.

/// Stores a report that `sender` has sent ("nodes/{node}", "users/{user}"); the version that it is
/// about.
Answer<VersionKey> take_feedback(Store& store, const std::string& content,
                                 const std::string& sender);

Answer<v1::ListFeedbackResponse> list_feedback(Store& store,
                                               const v1::ListFeedbackRequest& request);

}  // namespace stripline::server
