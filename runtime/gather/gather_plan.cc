// Gathers: owners send what others read of them, by one put with a signal to each reader.
//
// What a rank receives of an owner lands in one of two places that are used in turn. An owner may
// fill one again when the reader has begun the gather after the one that was there: until then its
// program may read it. Where owner and reader send to each other, the reader's data of that gather,
// for which the owner has waited, say so. Elsewhere the reader tells by a signal of its own.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <stripline/gather.h>
#include <stripline/team.h>

#include "base/quantity.h"
#include "base/random.h"
#include "optimizer/plan/gather_mechanism.h"
#include "runtime/decide/choice.h"
#include "runtime/decide/surroundings.h"
#include "runtime/gather/inspector.h"
#include "runtime/rma/context_state.h"
#include "runtime/rma/explain_command.h"

namespace stripline::detail {
namespace {

using gather::Inspection;
using gather::OwnerReads;

// What a reader tells the owner, once.
struct Wanted {
  uint64_t places = 0;   // that it names
  uint64_t runs = 0;     // of them
  uint64_t landing = 0;  // in its segment, of the first turn
  uint64_t turn_bytes = 0;
  uint64_t flags = 0;  // two words in its segment; 0 without any wish
  uint64_t bound = 0;  // 1: everything between the two places that it names
};

uint64_t padded(uint64_t bytes) { return (bytes + 63) / 64 * 64; }

class Gather final : public GatherCore {
 public:
  Gather(Context& context, const GatherRequest& request, Inspection inspection);
  ~Gather() override;

  /// Agrees with the other ranks. The same error on all of them.
  Status connect(const GatherOptions& options, CallSite site);

  void start(const std::byte* own, uint64_t elements, CallSite site) override;
  size_t groups() const override { return inspection_.owners.size(); }
  GatherGroup group(size_t number) const override;
  std::optional<GatherGroup> next(CallSite site) override;
  void wait(CallSite site) override;
  std::span<const uint32_t> numbers() const override { return numbers_; }
  uint64_t own_elements() const override { return own_elements_; }
  const std::byte* received() const override { return landing(turn_of(received_round_)); }
  const GatherStatistics& statistics() const override { return statistics_; }
  GatherStatistics& statistics() { return statistics_; }

 private:
  struct Incoming {
    const OwnerReads* reads = nullptr;
    bool bound = false;
    uint64_t first = 0;           // element of a turn's landing place where its own begin
    uint64_t elements = 0;        // that come
    bool here = false;            // in the gather under way
    global_ptr<uint64_t> credit;  // at the owner; null where none is asked for
    future credited;
  };
  struct Outgoing {
    rank_t reader = 0;
    bool bound = false;
    std::vector<uint32_t> places;  // both ends of it, if it is bound
    uint64_t runs = 0;
    std::array<global_ptr<std::byte>, 2> landing;
    global_ptr<uint64_t> flags;
    global_ptr<uint64_t> credit;    // here; null if the reader sends to this rank
    std::vector<std::byte> packed;  // where stores do not reach
    std::array<future, 2> put;

    uint64_t elements() const {
      return bound ? uint64_t{places.back()} - places.front() + 1 : places.size();
    }
  };

  static size_t turn_of(uint64_t round) { return round % 2; }
  // A turn's flag goes up by one each time.
  static uint64_t flag_value(uint64_t round) { return round / 2 + 1; }

  // How the owner that sends most was chosen to send, for traces.
  struct Largest {
    plan::GatherRequest request;
    plan::GatherDecision decision;
    model::Path path = model::Path::network;
  };

  void choose(const GatherOptions& options);
  void note(decide::Trace& trace, CallSite site) const;
  // Calls wait() and adds what it took to the seconds that this gather has made its rank wait.
  template <typename Wait>
  void timed(const Wait& wait) {
    if (!watched_) return wait();
    const double begun_s = context_.state().job.fabric().now_s();
    wait();
    waited_s_ += context_.state().job.fabric().now_s() - begun_s;
  }
  uint64_t hash_of_own() const;
  void check_own(CallSite site) const;
  Status allocate(CallSite site);
  void tell_owners(CallSite site);
  bool reads_of(rank_t owner) const;
  void send(Outgoing& out, CallSite site);
  void pack(const Outgoing& out, std::byte* to) const;
  void give_credits(CallSite site);
  void await_credit(const Outgoing& out, uint64_t rounds, CallSite site);
  global_ptr<uint64_t> flag_of(const Incoming& in) const {
    return flags_ + static_cast<std::ptrdiff_t>(2 * (&in - incoming_.data())) +
           static_cast<std::ptrdiff_t>(turn_of(round_));
  }
  const std::byte* landing(size_t turn) const {
    return landing_.is_null() ? nullptr : context_.local(landing_) + turn * turn_bytes_;
  }

  Context& context_;
  const size_t element_bytes_;
  const uint64_t elements_;
  const uint64_t own_elements_;
  Inspection inspection_;
  std::vector<uint32_t> numbers_;
  std::vector<Incoming> incoming_;  // ascending owners
  std::vector<Outgoing> outgoing_;  // the next rank first, so that not all send to the same one
  GatherStatistics statistics_;
  global_ptr<std::byte> landing_;  // two turns
  uint64_t turn_bytes_ = 0;
  global_ptr<uint64_t> flags_;    // two words for each of incoming_
  global_ptr<uint64_t> credits_;  // a word for each rank that only reads
  uint64_t round_ = 0;            // of the gather under way, or of the next one
  uint64_t received_round_ = 0;
  const std::byte* own_ = nullptr;  // this rank's elements of the array that is gathered
  const bool checks_;               // debug mode
  uint64_t own_hash_ = 0;           // of them when the gather began; only if checks_
  bool under_way_ = false;
  Largest largest_;
  bool watched_ = false;  // somebody wants to know how long it waits
  double waited_s_ = 0;
};

Gather::Gather(Context& context, const GatherRequest& request, Inspection inspection)
    : context_(context),
      element_bytes_(request.element_bytes),
      elements_(request.elements),
      own_elements_(request.own_elements),
      inspection_(std::move(inspection)),
      numbers_(inspection_.order.size()),
      checks_(context.state().job.options().debug),
      watched_(context.state().mechanisms.instruments().trace != nullptr) {
  for (const OwnerReads& reads : std::span(inspection_.owners).subspan(1)) {
    incoming_.push_back({.reads = &reads});
  }
}

Gather::~Gather() {
  if (under_way_) wait(CallSite::current());
  give_credits(CallSite::current());
  for (const Outgoing& out : outgoing_) await_credit(out, round_, CallSite::current());
  for (Outgoing& out : outgoing_) {
    for (future& put : out.put) put.wait();
  }
  if (!landing_.is_null()) context_.deallocate_local(landing_);
  if (!flags_.is_null()) context_.deallocate_local(flags_);
  if (!credits_.is_null()) context_.deallocate_local(credits_);
}

bool Gather::reads_of(rank_t owner) const {
  return std::ranges::binary_search(incoming_, owner, {},
                                    [](const Incoming& in) { return in.reads->owner; });
}

// The reader knows all that decides.
void Gather::choose(const GatherOptions& options) {
  const rma::Job& job = context_.state().job;
  uint64_t received = 0;
  for (Incoming& in : incoming_) {
    const OwnerReads& reads = *in.reads;
    plan::GatherRequest request;
    request.elements = reads.places.size();
    request.element_bytes = element_bytes_;
    request.runs = reads.runs;
    request.span_bytes = reads.span() * element_bytes_;
    request.by_stores = context_.is_local(reads.owner);
    const model::Path path = job.path_to(reads.owner);
    request.surroundings = decide::surroundings_of(job.fabric().info(), plan::GatherRequest::kFacts,
                                                   {.path = path, .puts = true});
    const plan::CompiledPath* const known = options.use_model ? job.compiled().path(path) : nullptr;
    plan::GatherDecision decision = plan::plan_gather(request, known);
    if (options.method != GatherMethod::best) {
      decision = {.method = options.method == GatherMethod::bound ? plan::GatherMethod::bound
                                                                  : plan::GatherMethod::pack,
                  .reason = plan::Reason::forced};
    }
    if (largest_.request.bytes() < request.bytes()) largest_ = {request, decision, path};
    in.bound = decision.method == plan::GatherMethod::bound;
    in.first = received;
    in.elements = in.bound ? reads.span() : reads.places.size();
    received += in.elements;
    statistics_.elements += reads.places.size();
    statistics_.bound_owners += in.bound ? 1 : 0;
  }
  statistics_.owners = incoming_.size();
  statistics_.bytes_received = received * element_bytes_;
  turn_bytes_ = padded(statistics_.bytes_received);
  // Every read finds its element from now on by its slot behind the owner's, or its number.
  for (size_t k = 0; k < inspection_.owners.front().end; ++k) {
    numbers_[inspection_.order[k]] = inspection_.slots[k];
  }
  for (const Incoming& in : incoming_) {
    const uint64_t before = own_elements_ + in.first;
    for (size_t k = in.reads->begin; k < in.reads->end; ++k) {
      uint32_t& slot = inspection_.slots[k];
      if (in.bound) slot = in.reads->places[slot] - in.reads->first();
      numbers_[inspection_.order[k]] = static_cast<uint32_t>(before + slot);
    }
  }
}

Status Gather::allocate(CallSite site) {
  if (incoming_.empty()) return {};
  if (own_elements_ + statistics_.bytes_received / element_bytes_ > UINT32_MAX) {
    return Error(ErrorCode::invalid_argument,
                 "this rank has and reads more than 2^32 elements together; gather parts of them");
  }
  STRIPLINE_ASSIGN_OR_RETURN(landing_, context_.allocate_local<std::byte>(2 * turn_bytes_, site));
  STRIPLINE_ASSIGN_OR_RETURN(flags_, context_.allocate_local<uint64_t>(2 * incoming_.size(), site));
  std::memset(context_.local(flags_), 0, 2 * incoming_.size() * sizeof(uint64_t));
  return {};
}

void Gather::tell_owners(CallSite site) {
  const rank_t ranks = context_.rank_n();
  const rank_t me = context_.rank_me();
  const team all = team::world(context_);
  std::vector<Wanted> told(ranks);
  std::vector<size_t> told_counts(ranks, 0);
  std::vector<size_t> told_offsets(ranks, 0);
  std::vector<uint32_t> places;
  for (const Incoming& in : incoming_) {
    const OwnerReads& reads = *in.reads;
    const uint64_t begin = places.size();
    if (in.bound) {
      places.insert(places.end(), {reads.places.front(), reads.places.back()});
    } else {
      places.insert(places.end(), reads.places.begin(), reads.places.end());
    }
    told_offsets[reads.owner] = begin;
    told_counts[reads.owner] = places.size() - begin;
    told[reads.owner] = {
        .places = places.size() - begin,
        .runs = reads.runs,
        .landing = landing_.offset() + in.first * element_bytes_,
        .turn_bytes = turn_bytes_,
        .flags = (flags_ + static_cast<std::ptrdiff_t>(2 * (&in - incoming_.data()))).offset() + 1,
        .bound = in.bound ? 1U : 0U};
  }
  std::vector<Wanted> asked(ranks);
  all.all_to_all(told, asked, collective_algorithm::automatic, site);
  std::vector<size_t> asked_counts(ranks, 0);
  std::vector<size_t> asked_offsets(ranks, 0);
  size_t asked_places = 0;
  for (rank_t reader = 0; reader < ranks; ++reader) {
    asked_offsets[reader] = asked_places;
    asked_counts[reader] = asked[reader].places;
    asked_places += asked[reader].places;
  }
  std::vector<uint32_t> wanted(asked_places);
  all.all_to_all_v(places, told_counts, told_offsets, wanted, asked_counts, asked_offsets,
                   collective_algorithm::automatic, site);
  for (rank_t step = 1; step < ranks; ++step) {
    const rank_t reader = (me + step) % ranks;
    const Wanted& want = asked[reader];
    if (want.flags == 0) continue;
    Outgoing& out = outgoing_.emplace_back();
    out.reader = reader;
    out.bound = want.bound != 0;
    const auto begin = wanted.begin() + static_cast<std::ptrdiff_t>(asked_offsets[reader]);
    out.places.assign(begin, begin + static_cast<std::ptrdiff_t>(want.places));
    out.runs = want.runs;
    out.landing = {global_ptr<std::byte>(reader, want.landing),
                   global_ptr<std::byte>(reader, want.landing + want.turn_bytes)};
    out.flags = global_ptr<uint64_t>(reader, want.flags - 1);
    if (!out.bound && !context_.is_local(reader)) {
      out.packed.resize(out.places.size() * element_bytes_);
    }
    statistics_.bytes_sent += out.elements() * element_bytes_;
  }
  statistics_.readers = outgoing_.size();
}

Status Gather::connect(const GatherOptions& options, CallSite site) {
  choose(options);
  const team all = team::world(context_);
  // All of them have memory, or none goes on.
  constexpr int32_t kNone = -1;
  const auto agree = [&](Status status) -> Status {
    const int32_t mine = status.ok() ? kNone : static_cast<int32_t>(status.error().code());
    const int32_t worst = all.allreduce(mine, op_max{}, collective_algorithm::automatic, site);
    if (!status.ok() || worst == kNone) return status;
    return Error(static_cast<ErrorCode>(worst),
                 "another rank could not make its part of the plan; its message says why");
  };
  STRIPLINE_RETURN_IF_ERROR(agree(allocate(site)));
  tell_owners(site);
  // Ranks that only read tell when they have.
  std::vector<uint64_t> offered(context_.rank_n(), 0);
  const auto only_read = static_cast<size_t>(
      std::ranges::count_if(outgoing_, [&](const Outgoing& out) { return !reads_of(out.reader); }));
  Status room;
  if (only_read > 0) {
    Result<global_ptr<uint64_t>> words = context_.allocate_local<uint64_t>(only_read, site);
    if (words.ok()) {
      credits_ = *words;
      std::memset(context_.local(credits_), 0, only_read * sizeof(uint64_t));
      std::ptrdiff_t next = 0;
      for (Outgoing& out : outgoing_) {
        if (reads_of(out.reader)) continue;
        out.credit = credits_ + next++;
        offered[out.reader] = out.credit.offset() + 1;
      }
    } else {
      room = words.error();
    }
  }
  STRIPLINE_RETURN_IF_ERROR(agree(room));
  std::vector<uint64_t> granted(context_.rank_n(), 0);
  all.all_to_all(offered, granted, collective_algorithm::automatic, site);
  for (Incoming& in : incoming_) {
    const rank_t owner = in.reads->owner;
    if (granted[owner] != 0) in.credit = global_ptr<uint64_t>(owner, granted[owner] - 1);
  }
  for (OwnerReads& reads : inspection_.owners) reads.places = {};  // owners have them now
  return {};
}

// Until the reader has read so many gathers.
void Gather::await_credit(const Outgoing& out, uint64_t rounds, CallSite site) {
  if (!out.credit.is_null() && rounds > 0) context_.wait_signal(out.credit, rounds, site);
}

// What earlier gathers have brought is not read any more.
void Gather::give_credits(CallSite site) {
  if (round_ == 0) return;
  for (Incoming& in : incoming_) {
    if (in.credit.is_null()) continue;
    in.credited.wait(site);  // signals are not ordered
    in.credited = context_.rput_signal<std::byte>(nullptr, in.credit.reinterpret<std::byte>(), 0,
                                                  in.credit, round_, site);
  }
}

void Gather::start(const std::byte* own, uint64_t elements, CallSite site) {
  const auto refuse = [&](const std::string& why) {
    context_.state().fail(
        Error(ErrorCode::invalid_argument, text(rma::Call("GatherPlan::start", site)) + " " + why));
  };
  if (under_way_) refuse("while a gather of this plan is under way; wait() comes first");
  if (elements != elements_) {
    refuse("of an array of " + std::to_string(elements) + " elements; the plan was made for " +
           std::to_string(elements_));
  }
  give_credits(site);
  under_way_ = true;
  own_ = own;
  received_round_ = round_;
  if (checks_) own_hash_ = hash_of_own();
  for (Incoming& in : incoming_) in.here = false;
  waited_s_ = 0;
  timed([&] {
    for (Outgoing& out : outgoing_) send(out, site);
  });
}

void Gather::send(Outgoing& out, CallSite site) {
  const size_t turn = turn_of(round_);
  if (round_ >= 2) await_credit(out, round_ - 1, site);
  future& put = out.put[turn];
  put.wait(site);  // that of the gather before the last
  const global_ptr<uint64_t> flag = out.flags + static_cast<std::ptrdiff_t>(turn);
  const global_ptr<std::byte> there = out.landing[turn];
  const uint64_t value = flag_value(round_);
  if (std::byte* const reached = context_.state().memory.reachable(out.reader)) {
    pack(out, reached + there.offset());
    put = context_.rput_signal<std::byte>(nullptr, there, 0, flag, value, site);
  } else if (out.bound) {
    put = context_.rput_signal<std::byte>(own_ + out.places.front() * element_bytes_, there,
                                          out.elements() * element_bytes_, flag, value, site);
  } else {
    pack(out, out.packed.data());
    put = context_.rput_signal<std::byte>(out.packed.data(), there, out.packed.size(), flag, value,
                                          site);
  }
}

template <size_t Bytes>
void pack_fixed(std::span<const uint32_t> places, const std::byte* from, std::byte* to) {
  for (const uint32_t place : places) {
    std::memcpy(to, from + place * Bytes, Bytes);
    to += Bytes;
  }
}

void Gather::pack(const Outgoing& out, std::byte* to) const {
  Work* const work = context_.state().job.fabric().work();
  if (out.bound) {
    const uint64_t bytes = out.elements() * element_bytes_;
    std::memcpy(to, own_ + out.places.front() * element_bytes_, bytes);
    count_copy(work, 1, bytes);
    return;
  }
  switch (element_bytes_) {
    case 4:
      pack_fixed<4>(out.places, own_, to);
      break;
    case 8:
      pack_fixed<8>(out.places, own_, to);
      break;
    case 16:
      pack_fixed<16>(out.places, own_, to);
      break;
    default:
      for (const uint32_t place : out.places) {
        std::memcpy(to, own_ + place * element_bytes_, element_bytes_);
        to += element_bytes_;
      }
  }
  if (work != nullptr) {
    work->bytes += 2 * static_cast<double>(out.places.size() * element_bytes_);
    work->rows += static_cast<double>(out.runs);
  }
}

GatherGroup Gather::group(size_t number) const {
  const OwnerReads& reads = inspection_.owners[number];
  const size_t count = reads.end - reads.begin;
  const std::byte* values = own_;
  if (number > 0) values = received() + incoming_[number - 1].first * element_bytes_;
  return {number, std::span(inspection_.order).subspan(reads.begin, count),
          std::span(inspection_.slots).subspan(reads.begin, count), values};
}

std::optional<GatherGroup> Gather::next(CallSite site) {
  if (!under_way_) return std::nullopt;
  Incoming* came = nullptr;
  bool awaited = false;
  const auto look = [&] {
    awaited = false;
    for (Incoming& in : incoming_) {
      if (in.here) continue;
      awaited = true;
      const std::atomic_ref<uint64_t> word(*context_.local(flag_of(in)));
      if (word.load(std::memory_order_acquire) < flag_value(round_)) continue;
      came = &in;
      return true;
    }
    return !awaited;
  };
  timed([&] { context_.wait_until(look, std::numeric_limits<double>::infinity(), site); });
  if (came == nullptr) return std::nullopt;
  context_.wait_signal(flag_of(*came), flag_value(round_), site);
  came->here = true;
  return group(static_cast<size_t>(came - incoming_.data()) + 1);
}

void Gather::wait(CallSite site) {
  if (!under_way_) return;
  timed([&] {
    for (const Incoming& in : incoming_) {
      if (!in.here) context_.wait_signal(flag_of(in), flag_value(round_), site);
    }
    for (Outgoing& out : outgoing_) out.put[turn_of(round_)].wait_source(site);
  });
  if (checks_) check_own(site);
  if (watched_ && !incoming_.empty()) note(*context_.state().mechanisms.instruments().trace, site);
  ++round_;
  under_way_ = false;
}

uint64_t Gather::hash_of_own() const {
  Hash hash;
  const uint64_t bytes = own_elements_ * element_bytes_;
  for (uint64_t at = 0; at < bytes; at += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, own_ + at, std::min<uint64_t>(sizeof word, bytes - at));
    hash.add(word);
  }
  return hash.value();
}

// What was stored meanwhile has reached some ranks, and others not.
void Gather::check_own(CallSite site) const {
  if (hash_of_own() == own_hash_) return;
  context_.state().fail(
      Error(ErrorCode::invalid_argument,
            text(rma::Call("GatherPlan::wait", site)) +
                " finds this rank's elements changed since the gather began; store to them before "
                "start(), or after wait() or for_each()"));
}

// What is predicted is when an owner's elements are here; what is measured, how long the rank has
// not computed meanwhile. They are not to be compared.
void Gather::note(decide::Trace& trace, CallSite site) const {
  plan::GatherDecision decision = largest_.decision;
  decision.predicted_s = 0;
  trace.note(site, stripline::hash_of(statistics_.reads, statistics_.bytes_received),
             decide::choice_of<plan::GatherMechanism>(largest_.request, decision), waited_s_,
             "gather of " + count_text(statistics_.owners, "rank") + ", " +
                 exact_bytes_text(statistics_.bytes_received),
             [&] {
               return explain_command<plan::GatherMechanism>(context_.state(), largest_.request,
                                                             largest_.path);
             });
}

}  // namespace

Result<std::unique_ptr<GatherCore>> GatherCore::create(Context& context,
                                                       const GatherRequest& request,
                                                       const GatherOptions& options,
                                                       CallSite site) {
  const double begun_s = context.state().job.fabric().now_s();
  std::string mistake;
  if (request.outside) {
    mistake = "entry " + std::to_string(*request.outside) + " of the index is element " +
              std::to_string(request.outside_element) + " of an array of " +
              std::to_string(request.elements);
  } else if (request.most_elements > UINT32_MAX || request.reads.size() > UINT32_MAX) {
    mistake = "a rank has " + std::to_string(request.most_elements) + " elements, and this one's " +
              "index " + std::to_string(request.reads.size()) +
              " entries; both are at most 4294967295";
  }
  const int32_t wrong = team::world(context).allreduce(int32_t{mistake.empty() ? 0 : 1}, op_max{},
                                                       collective_algorithm::automatic, site);
  if (wrong != 0) {
    return Error(ErrorCode::invalid_argument,
                 "GatherPlan::create: " +
                     (mistake.empty() ? "the index of another rank is refused there" : mistake));
  }
  auto made = std::make_unique<Gather>(
      context, request, gather::inspect(request.reads, context.rank_me(), context.rank_n()));
  STRIPLINE_RETURN_IF_ERROR(made->connect(options, site));
  GatherStatistics& statistics = made->statistics();
  statistics.reads = request.reads.size();
  statistics.own_reads = made->group(0).reads.size();
  statistics.inspection_s = context.state().job.fabric().now_s() - begun_s;
  return std::unique_ptr<GatherCore>(std::move(made));
}

}  // namespace stripline::detail
