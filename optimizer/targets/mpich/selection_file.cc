#include "optimizer/targets/mpich/selection_file.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <limits>
#include <optional>
#include <set>

#include "base/cut_text.h"
#include "base/number_text.h"

namespace stripline::targets::mpich {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kMostBytes = size_t{4} << 20;
constexpr const char* kAlgorithm = "algorithm";
constexpr uint64_t kMostNumber = std::numeric_limits<int>::max();

constexpr std::string_view kAllCollectives[] = {"bcast",
                                                "allreduce",
                                                "allgather",
                                                "allgatherv",
                                                "reduce",
                                                "reduce_scatter",
                                                "reduce_scatter_block",
                                                "gather",
                                                "scatter",
                                                "gatherv",
                                                "scatterv",
                                                "scan",
                                                "exscan",
                                                "barrier",
                                                "alltoall",
                                                "alltoallv",
                                                "alltoallw",
                                                "neighbor_allgather",
                                                "neighbor_allgatherv",
                                                "neighbor_alltoall",
                                                "neighbor_alltoallv",
                                                "neighbor_alltoallw",
                                                "ibarrier",
                                                "iallreduce",
                                                "iallgather",
                                                "iallgatherv",
                                                "ibcast",
                                                "ireduce",
                                                "ireduce_scatter",
                                                "igather",
                                                "iscatter",
                                                "igatherv",
                                                "iscatterv",
                                                "iexscan",
                                                "ialltoall",
                                                "ialltoallv",
                                                "ialltoallw",
                                                "ireduce_scatter_block",
                                                "iscan",
                                                "ineighbor_allgather",
                                                "ineighbor_allgatherv",
                                                "ineighbor_alltoall",
                                                "ineighbor_alltoallv",
                                                "ineighbor_alltoallw"};

// "comm_size<=8": a name, an operator and a value.
struct Condition {
  std::string_view name;
  std::string_view operation;  // "=", "<" or "<="
  std::string_view value;
};

std::optional<Condition> condition_of(std::string_view key) {
  const size_t at = key.find_first_of("<=");
  if (at == std::string_view::npos || at == 0) return std::nullopt;
  const size_t length = key.substr(at).starts_with("<=") ? 2 : 1;
  return Condition{key.substr(0, at), key.substr(at, length), key.substr(at + length)};
}

std::optional<uint64_t> number_of(std::string_view text) {
  const auto number = number_from_text<uint64_t>(text);
  return number && *number <= kMostNumber ? number : std::nullopt;
}

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

bool has_average(std::string_view collective) {
  if (collective.starts_with('i')) collective.remove_prefix(1);
  return is_one_of(collective, {"allreduce", "bcast", "reduce", "alltoall"});
}

// True if MPICH counts what all ranks get together, from arguments that are the same on all of
// them: those of gather and scatter, and the counts of alltoallv, need not be.
bool has_total(Collective collective) {
  return collective == Collective::allgather || collective == Collective::allgatherv ||
         collective == Collective::reduce_scatter || collective == Collective::reduce_scatter_block;
}

// True if MPICH has the condition, with this operator and value, for the collective.
bool is_known(const Condition& one, std::string_view collective, Grammar grammar) {
  const auto& [name, operation, value] = one;
  const bool later = grammar != Grammar::v4_0;
  const bool number = number_of(value).has_value();
  const bool equal = operation == "=";
  if (name == "comm_type") return equal && is_one_of(value, {"intra", "inter"});
  if (name == "comm_size") {
    return equal ? is_one_of(value, {"pow2", "node_comm_size", "any"}) : number;
  }
  if (name == "comm_hierarchy") {
    return equal && is_one_of(value, {"parent", "node_roots", "node", "flat", "any"});
  }
  if (name == "avg_msg_size" && !has_average(collective)) return false;
  if (name == "avg_msg_size" || name == "total_msg_size") return equal ? value == "any" : number;
  if (name == "count") {
    if (equal) return value == "any";
    return operation == "<=" ? number : value == "pow2";
  }
  if (name == "per_proc_msg_size") {
    return later && has_average(collective) && (equal ? value == "any" : number);
  }
  if (name == "comm_avg_ppn") return (operation == "<=" || (later && operation == "<")) && number;
  if (name == "is_block_regular" && !collective.ends_with("reduce_scatter")) return false;
  return equal && is_one_of(value, {"yes", "no"}) &&
         is_one_of(name, {"is_commutative", "is_op_built_in", "is_sendbuf_inplace",
                          "is_block_regular", "is_node_consecutive", "is_multi_threaded"});
}

// "MPIR_Bcast_intra_binomial", "MPIR_Ibcast_sched_auto", "MPIR_Barrier_allcomm_nb".
std::string function_prefix(std::string_view collective) {
  std::string name(collective);
  if (!name.empty()) name.front() = static_cast<char>(std::toupper(name.front()));
  return "MPIR_" + name + "_";
}

// csel_container.c of 4.1 to 4.3.
bool is_later_parameter(std::string_view name) {
  return is_one_of(
      name, {"is_non_blocking", "topo_overhead", "topo_diff_groups", "topo_diff_switches",
             "topo_same_switches", "recv_pre_posted", "buffer_per_child", "maxbytes", "bblock",
             "batch_size", "radix", "per_nbr_buffer", "single_phase_recv", "throttle"});
}

// A checked walk over conditions. `depth` bounds it.
class Checker {
 public:
  Checker(std::string_view what, std::string_view collective, Grammar grammar)
      : what_(what), collective_(collective), grammar_(grammar) {}

  Status check(const Selection& node, int depth) const {
    if (!node.is_object() || node.empty()) {
      return complain("has conditions that lead to no algorithm");
    }
    if (depth > 20) return complain("has conditions within conditions more than 20 deep");
    if (node.begin().key().starts_with("algorithm=")) return check_leaf(node);
    for (const auto& [key, below] : node.items()) {
      const auto condition = condition_of(key);
      if (!condition || !is_known(*condition, collective_, grammar_)) {
        return complain(quoted_text(key) + " is not a condition that this MPICH has for it");
      }
      STRIPLINE_RETURN_IF_ERROR(check(below, depth + 1));
    }
    if (is_complete(node)) return {};
    return complain("has conditions of which a call may meet none; MPICH would abort");
  }

 private:
  Error complain(const std::string& problem) const {
    return {ErrorCode::data_loss,
            std::string(what_) + ": " + std::string(collective_) + ": " + problem};
  }

  Status check_leaf(const Selection& node) const {
    const std::string name = node.begin().key().substr(std::string_view("algorithm=").size());
    if (node.size() != 1) return complain("has conditions beside the algorithm " + name);
    if (!name.starts_with(function_prefix(collective_))) {
      return complain(quoted_text(name) + " is not one of its algorithms");
    }
    const Selection& parameters = node.begin().value();
    if (!parameters.is_object()) return complain(name + " has parameters that are not an object");
    for (const auto& [key, below] : parameters.items()) {
      const auto parameter = condition_of(key);
      const bool known = parameter && parameter->operation == "=" &&
                         (is_one_of(parameter->name, {"k", "chunk_size", "tree_type"}) ||
                          (grammar_ != Grammar::v4_0 && is_later_parameter(parameter->name)));
      if (!known) return complain(quoted_text(key) + " is not a parameter of an algorithm");
    }
    return {};
  }

  // The last condition holds for all that met none, or two of them are each other's opposite.
  static bool is_complete(const Selection& node) {
    std::set<std::string> keys;
    std::string last;
    for (const auto& [key, below] : node.items()) {
      keys.insert(key);
      last = key;
    }
    if (last.ends_with("=any")) return true;
    const auto condition = condition_of(last);
    for (const auto& [one, other] :
         {std::pair("yes", "no"), {"no", "yes"}, {"intra", "inter"}, {"inter", "intra"}}) {
      if (condition->value == one &&
          keys.contains(std::string(condition->name) + "=" + std::string(other))) {
        return true;
      }
    }
    return false;
  }

  std::string_view what_;
  std::string_view collective_;
  Grammar grammar_;
};

bool holds(const Condition& one, const Call& call) {
  const std::string_view name = one.name;
  const std::string_view value = one.value;
  if (value == "any") return true;
  const auto number = number_of(value).value_or(0);
  const uint32_t of_node = call.ranks_per_node == 0 ? call.ranks : call.ranks_per_node;
  const auto compares = [&](uint64_t given) {
    return one.operation == "<=" ? given <= number : given < number;
  };
  const auto is = [&](bool given) { return given == (value == "yes"); };
  if (name == "comm_type") return value == "intra";
  if (name == "comm_size") {
    if (value == "pow2") return std::has_single_bit(call.ranks);
    return value == "node_comm_size" ? of_node == call.ranks : compares(call.ranks);
  }
  if (name == "comm_hierarchy") return value == "parent" && of_node > 1 && of_node < call.ranks;
  if (name == "avg_msg_size") return compares(call.average_bytes);
  if (name == "total_msg_size") return compares(call.total_bytes);
  if (name == "per_proc_msg_size") return compares(call.average_bytes / call.ranks);
  if (name == "count") {
    return value == "pow2" ? call.count < std::bit_floor(call.ranks) : compares(call.count);
  }
  if (name == "comm_avg_ppn") return compares(of_node);
  if (name == "is_commutative") return is(call.commutative);
  if (name == "is_op_built_in") return is(call.built_in);
  if (name == "is_sendbuf_inplace") return is(call.in_place);
  return is(false);
}

Selection leaf(const std::string& function) {
  return {{std::string(kAlgorithm) + "=" + function, Selection::object()}};
}

// The algorithm where a call meets what it needs, else what the library had.
Selection guarded(Collective collective, const Candidate& candidate, const Selection& before) {
  const std::string word = candidate.name;
  const std::string prefix = function_prefix(to_string(collective));
  const bool anywhere = word == "nb";
  Selection chosen = leaf(prefix + (anywhere ? "allcomm_nb" : "intra_" + word));
  const auto unless = [&](const char* condition, const char* bad, const char* good) {
    Selection both = Selection::object();
    both[std::string(condition) + bad] = before;
    both[std::string(condition) + good] = std::move(chosen);
    chosen = std::move(both);
  };
  if (collective == Collective::alltoall || collective == Collective::alltoallv) {
    unless("is_sendbuf_inplace=", "yes", "no");
  }
  const bool halves = word == "reduce_scatter_allgather" || word == "reduce_scatter_gather";
  if (halves) {
    unless("count", "<pow2", "=any");
    unless("is_op_built_in=", "no", "yes");
  }
  const bool scatters =
      collective == Collective::reduce_scatter || collective == Collective::reduce_scatter_block;
  if (scatters && (word == "pairwise" || word == "recursive_halving")) {
    unless("is_commutative=", "no", "yes");
  }
  // Blocks of reduce_scatter_block are regular, and MPICH aborts where it is asked whether they
  // are.
  if (collective == Collective::reduce_scatter && word == "noncommutative") {
    unless("is_block_regular=", "no", "yes");
  }
  return chosen;
}

std::string at_most(const char* name, uint64_t number) {
  return std::string(name) + "<=" + std::to_string(std::min(number, kMostNumber));
}

Selection by_size(Collective collective, const RankRules& rules, const Selection& before) {
  const SizeRange& first = rules.ranges.front();
  const bool every_size = first.first == 0 && first.last == std::numeric_limits<uint64_t>::max();
  if (every_size) return guarded(collective, first.candidate, before);
  const bool total = has_total(collective);
  const char* const name = total ? "total_msg_size" : "avg_msg_size";
  const uint64_t ranks = total ? rules.ranks : 1;
  const auto counted = [&](uint64_t bytes) {
    uint64_t product = 0;
    return __builtin_mul_overflow(bytes, ranks, &product) ? kMostNumber : product;
  };
  Selection sizes = Selection::object();
  uint64_t next = 0;
  for (const SizeRange& range : rules.ranges) {
    // Totals between two ranges that meet are of calls of uneven counts.
    const uint64_t begin = counted(range.first);
    if (begin > next) sizes[at_most(name, begin - 1)] = before;
    sizes[at_most(name, counted(range.last))] = guarded(collective, range.candidate, before);
    next = counted(range.last) + 1;
  }
  sizes[std::string(name) + "=any"] = before;
  return sizes;
}

// The same where ranks are on nodes as they were when it was measured.
Selection by_nodes(uint32_t ranks, bool one_node, Selection chosen, const Selection& before) {
  Selection both = Selection::object();
  if (one_node) {
    both[at_most("comm_avg_ppn", ranks - 1)] = before;
    both["comm_size=any"] = std::move(chosen);
  } else {
    both[at_most("comm_avg_ppn", 1)] = std::move(chosen);
    both["comm_size=any"] = before;
  }
  return both;
}

}  // namespace

Result<Grammar> grammar_of(const Version& version) {
  const auto [first, second, third] = version.numbers;
  if (first == 4 && second == 0) return Grammar::v4_0;
  if (first == 4 && second <= 3) return Grammar::v4_1;
  return Error(ErrorCode::unimplemented, "selections of algorithms of MPICH " + to_string(version) +
                                             " are not known here; there are 4.0 to 4.3");
}

std::span<const std::string_view> all_collectives() { return kAllCollectives; }

bool has_size(Collective collective) {
  return has_average(to_string(collective)) || has_total(collective);
}

Result<Selection> read_selection(std::string_view text, std::string_view what, Grammar grammar) {
  if (text.size() > kMostBytes) {
    return Error(ErrorCode::data_loss, std::string(what) + " is too large for a selection");
  }
  if (!text.empty() && text.size() % kPage == 0) {
    return Error(ErrorCode::data_loss,
                 std::string(what) + " has " + std::to_string(text.size()) +
                     " bytes, a multiple of 4096, beyond whose end MPICH reads; append a blank");
  }
  // This one bounds nesting, and refuses a key that comes twice.
  STRIPLINE_RETURN_IF_ERROR(parse_json(text, what));
  Selection selection = Selection::parse(text, nullptr, false);
  if (!selection.is_object()) {
    return Error(ErrorCode::data_loss, std::string(what) + " is not an object of collectives");
  }
  for (const auto& [key, node] : selection.items()) {
    const std::string_view name =
        std::string_view(key).substr(std::min(key.find('=') + 1, key.size()));
    if (!key.starts_with("collective=") ||
        std::ranges::find(kAllCollectives, name) == std::end(kAllCollectives)) {
      return Error(ErrorCode::data_loss,
                   std::string(what) + ": " + quoted_text(key) + " is not a collective of MPICH");
    }
    STRIPLINE_RETURN_IF_ERROR(Checker(what, name, grammar).check(node, 0));
  }
  for (const std::string_view name : kAllCollectives) {
    if (selection.contains("collective=" + std::string(name))) continue;
    return Error(ErrorCode::data_loss, std::string(what) + " lacks the collective " +
                                           std::string(name) +
                                           "; MPICH would abort at its first "
                                           "call");
  }
  return selection;
}

Result<std::string> own_selection(std::string_view library, Grammar grammar) {
  constexpr std::string_view kBegin = "{\"collective=";
  for (size_t at = library.find(kBegin); at != std::string_view::npos;
       at = library.find(kBegin, at + 1)) {
    const size_t end = library.find('\0', at);
    if (end == std::string_view::npos) break;
    std::string text(library.substr(at, end - at));
    // There are others, for layers below, which lack most collectives.
    if (text.size() % kPage == 0) text += '\n';
    if (read_selection(text, "the library's selection", grammar).ok()) return text;
  }
  return Error(ErrorCode::not_found,
               "this MPICH library holds no selection of algorithms that is known here");
}

Result<Selection> selection_with(const Selection& own, const std::vector<CollectiveRules>& rules,
                                 Grammar grammar) {
  Selection selection = own;
  for (const CollectiveRules& of_one : rules) {
    if (of_one.by_ranks.empty()) continue;
    const std::string key = "collective=" + std::string(to_string(of_one.collective));
    if (!selection.contains(key)) {
      return Error(ErrorCode::invalid_argument, "the selection has no '" + key + "'");
    }
    Selection& collective = selection[key];
    Selection& place =
        collective.contains("comm_type=intra") ? collective["comm_type=intra"] : collective;
    const Selection before = place;
    Selection ranks = Selection::object();
    uint32_t next = 0;
    for (const RankRules& of_ranks : of_one.by_ranks) {
      if (of_ranks.ranks > next) ranks[at_most("comm_size", of_ranks.ranks - 1)] = before;
      ranks[at_most("comm_size", of_ranks.ranks)] = by_nodes(
          of_ranks.ranks, of_one.one_node, by_size(of_one.collective, of_ranks, before), before);
      next = of_ranks.ranks + 1;
    }
    ranks["comm_size=any"] = before;
    place = std::move(ranks);
  }
  // What a rule named has to be an algorithm, and every condition one that is known.
  STRIPLINE_RETURN_IF_ERROR([&]() -> Status {
    const auto read = read_selection(write_selection(selection), "the selection", grammar);
    if (read.ok()) return {};
    return Error(ErrorCode::invalid_argument, read.error().message());
  }());
  return selection;
}

std::string write_selection(const Selection& selection) {
  std::string text = selection.dump(1) + "\n";
  if (text.size() % kPage == 0) text += '\n';
  return text;
}

std::string algorithm_for(const Selection& selection, const Call& call) {
  const auto found = selection.find("collective=" + std::string(to_string(call.collective)));
  if (found == selection.end()) return {};
  const Selection* node = &*found;
  while (node->is_object() && !node->empty()) {
    const Selection* below = nullptr;
    for (const auto& [key, value] : node->items()) {
      const auto condition = condition_of(key);
      if (!condition) return {};
      if (condition->name == kAlgorithm) return std::string(condition->value);
      if (below == nullptr && holds(*condition, call)) below = &value;
    }
    if (below == nullptr) return {};
    node = below;
  }
  return {};
}

}  // namespace stripline::targets::mpich
