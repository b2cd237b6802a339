// stripline-tune: settings of other runtimes. `stripline tune` is this program, and `stripline
// export` its command of that name.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/cancel_signals.h"
#include "base/command_line.h"
#include "base/descriptors.h"
#include "base/exit_codes.h"
#include "base/standard_output.h"
#include "suites/targets/commands.h"
#include "suites/targets/session.h"

namespace {

using namespace stripline;                // NOLINT(google-build-using-namespace)
using namespace stripline::suites::tune;  // NOLINT(google-build-using-namespace)

constexpr const char* kDescription =
    "Tunes runtimes that people run already, on this host: measures their alternatives, departs\n"
    "from a default only where that is certain to gain, writes the target's own files, and\n"
    "validates them in the target.\n\n"
    "  stripline-tune list\n"
    "  stripline-tune openmpi --ranks 2,3,4,8 --minutes 5\n"
    "  stripline-tune export verify stripline-openmpi/stripline-mca-params.conf";

constexpr const char* kFooter =
    "Exit codes:\n"
    "  0  done; nothing that is exported was found to be slower than the default\n"
    "  1  it was, 'export verify' has not validated a file, or a file that was checked is unsafe\n"
    "  2  wrong usage, a setting or a value that is not valid; a file or its record is missing;\n"
    "     the target is not known, measured or installed here, or has no compiler\n"
    "  3  a version that was not tried; a file that is malformed, was changed, was not validated\n"
    "     or installed, is unsafe, overridden, or not read, or holds for commutative operations\n"
    "     alone; settings of the target in the environment; a command of the target or its\n"
    "     compiler fails\n"
    "  4  something cannot be started or written, or settings take more than --memory\n"
    "  5  the target's programs fail, with its default settings or with an exported file\n"
    "  6  a program that was asked for a version, or a compiler, takes too long; the time was up\n"
    "     before anything was measured, or before it was proven that a file is read\n"
    "  7  cancelled by SIGINT or SIGTERM\n"
    "  8  an alternative that would be allowed gives wrong data (try)\n"
    "  9  a file is there that Stripline has not written, that was changed since, or that an\n"
    "     output would replace; the folder holds settings of another target";

// Options of several commands.

void add_ranks(CLI::App& command, std::vector<uint32_t>& ranks) {
  command.add_option("--ranks", ranks, "Numbers of ranks, with commas")
      ->type_name("N,...")
      ->delimiter(',')
      ->transform(whole_number(2, 1024))
      ->capture_default_str();
}

void add_path(CLI::App& command, std::string& path) {
  command.add_option("--path", path, "Between ranks: shm, tcp, or any (what it chooses)")
      ->type_name("PATH")
      ->check(one_of({"shm", "tcp", "any"}))
      ->capture_default_str();
}

void add_minutes(CLI::App& command, double& minutes, const char* about) {
  command.add_option("--minutes", minutes, about)
      ->type_name("M")
      ->check(CLI::Range(0.1, 1440.0))
      ->capture_default_str();
}

void add_largest_job(CLI::App& command, uint32_t& ranks) {
  command
      .add_option("--largest-job", ranks,
                  "Ranks of the largest job here, for which memory is estimated (default: the "
                  "largest of --ranks)")
      ->type_name("N")
      ->transform(whole_number(2, 1 << 24));
}

void add_stall(CLI::App& command, double& stall_s) {
  command
      .add_option("--stall", stall_s,
                  "End a launch that has printed nothing for this time: an alternative hangs")
      ->type_name("TIME")
      ->transform(time_within({.least_s = 1, .most_s = 3600}))
      ->capture_default_str();
}

// What says which alternatives of operations are measured in which cells.
void add_alternatives(CLI::App& command, TuneOptions& options) {
  command
      .add_option("--collectives", options.collectives,
                  "Only these operations, with commas (default: all)")
      ->type_name("NAME,...")
      ->delimiter(',');
  command
      .add_option("--most-bytes", options.most_bytes,
                  "The largest size that is measured; buffers of a rank have 4MiB at most")
      ->type_name("BYTES")
      ->transform(size_from(8))
      ->capture_default_str();
  command.add_flag("--commutative-only", options.commutative_only,
                   "All programs here use operations that commute");
}

// What every measurement takes.
void add_measurement(CLI::App& command, TuneOptions& options) {
  add_ranks(command, options.ranks);
  add_path(command, options.path);
  add_stall(command, options.stall_s);
  command.add_option("--seed", options.seed, "Seed of the order in which things are measured")
      ->type_name("N")
      ->transform(whole_number_from<uint64_t>(0))
      ->capture_default_str();
  command.add_flag("--accept-untried", options.accept_untried, "Also a version that was not tried");
}

void define_tune(CLI::App& app, const std::string& name, TuneOptions& options,
                 bool has_alternatives) {
  CLI::App* const command = app.add_subcommand(name, "Tune " + name + " on this host");
  add_minutes(*command, options.minutes,
              "The time that it takes at most; what is not known by then keeps the default");
  add_measurement(*command, options);
  if (has_alternatives) add_alternatives(*command, options);
  command
      ->add_option("--margin", options.margin,
                   "What a choice has to gain at least, with 95 % confidence, e.g. 3%")
      ->type_name("SHARE")
      ->transform(share())
      ->capture_default_str();
  command
      ->add_option("--memory", options.memory_bytes,
                   "Memory that settings may take on each rank beyond the defaults, by estimate")
      ->type_name("BYTES")
      ->transform(size_from(1))
      ->capture_default_str();
  add_largest_job(*command, options.largest_job);
  command
      ->add_option("--output", options.output,
                   "Folder for the files and their record (default: stripline-" + name + ")")
      ->type_name("FOLDER");
  command->add_flag("--json", options.json, "The record as one JSON object, in place of tables");
  command->footer(
      "Sizes that were not measured keep the target's default, and so do numbers of ranks, unless\n"
      "those on both sides, within a factor of two, have the same choice.\n"
      "Nothing else should run here meanwhile.\n");
}

void define_sweep(CLI::App& app, SweepOptions& sweep) {
  CLI::App* const command = app.add_subcommand(
      "sweep",
      "Measure every alternative or every value of a knob, to judge by it what tuning has found");
  add_required(command, "target", sweep.tune.target, "Its name, see 'list'", "TARGET");
  command->add_option("--runs", sweep.runs, "Launches that each is measured in")
      ->type_name("N")
      ->transform(whole_number(2, 1000))
      ->capture_default_str();
  command->add_flag("--knobs", sweep.knobs,
                    "Values of knobs, and two of those that gain, in place of alternatives; of "
                    "targets without alternatives always");
  command
      ->add_option("--record", sweep.record,
                   "With knobs: measure the settings of this record of tuning together, too")
      ->type_name("FILE");
  add_measurement(*command, sweep.tune);
  add_alternatives(*command, sweep.tune);
  command->footer(
      "Prints a JSON object per line: a cell, an alternative or settings, and the median time in\n"
      "each run. Knobs that are not swept have their defaults. Nothing else should run here\n"
      "meanwhile.\n");
}

void define_try(CLI::App& app, TryOptions& options) {
  CLI::App* const command = app.add_subcommand(
      "try", "Carry out every alternative that would be allowed, and check its results");
  add_required(command, "target", options.target, "Its name, see 'list'", "TARGET");
  add_ranks(*command, options.ranks);
  add_path(*command, options.path);
  command->add_flag("--commutative-only", options.commutative_only,
                    "Also what only commutative operations allow, with those alone");
  command->add_flag("--accept-untried", options.accept_untried,
                    "Also a version that was not tried");
  add_stall(*command, options.stall_s);
  command->footer(
      "For a version that was not tried: an alternative that is wrong here needs another rule.\n");
}

struct Export {
  VerifyOptions verify;
  InstallOptions install;
  std::string uninstall;
  PackOptions pack;
  PackOptions unpack;
  PackOptions report;
  ConvertOptions convert;
  WriteOptions write;
  CheckOptions check;
};

void define_export(CLI::App& app, Export& options) {
  CLI::App* const group = app.add_subcommand(
      "export", "Files of settings: verify, install, pack for other nodes, write, check");
  group->require_subcommand(1);
  CLI::App* const verify = group->add_subcommand(
      "verify", "Validate an exported file again, and whether the target reads it");
  add_required(verify, "file", options.verify.file, "A file that tuning has written", "FILE");
  add_minutes(*verify, options.verify.minutes, "The time that it takes at most");
  verify->add_flag("--accept-untried", options.verify.accept_untried,
                   "Also a version that was not tried");
  verify->add_flag("--json", options.verify.json, "One JSON object in place of tables");
  CLI::App* const install = group->add_subcommand(
      "install", "Install an exported file where programs read it; never over a file of others");
  add_required(
      install, "file", options.install.file,
      "A file that tuning has written, or a server's version, by 'stripline export': NAME@VERSION",
      "FILE");
  install
      ->add_option("--to", options.install.folder,
                   "Folder (default: where this user's programs read their settings)")
      ->type_name("FOLDER");
  install->add_flag("--packed", options.install.packed,
                    "The file is what 'export pack' has written, or a server published");
  install->add_flag("--accept-untried", options.install.accept_untried,
                    "Also where another version is installed than it was validated for");
  install->add_flag("--commutative-only", options.install.commutative_only,
                    "Also what was tuned for operations that commute: no program that reads it has "
                    "others");
  CLI::App* const uninstall = group->add_subcommand(
      "uninstall", "Remove an installed file, and put back what was installed before it");
  add_required(uninstall, "file", options.uninstall, "The installed file, or its folder", "FILE");
  CLI::App* const pack =
      group->add_subcommand("pack", "Write an export with its record as one file, for other nodes");
  add_required(pack, "file", options.pack.file, "A file that tuning has written", "FILE");
  pack->add_option("-o,--output", options.pack.output, "The file (default: the output)")
      ->type_name("FILE");
  CLI::App* const unpack = group->add_subcommand("unpack", "Write the files of a packed export");
  add_required(unpack, "file", options.unpack.file, "What 'export pack' has written", "FILE");
  unpack
      ->add_option("-o,--output", options.unpack.output,
                   "Folder for the files and their record (default: stripline-TARGET)")
      ->type_name("FOLDER");
  CLI::App* const report = group->add_subcommand(
      "report",
      "Write a page about what tuning has found: gains, knobs, what was left out and why");
  add_required(report, "file", options.report.file, "A file that tuning has written, or its record",
               "FILE");
  report->add_option("-o,--output", options.report.output, "The page (default: report.html)")
      ->type_name("FILE");
  CLI::App* const convert = group->add_subcommand(
      "convert", "Write an export for another version of its target, where it is not validated");
  add_required(
      convert, "file", options.convert.file,
      "A file that tuning has written, or a server's version, by 'stripline export': NAME@VERSION",
      "FILE");
  convert->add_flag("--packed", options.convert.packed,
                    "The file is what 'export pack' has written, or a server published");
  convert->add_option("--for", options.convert.version, "The other version, such as 5.0.7")
      ->type_name("VERSION")
      ->required();
  convert
      ->add_option("-o,--output", options.convert.output,
                   "Folder for the files and their record (default: stripline-TARGET-VERSION)")
      ->type_name("FOLDER");
  CLI::App* const write = group->add_subcommand(
      "write", "Write settings that you name, checked, in the target's own format");
  add_required(write, "target", options.write.target, "Its name, see 'list'", "TARGET");
  add_required(write, "settings", options.write.settings,
               "NAME=VALUE, several; of nccl lines of its tuner's file", "K=V");
  write
      ->add_option("--ranks", options.write.ranks,
                   "Refuse what takes too much memory on each of N ranks")
      ->type_name("N")
      ->transform(whole_number_from<uint64_t>(1));
  write->add_option("--memory", options.write.memory_bytes, "What is too much")
      ->type_name("BYTES")
      ->transform(size_from(1))
      ->capture_default_str();
  write->add_option("-o,--output", options.write.output, "The file (default: the output)")
      ->type_name("FILE");
  CLI::App* const check =
      group->add_subcommand("check", "Read a file strictly, and say what is unsafe in it");
  add_required(check, "target", options.check.target, "Its name, see 'list'", "TARGET");
  add_required(check, "file", options.check.file, "The file", "FILE");
  check->add_flag("--rules", options.check.rules,
                  "It is not of settings, but of rules (Open MPI) or a selection (MPICH)");
  check->add_flag("--commutative-only", options.check.commutative_only,
                  "All programs here use operations that commute");
}

int finish(int exit_code) {
  const Status flushed = flush_standard_output();
  return exit_code != kExitOk || flushed.ok() ? exit_code : report_error(flushed.error());
}

}  // namespace

int main(int argc, char** argv) {
  prepare_descriptors();
  CLI::App app(kDescription, "stripline-tune");
  app.footer(kFooter);
  app.require_subcommand(1);
  bool list_json = false;
  CLI::App* const list = app.add_subcommand(
      "list", "The targets, with what is installed here, and exports with what has changed since");
  list->add_flag("--json", list_json, "One JSON object per line");
  TuneOptions openmpi{.target = "openmpi"};
  TuneOptions mpich{.target = "mpich"};
  define_tune(app, openmpi.target, openmpi, true);
  TuneOptions ucx{.target = "ucx"};
  TuneOptions oshmem{.target = "oshmem"};
  TuneOptions libfabric{.target = "libfabric"};
  define_tune(app, mpich.target, mpich, true);
  define_tune(app, ucx.target, ucx, false);
  define_tune(app, oshmem.target, oshmem, false);
  define_tune(app, libfabric.target, libfabric, false);
  TuneOptions gasnet{.target = "gasnet"};
  define_tune(app, gasnet.target, gasnet, false);
  TryOptions trying;
  define_try(app, trying);
  SweepOptions sweep;
  define_sweep(app, sweep);
  Export exporting;
  define_export(app, exporting);
  // For agents, not for people.
  CLI::App* const work = app.add_subcommand("work", "Tune as stripline-agent asks")->group("");
  uint32_t largest_job = 0;
  add_largest_job(*work, largest_job);
  if (const auto end = read_command_line(app, argc, argv)) return *end;

  if (*work) return work_command(largest_job);
  if (*list) return finish(list_command(list_json));
  if (app.got_subcommand("export")) {
    const CLI::App* const group = app.get_subcommand("export");
    if (group->got_subcommand("write")) return finish(write_command(exporting.write));
    if (group->got_subcommand("check")) return finish(check_command(exporting.check));
    if (group->got_subcommand("install")) return finish(install_command(exporting.install));
    if (group->got_subcommand("uninstall")) return finish(uninstall_command(exporting.uninstall));
    if (group->got_subcommand("pack")) return finish(pack_command(exporting.pack));
    if (group->got_subcommand("report")) return finish(report_command(exporting.report));
    if (group->got_subcommand("convert")) return finish(convert_command(exporting.convert));
    if (group->got_subcommand("unpack")) return finish(unpack_command(exporting.unpack));
    const UniqueFd signals = catch_cancel_signals();
    exporting.verify.cancel_fd = signals.get();
    return finish(verify_command(exporting.verify));
  }
  const UniqueFd signals = catch_cancel_signals();
  if (app.got_subcommand("try")) {
    trying.cancel_fd = signals.get();
    return finish(try_command(trying));
  }
  const bool sweeps = app.got_subcommand("sweep");
  TuneOptions* chosen = &openmpi;
  for (TuneOptions* const one : {&mpich, &ucx, &oshmem, &libfabric, &gasnet}) {
    if (app.got_subcommand(one->target)) chosen = one;
  }
  TuneOptions& options = sweeps ? sweep.tune : *chosen;
  std::ranges::sort(options.ranks);
  options.ranks.erase(std::unique(options.ranks.begin(), options.ranks.end()), options.ranks.end());
  options.cancel_fd = signals.get();
  return finish(sweeps ? sweep_command(sweep) : tune_command(options));
}
