#include "runtime/gather/gather_state.h"

#include <array>
#include <string_view>
#include <utility>

#include "base/random.h"

namespace stripline {
namespace gathers {

namespace {

// The same file may have several names in memory, one for each object file.
bool is_same(CallSite a, CallSite b) {
  if (a.line != b.line) return false;
  if (a.file == b.file) return true;
  if (a.file == nullptr || b.file == nullptr) return false;
  return std::string_view(a.file) == b.file;
}

}  // namespace

const GatherState::Place* GatherState::find_place(CallSite site) const {
  const auto known =
      std::ranges::find_if(places_, [&](auto& one) { return is_same(one.call, site); });
  return known == places_.end() ? nullptr : &*known;
}

GatherState::Place& GatherState::place_at(CallSite site) {
  const auto known =
      std::ranges::find_if(places_, [&](auto& one) { return is_same(one.call, site); });
  if (known != places_.end()) return *known;
  return places_.emplace_back(Place{.call = site, .site = nullptr});
}

uint64_t GatherState::uses_at(CallSite site) const {
  const Place* const known = find_place(site);
  return known == nullptr ? 0 : known->gathers;
}

void GatherState::note_uses(CallSite site, uint64_t gathers) { place_at(site).gathers = gathers; }

const GatherSite* GatherState::find_site(CallSite site) const {
  const Place* const known = find_place(site);
  return known == nullptr ? nullptr : known->site.get();
}

std::shared_ptr<GatherSite> GatherState::site_at(CallSite site) {
  Place& place = place_at(site);
  if (place.site == nullptr) place.site = std::make_shared<GatherSite>();
  return place.site;
}

void GatherState::add_to(rma::MechanismReport& report) const {
  for (const Place& place : places_) {
    if (place.site != nullptr) place.site->race().add_to(report.savings);
  }
}

std::unique_ptr<detail::KeptGather>& GatherState::kept(CallSite site, const char* type) {
  for (const Kept& one : kept_) {
    if (one.type == type && is_same(one.site, site)) return *one.gather;
  }
  kept_.push_back({site, type, std::make_unique<std::unique_ptr<detail::KeptGather>>()});
  return *kept_.back().gather;
}

// Ranks may have made them in different orders: each waits for readers who have released theirs.
void GatherState::leaves() {
  for (const Kept& one : kept_) (*one.gather)->release(one.site);
  kept_.clear();
  // Plans of the program, in the order in which all ranks have made them.
  for (Plan* const plan : std::exchange(there_, {})) plan->end();
}

}  // namespace gathers

namespace detail {

std::unique_ptr<KeptGather>& kept_gather(Context& context, CallSite site, const char* type) {
  return gathers::GatherState::of(context).kept(site, type);
}

void fail_gather(Context& context, const Error& error, CallSite site) {
  context.state().fail(
      Error(error.code(), text(rma::Call("gather", site)) + ": " + error.message()));
}

Context* checked_context(Context& context) {
  return context.state().job.options().debug ? &context : nullptr;
}

void fail_replaced(Context& context, CallSite site) {
  context.state().fail(
      Error(ErrorCode::invalid_argument,
            text(rma::Call("gather", site)) +
                ": values are read that the next gather of this line has replaced; "
                "read them before it, or gather on lines apart"));
}

void fail_gathered_entry(Context& context, size_t entry, size_t entries, CallSite site) {
  context.state().fail(Error(ErrorCode::invalid_argument,
                             text(rma::Call("gather", site)) + ": the value of entry " +
                                 std::to_string(entry) + " is read, but the index has " +
                                 std::to_string(entries) + ", counted from 0"));
}

void fail_nothing_gathered(const char* call, CallSite site) {
  rma::fail_without_job(text(rma::Call(call, site)) +
                        " of a CachedGather that has gathered nothing; gather() comes first");
}

// Four numbers at a time, none of which waits for the others; the place of an entry counts in the
// one that it goes to.
uint64_t hash_of_index(std::span<const uint64_t> index) {
  // GatherPlan::create() will refuse it.
  if (index.data() == nullptr && !index.empty()) return hash_of(index.size());
  constexpr size_t kLanes = 4;
  std::array<Hash, kLanes> lanes;
  size_t i = 0;
  for (; i + kLanes <= index.size(); i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) lanes[lane].add(index[i + lane]);
  }
  for (; i < index.size(); ++i) lanes[i % kLanes].add(index[i]);
  return hash_of(index.size(), lanes[0].value(), lanes[1].value(), lanes[2].value(),
                 lanes[3].value());
}

}  // namespace detail
}  // namespace stripline
