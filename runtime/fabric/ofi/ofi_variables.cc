#include "runtime/fabric/ofi/ofi_variables.h"

#include <algorithm>
#include <set>
#include <unistd.h>

namespace stripline::fabric {
namespace {

std::set<std::string_view> parts_of(std::string_view text, std::string_view separators) {
  std::set<std::string_view> parts;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find_first_of(separators));
    if (!part.empty()) parts.insert(part);
    text.remove_prefix(std::min(part.size() + 1, text.size()));
  }
  return parts;
}

}  // namespace

LibfabricVariables libfabric_variables() {
  LibfabricVariables variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const size_t equals = text.find('=');
    if (!text.starts_with("FI_") || equals == std::string_view::npos) continue;
    if (equals + 1 == text.size()) continue;
    variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

std::string to_text(const LibfabricVariables& variables) {
  std::string text;
  for (const auto& [name, value] : variables) {
    text.append(text.empty() ? "" : ", ").append(name).append("=").append(value);
  }
  return text;
}

LibfabricVariables that_change_speed(const LibfabricVariables& variables) {
  LibfabricVariables changing = variables;
  std::erase_if(changing, [](const auto& variable) {
    const std::string& name = variable.first;
    return name == "FI_PROVIDER" || name == "FI_PROVIDER_PATH" || name.ends_with("_IFACE");
  });
  return changing;
}

bool excludes_provider(std::string_view filter, std::string_view provider) {
  if (filter.empty()) return false;
  const bool inverted = filter.starts_with('^');
  const auto named = parts_of(filter.substr(inverted ? 1 : 0), ",;");
  const auto parts = parts_of(provider, ";");
  if (inverted) {
    return std::ranges::any_of(parts, [&](std::string_view part) { return named.contains(part); });
  }
  // Layers come with what they are above of.
  return !named.contains(provider.substr(0, provider.find(';')));
}

}  // namespace stripline::fabric
