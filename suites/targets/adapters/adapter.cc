#include "suites/targets/adapters/adapter.h"

#include <algorithm>

#include "base/subprocess.h"

namespace stripline::suites::tune {

bool Decisions::has_rules() const {
  return !choices.empty() ||
         std::ranges::any_of(rules, [](const auto& one) { return !one.by_ranks.empty(); });
}

bool Decisions::empty() const { return settings.empty() && !has_rules(); }

std::string describe(const Probe& probe) {
  const std::string what =
      probe.setting ? probe.setting->name + "=" + probe.setting->value : probe.candidate.name;
  const std::string operation =
      probe.operation.empty() ? std::string(to_string(probe.cell.collective)) : probe.operation;
  return what + " for " + operation + " of " + std::to_string(probe.cell.ranks) + " ranks";
}

bool has_suffixed(const std::string& version_command, const std::string& suffixed) {
  const auto here = find_in_path(version_command);
  if (here.empty()) return !find_in_path(suffixed).empty();
  std::error_code error;
  return std::filesystem::exists(here.parent_path() / suffixed, error);
}

bool is_same_file(const std::filesystem::path& one, const std::filesystem::path& other) {
  std::error_code error;
  return one == other || std::filesystem::equivalent(one, other, error);
}

Status set_path(std::vector<targets::Setting>& settings, std::string_view name,
                const std::filesystem::path& folder, const std::string& file,
                const std::vector<std::string>& others) {
  const bool is_there = std::ranges::find(others, file) != others.end();
  const auto found = std::ranges::find(settings, name, &targets::Setting::name);
  if ((found != settings.end()) != is_there) {
    return Error(
        ErrorCode::data_loss,
        "the exported file has " + std::string(is_there ? "no " : "a ") + std::string(name));
  }
  if (is_there) found->value = (folder / file).string();
  return {};
}

Result<const Adapter*> find_adapter(const targets::Target& target) {
  for (const Adapter* const adapter :
       {&openmpi_adapter(), &mpich_adapter(), &ucx_adapter(), &oshmem_adapter(),
        &libfabric_adapter(), &gasnet_adapter()}) {
    if (adapter->target().name == target.name) return adapter;
  }
  return Error(
      ErrorCode::unimplemented,
      std::string(target.title) +
          " is not measured here, only exported; 'stripline export write' makes its files");
}

}  // namespace stripline::suites::tune
