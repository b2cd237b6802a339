#include "optimizer/targets/ucx/ucx.h"

#include <algorithm>
#include <set>

#include "base/cut_text.h"
#include "optimizer/targets/lines.h"

namespace stripline::targets::ucx {
namespace {

constexpr std::string_view kTried[] = {"1.13.1"};
constexpr const char* kListed = "ucx_info -c -f";
constexpr const char* kPrefixed = "ucx_info -c -f, by the prefix of pml/ucx";
constexpr uint64_t kGiB = uint64_t{1} << 30;

constexpr Knob kKnobs[] = {
    bytes_knob("UCX_RNDV_THRESH", "auto", {0, kGiB}, "8192 65536 262144",
               "from this size on data are sent only when they are asked for", kListed)
        .on(Path::any, 1),
    bytes_knob("UCX_ZCOPY_THRESH", "auto", {0, kGiB}, "4096 65536",
               "from this size on data are sent from where they are", kListed),
    bytes_knob("UCX_BCOPY_THRESH", "auto", {0, kGiB}, "256 2048",
               "from this size on data are sent from a buffer of UCX", kListed),
    {.name = "UCX_RNDV_SCHEME",
     .kind = KnobKind::choice,
     .default_value = "auto",
     .values = "auto get_zcopy put_zcopy am",
     .meaning = "who moves large data: the receiver, the sender, or messages",
     .found = kListed},
    bytes_knob("UCX_MPI_RNDV_THRESH", "auto", {0, kGiB}, "",
               "of Open MPI alone: from this size on data are sent only when they are asked for",
               kPrefixed)
        .on(Path::any, 1),
    bytes_knob("UCX_MPI_ZCOPY_THRESH", "auto", {0, kGiB}, "",
               "of Open MPI alone: from this size on data are sent from where they are", kPrefixed),
    bytes_knob("UCX_MPI_BCOPY_THRESH", "auto", {0, kGiB}, "",
               "of Open MPI alone: from this size on data are sent from a buffer of UCX",
               kPrefixed),
    bytes_knob("UCX_TCP_TX_SEG_SIZE", "8K", {1024, 1 << 20}, "32768 131072",
               "the buffer that data are put into for a socket", kListed)
        .on(Path::tcp, 1),
    bytes_knob("UCX_TCP_RX_SEG_SIZE", "64K", {1024, 1 << 22}, "262144",
               "the buffer that a socket is read into", kListed)
        .on(Path::tcp, 1),
    bytes_knob("UCX_TCP_SENDV_THRESH", "2K", {0, 1 << 20}, "512 16384",
               "from this size on a header and its data are sent by one call", kListed)
        .on(Path::tcp),
    {.name = "UCX_TCP_PUT_ENABLE",
     .kind = KnobKind::flag,
     .default_value = "y",
     .values = "y n",
     .path = Path::tcp,
     .meaning = "whether large data are put without a copy",
     .found = kListed},
    count_knob("UCX_TCP_MAX_POLL", "16", {1, 1 << 16}, "64",
               "events of sockets that are taken at a time", kListed)
        .on(Path::tcp),
    count_knob("UCX_POSIX_FIFO_SIZE", "64", {32, 1 << 16}, "256",
               "messages that wait in shared memory for a rank", kListed)
        .on(Path::shared_memory),
    bytes_knob("UCX_POSIX_SEG_SIZE", "8256", {1024, 1 << 20}, "32832",
               "the pieces of what is copied through shared memory", kListed)
        .on(Path::shared_memory, 64),
};

bool is_name(std::string_view name) {
  const auto allowed = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return name.starts_with("UCX_") && name.size() > 4 && std::ranges::all_of(name, allowed);
}

// inih, by which UCX reads, ends a value at " ;". Some settings have no value by default, and UCX
// lists them so.
bool is_value(std::string_view value) {
  const auto printable = [](char c) { return c >= ' ' && c <= '~' && c != ';' && c != '#'; };
  return std::ranges::all_of(value, printable) && trimmed(value) == value;
}

}  // namespace

const Target& target() {
  static const Target kTarget{.name = "ucx",
                              .title = "UCX",
                              .support = Support::tuned,
                              .tried = kTried,
                              .version_command = "ucx_info -v",
                              .version_marker = "# Version",
                              .knobs = kKnobs,
                              // A request and an answer before the smallest message.
                              .probe_settings = "UCX_RNDV_THRESH=0",
                              .operations = Operations::one_sided};
  return kTarget;
}

Result<std::vector<Setting>> read_conf(std::string_view text, std::string_view what) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto lines, lines_of(text, what));
  std::vector<Setting> settings;
  std::set<std::string_view> names;
  for (const Line& line : lines) {
    const std::string_view rest = trimmed(line.text);
    if (rest.empty() || rest.front() == '#' || rest.front() == ';') continue;
    if (rest.front() == '[') {
      return bad_line(what, line,
                      "begins a section; UCX 1.13 ignores its conditions and applies what it holds "
                      "everywhere");
    }
    const size_t equals = rest.find('=');
    if (equals == std::string_view::npos) return bad_line(what, line, "is not NAME=VALUE");
    const std::string_view name = trimmed(rest.substr(0, equals));
    const std::string_view value = trimmed(rest.substr(equals + 1));
    if (!is_name(name)) {
      return bad_line(what, line,
                      quoted_text(name) + " is not a valid name; names are in full: UCX_...");
    }
    if (!is_value(value)) {
      return bad_line(what, line, "has a value with ';' or '#', where UCX ends it");
    }
    if (!names.insert(name).second) {
      return bad_line(what, line, std::string(name) + " comes a second time");
    }
    settings.push_back({std::string(name), std::string(value)});
  }
  return settings;
}

Result<std::string> write_conf(const std::vector<Setting>& settings,
                               const std::vector<std::string>& comments) {
  std::string text = comment_block(comments);
  std::set<std::string_view> names;
  for (const auto& [name, value] : settings) {
    if (!is_name(name) || !is_value(value)) {
      return Error(ErrorCode::invalid_argument, "the setting " + quoted_text(name) +
                                                    " with the value " + quoted_text(value) +
                                                    " cannot be written for UCX");
    }
    if (!names.insert(name).second) {
      return Error(ErrorCode::invalid_argument, "the setting " + name + " has two values");
    }
    text.append(name).append("=").append(value).append("\n");
  }
  return text;
}

}  // namespace stripline::targets::ucx
