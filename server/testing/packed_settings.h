// Settings of another runtime as a campaign that tunes it publishes them, as far as servers read
// them.
#pragma once

#include <string>

#include "base/json.h"
#include "base/packed_export.h"
#include "base/sha256.h"

namespace stripline::server {

/// A comparison with the default settings: "NON_INFERIOR", 0.5 times their time.
inline Json compared_settings(const char* verdict, double ratio) {
  return {{"operation", "halo"}, {"ranks", 4},     {"bytes", 1024},
          {"verdict", verdict},  {"ratio", ratio}, {"lower", ratio}};
}

/// What `stripline export pack` writes.
inline std::string packed_settings(
    bool validated = true, double probe_factor = 3.5,
    const Json& checks = Json::array({compared_settings("NON_INFERIOR", 0.5)})) {
  const std::string text = "# Written by Stripline\n";
  const Json whole = {{"format", kPackedExportFormat},
                      {"files", {{"rules.conf", text}}},
                      {"record",
                       {{"target", "openmpi"},
                        {"version", "4.1.4"},
                        {"path", "shm"},
                        {"host", "a"},
                        {"time", "2026-01-01T00:00:00Z"},
                        {"ranks", {2U, 4U}},
                        {"validated", validated},
                        {"cells", Json::array()},
                        {"checks", checks},
                        {"proofs", Json::array({{{"factor", probe_factor}}})},
                        {"files", {{"rules.conf", sha256_hex(text)}}}}}};
  return whole.dump();
}

}  // namespace stripline::server
