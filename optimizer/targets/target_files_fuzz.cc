// Files of targets' settings are edited by hand and come from elsewhere. What a reader accepts, its
// writer, if there is one, writes so that it reads back the same, and nothing that is written holds
// what a reader refuses. The first byte chooses the reader.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "optimizer/targets/environment_file.h"
#include "optimizer/targets/mpich/selection_file.h"
#include "optimizer/targets/nccl/nccl.h"
#include "optimizer/targets/openmpi/han_rules.h"
#include "optimizer/targets/openmpi/json_rules.h"
#include "optimizer/targets/openmpi/openmpi.h"
#include "optimizer/targets/openmpi/params_file.h"
#include "optimizer/targets/openmpi/rules_file.h"
#include "optimizer/targets/ucx/ucx.h"
#include "optimizer/targets/version.h"

namespace {

template <typename Read, typename Write>
void round_trip(std::string_view text, Read read, Write write) {
  const auto first = read(text, "file");
  if (!first.ok()) return;
  const auto written = write(*first, {"a comment"});
  if (!written.ok()) std::abort();
  const auto second = read(*written, "file");
  if (!second.ok() || *second != *first) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stripline::targets;  // NOLINT(google-build-using-namespace)
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  using Comments = std::vector<std::string>;
  switch (data[0] % 8) {
    case 0:
      round_trip(text, openmpi::read_rules, [](const openmpi::RulesFile& file, const Comments& c) {
        for (const uint32_t ranks : {0U, 1U, 2U, 3U, 1000U}) {
          openmpi::rule_for(file, Collective::bcast, ranks, 4096);
        }
        openmpi::hazards(file, {});
        openmpi::hazards(openmpi::with_probe(file, Collective::bcast, 3, {.id = 2, .fan = 4}), {});
        std::vector<std::string> left_out;
        const auto json = openmpi::json_rules_of(file, openmpi::Distribution::any, left_out);
        if (!openmpi::read_json_rules(openmpi::write_json_rules(json), "file").ok()) std::abort();
        const auto han = openmpi::han_rules_of(file);
        if (!openmpi::hazards(han, file).empty()) std::abort();
        return stripline::Result<std::string>(openmpi::write_rules(file, c));
      });
      round_trip(text, openmpi::read_han_rules, [](const auto& rules, const Comments& c) {
        openmpi::hazards(rules, {});
        return stripline::Result<std::string>(openmpi::write_han_rules(rules, c));
      });
      break;
    case 1:
      round_trip(text, openmpi::read_params, openmpi::write_params);
      break;
    case 2:
      round_trip(text, ucx::read_conf, ucx::write_conf);
      break;
    case 3:
      round_trip(text, read_environment, write_environment);
      break;
    case 4:
      round_trip(text, nccl::read_tuner_file, nccl::write_tuner_file);
      break;
    case 5:
      if (const auto selection = mpich::read_selection(text, "file"); selection.ok()) {
        if (!mpich::read_selection(mpich::write_selection(*selection), "file").ok()) std::abort();
        if (mpich::algorithm_for(*selection, {.collective = Collective::bcast}).empty()) {
          std::abort();
        }
      }
      break;
    case 6:
      round_trip(text, openmpi::read_json_rules, [](const auto& file, const Comments&) {
        openmpi::hazards(file, {});
        for (const uint32_t ranks : {0U, 2U, 1000U}) {
          openmpi::rule_for(file, Collective::bcast, ranks, 4096, openmpi::Distribution::any);
        }
        return stripline::Result<std::string>(openmpi::write_json_rules(file));
      });
      break;
    default:
      // What programs of the targets print.
      if (const auto parameters = openmpi::parse_ompi_info(text); parameters.ok()) {
        openmpi::differences(*parameters);
      }
      find_version(text, "Version");
  }
  return 0;
}
