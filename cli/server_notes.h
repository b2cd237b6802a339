// What the server says of itself beside the answers of commands: that it can store nothing, and
// what ends soon.
#pragma once

#include "cli/service.h"

namespace stripline::cli {

/// Prints on standard error why the server can store nothing, if it cannot, and that the user's own
/// token ends soon; with `ends` also the other tokens and certificates that do. Says nothing where
/// the server does not answer, or is of a version that has no such call.
void print_server_notes(Service& service, bool ends);

}  // namespace stripline::cli
