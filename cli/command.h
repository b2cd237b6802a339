// What the user asked for, as values: the result of reading the command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace stripline::cli {

/// Options that every command of the service takes.
struct Global {
  std::string server = "127.0.0.1:7411";  ///< host:port
  double timeout_s = 30;                  ///< for one answer, and for a server to come back
  bool json = false;                      ///< one JSON object per line on standard output
};

/// `stripline run|bench|doctor ...`: replaced by the helper program, arguments unchanged.
struct ExecHelper {
  std::string program;  ///< "stripline-run"
  std::vector<std::string> arguments;
};

struct CampaignRun {
  std::string fabric;
  std::string clock;  ///< empty: the server's choice
  uint32_t nodes = 0;
  uint32_t ranks = 0;
  std::string effort = "budgeted";  ///< "budgeted" | "full"
  uint32_t runs = 0;
  double time_budget_s = 0;
  uint64_t seed = 0;
  std::vector<std::string> experiments;
  std::vector<std::string> only_nodes;
  std::vector<std::string> same_node;
  std::string model;  ///< resource name or empty
  bool detach = false;
  bool validate_only = false;
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
};
struct CampaignExport {
  std::string name;
  std::string output;  ///< a file; empty or "-": standard output
};
struct ModelList {
  std::string model;  ///< list the versions of this one; empty: list models
};
struct ModelShow {
  std::string source;  ///< a file, or a model's name
};
struct ModelFetch {
  std::string name;    ///< "models/m" or "models/m/versions/2"
  std::string output;  ///< a file; "-": standard output; empty: named after the model, here
};
struct ModelWithdraw {
  std::string name;    ///< "models/m/versions/2"
  std::string reason;  ///< for people
};
/// The members of plan::StripRequest that a user may set.
struct ExplainLoop {
  std::string source;  ///< of the model: a file, or a name
  uint64_t bytes = 0;
  std::string direction = "get";  ///< "get" | "put"
  std::string path;               ///< a path of the model; empty: the first it has
  uint64_t element_bytes = 8;
  uint64_t granule_elements = 1;
  uint64_t halo_bytes = 0;
  uint32_t blocks = 1;
  uint32_t peers = 1;
  bool uneven = false;  ///< the blocks differ in size
  uint32_t nic_ranks = 1;
  bool served_between_strips = false;  ///< the network needs calls of the peers, which do the same
  uint32_t nodes = 1;                  ///< that communicate at once
  std::vector<uint32_t> distances;     ///< blocks whose ranks are at distance 0, 1, ...
  uint64_t own_bytes = 0;
  bool placed = false;
  std::optional<uint64_t> buffer_bytes;  ///< default: no limit
  std::optional<double> compute_s;       ///< of the whole loop; default: estimated
  uint32_t local_refs = 0;
  uint32_t int_ops = 0;
  uint32_t fp_ops = 1;
  uint32_t divisions = 0;
  uint32_t sweeps = 1;
  uint64_t local_bytes = 0;
};
struct ExplainNest {
  std::string source;
  std::string nest;  ///< a file, or the document itself, which begins with '{'
};
/// The members of plan::VisRequest that a user may set.
struct ExplainCall {
  std::string source;
  uint64_t regions = 0;
  uint64_t region_bytes = 0;
  uint64_t stride_bytes = 0;      ///< from region to region, the mean for lists; 0: twice a region
  uint64_t extent_bytes = 0;      ///< from the first byte to the last; 0: by the stride
  std::string kind = "strided";   ///< "strided" | "indexed"
  uint32_t dimensions = 1;        ///< of a shape, beside that within a region
  std::string direction = "get";  ///< "get" | "put"
  std::string path;               ///< a path of the model; empty: the first it has
  uint64_t local_regions = 1;
  std::string compute_class = "communication_only";  ///< or "light" | "heavy"
  bool bounding_box = false;
  uint32_t iov_limit = 1;
  uint32_t peers = 1;
  double service_delay_s = 0;
  bool needs_target = false;    ///< contiguous operations wait for it, too
  bool signalled = false;       ///< a put that raises a flag when its data are visible
  bool flag_with_data = false;  ///< with signalled: the network takes the flag along
};
/// The members of plan::WavefrontRequest that a user may set.
struct ExplainSweep {
  std::string source;
  uint32_t stages = 0;
  uint64_t lines = 0;
  uint64_t line_bytes = 0;
  double compute_s = 0;                 ///< of a stage on its rank
  std::string kind = "multipartition";  ///< "multipartition" | "pipeline"
  std::string path;                     ///< a path of the model; empty: the first it has
  uint32_t nic_ranks = 1;
  bool flag_with_data = false;
  bool served_between_pieces = false;  ///< the network needs calls of the next stage's rank
};
struct NodeList {};
struct ShowVersion {};

using Action =
    std::variant<ExecHelper, CampaignRun, CampaignWatch, CampaignList, CampaignShow, CampaignCancel,
                 CampaignExport, ModelList, ModelShow, ModelFetch, ModelWithdraw, ExplainLoop,
                 ExplainNest, ExplainCall, ExplainSweep, NodeList, ShowVersion>;

struct Command {
  Global global;
  Action action;
};

}  // namespace stripline::cli
