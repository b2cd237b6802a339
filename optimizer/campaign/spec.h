// What a user asks a campaign to do, and its members as a table: everything that reads, stores,
// sends or documents them walks it (spec_json.h, proto/campaign_messages.h,
// cli/campaign_grammar.cc, dashboards/src/campaign_fields.json). A new member is one here, one in
// spec.cc and one in campaigns.proto. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace stripline::campaign {

/// The largest group of nodes: far above what a campaign can use, low enough that a typing error
/// cannot ask for a plan that exhausts the server.
inline constexpr uint32_t kMaxNodes = 1024;

enum class Effort { unspecified, budgeted, full };
std::string_view to_string(Effort effort);  ///< "full", and "budgeted" for every other.

/// What to do while other work keeps hosts busy.
enum class WhenBusy { wait, measure, refuse, unknown };
std::string_view to_string(WhenBusy policy);
/// Empty: wait. nullopt: it is none.
std::optional<WhenBusy> when_busy_from_string(std::string_view name);

/// See CampaignSpec of campaigns.proto for every member. Zeros and empty texts leave it to the
/// server.
struct Spec {
  std::string fabric;
  std::string clock;
  uint32_t nodes = 0;
  uint32_t ranks = 0;
  Effort effort = Effort::unspecified;
  std::vector<std::string> experiments;  ///< Empty, also when complete: all that feed the model
  uint32_t runs = 0;
  double time_budget_s = 0;
  uint64_t seed = 0;
  std::string model;                    ///< "models/{model}"; empty: publish none
  std::vector<std::string> only_nodes;  ///< "nodes/{node}"; empty, also when complete: any
  std::vector<std::string> same_node;   ///< "mapped", "cma"; empty, also when complete: none
  double width = 0;                     ///< 0, also when complete: `runs` runs are made
  double node_budget_s = 0;             ///< 0, when complete: none
  bool race = false;                    ///< Only which alternatives are the fastest matters.
  std::string prior = {};    ///< For a race only: "campaigns/{campaign}", "nearest" or "none".
  std::string cluster = {};  ///< Empty, also when complete: that of the nodes there are
  WhenBusy when_busy = WhenBusy::wait;  ///< Real clock only.
  // Only campaigns that tune another runtime have these (optimizer/experiment/tuning.h).
  std::string tune_ranks = {};  ///< "2,3,4,8"
  std::string tune_path = {};   ///< "shm", "tcp" or "any"
  bool commutative_only = false;
  bool accept_untried = false;
  /// "models/{model}/versions/{version}": settings that a campaign over the target's fabric
  /// validates again, in place of tuning. The server alone asks for that: not in the table.
  std::string verifies = {};
  /// What the campaign does not measure any more, by experiment, and why: two attempts at a run
  /// have failed while they measured it. No member that is asked for: not in the table.
  std::map<std::string, std::string> left_out = {};
};

/// How people write a number that is none of pieces.
enum class Quantity { none, seconds, share };

/// A member in the form of the page that starts campaigns; without a label it is not there.
struct FormText {
  const char* label = nullptr;
  const char* hint = nullptr;  ///< What the server chooses where nothing is written.
  const char* help = nullptr;
};

/// What is known of a member.
struct SpecField {
  const char* name = nullptr;    ///< In JSON and in the message: "time_budget_s".
  const char* option = nullptr;  ///< On the command line, and without dashes in files.
  const char* value = nullptr;   ///< What its help calls the value; nullptr: it takes none.
  const char* help = nullptr;
  std::variant<std::string Spec::*, std::vector<std::string> Spec::*, uint32_t Spec::*,
               uint64_t Spec::*, double Spec::*, bool Spec::*, Effort Spec::*, WhenBusy Spec::*>
      member;
  bool stored_always = false;  ///< In JSON also when it has its default.
  Quantity quantity = Quantity::none;
  std::vector<std::string> choices = {};  ///< Words that are accepted; empty: any.
  double most = 0;                        ///< A number of which 0 to this are accepted; 0: any is.
  const char* accepted = nullptr;         ///< What is said of one that is not whole and is beyond.
  FormText form = {};
  /// Help of its option where a campaign goes on; nullptr: it stays as it was then. A budget.
  const char* retry_help = nullptr;
};

/// In the order in which help lists them.
std::span<const SpecField> spec_fields();

/// Those members that a campaign may get again where it goes on: its budgets.
std::vector<double Spec::*> spec_budgets();
/// `spec` gets the budgets of `asked` that are not 0.
void change_budgets(Spec& spec, const Spec& asked);

/// Fills in the budgets that are not asked for. The effort must be known.
void choose_budgets(Spec& spec);

/// For how long a run may be active in all: the time budget, or what the node-seconds allow.
double budget_s(const Spec& spec);
/// What budgets would have to be for that to be at least `running_s`; 0: that one is enough.
struct NeededBudgets {
  double time_s = 0;
  double node_s = 0;
};
NeededBudgets needed_budgets(const Spec& spec, double running_s);
/// The options for that to be at least `running_s`: "--time-budget 130"; empty: it is.
std::string budget_options(const Spec& spec, double running_s);
/// What its nodes were charged, and may be: "40 node-seconds of 1800".
std::string charged_text(const Spec& spec, double node_s);

}  // namespace stripline::campaign
