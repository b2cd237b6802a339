#include "runtime/gather/schedule.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include <stripline/team.h>

#include "base/random.h"
#include "runtime/gather/exchange.h"
#include "runtime/gather/gather_state.h"
#include "runtime/gather/node_sharing.h"
#include "runtime/gather/passing_on.h"
#include "runtime/rma/context_state.h"

namespace stripline::gathers {
namespace {

uint64_t padded(uint64_t bytes) { return (bytes + 63) / 64 * 64; }

class Agreement {
 public:
  Agreement(Context& context, const detail::GatherRequest& request, const GatherOptions& options,
            CallSite site)
      : context_(context),
        request_(request),
        options_(options),
        site_(site),
        all_(team::world(context)),
        choices_(context, request, options, site) {}

  Result<Schedule> make();

 private:
  std::string mistake() const;
  void count_readers();
  void share();
  void choose();
  void take(Incoming& in, const OwnerReads& reads, bool copied_on);
  size_t fetch_source(rank_t rank);
  void number_reads();
  uint64_t list_bytes() const;
  Status allocate();
  Status prepare(const std::string& wrong);
  std::vector<Announcement> announcements(const Status& prepared,
                                          std::vector<std::vector<uint32_t>>& places) const;
  decide::Arm first_arm() const;
  Status announce(const Status& prepared);
  Status what_is_wrong(const Status& prepared) const;
  bool anyone(uint8_t Announcement::*says) const;
  void add_outgoing(rank_t reader, const Announcement& asked, std::vector<uint32_t> places);
  void settle_credits();
  void settle_fetches();
  void settle_comparisons();
  void note_largest();

  global_ptr<uint64_t> words() const { return made_.memory.reinterpret<uint64_t>(); }
  global_ptr<uint64_t> word(size_t number) const {
    return words() + static_cast<std::ptrdiff_t>(number);
  }
  // A word for each rank: how many gathers it has begun.
  global_ptr<uint64_t> credit_word(rank_t rank) const {
    return word(kFlags * made_.incoming.size() + rank);
  }
  // Another one: of how many it has read this rank's memory.
  global_ptr<uint64_t> done_word(rank_t rank) const {
    return word(kFlags * made_.incoming.size() + context_.rank_n() + rank);
  }
  // Behind them, those of comparisons.
  size_t words_of_comparisons() const {
    return kFlags * made_.incoming.size() + 2 * size_t{context_.rank_n()};
  }
  uint64_t element_bytes() const { return request_.element_bytes * options_.vectors; }

  Context& context_;
  const detail::GatherRequest& request_;
  const GatherOptions& options_;
  const CallSite site_;
  const team all_;
  Choices choices_;
  std::vector<uint32_t> readers_;  // by owner: ranks that read of it
  std::optional<NodeSharing> sharing_;
  std::vector<Announcement> asked_;  // by rank
  Schedule made_;
};

std::string Agreement::mistake() const {
  if (!request_.mistake.empty()) return request_.mistake;
  if (options_.method > GatherMethod::best || options_.order > GatherOrder::ring) {
    return "GatherOptions::method is " + std::to_string(static_cast<int>(options_.method)) +
           " and GatherOptions::order " + std::to_string(static_cast<int>(options_.order)) +
           ", of which one is not an enumerator";
  }
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

// Through a network an owner serves its readers one after another in either case: it is enough to
// take owners to have as many readers as this rank has owners. Where memory is mapped readers may
// gather at the same time, and ranks are asked.
void Agreement::count_readers() {
  const auto owners = std::span(made_.inspection.owners).subspan(1);
  const bool asks = context_.rank_n() > 2 && choices_.counts_readers();
  readers_.assign(context_.rank_n(), 0);
  for (const OwnerReads& reads : owners) {
    readers_[reads.owner] = asks ? 1 : static_cast<uint32_t>(owners.size());
  }
  if (asks) {
    all_.allreduce(readers_, readers_, op_add{}, collective_algorithm::automatic, site_);
  }
}

void Agreement::share() {
  if (!NodeSharing::possible(context_) || !choices_.may_be(GatherMethod::share)) return;
  sharing_.emplace(context_, site_);
  sharing_->agree(made_.inspection,
                  [&](const OwnerReads& together, uint32_t ranks, uint64_t elements) {
                    return choices_.shares(together, ranks, elements);
                  });
}

size_t Agreement::fetch_source(rank_t rank) {
  const auto known = std::ranges::find(made_.fetch_sources, rank, &FetchSource::rank);
  if (known == made_.fetch_sources.end()) {
    made_.fetch_sources.push_back({.rank = rank, .done = {}});
    return made_.fetch_sources.size() - 1;
  }
  return static_cast<size_t>(known - made_.fetch_sources.begin());
}

void Agreement::take(Incoming& in, const OwnerReads& reads, bool copied_on) {
  GatherStatistics& statistics = made_.statistics;
  in.owner = reads.owner;
  in.source = reads.owner;
  in.elements = reads.places.size();
  const NodeSharing::Followed* const followed =
      sharing_ ? sharing_->followed(reads.owner) : nullptr;
  if (followed != nullptr) {
    in.delivery = Delivery::shared;
    in.source = followed->leader;
    in.places = followed->positions;
    in.runs = runs_of(in.places);
    ++statistics.shared_owners;
  } else {
    const auto [method, compared] = choices_.method(reads, readers_[reads.owner], copied_on);
    in.compared = compared;
    // The elements of one piece need no list.
    in.copied = method == plan::GatherMethod::pack && reads.runs == 1;
    in.bound = method == plan::GatherMethod::bound || in.copied;
    if (in.bound) in.elements = reads.span();
    if (method == plan::GatherMethod::pull) {
      in.delivery = Delivery::fetched;
      in.there_first = reads.first();
      in.runs = reads.runs;
      if (reads.runs > 1) in.places = reads.places;
      if (reads.runs > 1 && !context_.is_local(reads.owner)) {
        in.list.emplace(reads.places);
        in.here_list.emplace(indexed_list::in_order(reads.places.size()));
      }
      ++statistics.pulled_owners;
    }
    statistics.bound_owners += in.bound ? 1 : 0;
    if (in.delivery == Delivery::sent && !in.bound) statistics.elements_told += in.elements;
  }
  if (in.delivery == Delivery::sent) return;
  in.fetch_source = fetch_source(in.source);
  FetchSource& source = made_.fetch_sources[in.fetch_source];
  ++source.fetches;
  source.compared += in.compared ? 1 : 0;
  made_.in_order = false;
}

void Agreement::choose() {
  GatherStatistics& statistics = made_.statistics;
  std::vector<bool> led(context_.rank_n(), false);
  if (sharing_) {
    for (const NodeSharing::Led& one : sharing_->led()) led[one.owner] = true;
  }
  uint64_t received = 0;
  for (const OwnerReads& reads : std::span(made_.inspection.owners).subspan(1)) {
    Incoming& in = made_.incoming.emplace_back();
    take(in, reads, led[reads.owner]);
    in.first = received;
    received += in.elements;
  }
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

// Places by which owners send what is fetched otherwise, where gathers are compared.
uint64_t Agreement::list_bytes() const {
  uint64_t places = 0;
  for (const Incoming& in : made_.incoming) places += in.compared ? in.places.size() : 0;
  return places * sizeof(uint32_t);
}

// The flags of all owners, two words for each rank, those of comparisons, what is received, and
// lists of places.
Status Agreement::allocate() {
  if (context_.rank_n() == 1) return {};
  const uint64_t received = made_.statistics.bytes_received / element_bytes();
  if (request_.own_elements + received > UINT32_MAX) {
    return Error(ErrorCode::invalid_argument,
                 "this rank has and reads more than 2^32 elements together; gather parts of them");
  }
  const size_t word_count =
      words_of_comparisons() + (choices_.compares() ? InStep::words(context_.rank_n()) : 0);
  const size_t word_bytes = padded(word_count * sizeof(uint64_t));
  STRIPLINE_ASSIGN_OR_RETURN(
      made_.memory,
      context_.allocate_local<std::byte>(word_bytes + 2 * made_.turn_bytes + list_bytes(), site_));
  std::memset(context_.local(made_.memory), 0, word_bytes);
  made_.received = made_.memory + static_cast<std::ptrdiff_t>(word_bytes);
  for (size_t i = 0; i < made_.incoming.size(); ++i) {
    Incoming& in = made_.incoming[i];
    in.landing = {.first = made_.received + static_cast<std::ptrdiff_t>(in.first * element_bytes()),
                  .turn_bytes = made_.turn_bytes,
                  .flags = word(kFlags * i)};
  }
  global_ptr<uint32_t> list =
      (made_.received + static_cast<std::ptrdiff_t>(2 * made_.turn_bytes)).reinterpret<uint32_t>();
  for (Incoming& in : made_.incoming) {
    if (!in.compared || in.places.empty()) continue;
    uint32_t* const here = context_.local(list);
    std::ranges::copy(in.places, here);
    in.listed = {here, in.places.size()};
    list += static_cast<std::ptrdiff_t>(in.places.size());
    in.places = {};
  }
  return {};
}

// Ranks with a mistake take part until all know of it.
Status Agreement::prepare(const std::string& wrong) {
  made_.inspection =
      inspect(wrong.empty() ? request_.reads : std::span<const detail::GatherPlace>(),
              context_.rank_me(), context_.rank_n());
  GatherStatistics& statistics = made_.statistics;
  statistics.reads = request_.reads.size();
  statistics.own_reads = made_.inspection.owners.front().end;
  for (const OwnerReads& reads : std::span(made_.inspection.owners).subspan(1)) {
    statistics.elements += reads.places.size();
    ++statistics.owners;
  }
  count_readers();
  share();
  if (!wrong.empty()) return Error(ErrorCode::invalid_argument, wrong);
  choose();
  return allocate();
}

bool Agreement::anyone(uint8_t Announcement::*says) const {
  return std::ranges::any_of(asked_, [says](const Announcement& one) { return one.*says != 0; });
}

// Why there is no plan, if any rank has none.
Status Agreement::what_is_wrong(const Status& prepared) const {
  if (!prepared.ok()) {
    return Error(prepared.error().code(),
                 std::string(request_.name) + ": " + prepared.error().message());
  }
  const auto [fewest, most] = std::ranges::minmax(asked_, {}, &Announcement::vectors);
  if (fewest.vectors != most.vectors) {
    return Error(ErrorCode::invalid_argument,
                 std::string(request_.name) + ": GatherOptions::vectors is " +
                     std::to_string(fewest.vectors) + " on one rank and " +
                     std::to_string(most.vectors) + " on another one; all gather the same arrays");
  }
  if (anyone(&Announcement::refused)) {
    return Error(ErrorCode::invalid_argument,
                 std::string(request_.name) +
                     ": what another rank gives is refused there; its message says why");
  }
  if (anyone(&Announcement::out_of_room)) {
    return Error(ErrorCode::resource_exhausted,
                 std::string(request_.name) +
                     ": another rank has no room for what it would receive; its "
                     "message says how to raise it");
  }
  return {};
}

std::vector<Announcement> Agreement::announcements(
    const Status& prepared, std::vector<std::vector<uint32_t>>& places) const {
  Announcement to_all;
  to_all.vectors = options_.vectors;
  if (!prepared.ok()) {
    const bool refused = prepared.error().code() == ErrorCode::invalid_argument;
    (refused ? to_all.refused : to_all.out_of_room) = 1;
    return std::vector<Announcement>(context_.rank_n(), to_all);
  }
  to_all.packs = made_.statistics.elements_told > 0 ? 1 : 0;
  to_all.receives = made_.statistics.elements;
  if (choices_.compares() && !made_.memory.is_null()) {
    to_all.words = word(words_of_comparisons()).offset();
    to_all.compared_bytes = choices_.compared_bytes();
    to_all.first_arm = first_arm();
  }
  for (const OwnerReads& reads : std::span(made_.inspection.owners).subspan(1)) {
    if (to_all.passes_on == 0 && choices_.may_be_passed_on(reads, to_all.receives))
      to_all.passes_on = 1;
  }
  std::vector<Announcement> given(context_.rank_n(), to_all);
  for (rank_t rank = 0; rank < context_.rank_n(); ++rank) {
    if (rank == context_.rank_me()) continue;
    given[rank].credit = credit_word(rank).offset();
    given[rank].done = done_word(rank).offset();
  }
  for (size_t i = 0; i < made_.incoming.size(); ++i) {
    const Incoming& in = made_.incoming[i];
    if (in.delivery == Delivery::shared) continue;
    const OwnerReads& reads = made_.inspection.owners[i + 1];
    Announcement& to_owner = given[in.owner];
    to_owner.wanted = in.elements;
    to_owner.first = reads.first();
    to_owner.runs = in.bound ? 1 : reads.runs;
    to_owner.fetched = in.delivery == Delivery::fetched ? 1 : 0;
    to_owner.copied = in.copied ? 1 : 0;
    to_owner.compared = in.compared ? 1 : 0;
    if (!in.listed.empty()) {
      to_owner.places = context_.try_global_ptr(in.listed.data()).offset();
    }
    to_owner.landing = in.landing.first.offset();
    to_owner.turn_bytes = in.landing.turn_bytes;
    to_owner.flags = in.landing.flags.offset();
    Hash hash(in.bound, reads.first());
    if (in.delivery == Delivery::sent && !in.bound) {
      to_owner.listed = reads.places.size();
      places[in.owner] = reads.places;
      for (const uint32_t place : reads.places) hash.add(place);
    }
    to_owner.hash = hash.value();
  }
  return given;
}

// What plans before have found out about the largest of what is compared.
decide::Arm Agreement::first_arm() const {
  const std::optional<OwnerChoice>& largest = choices_.largest_compared();
  const GatherSite* const known = GatherState::of(context_).find_site(site_);
  const bool same = largest && known != nullptr && known->is_for(largest->request);
  return same ? known->race().in_use() : decide::Arm{1};
}

void Agreement::add_outgoing(rank_t reader, const Announcement& asked,
                             std::vector<uint32_t> places) {
  Outgoing& out = made_.outgoing.emplace_back();
  out.reader = reader;
  out.fetched = asked.fetched != 0;
  out.copied = asked.copied != 0;
  out.compared = asked.compared != 0;
  if (asked.places != 0) out.listed = global_ptr<uint32_t>(reader, asked.places);
  out.places = std::move(places);
  out.first = asked.first;
  out.elements = asked.wanted;
  out.runs = asked.runs;
  out.sender = rma::TurnSender({.first = global_ptr<std::byte>(reader, asked.landing),
                                .turn_bytes = asked.turn_bytes,
                                .flags = global_ptr<uint64_t>(reader, asked.flags)});
}

// Ranks with a mistake take part until all know of it.
Status Agreement::announce(const Status& prepared) {
  const rank_t ranks = context_.rank_n();
  std::vector<std::vector<uint32_t>> places(ranks);
  const std::vector<Announcement> given = announcements(prepared, places);
  asked_.resize(ranks);
  all_.all_to_all(given, asked_, collective_algorithm::automatic, site_);
  STRIPLINE_RETURN_IF_ERROR(what_is_wrong(prepared));
  if (anyone(&Announcement::packs)) {
    std::vector<size_t> counts;
    for (const Announcement& asked : asked_) counts.push_back(asked.listed);
    places = exchange(all_, places, counts, site_);
  }
  for (rank_t step = 1; step < ranks; ++step) {
    const rank_t reader = (context_.rank_me() + step) % ranks;
    if (asked_[reader].wanted == 0) continue;
    add_outgoing(reader, asked_[reader],
                 asked_[reader].listed == 0 ? std::vector<uint32_t>() : std::move(places[reader]));
  }
  made_.statistics.readers = made_.outgoing.size();
  return {};
}

// A rank that another one notifies of something in each gather knows that it has begun it. One that
// sends several owners' elements to the same rank is notified once: it waits for one word alone.
void Agreement::settle_credits() {
  std::vector<bool> notified(context_.rank_n(), false);
  for (const Outgoing& out : made_.outgoing) notified[out.reader] = true;
  std::vector<bool> hears(context_.rank_n(), false);
  const auto credit_at = [&](rank_t source) {
    hears[source] = true;
    if (notified[source]) return rma::TurnCredit();
    notified[source] = true;
    return rma::TurnCredit(global_ptr<uint64_t>(source, asked_[source].credit));
  };
  for (Incoming& in : made_.incoming) {
    if (in.delivery == Delivery::shared) continue;
    hears[in.source] = true;
    if (in.delivery == Delivery::sent) in.credit = credit_at(in.source);
    if (in.hot && in.hot->source != in.source) in.hot->credit = credit_at(in.hot->source);
  }
  // Given in some gathers alone: the last ones, where none of each gather serves.
  for (Incoming& in : made_.incoming) {
    if (in.compared && !in.copied) in.credit = credit_at(in.source);
  }
  for (Outgoing& out : made_.outgoing) {
    const bool is_sent = !out.fetched || out.compared;
    if (is_sent && !hears[out.reader]) out.credit = credit_word(out.reader);
    if (!out.fetched) made_.statistics.bytes_sent += out.elements * element_bytes();
  }
}

// Ranks whose memory this rank reads, and those that read its own.
void Agreement::settle_fetches() {
  for (Incoming& in : made_.incoming) {
    if (in.delivery != Delivery::fetched) continue;
    made_.fetch_sources[in.fetch_source].done =
        rma::TurnCredit(global_ptr<uint64_t>(in.owner, asked_[in.owner].done));
  }
  std::vector<bool> reads_mine(context_.rank_n(), false);
  std::vector<bool> always(context_.rank_n(), false);
  for (const Outgoing& out : made_.outgoing) {
    if (!out.fetched) continue;
    reads_mine[out.reader] = true;
    if (!out.compared) always[out.reader] = true;
  }
  if (sharing_) {
    for (const NodeSharing::Led& one : sharing_->led()) {
      reads_mine[one.follower] = always[one.follower] = true;
    }
    sharing_->tell_followers(
        [&](rank_t owner) {
          return std::ranges::find(made_.incoming, owner, &Incoming::owner)->landing;
        },
        [&](rank_t follower) { return done_word(follower); });
    for (Incoming& in : made_.incoming) {
      if (in.delivery != Delivery::shared) continue;
      const NodeSharing::Followed& followed = *sharing_->followed(in.owner);
      in.there = followed.landing;
      made_.fetch_sources[in.fetch_source].done = rma::TurnCredit(followed.done);
    }
  }
  for (rank_t rank = 0; rank < context_.rank_n(); ++rank) {
    if (reads_mine[rank]) made_.fetched_by.push_back({done_word(rank), !always[rank]});
  }
}

// The rank that receives the most by methods that are compared decides on them.
void Agreement::settle_comparisons() {
  if (std::ranges::any_of(asked_, [](const auto& rank) { return rank.words == 0; })) return;
  const auto decider =
      std::ranges::max_element(asked_, {}, [](const auto& rank) { return rank.compared_bytes; });
  if (decider->compared_bytes == 0) return;
  Compared& compared = made_.compared.emplace();
  compared.decider = static_cast<rank_t>(decider - asked_.begin());
  compared.first = decider->first_arm;
  for (const auto& rank : asked_) compared.offsets.push_back(rank.words);
  if (compared.decider == context_.rank_me()) {
    compared.largest.emplace(*choices_.largest_compared());
  }
}

// What comes from a leader, or is passed on, others have decided on.
void Agreement::note_largest() {
  const std::optional<OwnerChoice>& sent = choices_.largest();
  if (!sent) {
    if (made_.incoming.empty()) return;
    const rank_t owner = std::ranges::max_element(made_.incoming, {}, &Incoming::elements)->owner;
    made_.largest.emplace(choices_.of_group(owner, sharing_->followed(owner)->choice));
    return;
  }
  const Incoming& in = *std::ranges::find(made_.incoming, sent->owner, &Incoming::owner);
  made_.largest.emplace(in.passed_on ? choices_.of_group(in.owner, *in.passed_on) : *sent);
}

Result<Schedule> Agreement::make() {
  if (const Status agreed = announce(prepare(mistake())); !agreed.ok()) {
    release_memory(context_, made_);
    return agreed.error();
  }
  if (context_.rank_n() > 1) {
    if (anyone(&Announcement::passes_on)) {
      // Followers have been informed where elements are in what their leaders get.
      PassingOn(choices_, asked_, element_bytes(), !sharing_, made_).agree(all_, site_);
    }
    settle_credits();
    settle_fetches();
    settle_comparisons();
  }
  number_reads();
  for (OwnerReads& reads : made_.inspection.owners) reads.places = {};  // owners have them now
  note_largest();
  made_.statistics.saved_s = std::max(0.0, choices_.saved_s());
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
