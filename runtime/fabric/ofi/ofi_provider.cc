#include "runtime/fabric/ofi/ofi_provider.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <thread>

#include <rdma/fabric.h>
#include <rdma/fi_errno.h>

#include "base/cut_text.h"
#include "base/host_memory.h"
#include "base/suggest.h"
#include "runtime/fabric/ofi/ofi_address.h"
#include "runtime/fabric/ofi/ofi_fabric.h"
#include "runtime/fabric/ofi/ofi_variables.h"

namespace stripline::fabric::ofi {
namespace {

struct LayeredName {
  std::string_view fabric;
  std::string_view provider;
};

/// Providers whose own endpoints are not FI_EP_RDM, or were not always, with the layer that adds
/// it.
constexpr std::array<LayeredName, 4> kLayered = {{{"tcp", "tcp;ofi_rxm"},
                                                  {"net", "net;ofi_rxm"},
                                                  {"verbs", "verbs;ofi_rxm"},
                                                  {"udp", "udp;ofi_rxd"}}};

/// Providers that are preferred without it where they can do without. (net, an earlier form of the
/// same endpoints, says that it has atomic operations and has none.)
constexpr std::string_view kOwnEndpoints = "tcp";

/// Fabrics a user may look for in vain; the list says so instead of leaving them out.
constexpr std::array<std::string_view, 7> kWellKnown = {"tcp", "shm",  "verbs", "efa",
                                                        "cxi", "psm3", "opx"};

/// Where socket providers listen if nothing else is asked for: jobs of one host need no more, and
/// no one else can reach it.
constexpr std::string_view kLoopback = "127.0.0.1";

std::string_view text_or_empty(const char* text) { return text != nullptr ? text : ""; }

bool set_provider_name(fi_info* hints, const std::string& provider) {
  // Freed with free() by fi_freeinfo.
  hints->fabric_attr->prov_name = strdup(provider.c_str());
  return hints->fabric_attr->prov_name != nullptr;
}

/// What the runtime asks of any provider; the mode bits are those it can honour.
InfoList make_hints(const Library& library, const std::string& provider, bool automatic_progress) {
  InfoList hints(&library, library.allocate_info());
  if (hints.get() == nullptr || !set_provider_name(hints.get(), provider)) return {};
  hints->caps = FI_MSG | FI_RMA | (lacks_atomics(provider) ? 0 : FI_ATOMIC);
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->ep_attr->type = FI_EP_RDM;
  hints->domain_attr->threading = FI_THREAD_DOMAIN;
  hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
  hints->domain_attr->data_progress = automatic_progress ? FI_PROGRESS_AUTO : FI_PROGRESS_MANUAL;
  hints->domain_attr->mr_mode =
      FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
  hints->tx_attr->msg_order = FI_ORDER_SAS;
  hints->rx_attr->msg_order = FI_ORDER_SAS;
  hints->tx_attr->op_flags = FI_DELIVERY_COMPLETE;
  return hints;
}

/// The address to listen on; empty leaves the choice to the provider.
Result<std::string> local_node(const std::string& provider, const Settings& settings) {
  if (!settings.address.empty()) {
    // fi_getinfo() takes any address; opening would fail later and say less.
    const std::string interface = interface_of_address(settings.address);
    if (!interface.empty() && !settings.interface.empty() && interface != settings.interface) {
      return Error(ErrorCode::invalid_argument,
                   "STRIPLINE_ADDRESS is " + quoted_text(settings.address) +
                       ", which the interface " + interface + " has, and STRIPLINE_IFACE is " +
                       quoted_text(settings.interface) + "; unset one of them");
    }
    if (!interface.empty()) return with_scope(settings.address);
    return Error(ErrorCode::invalid_argument,
                 "STRIPLINE_ADDRESS is " + quoted_text(settings.address) +
                     ", which no interface of this host has; use one that 'ip address' lists, or "
                     "name an interface in STRIPLINE_IFACE");
  }
  if (!settings.interface.empty()) return address_of_interface(settings.interface);
  if (!uses_sockets(provider)) return std::string();
  // The provider has its own variable, e.g. FI_TCP_IFACE, and takes any other interface if the one
  // that it names is not there.
  std::string variable = "FI_" + fabric_name_of(provider) + "_IFACE";
  std::transform(variable.begin(), variable.end(), variable.begin(),
                 [](char c) { return static_cast<char>(std::toupper(c)); });
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing calls setenv
  if (const char* value = std::getenv(variable.c_str()); value != nullptr && *value != '\0') {
    return address_of_interface(value, variable);
  }
  if (interface_of_address(kLoopback).empty()) {
    return Error(ErrorCode::unavailable,
                 "the loopback interface has no address " + std::string(kLoopback) +
                     "; bring it up with 'ip link set lo up', or set STRIPLINE_ADDRESS or "
                     "STRIPLINE_IFACE");
  }
  return std::string(kLoopback);
}

/// All providers this libfabric offers, whatever they can do.
Result<std::set<std::string>> offered_providers(const Library& library) {
  fi_info* head = nullptr;
  const int code = library.get_info(nullptr, 0, nullptr, &head);
  const InfoList list(&library, head);
  if (code != 0) {
    const std::string variables = to_text(libfabric_variables());
    return Error(ErrorCode::unavailable,
                 "libfabric offers no provider at all: " + library.error_text(code) +
                     (variables.empty() ? "" : "; its variables in force: " + variables));
  }
  std::set<std::string> names;
  for (const fi_info* info = list.get(); info != nullptr; info = info->next) {
    names.emplace(text_or_empty(info->fabric_attr->prov_name));
  }
  return names;
}

/// The first of the runtime's needs that `provider` refuses, found by asking for less at a time.
std::string missing_feature(const Library& library, const std::string& provider) {
  struct Step {
    const char* missing;
    void (*relax)(fi_info*);
  };
  static constexpr std::array<Step, 4> kSteps = {{
      {"writes that complete when visible at the target (FI_DELIVERY_COMPLETE)",
       [](fi_info* hints) { hints->tx_attr->op_flags = 0; }},
      {"messages in order (FI_ORDER_SAS)",
       [](fi_info* hints) {
         hints->tx_attr->msg_order = 0;
         hints->rx_attr->msg_order = 0;
       }},
      {"atomic operations (FI_ATOMIC)", [](fi_info* hints) { hints->caps = FI_MSG | FI_RMA; }},
      {"remote memory access (FI_RMA)", [](fi_info* hints) { hints->caps = FI_MSG; }},
  }};
  const InfoList hints = make_hints(library, provider, false);
  if (hints.get() == nullptr) return "memory";
  for (const Step& step : kSteps) {
    step.relax(hints.get());
    fi_info* found = nullptr;
    const int code = library.get_info(nullptr, 0, hints.get(), &found);
    const InfoList list(&library, found);
    if (code == 0) return step.missing;
  }
  return "reliable datagram endpoints (FI_EP_RDM)";
}

std::string join(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

/// Entries whose name belongs to a network, and not to a layer, a utility or what needs a layer.
bool is_selectable(const std::string& provider) {
  if (provider.empty() || provider.starts_with("ofi_") || provider.starts_with("off_"))
    return false;
  return std::ranges::count(providers_of(fabric_name_of(provider)), provider) > 0;
}

/// What libfabric offers of exactly this provider, for these hints; an empty list if nothing.
/// `code` gets libfabric's answer.
InfoList exactly(const Library& library, const std::string& provider, const std::string& node,
                 const InfoList& hints, int& code) {
  fi_info* found = nullptr;
  code = library.get_info(node.empty() ? nullptr : node.c_str(), node.empty() ? 0 : FI_SOURCE,
                          hints.get(), &found);
  InfoList list(&library, found);
  // A hint names providers loosely; what was returned must be the one asked for.
  if (code == 0 && text_or_empty(list->fabric_attr->prov_name) == provider) return list;
  return {};
}

std::string describe_usable(const fi_info& info) {
  std::string text = "inject " + std::to_string(info.tx_attr->inject_size) + " B, queue " +
                     std::to_string(info.tx_attr->size) + ", ";
  text += info.domain_attr->data_progress == FI_PROGRESS_AUTO ? "automatic" : "manual";
  text += " progress";
  if (const auto domain = text_or_empty(info.domain_attr->name); !domain.empty()) {
    text += ", domain " + std::string(domain);
  }
  return text;
}

ProviderInfo describe_provider(const Library& library, const std::string& provider) {
  ProviderInfo result;
  result.provider = provider;
  result.name = fabric_name_of(provider);
  const InfoList hints = make_hints(library, provider, false);
  int code = -FI_ENOMEM;
  InfoList list;
  if (hints.get() != nullptr) list = exactly(library, provider, "", hints, code);
  result.usable = list.get() != nullptr;
  result.detail = result.usable ? describe_usable(*list.get())
                                : "does not offer " + missing_feature(library, provider);
  return result;
}

/// The first of a fabric's providers that can be used, with a word about the others that can; or
/// why the last one cannot.
ProviderInfo describe_fabric(const Library& library, const std::string& fabric) {
  ProviderInfo result;
  for (const std::string& provider : providers_of(fabric)) {
    ProviderInfo one = describe_provider(library, provider);
    if (!result.usable) {
      result = std::move(one);
    } else if (one.usable) {
      result.detail += "; also --fabric " + quoted_text(provider);
    }
  }
  result.name = fabric;
  return result;
}

/// FI_PROVIDER=..., if that is why libfabric offers none of the fabric's providers; else "".
std::string excluding_filter(std::string_view fabric) {
  const LibfabricVariables variables = libfabric_variables();
  const auto filter = variables.find("FI_PROVIDER");
  if (filter == variables.end()) return {};
  const bool excluded = std::ranges::all_of(providers_of(fabric), [&](const std::string& provider) {
    return excludes_provider(filter->second, provider);
  });
  return excluded ? "FI_PROVIDER=" + filter->second : std::string();
}

bool offers_any(const std::set<std::string>& offered, std::string_view fabric) {
  return std::ranges::any_of(providers_of(fabric), [&](const std::string& provider) {
    return offered.contains(provider);
  });
}

}  // namespace

std::vector<std::string> providers_of(std::string_view fabric) {
  std::vector<std::string> providers;
  if (fabric == kOwnEndpoints) providers.emplace_back(fabric);
  for (const LayeredName& name : kLayered) {
    if (name.fabric == fabric) providers.emplace_back(name.provider);
  }
  if (providers.empty()) providers.emplace_back(fabric);
  return providers;
}

std::string fabric_name_of(std::string_view provider) {
  for (const LayeredName& name : kLayered) {
    if (name.provider == provider) return std::string(name.fabric);
  }
  return std::string(provider);
}

bool lacks_atomics(std::string_view provider) { return provider == kOwnEndpoints; }

Result<InfoList> choose_provider(const Library& library, const std::string& fabric,
                                 const Settings& settings) {
  const std::vector<std::string> providers = providers_of(fabric);
  const std::string& provider = providers.back();
  STRIPLINE_ASSIGN_OR_RETURN(const std::string node, local_node(provider, settings));
  int code = 0;
  for (const std::string& one : providers) {
    const InfoList hints = make_hints(library, one, settings.automatic_progress);
    if (hints.get() == nullptr) return Error(ErrorCode::resource_exhausted, "out of memory");
    InfoList list = exactly(library, one, node, hints, code);
    if (list.get() != nullptr) return list;
  }

  STRIPLINE_ASSIGN_OR_RETURN(const std::set<std::string> offered, offered_providers(library));
  if (!offers_any(offered, fabric)) {
    if (provider == "shm") {
      const uint64_t wanted = kShmProviderBytes * std::max(1U, std::thread::hardware_concurrency());
      STRIPLINE_RETURN_IF_ERROR(check_shared_memory(wanted, "The queues of libfabric's shm"));
    }
    std::set<std::string> names;
    for (const std::string& name : offered) {
      if (is_selectable(name)) names.insert(fabric_name_of(name));
    }
    if (const std::string filter = excluding_filter(fabric); !filter.empty()) {
      return Error(ErrorCode::invalid_argument, "the fabric " + quoted_text(fabric) +
                                                    " is excluded by " + filter +
                                                    ", which leaves on this host: " + join(names) +
                                                    "; unset it, or change what it excludes");
    }
    return Error(ErrorCode::invalid_argument,
                 "unknown fabric " + quoted_text(fabric) +
                     did_you_mean(fabric, {names.begin(), names.end()}) +
                     "; libfabric offers on this host: " + join(names) +
                     "; or use 'emulated:PROFILE'");
  }
  const std::string subject = "fabric " + quoted_text(fabric) + " (provider " + provider + ")";
  const ProviderInfo described = describe_fabric(library, fabric);
  if (!described.usable) {
    return Error(ErrorCode::unavailable, subject + " cannot be used: it " + described.detail +
                                             "; 'stripline doctor' shows those that can");
  }
  if (settings.automatic_progress) {
    return Error(ErrorCode::unavailable,
                 subject + " has no automatic progress; unset STRIPLINE_PROGRESS");
  }
  return Error(ErrorCode::unavailable, subject + " cannot be opened" +
                                           (node.empty() ? "" : " on address " + node) + ": " +
                                           library.error_text(code));
}

}  // namespace stripline::fabric::ofi

namespace stripline::fabric {

Result<std::string> ofi_version() {
  STRIPLINE_ASSIGN_OR_RETURN(const ofi::Library* library, ofi::Library::load());
  return library->version_text();
}

Result<std::vector<ProviderInfo>> list_ofi_providers() {
  using namespace ofi;
  STRIPLINE_ASSIGN_OR_RETURN(const Library* library, Library::load());
  STRIPLINE_ASSIGN_OR_RETURN(const std::set<std::string> offered, offered_providers(*library));
  std::set<std::string> fabrics;
  for (const std::string& provider : offered) {
    if (is_selectable(provider)) fabrics.insert(fabric_name_of(provider));
  }
  std::vector<ProviderInfo> providers;
  for (const std::string& fabric : fabrics) {
    providers.push_back(describe_fabric(*library, fabric));
  }
  for (const std::string_view fabric : kWellKnown) {
    if (offers_any(offered, fabric)) continue;
    const std::string filter = excluding_filter(fabric);
    providers.push_back({.name = std::string(fabric),
                         .provider = providers_of(fabric).back(),
                         .usable = false,
                         .detail = filter.empty() ? "not offered: no such device, or this "
                                                    "libfabric was built without it"
                                                  : "not offered: excluded by " + filter});
  }
  return providers;
}

}  // namespace stripline::fabric
