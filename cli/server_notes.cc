#include "cli/server_notes.h"

#include <string>

#include "base/printable.h"
#include "cli/console.h"
#include "cli/format.h"
#include "stripline/v1/fleet.pb.h"

namespace stripline::cli {
namespace {

// The others are in the list of nodes, or of tokens.
constexpr int kMaxNotices = 10;

}  // namespace

void print_server_notes(Service& service, bool ends) {
  const auto status = service.call<v1::ServerStatus>(v1::GetServerStatusRequest());
  if (!status.ok()) return;
  if (!status->storage_failure().empty()) {
    print_note("stripline: the server can store nothing since " +
               date_text(status->storage_failing_since()) + ": " +
               printable_line(status->storage_failure()) +
               "; campaigns stand still until it can\n");
  }
  int printed = 0;
  for (const v1::ServerNotice& notice : status->notices()) {
    if (!ends && notice.kind() != v1::ServerNotice::OWN_TOKEN) continue;
    if (printed++ == kMaxNotices) {
      print_note("stripline: " + std::to_string(status->notices_size() - kMaxNotices) +
                 " more tokens or certificates end soon\n");
      return;
    }
    print_note("stripline: " + printable_line(notice.message()) + "\n");
  }
}

}  // namespace stripline::cli
