// Where a tuned model comes from and where it may be believed: the sections `name`, `provenance`,
// `domain` and `fingerprint` (docs/model-file.md).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace stripline::model {

struct Section;

struct Provenance {
  std::vector<std::string> campaigns;
  std::string sample_sha256;  ///< over the canonical form of all series used
  std::string fitter_version;
  std::string fitted_at;  ///< RFC 3339; given to the fitter, which reads no clock
  /// Why it is provisional, of fewer runs than its intervals should rest on; empty: it is not.
  std::string provisional;
};

/// Where the model may be believed.
struct Domain {
  uint32_t min_ranks = 0;
  uint32_t max_ranks = 0;
  uint64_t min_bytes = 0;
  uint64_t max_bytes = 0;
};

enum class MatchRule { hard, soft, ignore };

/// One fact about the machine a model was measured on, and what a difference means: hard refuses
/// the model, soft warns, ignore only informs.
struct FingerprintField {
  std::string value;
  MatchRule rule = MatchRule::soft;
};
using Fingerprint = std::map<std::string, FingerprintField>;

Section name_section();
Section provenance_section();
Section domain_section();
Section fingerprint_section();

}  // namespace stripline::model
