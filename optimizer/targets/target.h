// What a target is: another runtime that people run, with what it can be asked to do. A descriptor
// is constant data of a target's folder; registry.h lists them. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "optimizer/targets/candidate.h"
#include "optimizer/targets/collectives.h"

namespace stripline::targets {

enum class KnobKind : uint8_t {
  count,   ///< a whole number
  bytes,   ///< a whole number of bytes
  flag,    ///< two of the words in `values`, as the target writes them
  choice,  ///< one of the words in `values`
  text,    ///< anything on one line: never searched, only written where a user gives it
};

/// The path between ranks that a knob acts on.
enum class Path : uint8_t { any, shared_memory, tcp };
std::string_view to_string(Path path);  ///< "any", "shm", "tcp"

/// One setting of a target, in the target's own terms.
struct Knob {
  std::string_view name;
  KnobKind kind = KnobKind::count;
  std::string_view default_value;  ///< of the versions that were tried, as the target writes it
  /// The range that is accepted, of numbers only.
  uint64_t least = 0;
  uint64_t most = 0;
  /// Separated by blanks: what a search tries besides the default; of a flag and a choice, all.
  std::string_view values;
  Path path = Path::any;
  /// Bytes of memory for each peer that one unit of the value takes: the eager limit times the
  /// number of buffers of that size, say. 0: it takes none.
  uint32_t memory_per_peer = 0;
  std::string_view meaning;  ///< one line
  /// How name, default and range were found, in a few words.
  std::string_view found;

  /// This one with a path, and memory for each peer.
  constexpr Knob on(Path where, uint32_t memory = 0) const {
    Knob knob = *this;
    knob.path = where;
    knob.memory_per_peer = memory;
    return knob;
  }
};

struct NumberRange {
  uint64_t least = 0;
  uint64_t most = 0;
};

/// Rows of the tables of targets: knobs that are numbers. `range` is what is accepted, `values` are
/// tried besides the default.
constexpr Knob bytes_knob(std::string_view name, std::string_view default_value, NumberRange range,
                          std::string_view values, std::string_view meaning,
                          std::string_view found) {
  return {.name = name,
          .kind = KnobKind::bytes,
          .default_value = default_value,
          .least = range.least,
          .most = range.most,
          .values = values,
          .meaning = meaning,
          .found = found};
}
constexpr Knob count_knob(std::string_view name, std::string_view default_value, NumberRange range,
                          std::string_view values, std::string_view meaning,
                          std::string_view found) {
  Knob knob = bytes_knob(name, default_value, range, values, meaning, found);
  knob.kind = KnobKind::count;
  return knob;
}

/// A value of a knob.
struct Setting {
  std::string name;
  std::string value;
  bool operator==(const Setting&) const = default;
};

/// How far a target goes.
enum class Support : uint8_t {
  tuned,     ///< measured, decided and validated in the target
  exported,  ///< its files are written, but nothing here has measured them in the target
};

/// What a target's knobs are looked at by, besides what programs do.
enum class Operations : uint8_t {
  messages,     ///< messages and collectives of MPI
  nonblocking,  ///< these, and collectives that are begun and then waited for
  one_sided,    ///< messages and collectives, and puts, gets and sums (accumulate) of MPI
  symmetric,    ///< puts, gets and atomic operations of OpenSHMEM
  fabric,       ///< messages and reads of libfabric
  /// Puts and gets, strided ones too, and collectives of GASNet-EX.
  remote_memory,
};
constexpr bool is_mpi(Operations operations) {
  return operations == Operations::messages || operations == Operations::nonblocking ||
         operations == Operations::one_sided;
}
constexpr bool has_gets(Operations operations) {
  return operations != Operations::messages && operations != Operations::nonblocking;
}

struct Target {
  std::string_view name;   ///< "openmpi", of command lines
  std::string_view title;  ///< "Open MPI", of texts
  Support support = Support::exported;
  /// Versions that were tuned, or by which files were seen to be read.
  std::span<const std::string_view> tried;
  /// The command that prints the version, with blanks between words, and what is printed before it.
  /// Empty: it cannot be detected.
  std::string_view version_command;
  std::string_view version_marker;
  std::span<const Knob> knobs;
  /// "NAME=VALUE" of knobs that have to slow some operations down, with blanks between, by which a
  /// target shows that it takes the settings of a file. They are measured, and never exported.
  std::string_view probe_settings;
  Operations operations = Operations::messages;
  /// The alternatives of a collective operation; the first one is the target's default. Null where
  /// a target has no choice by operation.
  std::vector<Candidate> (*candidates)(Collective collective) = nullptr;
  /// True if a choice may depend on the number of ranks, or holds for a collective as a whole.
  bool choice_by_ranks = false;
  /// Says if it may depend on the size of a call, too. Null: never.
  bool (*choice_by_size)(Collective collective) = nullptr;
};

/// What decisions about a collective are made for, each: a cell, all sizes of a number of ranks, or
/// all of a collective.
enum class Scope : uint8_t { cell, ranks, collective };
Scope scope_of(const Target& target, Collective collective);

/// The words of a list that blanks separate, as Knob::values.
std::vector<std::string_view> words_of(std::string_view list);

/// Whether a knob is looked at on a path; where a target chooses itself, every one is.
bool acts_on(const Knob& knob, Path path);

/// The target's probe_settings whose knobs act on a path.
std::vector<Setting> probes_on(const Target& target, Path path);

/// Gives the setting of this name another value, or adds it.
void put_setting(std::vector<Setting>& settings, const Setting& setting);

/// The knob of this name, or null.
const Knob* find_knob(const Target& target, std::string_view name);

/// Checks that a value is what a knob takes. Errors: invalid_argument, which names the knob, the
/// value and what it takes.
Status check_value(const Knob& knob, std::string_view value);

/// Memory that a value takes beyond the default on each rank of a job with this many ranks, in
/// bytes; saturates. 0 for what is not a number, or takes none; a default that is not a number
/// counts as taking none.
uint64_t memory_of(const Knob& knob, std::string_view value, uint64_t ranks);

/// Errors: resource_exhausted where the settings take more than `most_bytes` beyond the defaults on
/// each rank of a job of this many ranks; names the knob that takes most.
Status check_memory(const Target& target, std::span<const Setting> settings, uint64_t ranks,
                    uint64_t most_bytes);

}  // namespace stripline::targets
