// Profiles: written descriptions of a network, the ground truth of the emulated fabric. Format and
// meaning: docs/emulated-fabric.md and docs/schema/profile-v1.schema.json. Only the emulated fabric
// reads profiles; the fitter never sees one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <stripline/work.h>

#include "base/result.h"
#include "runtime/fabric/emulated/fat_tree.h"

namespace stripline::fabric {

/// LogGP values of one operation for sizes from `from_bytes` up to the next segment
/// (docs/measurement.md has the physical model).
struct ProfileSegment {
  uint64_t from_bytes = 0;
  double o_base_s = 0;
  double o_per_byte_s = 0;
  double L_s = 0;
  double g_s = 0;
  double G_s_per_byte = 0;
  double r_base_s = 0;
  double r_per_byte_s = 0;
  /// Time of the target's CPU, for operations that need it.
  double s_base_s = 0;
  double s_per_byte_s = 0;
};

struct OperationProfile {
  std::vector<ProfileSegment> segments;  ///< ascending, the first from 0
  /// True if the target must be inside the library for the operation to be served (software
  /// emulation of RMA). Active messages always need that.
  bool needs_target = false;

  const ProfileSegment& at(uint64_t bytes) const;
};

/// Bandwidth left to each transfer when this many nodes send at once.
struct ConcurrencyLevel {
  uint32_t senders = 1;
  double bandwidth_factor = 1;  ///< in (0, 1]
};

/// What a processor takes for declared work (stripline/work.h). Terms are added: what a loop takes
/// does not depend on how it is divided.
struct Processor {
  double s_per_flop = 0;
  double s_per_byte = 0;
  double s_per_row = 0;

  double seconds(const Work& work) const {
    return work.flops * s_per_flop + work.bytes * s_per_byte + work.rows * s_per_row;
  }
};

struct Profile {
  std::string name;
  std::string title;
  OperationProfile put;
  OperationProfile get;
  OperationProfile am;
  uint32_t queue_depth = 64;      ///< operations a rank may have in the NIC before issuing blocks
  uint32_t injection_limit = 16;  ///< messages a pair may have in flight
  uint32_t max_message_bytes = 8192;
  uint32_t ranks_per_node = 1;                ///< ranks that share one NIC
  std::vector<ConcurrencyLevel> concurrency;  ///< ascending senders; empty: no contention inside
  FatTree tree;                               ///< empty: no links are shared
  double poll_s = 5e-8;                       ///< what one poll costs
  double jitter_within_run = 0;               ///< log-normal sigma per operation, median 1
  double jitter_between_runs = 0;             ///< log-normal sigma per run and quantity, median 1
  double compute_scale = 1;                   ///< emulated seconds per CPU second of this host
  std::optional<Processor> processor;         ///< for compute=declared
  /// Loss of a peer, for failure tests: this rank's NIC dies at this time.
  std::optional<uint32_t> lost_rank;
  double lost_at_s = 0;
  double loss_detected_after_s = 1;  ///< until an initiator knows that its peer is gone

  /// Smallest G of all operations and segments.
  double smallest_G() const;
};

/// How the CPU time of a rank between calls enters its virtual clock.
enum class ComputeMode {
  measured,  ///< CPU time times Profile::compute_scale
  none,      ///< nothing: only communication and compute_for() take time; fully reproducible
  declared,  ///< what the program and the runtime say they have done; fully reproducible
  record,    ///< measured, and written down
  replay,    ///< as it was written down: fully reproducible
};

/// "emulated:PROFILE[,key=value...]", taken apart. Keys: compute=measured|none|declared|SCALE|
/// record:PATH|replay:PATH, jitter=on|off, ranks_per_node=N, lose=RANK@SECONDS, host_delays=SEED.
struct ProfileRequest {
  Profile profile;
  ComputeMode compute = ComputeMode::measured;
  /// Threads sleep at random where the turn passes from rank to rank. No time that is reported on
  /// the virtual clock may depend on that.
  std::optional<uint64_t> host_delays_seed;
  std::string trace_path;  ///< to record to or to replay from; a rank's is PATH.RANK
};

/// Names of the built-in profiles, sorted.
std::vector<std::string> builtin_profile_names();

/// The JSON text of a built-in profile; empty if there is none of this name.
std::string_view builtin_profile_text(std::string_view name);

/// Parses and validates profile JSON: every number finite and not negative, sizes ascending, each
/// marked published (with a citation) or assumed (with a reason). Errors: data_loss, naming the
/// member and what is accepted.
Result<Profile> parse_profile(std::string_view json_text, std::string_view what);

/// Resolves a fabric name "emulated:...". Errors: invalid_argument for an unknown profile (the
/// message lists the known ones) or option; those of parse_profile for a file.
Result<ProfileRequest> resolve_profile(std::string_view fabric_name);

}  // namespace stripline::fabric
