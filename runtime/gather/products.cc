// By which method a rank multiplies its rows of a sparse matrix (<stripline/sparse_matrix.h>):
// decided when the matrix is made, and compared while products are carried out.
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <vector>

#include <stripline/sparse_matrix.h>

#include "base/quantity.h"
#include "base/random.h"
#include "optimizer/plan/product_mechanism.h"
#include "runtime/decide/choice.h"
#include "runtime/decide/execution.h"
#include "runtime/decide/surroundings.h"
#include "runtime/rma/context_state.h"
#include "runtime/rma/explain_command.h"

namespace stripline::detail {
namespace {

constexpr size_t kProductArms = plan::kProductMethodNames.size();

// The rows that have entries, and of which elements.
plan::ProductRequest request_of_rows(Context& context, const GatherCore& gather,
                                     std::span<const size_t> row_begin, size_t element_bytes) {
  const std::span<const uint32_t> numbers = gather.numbers();
  plan::ProductRequest request;
  request.rows = 0;
  request.own_elements = gather.own_elements();
  for (size_t row = 0; row + 1 < row_begin.size(); ++row) {
    const std::span<const uint32_t> of_row =
        numbers.subspan(row_begin[row], row_begin[row + 1] - row_begin[row]);
    const auto others = static_cast<uint64_t>(std::ranges::count_if(
        of_row, [&](uint32_t number) { return number >= request.own_elements; }));
    request.rows += of_row.empty() ? 0 : 1;
    request.own_rows += others < of_row.size() ? 1 : 0;
    request.other_rows += others > 0 ? 1 : 0;
    request.other_entries += others;
  }
  request.own_entries = numbers.size() - request.other_entries;
  for (size_t number = 1; number < gather.groups(); ++number) {
    size_t row = 0;
    size_t end = 0;                                           // of the row that was visited last
    for (const uint32_t read : gather.group(number).reads) {  // ascending
      if (read < end) continue;
      while (read >= row_begin[row + 1]) ++row;
      end = row_begin[row + 1];
      ++request.visits;
    }
  }
  uint64_t at_hand = request.own_elements;
  for (const uint32_t number : numbers) at_hand = std::max<uint64_t>(at_hand, number + uint64_t{1});
  request.elements = at_hand - request.own_elements;
  request.owners = static_cast<uint32_t>(gather.groups() - 1);
  request.element_bytes = element_bytes;
  request.vectors = gather.vectors();
  request.reachable = gather.is_reachable();
  request.ordered = gather.is_ordered();
  request.surroundings = decide::surroundings_of(context.state().job.fabric().info(),
                                                 plan::ProductRequest::kFacts, {.puts = true});
  return request;
}

class ProductEngine final : public ProductMethods {
 public:
  using Site = decide::Site<plan::ProductPlan, kProductArms>;

  ProductEngine(Context& context, const plan::ProductRequest& request, bool use_model)
      : state_(context.state()),
        life_(state_.job.life()),
        request_(request),
        path_(request.reachable ? model::Path::mapped : model::Path::network),
        use_model_(use_model) {
    site_.race().share_budget(context.rank_n());
    give();
    if (!given_) decide(site_, -1);
  }
  ~ProductEngine() override {
    if (life_->is_over()) return;
    state_.mechanisms.of<rma::EndedSites>(state_).add(site_.race());
  }

  std::vector<ProductMethod> methods() const override {
    if (given_) return {given_->method};
    if (!site_.race().has_rivals()) return {site_.plan(site_.decided()).method};
    return methods_;
  }
  ProductMethod begin(CallSite call) override {
    call_ = call;
    if (given_) {
      execution_.begin(state_.mechanisms.instruments(), *given_);
    } else {
      // Each rank has rows of its own, and multiplies them by its own method.
      execution_.begin(state_.mechanisms.instruments(), *this, site_,
                       {.call = {.what = site_.number()}, .for_all = true});
    }
    return execution_.plan().method;
  }
  void end() override { execution_.finish(*this, 0); }

  // As a mechanism (runtime/decide/execution.h).
  plan::ProductPlan make(decide::Arm arm, double /*compute_s*/) const {
    const ProductMethod method = methods_.at(arm);
    const plan::ProductPlan planned = plan::plan_product(request_, costs());
    if (planned.method == method) return planned;
    const bool is_usual = arm == decide::kBaseline;
    return plan::force_product(request_, costs(), method,
                               is_usual ? plan::Reason::guarded : plan::Reason::tied);
  }
  bool fits(const plan::ProductPlan&) const { return true; }
  void decide(Site& site, double compute_s);
  void note(decide::Trace& trace, double seconds) const;

 private:
  void give();
  const plan::CompiledPath* costs() const {
    return use_model_ ? state_.job.compiled().path(path_) : nullptr;
  }

  ContextState& state_;
  const std::shared_ptr<const ContextLife> life_;
  const plan::ProductRequest request_;
  const model::Path path_;
  const bool use_model_;
  std::vector<ProductMethod> methods_;  // by arm
  Site site_;
  // Forced by a rule of a score map; or there is nothing to decide.
  std::optional<const plan::ProductPlan> given_;
  decide::Execution<plan::ProductPlan, kProductArms> execution_;
  CallSite call_;
};

void ProductEngine::give() {
  if (request_.owners == 0) {
    given_.emplace(plan::ProductPlan{.reason = plan::Reason::own_memory});
    return;
  }
  const auto named = [](std::string_view name) {
    return plan::method_named<ProductMethod>(name, plan::kProductMethodNames);
  };
  const std::string_view forced = state_.job.tuning().forced.forced(
      plan::ProductMechanism::kWords.command,
      (request_.own_entries + request_.other_entries) * request_.element_bytes, {},
      [&](std::string_view name) { return plan::allows(request_, *named(name)); });
  if (forced.empty()) return;
  given_.emplace(plan::force_product(request_, costs(),
                                     named(forced).value_or(plan::usual_product(request_)),
                                     plan::Reason::forced));
}

// What cannot be surely slower is compared, but for sums that are to be the same each time.
void ProductEngine::decide(Site& site, double /*compute_s*/) {
  const plan::ProductPlan plan = plan::plan_product(request_, costs());
  methods_ = {plan::usual_product(request_)};
  if (plan.method != methods_[0]) methods_.push_back(plan.method);
  if (costs() != nullptr && !request_.ordered) {
    const double most_s = plan::Guard::kBeyondDoubt * plan.predicted_s;
    plan::ProductMechanism::each_candidate(request_, [&](ProductMethod method) {
      if (method != plan.method && plan::predict_product(request_, *costs(), method) < most_s) {
        methods_.push_back(method);
      }
    });
  }
  const auto arms = static_cast<decide::Arm>(request_.ordered ? 1 : methods_.size());
  const bool tuned = plan.reason == plan::Reason::tuned;
  if (tuned && (arms == 1 || site.outweighs(plan))) {
    site.decide(decide::Arm{1}, plan, arms);
  } else if (arms > 1) {
    const auto last = static_cast<decide::Arm>(arms - 1);
    site.compare(last, make(last, -1), tuned ? decide::Race::Of::site : decide::Race::Of::tie);
  } else {
    site.decide(decide::kBaseline, plan);
  }
  if (!site.race().has_rivals()) return;
  std::array<double, kProductArms> predicted_s{};
  for (size_t arm = 0; arm < arms; ++arm) {
    predicted_s.at(arm) = make(static_cast<decide::Arm>(arm), -1).predicted_s;
  }
  site.race().expect_times(predicted_s);
}

void ProductEngine::note(decide::Trace& trace, double seconds) const {
  const uint64_t entries = request_.own_entries + request_.other_entries;
  trace.note(
      call_, stripline::hash_of(request_.rows, entries, request_.elements, request_.vectors),
      decide::choice_of<plan::ProductMechanism>(
          request_, execution_.plan(), {.detail = "of " + count_text(entries, "entry", "entries")}),
      seconds, "sparse product", [&] {
        return explain_command<plan::ProductMechanism>(state_, request_, execution_.plan().reason,
                                                       path_);
      });
}

}  // namespace

std::unique_ptr<ProductMethods> ProductMethods::create(Context& context, const GatherCore& gather,
                                                       std::span<const size_t> row_begin,
                                                       size_t element_bytes, bool use_model) {
  return std::make_unique<ProductEngine>(
      context, request_of_rows(context, gather, row_begin, element_bytes), use_model);
}

}  // namespace stripline::detail
