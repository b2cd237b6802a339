#include "runtime/gather/schedule.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include <stripline/team.h>

#include "runtime/decide/surroundings.h"
#include "runtime/rma/context_state.h"

namespace stripline::gathers {
namespace {

uint64_t padded(uint64_t bytes) { return (bytes + 63) / 64 * 64; }

// What every rank tells every other one, once.
struct Told {
  uint64_t wanted = 0;      // elements that it is to send; 0: none
  uint64_t first = 0;       // of them
  uint64_t told = 0;        // places that follow; 0: all from the first one on
  uint64_t runs = 0;        // of elements side by side
  uint64_t landing = 0;     // offset of the place of the first turn
  uint64_t turn_bytes = 0;  // from there to the other one
  uint64_t flags = 0;       // offset of two words
  uint64_t credit = 0;      // offset of a word for what it says itself
};

class Agreement {
 public:
  Agreement(Context& context, const detail::GatherRequest& request, const GatherOptions& options,
            CallSite site)
      : context_(context), request_(request), options_(options), site_(site) {}

  Result<Schedule> make();

 private:
  std::string mistake() const;
  Status prepare();
  plan::GatherDecision decide_on(const OwnerReads& reads);
  void choose();
  void number_reads();
  Status allocate();
  Result<bool> agree_on(const Status& prepared) const;
  void tell(bool anyone_packs);
  void add_outgoing(rank_t reader, const Told& asked, std::span<const uint32_t> places);
  void settle_credits(std::span<const Told> asked);

  global_ptr<uint64_t> words() const { return made_.memory.reinterpret<uint64_t>(); }
  size_t first_credit() const { return 2 * made_.incoming.size(); }
  uint64_t element_bytes() const { return request_.element_bytes * options_.vectors; }

  Context& context_;
  const detail::GatherRequest& request_;
  const GatherOptions& options_;
  const CallSite site_;
  Schedule made_;
};

std::string Agreement::mistake() const {
  if (options_.vectors == 0) return "GatherOptions::vectors is 0; at least one array is gathered";
  if (request_.outside) {
    return "entry " + std::to_string(*request_.outside) + " of the index is element " +
           std::to_string(request_.outside_element) + " of an array of " +
           std::to_string(request_.shape.elements);
  }
  if (request_.most_elements > UINT32_MAX || request_.reads.size() > UINT32_MAX) {
    return "a rank has " + std::to_string(request_.most_elements) + " elements, and this one's " +
           "index " + std::to_string(request_.reads.size()) +
           " entries; both are at most 4294967295";
  }
  return {};
}

// The reader knows all that decides.
plan::GatherDecision Agreement::decide_on(const OwnerReads& reads) {
  const rma::Job& job = context_.state().job;
  plan::GatherRequest request;
  request.elements = reads.places.size();
  request.element_bytes = request_.element_bytes;
  request.vectors = options_.vectors;
  request.runs = reads.runs;
  request.span_bytes = reads.span() * request_.element_bytes;
  request.by_stores = context_.is_local(reads.owner);
  const model::Path path = job.path_to(reads.owner);
  request.surroundings = decide::surroundings_of(job.fabric().info(), plan::GatherRequest::kFacts,
                                                 {.path = path, .puts = true});
  const plan::CompiledPath* const known = options_.use_model ? job.compiled().path(path) : nullptr;
  plan::GatherDecision decision = plan::plan_gather(request, known);
  if (options_.method != GatherMethod::best) {
    decision = {.method = options_.method == GatherMethod::bound ? plan::GatherMethod::bound
                                                                 : plan::GatherMethod::pack,
                .reason = plan::Reason::forced};
  }
  if (made_.largest.request.bytes() < request.bytes()) {
    made_.largest = {request, decision, path};
  }
  return decision;
}

void Agreement::choose() {
  GatherStatistics& statistics = made_.statistics;
  uint64_t received = 0;
  for (const OwnerReads& reads : std::span(made_.inspection.owners).subspan(1)) {
    Incoming& in = made_.incoming.emplace_back();
    in.owner = reads.owner;
    in.bound = decide_on(reads).method == plan::GatherMethod::bound;
    in.first = received;
    in.elements = in.bound ? reads.span() : reads.places.size();
    received += in.elements;
    statistics.elements += reads.places.size();
    statistics.bound_owners += in.bound ? 1 : 0;
    statistics.elements_told += in.bound ? 0 : reads.places.size();
  }
  statistics.owners = made_.incoming.size();
  statistics.bytes_received = received * element_bytes();
  made_.turn_bytes = padded(statistics.bytes_received);
}

void Agreement::number_reads() {
  Inspection& found = made_.inspection;
  made_.numbers.resize(found.order.size());
  for (size_t k = 0; k < found.owners.front().end; ++k) {
    made_.numbers[found.order[k]] = found.slots[k];
  }
  for (size_t owner = 1; owner < found.owners.size(); ++owner) {
    const OwnerReads& reads = found.owners[owner];
    const Incoming& in = made_.incoming[owner - 1];
    const uint64_t before = request_.own_elements + in.first;
    for (size_t k = reads.begin; k < reads.end; ++k) {
      uint32_t& slot = found.slots[k];
      if (in.bound) slot = reads.places[slot] - reads.first();
      made_.numbers[found.order[k]] = static_cast<uint32_t>(before + slot);
    }
  }
}

// The flags of all owners, a credit for each rank that may read, and what is received.
Status Agreement::allocate() {
  if (context_.rank_n() == 1) return {};
  const uint64_t received = made_.statistics.bytes_received / element_bytes();
  if (request_.own_elements + received > UINT32_MAX) {
    return Error(ErrorCode::invalid_argument,
                 "this rank has and reads more than 2^32 elements together; gather parts of them");
  }
  const size_t word_bytes = padded((first_credit() + context_.rank_n()) * sizeof(uint64_t));
  STRIPLINE_ASSIGN_OR_RETURN(
      made_.memory, context_.allocate_local<std::byte>(word_bytes + 2 * made_.turn_bytes, site_));
  std::memset(context_.local(made_.memory), 0, word_bytes);
  made_.received = made_.memory + static_cast<std::ptrdiff_t>(word_bytes);
  for (size_t i = 0; i < made_.incoming.size(); ++i) {
    Incoming& in = made_.incoming[i];
    in.landing = {.first = made_.received + static_cast<std::ptrdiff_t>(in.first * element_bytes()),
                  .turn_bytes = made_.turn_bytes,
                  .flags = words() + static_cast<std::ptrdiff_t>(2 * i)};
  }
  return {};
}

Status Agreement::prepare() {
  if (const std::string wrong = mistake(); !wrong.empty()) {
    return Error(ErrorCode::invalid_argument, wrong);
  }
  made_.inspection = inspect(request_.reads, context_.rank_me(), context_.rank_n());
  choose();
  number_reads();
  return allocate();
}

// Whether any rank is sent packed elements; or why there is no plan, if any rank has none.
Result<bool> Agreement::agree_on(const Status& prepared) const {
  const auto code_of = [&](ErrorCode code) {
    return int64_t{!prepared.ok() && prepared.error().code() == code ? 1 : 0};
  };
  const int64_t vectors = options_.vectors;
  std::array<int64_t, 5> all = {
      code_of(ErrorCode::invalid_argument), code_of(ErrorCode::resource_exhausted),
      int64_t{made_.statistics.elements_told > 0 ? 1 : 0}, vectors, -vectors};
  team::world(context_).allreduce(all, all, op_max{}, collective_algorithm::automatic, site_);
  if (!prepared.ok()) {
    return Error(prepared.error().code(), "GatherPlan::create: " + prepared.error().message());
  }
  if (all[3] != -all[4]) {
    return Error(ErrorCode::invalid_argument, "GatherPlan::create: GatherOptions::vectors is " +
                                                  std::to_string(-all[4]) + " on one rank and " +
                                                  std::to_string(all[3]) +
                                                  " on another one; all gather the same arrays");
  }
  if (all[0] != 0) {
    return Error(ErrorCode::invalid_argument,
                 "GatherPlan::create: the index of another rank is refused there");
  }
  if (all[1] != 0) {
    return Error(ErrorCode::resource_exhausted,
                 "GatherPlan::create: another rank has no room for what it would receive; its "
                 "message says how to raise it");
  }
  return all[2] != 0;
}

void Agreement::add_outgoing(rank_t reader, const Told& asked, std::span<const uint32_t> places) {
  Outgoing& out = made_.outgoing.emplace_back();
  out.reader = reader;
  out.places.assign(places.begin(), places.end());
  out.first = asked.first;
  out.elements = asked.wanted;
  out.runs = asked.runs;
  out.sender = rma::TurnSender({.first = global_ptr<std::byte>(reader, asked.landing),
                                .turn_bytes = asked.turn_bytes,
                                .flags = global_ptr<uint64_t>(reader, asked.flags)});
  made_.statistics.bytes_sent += out.elements * element_bytes();
}

// An owner and a reader that send to each other need none.
void Agreement::settle_credits(std::span<const Told> asked) {
  std::vector<bool> reads_of(context_.rank_n(), false);
  for (Incoming& in : made_.incoming) {
    reads_of[in.owner] = true;
    if (asked[in.owner].wanted == 0) {
      in.credit = rma::TurnCredit(global_ptr<uint64_t>(in.owner, asked[in.owner].credit));
    }
  }
  for (Outgoing& out : made_.outgoing) {
    if (!reads_of[out.reader]) {
      out.credit = words() + static_cast<std::ptrdiff_t>(first_credit() + out.reader);
    }
  }
}

void Agreement::tell(bool anyone_packs) {
  const rank_t ranks = context_.rank_n();
  const team all = team::world(context_);
  std::vector<Told> told(ranks);
  for (rank_t rank = 0; rank < ranks; ++rank) {
    told[rank].credit = (words() + static_cast<std::ptrdiff_t>(first_credit() + rank)).offset();
  }
  std::vector<size_t> told_counts(ranks, 0);
  std::vector<size_t> told_offsets(ranks, 0);
  std::vector<uint32_t> places;
  for (size_t i = 0; i < made_.incoming.size(); ++i) {
    const Incoming& in = made_.incoming[i];
    const OwnerReads& reads = made_.inspection.owners[i + 1];
    Told& to_owner = told[in.owner];
    to_owner.wanted = in.elements;
    to_owner.first = reads.first();
    to_owner.runs = in.bound ? 1 : reads.runs;
    to_owner.landing = in.landing.first.offset();
    to_owner.turn_bytes = in.landing.turn_bytes;
    to_owner.flags = in.landing.flags.offset();
    if (in.bound) continue;
    to_owner.told = reads.places.size();
    told_offsets[in.owner] = places.size();
    told_counts[in.owner] = reads.places.size();
    places.insert(places.end(), reads.places.begin(), reads.places.end());
  }
  std::vector<Told> asked(ranks);
  all.all_to_all(told, asked, collective_algorithm::automatic, site_);
  std::vector<size_t> asked_counts(ranks, 0);
  std::vector<size_t> asked_offsets(ranks, 0);
  size_t asked_places = 0;
  for (rank_t reader = 0; reader < ranks; ++reader) {
    asked_offsets[reader] = asked_places;
    asked_counts[reader] = asked[reader].told;
    asked_places += asked[reader].told;
  }
  std::vector<uint32_t> wanted(asked_places);
  if (anyone_packs) {
    all.all_to_all_v(places, told_counts, told_offsets, wanted, asked_counts, asked_offsets,
                     collective_algorithm::automatic, site_);
  }
  for (rank_t step = 1; step < ranks; ++step) {
    const rank_t reader = (context_.rank_me() + step) % ranks;
    if (asked[reader].wanted == 0) continue;
    add_outgoing(reader, asked[reader],
                 std::span(wanted).subspan(asked_offsets[reader], asked_counts[reader]));
  }
  made_.statistics.readers = made_.outgoing.size();
  settle_credits(asked);
}

Result<Schedule> Agreement::make() {
  const Status prepared = prepare();
  const Result<bool> anyone_packs = agree_on(prepared);
  if (!anyone_packs.ok()) {
    release_memory(context_, made_);
    return anyone_packs.error();
  }
  if (context_.rank_n() > 1) tell(*anyone_packs);
  made_.statistics.reads = request_.reads.size();
  made_.statistics.own_reads = made_.inspection.owners.front().end;
  for (OwnerReads& reads : made_.inspection.owners) reads.places = {};  // owners have them now
  return std::move(made_);
}

}  // namespace

Result<Schedule> agree(Context& context, const detail::GatherRequest& request,
                       const GatherOptions& options, CallSite site) {
  return Agreement(context, request, options, site).make();
}

void release_memory(Context& context, const Schedule& schedule) {
  if (!schedule.memory.is_null()) context.deallocate_local(schedule.memory);
}

}  // namespace stripline::gathers
