#include "optimizer/targets/mpich/mpich.h"

#include <algorithm>
#include <string>

#include "optimizer/targets/mpich/selection_file.h"

namespace stripline::targets::mpich {
namespace {

constexpr std::string_view kTried[] = {"4.0.2"};

constexpr const char* kVariables = "MPI_T and mpivars of 4.0.2";

// Words in the order of their numbers (MPI_T), from "auto" on, without those that MPICH only takes
// itself.
constexpr Knob algorithm_knob(std::string_view name, std::string_view words) {
  return {.name = name,
          .kind = KnobKind::choice,
          .default_value = "auto",
          .values = words,
          .meaning = "the algorithm of all communicators and sizes",
          .found = kVariables};
}

constexpr uint64_t kGiB = uint64_t{1} << 30;

constexpr Knob threshold(std::string_view name, std::string_view value, std::string_view values,
                         std::string_view meaning) {
  return bytes_knob(name, value, {1, kGiB}, values, meaning, kVariables);
}

constexpr Knob kKnobs[] = {
    {.name = kSelectionVariable,
     .kind = KnobKind::text,
     .default_value = "",
     .meaning = "the file of selections of algorithms",
     .found = kVariables},
    algorithm_knob("MPIR_CVAR_ALLGATHER_INTRA_ALGORITHM", "auto brucks nb recursive_doubling ring"),
    algorithm_knob("MPIR_CVAR_ALLGATHERV_INTRA_ALGORITHM",
                   "auto brucks nb recursive_doubling ring"),
    algorithm_knob("MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM",
                   "auto nb smp recursive_doubling reduce_scatter_allgather"),
    algorithm_knob("MPIR_CVAR_ALLTOALL_INTRA_ALGORITHM",
                   "auto brucks nb pairwise pairwise_sendrecv_replace scattered"),
    algorithm_knob("MPIR_CVAR_ALLTOALLV_INTRA_ALGORITHM",
                   "auto nb pairwise_sendrecv_replace scattered"),
    algorithm_knob("MPIR_CVAR_BARRIER_INTRA_ALGORITHM", "auto nb smp dissemination"),
    algorithm_knob("MPIR_CVAR_BCAST_INTRA_ALGORITHM",
                   "auto binomial nb smp scatter_recursive_doubling_allgather "
                   "scatter_ring_allgather"),
    algorithm_knob("MPIR_CVAR_EXSCAN_INTRA_ALGORITHM", "auto nb recursive_doubling"),
    algorithm_knob("MPIR_CVAR_GATHER_INTRA_ALGORITHM", "auto binomial nb"),
    algorithm_knob("MPIR_CVAR_REDUCE_INTRA_ALGORITHM",
                   "auto binomial nb smp reduce_scatter_gather"),
    algorithm_knob("MPIR_CVAR_REDUCE_SCATTER_INTRA_ALGORITHM",
                   "auto nb noncommutative pairwise recursive_doubling recursive_halving"),
    algorithm_knob("MPIR_CVAR_REDUCE_SCATTER_BLOCK_INTRA_ALGORITHM",
                   "auto noncommutative recursive_doubling pairwise recursive_halving nb"),
    algorithm_knob("MPIR_CVAR_SCAN_INTRA_ALGORITHM", "auto nb smp recursive_doubling"),
    algorithm_knob("MPIR_CVAR_SCATTER_INTRA_ALGORITHM", "auto binomial nb"),
    // The selection decides blocking operations. These are of the algorithm sched_auto of
    // nonblocking ones, which it names within a node for two of them.
    threshold("MPIR_CVAR_BCAST_SHORT_MSG_SIZE", "12288", "2048 65536",
              "MPI_Ibcast of 8 ranks and more: smaller messages go along a binomial tree"),
    threshold("MPIR_CVAR_BCAST_LONG_MSG_SIZE", "524288", "65536",
              "MPI_Ibcast of 8 ranks and more: larger messages go around a ring"),
    threshold("MPIR_CVAR_REDUCE_SHORT_MSG_SIZE", "2048", "512 16384",
              "MPI_Ireduce: smaller messages are reduced along a binomial tree"),
    threshold("MPIR_CVAR_ALLREDUCE_SHORT_MSG_SIZE", "2048", "",
              "sched_auto: smaller messages are reduced by recursive doubling"),
    threshold("MPIR_CVAR_ALLGATHER_SHORT_MSG_SIZE", "81920", "",
              "sched_auto: smaller totals are gathered by Bruck's algorithm"),
    threshold("MPIR_CVAR_ALLTOALL_SHORT_MSG_SIZE", "256", "",
              "sched_auto: smaller messages to each are exchanged by Bruck's algorithm"),
    threshold("MPIR_CVAR_ALLTOALL_MEDIUM_MSG_SIZE", "32768", "",
              "sched_auto: larger messages to each are exchanged in pairs"),
    count_knob("MPIR_CVAR_ALLTOALL_THROTTLE", "32", {0, 1 << 16}, "4",
               "messages of an alltoall in flight at a time", kVariables),
};

std::string variable_of(Collective collective) {
  std::string name(to_string(collective));
  std::ranges::transform(name, name.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return "MPIR_CVAR_" + name + "_INTRA_ALGORITHM";
}

// For calls that work in place only; or for communicators over several nodes, where the default
// decides it.
bool left_out(std::string_view word) {
  return word == "pairwise_sendrecv_replace" || word == "smp";
}

// What MPICH's coll_algorithms.txt and its sources restrict to powers of two. With other numbers of
// ranks the variable of an algorithm leads to the default, or ends the program, as a selection that
// names it does.
bool needs_power_of_two(Collective collective, std::string_view word) {
  switch (collective) {
    case Collective::allgather:
    case Collective::allgatherv:
      return word == "recursive_doubling";
    case Collective::bcast:
      return word == "scatter_recursive_doubling_allgather";
    case Collective::reduce_scatter:
    case Collective::reduce_scatter_block:
      return word == "noncommutative";
    default:
      return false;
  }
}

}  // namespace

std::vector<Candidate> candidates(Collective collective) {
  const std::string variable = variable_of(collective);
  std::vector<Candidate> all;
  const Knob* const knob = find_knob(target(), variable);
  if (knob == nullptr) return {Candidate{.name = "default"}};
  const auto words = words_of(knob->values);
  for (int id = 0; id < static_cast<int>(words.size()); ++id) {
    const std::string_view word = words[static_cast<size_t>(id)];
    if (left_out(word)) continue;
    Candidate candidate{.name = id == 0 ? "default" : std::string(word), .id = id};
    candidate.select.emplace_back(variable, id);
    candidate.power_of_two_ranks = needs_power_of_two(collective, word);
    all.push_back(std::move(candidate));
  }
  return all;
}

namespace {

// What ends with the words of a description, in their order. Its lines have been put together: a
// word is followed by blanks and "- Force" or "- Internal", and preceded by the text of the one
// before.
std::vector<std::string_view> words_described(std::string_view line) {
  std::vector<std::string_view> words;
  for (size_t at = line.find("- "); at != std::string_view::npos; at = line.find("- ", at + 1)) {
    const std::string_view behind = line.substr(at + 2);
    if (!behind.starts_with("Force") && !behind.starts_with("Internal")) continue;
    const std::string_view before = line.substr(0, at);
    const size_t end = before.find_last_not_of(' ');
    if (end == std::string_view::npos || end + 1 == before.size()) continue;
    words.push_back(before.substr(0, end + 1));
  }
  return words;
}

// "brucks" does not end "k_brucks".
bool ends_with_word(std::string_view text, std::string_view word) {
  if (!text.ends_with(word)) return false;
  text.remove_suffix(word.size());
  return text.empty() || text.back() != '_';
}

// The line of a variable: "NAME =0\tSCOPE...", where it is described.
std::string_view line_of(std::string_view output, const std::string& variable) {
  for (size_t at = output.find(variable); at != std::string_view::npos;
       at = output.find(variable, at + 1)) {
    const std::string_view line = output.substr(at, output.substr(at).find('\n'));
    const std::string_view rest = line.substr(variable.size());
    const bool whole = rest.starts_with('=') || rest.starts_with(' ');
    if (whole && !words_described(line).empty()) return line;
  }
  return {};
}

}  // namespace

Renumbering renumbering(std::string_view mpivars) {
  Renumbering result;
  for (const Collective collective : kCollectives) {
    const std::string variable = variable_of(collective);
    const auto words = words_described(line_of(mpivars, variable));
    for (const Candidate& candidate : candidates(collective)) {
      const std::string_view word = candidate.id == 0 ? "auto" : std::string_view(candidate.name);
      const auto found = std::ranges::find_if(
          words, [&](std::string_view text) { return ends_with_word(text, word); });
      const auto number = static_cast<int64_t>(found - words.begin());
      if (found == words.end()) {
        result.unknown.insert(variable);
      } else if (number != candidate.id) {
        result.numbers[{variable, candidate.id}] = number;
      }
    }
  }
  return result;
}

const Target& target() {
  static const Target kTarget{.name = "mpich",
                              .title = "MPICH",
                              .support = Support::tuned,
                              .tried = kTried,
                              .version_command = "mpichversion",
                              .version_marker = "MPICH Version",
                              .knobs = kKnobs,
                              // A nonblocking operation and a wait in place of each.
                              .probe_settings = "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM=nb",
                              .operations = Operations::nonblocking,
                              .candidates = candidates,
                              .choice_by_ranks = true,
                              .choice_by_size = has_size};
  return kTarget;
}

}  // namespace stripline::targets::mpich
