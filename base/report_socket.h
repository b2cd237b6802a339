// How runs hand reports to the agent of their host: a datagram to a socket in one of the folders of
// pushed models. Runs do not wait: what the agent has no room for is lost.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/subprocess.h"

namespace stripline {

/// Hands a report to the first agent that listens in one of these folders. Errors: not_found when
/// none does; unavailable when it has no room now; invalid_argument for a report that is too large.
Status send_report(const std::vector<std::filesystem::path>& folders, std::string_view report);

/// The agent's end.
class ReportSocket {
 public:
  /// In a folder that is there. Any user of the host may send. Errors: already_exists where another
  /// process listens; unavailable.
  static Result<ReportSocket> listen(const std::filesystem::path& folder);
  ReportSocket(ReportSocket&&) noexcept = default;
  ReportSocket& operator=(ReportSocket&&) = delete;
  ~ReportSocket();

  /// Readable when a report has come.
  int fd() const { return socket_.get(); }

  /// The next report that has come, of at most `most_bytes`. Nullopt: there is none, or it was
  /// larger, and is dropped; fd() is still readable when more have come.
  std::optional<std::string> take(size_t most_bytes) const;

 private:
  ReportSocket(UniqueFd socket, std::filesystem::path path)
      : socket_(std::move(socket)), path_(std::move(path)) {}

  UniqueFd socket_;
  std::filesystem::path path_;
};

}  // namespace stripline
