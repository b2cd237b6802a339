#include "runtime/rma/introduction.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <set>
#include <utility>

#include "base/quantity.h"
#include "optimizer/model/model_json.h"
#include "runtime/fabric/ofi/ofi_variables.h"
#include "runtime/machine/job_table.h"
#include "runtime/rma/options.h"

namespace stripline::rma {
namespace {

/// Values that the program has put in place of the environment's.
void note_program_options(const Options& options, std::vector<Setting>& settings) {
  const auto environment = Options::from_environment();
  const Options expected = environment.ok() ? *environment : Options{};
  const auto note = [&](const char* name, bool differs, const std::string& value) {
    const auto found = std::ranges::find(settings, name, &Setting::name);
    if (differs && found != settings.end()) *found = {name, value, "program"};
  };
  note("STRIPLINE_FABRIC", options.fabric != expected.fabric, options.fabric);
  note("STRIPLINE_CLOCK", options.clock != expected.clock, options.clock);
  note("STRIPLINE_MODEL", options.model_path != expected.model_path, options.model_path);
  note("STRIPLINE_SEGMENT_BYTES", options.segment_bytes != expected.segment_bytes,
       std::to_string(options.segment_bytes));
  note("STRIPLINE_POPULATE", options.populate != expected.populate, options.populate ? "1" : "0");
  note("STRIPLINE_SEED", options.seed != expected.seed, std::to_string(options.seed));
  note("STRIPLINE_DEBUG", options.debug != expected.debug, options.debug ? "1" : "0");
  note("STRIPLINE_SAME_NODE", options.same_node != expected.same_node, options.same_node);
  note("STRIPLINE_PROGRESS", options.progress != expected.progress, options.progress);
  note("STRIPLINE_GUARD", options.guard != expected.guard, options.guard ? "1" : "0");
  note("STRIPLINE_LOAD_ESTIMATION", options.load_estimation != expected.load_estimation,
       options.load_estimation ? "1" : "0");
  note("STRIPLINE_TRACE", options.trace != expected.trace, options.trace);
  note("STRIPLINE_LOOP_BUFFERS", options.loop_buffer_bytes != expected.loop_buffer_bytes,
       std::to_string(options.loop_buffer_bytes));
  note("STRIPLINE_DATA_CACHE", options.data_cache != expected.data_cache,
       options.data_cache ? "1" : "0");
  note("STRIPLINE_BULK", options.bulk != expected.bulk, options.bulk ? "1" : "0");
  note("STRIPLINE_COALESCE", options.coalesce != expected.coalesce, options.coalesce ? "1" : "0");
  note("STRIPLINE_TUNING", options.tuning != expected.tuning, options.tuning);
  note("STRIPLINE_MODEL_MAY_NOT_FIT", options.model_may_not_fit != expected.model_may_not_fit,
       options.model_may_not_fit ? "1" : "0");
  note("STRIPLINE_VERBOSE", options.verbose != expected.verbose, options.verbose ? "1" : "0");
}

std::string description(const fabric::Info& info, const Options& options) {
  machine::RankDescription one = machine::describe_process();
  one.fabric = info.name;
  one.provider = info.provider;
  one.clock = info.clock;
  const auto interface = info.attributes.find("fabric.interface");
  if (interface != info.attributes.end()) one.interface = interface->second;
  one.segment_bytes = options.segment_bytes;
  note_program_options(options, one.settings);
  return one.encode();
}

// The variables, without those that are the host's own, as interfaces are.
std::string variables_of_libfabric() {
  fabric::LibfabricVariables variables = fabric::libfabric_variables();
  std::erase_if(variables, [](const auto& one) { return one.first.ends_with("_IFACE"); });
  return fabric::to_text(variables);
}

// Ranks that plan by different models would disagree on collectives and atomic operations. The file
// may have another name on another host.
Result<std::string> terms_of(const model::TunedModel* model) {
  if (model == nullptr) return std::string("none");
  STRIPLINE_ASSIGN_OR_RETURN(const std::string hash, model::content_sha256(*model));
  return model->name + "(sha256 " + hash.substr(0, 16) + ")";
}

}  // namespace

std::string Introduction::encode() const {
  return std::to_string(address.size()) + ":" + std::to_string(terms.size()) + ":" +
         std::to_string(handlers.size()) + ":" + std::to_string(model.size()) + ":" +
         std::to_string(variables.size()) + ":" + std::to_string(facts.size()) + ":" + address +
         terms + handlers + model + variables + facts + description;
}

Result<Introduction> Introduction::decode(std::string_view bytes) {
  // "LENGTH:", taken off `bytes`; false if it is not there or exceeds what follows.
  const auto take_length = [&bytes](size_t& length) {
    const auto [end, error] = std::from_chars(bytes.data(), bytes.data() + bytes.size(), length);
    const auto digits = static_cast<size_t>(end - bytes.data());
    if (error != std::errc() || digits == bytes.size() || *end != ':') return false;
    bytes.remove_prefix(digits + 1);
    return length <= bytes.size();
  };
  size_t address = 0;
  size_t terms = 0;
  size_t handlers = 0;
  size_t model = 0;
  size_t variables = 0;
  size_t facts = 0;
  const Error malformed(ErrorCode::data_loss,
                        "a rank introduces itself in another form; run one version of the program");
  if (!take_length(address) || !take_length(terms) || !take_length(handlers) ||
      !take_length(model) || !take_length(variables) || !take_length(facts)) {
    return malformed;
  }
  Introduction introduction;
  // The next `length` of the bytes; false if there are fewer.
  const auto take = [&bytes](size_t length, std::string& part) {
    if (length > bytes.size()) return false;
    part = bytes.substr(0, length);
    bytes.remove_prefix(length);
    return true;
  };
  if (!take(address, introduction.address) || !take(terms, introduction.terms) ||
      !take(handlers, introduction.handlers) || !take(model, introduction.model) ||
      !take(variables, introduction.variables) || !take(facts, introduction.facts)) {
    return malformed;
  }
  introduction.description = bytes;
  return introduction;
}

Status check_alike(const Introduction& mine, rank_t my_rank, const Introduction& theirs,
                   rank_t their_rank) {
  const auto differ = [&](const std::string& what_they_have, const std::string& what_i_have,
                          const std::string& advice) {
    return Error(ErrorCode::invalid_argument,
                 "rank " + std::to_string(their_rank) + " has " + what_they_have + ", and rank " +
                     std::to_string(my_rank) + " has " + what_i_have + "; " + advice);
  };
  if (theirs.terms != mine.terms) {
    return differ(theirs.terms, mine.terms, "these must be the same for all ranks");
  }
  if (theirs.handlers != mine.handlers) {
    return differ("a runtime of " + theirs.handlers, "one of " + mine.handlers,
                  "run one version of the program on all ranks");
  }
  return {};
}

std::string differing_variables(const std::vector<std::string>& of_ranks) {
  constexpr size_t kMostNamed = 3;
  std::string text;
  size_t others = 0;
  const auto shown = [](const std::string& variables) {
    return variables.empty() ? std::string("none") : variables;
  };
  for (size_t rank = 1; rank < of_ranks.size(); ++rank) {
    if (of_ranks[rank] == of_ranks[0]) continue;
    if (others++ >= kMostNamed) continue;
    text += ", rank " + std::to_string(rank) + " has " + shown(of_ranks[rank]);
  }
  if (others == 0) return {};
  if (others > kMostNamed) {
    text += ", and " + count_text(others - kMostNamed, "other rank") + " others than rank 0";
  }
  return "the ranks have different variables of libfabric: rank 0 has " + shown(of_ranks[0]) + text;
}

Result<Introduced> introduce(bootstrap::Bootstrap& job, const fabric::Fabric& fabric,
                             const Options& options, const model::TunedModel* model,
                             const std::string& handlers, std::span<std::byte> place) {
  STRIPLINE_ASSIGN_OR_RETURN(const std::string model_terms, terms_of(model));
  const std::string report = report_destination();
  const bool emulated = options.fabric.starts_with("emulated:");
  Introduced introduced;
  std::string digest;
  if (!emulated && model != nullptr) {
    introduced.facts = machine::machine_fingerprint(fabric.info());
    STRIPLINE_ASSIGN_OR_RETURN(digest, leave_facts(introduced.facts, place));
  }
  const std::string segment =
      options.segment_setting.empty()
          ? "STRIPLINE_SEGMENT_BYTES=" + std::to_string(options.segment_bytes)
          : options.segment_setting;
  const Introduction mine{fabric.local_address(),
                          options.verbose ? description(fabric.info(), options) : std::string(),
                          segment + " STRIPLINE_SAME_NODE=" + options.same_node +
                              " STRIPLINE_TUNING=" + options.tuning +
                              (options.debug ? " STRIPLINE_DEBUG=1" : " STRIPLINE_DEBUG=0") +
                              // Ranks compare at the same collective operations.
                              (options.guard ? "" : " STRIPLINE_GUARD=0") +
                              (options.model_may_not_fit ? " STRIPLINE_MODEL_MAY_NOT_FIT=1"
                                                         : " STRIPLINE_MODEL=" + model_terms) +
                              (report.empty() ? "" : " STRIPLINE_REPORT=" + report),
                          handlers,
                          model_terms,
                          emulated ? std::string() : variables_of_libfabric(),
                          digest};
  STRIPLINE_ASSIGN_OR_RETURN(const auto introductions, job.exchange(mine.encode()));
  std::vector<std::string>& addresses = introduced.addresses;
  std::vector<machine::RankDescription> described;
  std::vector<std::string> variables;
  bool all_left_facts = true;
  std::set<std::string> digests;
  for (const std::string& bytes : introductions) {
    STRIPLINE_ASSIGN_OR_RETURN(Introduction theirs, Introduction::decode(bytes));
    const auto rank = static_cast<rank_t>(addresses.size());
    STRIPLINE_RETURN_IF_ERROR(check_alike(mine, job.rank(), theirs, rank));
    if (theirs.model != mine.model && introduced.models_differ.empty()) {
      introduced.models_differ = "rank " + std::to_string(rank) + " has read " + theirs.model +
                                 ", and rank " + std::to_string(job.rank()) + " " + mine.model;
    }
    addresses.push_back(std::move(theirs.address));
    variables.push_back(std::move(theirs.variables));
    all_left_facts = all_left_facts && !theirs.facts.empty();
    if (digests.insert(theirs.facts).second) introduced.digests.push_back({rank, theirs.facts});
    if (theirs.description.empty()) introduced.all_described = false;
    if (!options.verbose || job.rank() != 0) continue;
    machine::RankDescription one{.host = "did not say"};  // where STRIPLINE_VERBOSE is not set
    if (!theirs.description.empty()) {
      STRIPLINE_ASSIGN_OR_RETURN(one, machine::RankDescription::decode(theirs.description));
    }
    described.push_back(std::move(one));
  }
  if (!all_left_facts) introduced.digests.clear();
  introduced.variables_differ = differing_variables(variables);
  if (job.rank() == 0 && !introduced.variables_differ.empty()) {
    std::fprintf(stderr,
                 "warning: %s; they may not reach each other, or one of them is slower: give all "
                 "the same\n",
                 introduced.variables_differ.c_str());
  }
  if (!described.empty()) std::fputs(machine::job_table(described).c_str(), stderr);
  return introduced;
}

}  // namespace stripline::rma
