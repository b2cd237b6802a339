// What the user asked for, as values: the result of reading the command line.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "optimizer/campaign/spec.h"
#include "optimizer/plan/mechanisms.h"

namespace stripline::cli {

/// Options that every command of the service takes.
struct Global {
  std::string server = "127.0.0.1:7411";  ///< host:port
  bool server_named = false;  ///< by option or environment; else the last login's counts
  double timeout_s = 30;      ///< for one answer, and for a server to come back
  bool json = false;          ///< one JSON object per line on standard output
};

/// `stripline run|bench|doctor ...`: replaced by the helper program, arguments unchanged.
struct ExecHelper {
  std::string program;  ///< "stripline-run"
  std::vector<std::string> arguments;
};

/// What is left open in it is the server's choice. Its `fabric` is that of none; its model, prior
/// and nodes are resource names.
struct CampaignRun : campaign::Spec {
  std::string file;                  ///< with what options leave open; empty: none
  std::vector<std::string> fabrics;  ///< a campaign each
  bool detach = false;
  bool validate_only = false;
};
struct CampaignEstimate {
  CampaignRun request;
};
struct CampaignWatch {
  std::string name;  ///< "campaigns/c1"
};
struct CampaignList {
  uint32_t limit = 20;
};
struct CampaignShow {
  std::string name;
};
struct CampaignCancel {
  std::string name;
  bool drain = false;  ///< a run that is in progress ends first
};
struct CampaignPause {
  std::string name;
};
struct CampaignResume {
  std::string name;
};
struct CampaignRetry {
  std::string name;
  campaign::Spec budgets = {};  ///< these alone; 0: as they were
  bool detach = false;
};
struct CampaignDelete {
  std::string name;
};
struct CampaignPoints {
  std::string name;
  std::string experiment;           ///< empty: all
  std::string variant;              ///< empty: all
  std::vector<std::string> params;  ///< "bytes=4096"
  uint32_t limit = 100;
};
struct CampaignCompare {
  std::string baseline;
  std::string candidate;
  double margin = 0;             ///< of equivalence; 0: the server's choice
  double false_discoveries = 0;  ///< 0: the server's choice
  bool all = false;              ///< also points that do not differ
};
struct CampaignExport {
  std::string name;
  std::string output;  ///< a file; empty or "-": standard output
};
/// A plan as a file, of a campaign or of what is asked for.
struct CampaignExportPlan {
  CampaignRun request;      ///< unless there is a name
  std::string name;         ///< "campaigns/c1", or empty
  std::string output;       ///< a file; "-": standard output
  std::string description;  ///< a file: what nodes offer that are not connected; empty: ask those
};
struct CampaignImport {
  std::string file;
  bool detach = false;
};
struct CampaignReplay {
  std::string file;      ///< "-": standard input
  std::string strategy;  ///< empty: all, to compare them
  std::string prior;     ///< another recording, of a machine like it; empty: none
  double share = 0.15;   ///< of the recording's seconds
  uint64_t seed = 1;
};
struct ModelList {
  std::string model;  ///< list the versions of this one; empty: list models
};
struct ModelShow {
  std::string source;  ///< a file, or a model's name
};
struct ModelFetch {
  std::string name;            ///< "models/m", "models/m/versions/2" or "models/m/labels/stable"
  std::string output;          ///< a file; "-": standard output; empty: named after the model, here
  bool accept_failed = false;  ///< one that failed its validation, too
};
struct ModelWithdraw {
  std::string name;    ///< "models/m/versions/2"
  std::string reason;  ///< for people
};
struct ModelValidate {
  std::string name;                    ///< "models/m", "models/m/versions/2", "models/m/labels/l"
  std::vector<std::string> campaigns;  ///< "campaigns/c1"; empty: what is known is shown
};
struct ModelCheck {
  std::string name;      ///< as in ModelValidate
  std::string campaign;  ///< "campaigns/c1"; empty: one is made
  bool rollback = false;
};
struct ModelPromote {
  std::string name;  ///< as in ModelValidate, with a version or a label
  std::string label;
  std::vector<std::string> nodes;  ///< "nodes/a", that try a canary; empty: the server's choice
  std::string unjudged;  ///< why one that nothing has judged gets the label; empty: it does not
};
struct ModelRollback {
  std::string name;  ///< "models/m"
  std::string label = "stable";
};
struct ModelFit {
  std::string model;                   ///< "models/m"
  std::vector<std::string> campaigns;  ///< "campaigns/c1"
  std::vector<std::string> without;    ///< "campaigns/c1/runs/2"
  bool detach = false;
};
struct OperationList {
  uint32_t limit = 20;
};
struct OperationShow {
  std::string name;  ///< "operations/o1"
  bool wait = false;
};
struct OperationCancel {
  std::string name;  ///< "operations/o1"
};
struct ModelImport {
  std::string file;
  std::string model;  ///< "models/m"; empty: as the file names it
};
struct ModelDiff {
  std::string a;  ///< a file, or a model's name; the baseline
  std::string b;
};
struct ModelPlot {
  std::string source;  ///< a file, or a model's name
  std::string output;  ///< a file; empty or "-": standard output
  std::string quantity = "blocking";
  std::string path;  ///< of the model; empty: all
};
/// `stripline report`.
struct Report {
  std::string source;                  ///< a model file, a model's name or a campaign's
  std::string output = "report.html";  ///< a file; "-": standard output
};
/// How a mechanism would decide about a request.
template <plan::Mechanism M>
struct Explain {
  std::string source;  ///< of the model: a file, or a name
  typename M::Asked request = M::usual();
  std::string path;  ///< a path of the model, for one of whose paths it is; empty: the first it has
};
using ExplainAny = plan::OfEachMechanism<std::variant, Explain>;
/// `stripline explain --list`.
struct ExplainList {};
struct RolloutStatus {
  std::string model;  ///< "models/m"; empty: all
};
struct FeedbackSend {
  std::string file;
};
struct FeedbackList {
  std::string name;  ///< "models/m" for all versions, or as in ModelValidate
  uint32_t limit = 5;
};
struct NodeList {};
struct NodeCordon {
  std::string name;  ///< "nodes/a", as in the others
  std::string reason;
};
struct NodeUncordon {
  std::string name;
};
struct NodeDrain {
  std::string name;
  std::string reason;
  double time_limit_s = -1;  ///< negative: none
  bool detach = false;
};
struct NodeRemove {
  std::string name;
};
struct NodeRevoke {
  std::string name;
};
struct Login {
  std::string token_file;      ///< "-": standard input; empty: asked for
  bool oidc = false;           ///< by the issuer of the server
  std::string authority_file;  ///< with it: PEM of the server's authority; empty: as it is known
};
struct Logout {};
struct TokenCreate {
  std::string role;     ///< "agent" | "viewer" | "operator" | "publisher" | "admin"
  std::string subject;  ///< a user, or a node or a pattern of nodes, which may be empty
  uint32_t count = 0;   ///< of nodes that it enrols; 0: one
  double valid_s = 0;   ///< 0: the server's choice
  std::string output;   ///< the file that gets it; empty: standard output
};
struct TokenList {};
struct TokenRevoke {
  std::string name;
};
struct AuditList {
  uint32_t limit = 50;
};
struct ShowVersion {};

using Action = std::variant<
    ExecHelper, CampaignRun, CampaignEstimate, CampaignWatch, CampaignList, CampaignShow,
    CampaignCancel, CampaignPause, CampaignResume, CampaignRetry, CampaignDelete, CampaignCompare,
    CampaignPoints, CampaignExport, CampaignExportPlan, CampaignImport, CampaignReplay, ModelList,
    ModelShow, ModelFetch, ModelWithdraw, ModelValidate, ModelCheck, ModelPromote, ModelRollback,
    ModelFit, ModelImport, ModelDiff, ModelPlot, Report, ExplainAny, ExplainList, RolloutStatus,
    OperationList, OperationShow, OperationCancel, FeedbackSend, FeedbackList, NodeList, NodeCordon,
    NodeUncordon, NodeDrain, NodeRemove, NodeRevoke, Login, Logout, TokenCreate, TokenList,
    TokenRevoke, AuditList, ShowVersion>;

struct Command {
  Global global;
  Action action;
};

}  // namespace stripline::cli
