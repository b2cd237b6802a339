// The commands of stripline-tune. Each prints its result to standard output, progress and problems
// to standard error, and returns the exit code.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stripline::suites::tune {

struct TuneOptions {
  std::string target;
  std::vector<uint32_t> ranks = {2, 3, 4, 8};
  double minutes = 5;
  std::string path = "shm";
  std::vector<std::string> collectives;  ///< empty: all
  uint64_t most_bytes = uint64_t{1} << 20;
  double margin = 0.03;
  uint64_t memory_bytes = uint64_t{64} << 20;  ///< that settings may take on each rank
  uint32_t largest_job = 0;  ///< ranks that memory is estimated for; fewer than `ranks`: these
  std::string output;        ///< a folder; empty: stripline-TARGET here
  std::string use = {};      ///< a comment for the files; empty: how to verify them in that folder
  double stall_s = 15;       ///< a launch that prints nothing for this time has hung
  uint64_t seed = 1;
  bool commutative_only = false;
  bool accept_untried = false;
  bool json = false;
  int cancel_fd = -1;
};
int tune_command(const TuneOptions& options);

/// Tunes, or validates settings again, as stripline-agent asks for it, by the protocol of workers
/// (docs/worker-protocol.md). `largest_job`: as in TuneOptions.
int work_command(uint32_t largest_job);

struct SweepOptions {
  TuneOptions tune;
  uint32_t runs = 10;
  bool knobs = false;  ///< of a target that has alternatives, too: knobs in place of these
  std::string record;  ///< of knobs: a record, whose settings are measured together besides
};
/// Measures every alternative in every cell, or every value of every knob, and two of those that
/// gain, in a number of runs each, and prints the times as JSON lines: what a search is judged by
/// (scripts/tuned_targets.py). Takes no time limit.
int sweep_command(const SweepOptions& options);

struct TryOptions {
  std::string target;
  std::vector<uint32_t> ranks = {2, 3, 4, 5, 6, 7, 8, 9};
  std::string path = "shm";
  bool commutative_only = false;
  bool accept_untried = false;
  double stall_s = 15;
  int cancel_fd = -1;
};
/// Carries out every alternative that rules would allow, on types and operations of all kinds, and
/// says which give wrong data.
int try_command(const TryOptions& options);

/// The targets, with what is installed, and exports of this user with what has changed since they
/// were validated.
int list_command(bool json);

struct VerifyOptions {
  std::string file;
  double minutes = 2;
  bool accept_untried = false;
  bool json = false;
  int cancel_fd = -1;
};
/// Validates an exported file again, and whether the target reads it. Where both hold, its record
/// has the version, kernel and configuration that are here from then on: it is not stale.
int verify_command(const VerifyOptions& options);

struct InstallOptions {
  std::string file;
  std::string folder;   ///< empty: where this user's programs read their settings
  bool packed = false;  ///< The file is what pack_command() has written.
  bool accept_untried = false;
  bool commutative_only = false;  ///< also what holds for commutative operations alone
};
/// Installs an exported file where programs read it, or have it read.
int install_command(const InstallOptions& options);
/// Takes an installed file, or what is installed in a folder, away, and puts back what was
/// installed before.
int uninstall_command(const std::string& file);

struct PackOptions {
  std::string file;
  /// A file; a folder to unpack to. Empty: standard output, stripline-TARGET, report.html.
  std::string output;
};
/// One file of an export with its record, for other nodes.
int pack_command(const PackOptions& options);
int unpack_command(const PackOptions& options);
/// A page about an export, or about a run that kept the default, by its record.
int report_command(const PackOptions& options);

struct ConvertOptions {
  std::string file;
  bool packed = false;  ///< The file is what pack_command() has written.
  std::string version;  ///< "5.0.7"
  std::string output;   ///< a folder; empty: stripline-TARGET-VERSION
};
/// Writes an export in the files of another version of its target, where it is not validated.
int convert_command(const ConvertOptions& options);

struct WriteOptions {
  std::string target;
  std::vector<std::string> settings;  ///< "NAME=VALUE"
  uint64_t ranks = 0;                 ///< for which memory is estimated; 0: it is not
  uint64_t memory_bytes = uint64_t{64} << 20;
  std::string output;  ///< a file; empty: standard output
};
/// Writes settings of a target, checked, in its own file format.
int write_command(const WriteOptions& options);

struct CheckOptions {
  std::string target;
  std::string file;
  bool rules = false;  ///< a file of rules (Open MPI) or a selection (MPICH), not of settings
  bool commutative_only = false;
};
/// Reads a file of a target as strictly as possible, and says what is unsafe in it.
int check_command(const CheckOptions& options);

}  // namespace stripline::suites::tune
