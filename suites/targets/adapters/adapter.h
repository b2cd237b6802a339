// How a target is measured here: what starts its programs, how settings and files reach it, and
// what is written of decisions. One for each target that is tuned.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "optimizer/targets/rules.h"
#include "optimizer/targets/target.h"
#include "optimizer/targets/version.h"

namespace stripline::suites::tune {

using Environment = std::map<std::string, std::string>;
using targets::Candidate;
using targets::Collective;

/// A file of an export. The first one of an export is what users name; it refers to the others by
/// their full paths.
struct ExportFile {
  std::string name;  ///< without a folder
  std::string text;
};

/// An export in the files of another version of its target.
struct OtherVersion {
  std::vector<ExportFile> files;
  std::vector<std::string> left_out;  ///< what that version has no word for, a sentence each
};

/// What was decided.
struct Decisions {
  std::vector<targets::Setting> settings;                 ///< knobs that depart from their default
  std::vector<targets::CollectiveRules> rules;            ///< where a choice may depend on the cell
  std::vector<std::pair<Collective, Candidate>> choices;  ///< where it holds for a collective

  bool has_rules() const;
  bool empty() const;
};

/// What slows a cell down so much that its time shows whether a file is read: an alternative of an
/// operation, or the value of a knob.
struct Probe {
  targets::Cell cell;
  Candidate candidate;                           ///< of a probe by rules
  std::optional<targets::Setting> setting = {};  ///< of one by settings
  std::string operation = {};                    ///< of the driver; empty: the collective of `cell`
};
/// "basic_linear for bcast of 4 ranks", "UCX_RNDV_THRESH=0 for latency of 2 ranks".
std::string describe(const Probe& probe);

class Adapter {
 public:
  virtual ~Adapter() = default;
  virtual const targets::Target& target() const = 0;

  /// The compiler wrapper of the installation that launch() starts, looked up in PATH.
  virtual std::string compiler() const = 0;
  /// The folder of the driver's sources within that of all; empty: the MPI driver.
  virtual std::string driver_folder() const { return {}; }
  /// What comes behind the sources: "-lfabric". None where the compiler is a wrapper. Errors: those
  /// of a command that is asked for it.
  virtual Result<std::vector<std::string>> libraries() const { return std::vector<std::string>(); }
  /// The command that starts `ranks` of a program on this host.
  virtual std::vector<std::string> launch(uint32_t ranks, const std::string& program,
                                          const std::vector<std::string>& arguments) const = 0;
  /// For every launch: the path between ranks, and `folder` for what the target keeps of a job.
  /// Settings of ours that are installed here do not count. Errors: failed_precondition where they
  /// cannot be left out.
  virtual Result<Environment> environment(targets::Path path,
                                          const std::filesystem::path& folder) const = 0;
  /// True if ranks of a launch over this path are on one node for the target, as they are; false:
  /// on one each, as it is said to keep them from sharing memory.
  virtual bool is_one_node(targets::Path /*path*/) const { return true; }
  /// What lets a driver choose alternatives within a launch.
  virtual Environment selecting() const = 0;
  /// What the numbers of candidates are in the installed version, where they are others than in
  /// those that were tried. Errors: those of a command that is asked for them.
  virtual Result<targets::Renumbering> renumbering() const { return targets::Renumbering(); }
  /// Knobs as environment variables.
  virtual Environment knobs(const std::vector<targets::Setting>& settings) const = 0;
  /// Names of settings that the installed version does not take, whatever their value. None where a
  /// target does not say.
  virtual Result<std::set<std::string>> unsettable(
      const std::vector<targets::Setting>& /*settings*/) const {
    return std::set<std::string>();
  }
  /// Knobs whose value here, without settings of ours, is another one than the table's default: a
  /// sentence each. That value is what is measured as the default. None where a target does not
  /// say.
  virtual Result<std::vector<std::string>> differences() const {
    return std::vector<std::string>();
  }
  /// How the target's files in /dev/shm begin.
  virtual std::vector<std::string_view> shared_memory_prefixes() const = 0;
  /// Whether they begin with the number of the rank's process that made them, and a colon, besides;
  /// the driver says which those are (DriverOutput::processes).
  virtual bool names_memory_by_process() const { return false; }

  /// Names of all files that an export may have: that which users name, and those that it may refer
  /// to.
  virtual std::vector<std::string> file_names() const = 0;
  /// The text of the first file where those that it refers to are in this folder: `others` are
  /// their names. Errors: data_loss, also where it refers to others than these; invalid_argument
  /// for settings that are not known here, as it may come from elsewhere.
  virtual Result<std::string> referring(const std::string& text,
                                        const std::filesystem::path& folder,
                                        const std::vector<std::string>& others) const = 0;
  /// Files of settings that programs read by themselves, the one that beats the others first. None
  /// where they read none.
  virtual Result<std::vector<std::filesystem::path>> read_files() const {
    return std::vector<std::filesystem::path>();
  }
  /// What settings were validated with beside the version: how the target was built, and what else
  /// sets it here, files and the environment, without files of ours.
  virtual Result<std::string> configuration() const = 0;
  /// The files of decisions. `folder` is where they will be, `comments` go in front of each.
  virtual Result<std::vector<ExportFile>> files(const Decisions& decisions,
                                                const targets::Safety& safety,
                                                const std::filesystem::path& folder,
                                                const std::vector<std::string>& comments) const = 0;
  /// The variables that make the target read an exported file as a user would have it read. Reads
  /// the file, strictly. Errors: data_loss.
  virtual Result<Environment> loading(const std::filesystem::path& file) const = 0;
  /// What an exported file says, in the files of another version, of which nothing is validated.
  /// Errors: unimplemented where its files are not known here, or are made of the installed
  /// version's own; failed_precondition where nothing is left.
  virtual Result<OtherVersion> for_version(const std::filesystem::path& file,
                                           const targets::Version& version,
                                           const std::filesystem::path& folder,
                                           std::vector<std::string> comments) const = 0;
  /// The same files with a probe in place of what they say of its cell, or of its knob; what they
  /// say of everything else stays. Errors: data_loss; invalid_argument for an alternative where a
  /// target has none.
  virtual Result<std::vector<ExportFile>> with_probe(const std::filesystem::path& file,
                                                     const Probe& probe,
                                                     const std::filesystem::path& folder) const = 0;
  /// What is wrong with an exported file though it reads well, and what of it is overridden
  /// elsewhere: a sentence each. `place`: where programs read it, or will; the file itself, unless
  /// it is to be installed. Errors: data_loss where the file, or one that it names, does not read
  /// well in the installed version.
  virtual Result<std::vector<std::string>> complaints(const std::filesystem::path& file,
                                                      const targets::Safety& safety,
                                                      const std::filesystem::path& place) const = 0;
};

/// Debian's commands have a suffix, such as "mpirun.openmpi", as several MPIs may be installed, and
/// those without it may be of another one. True if the installation whose command prints the
/// version has such a name beside that command; without that command, if it is anywhere in PATH.
bool has_suffixed(const std::string& version_command, const std::string& suffixed);

/// Whether both are one file, or the same path of one that is not there.
bool is_same_file(const std::filesystem::path& one, const std::filesystem::path& other);

/// Gives the setting of this name the path of a file in a folder; where the file is not among
/// `others`, there must be no such setting. Errors: data_loss where it is missing, or should be.
Status set_path(std::vector<targets::Setting>& settings, std::string_view name,
                const std::filesystem::path& folder, const std::string& file,
                const std::vector<std::string>& others);

/// The adapter of a target that is tuned here. Errors: unimplemented for one that is only exported.
Result<const Adapter*> find_adapter(const targets::Target& target);

const Adapter& openmpi_adapter();
const Adapter& mpich_adapter();
const Adapter& gasnet_adapter();
const Adapter& libfabric_adapter();
const Adapter& oshmem_adapter();
const Adapter& ucx_adapter();

}  // namespace stripline::suites::tune
