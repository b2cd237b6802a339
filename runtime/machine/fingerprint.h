// The facts that decide whether a tuned model fits: of this machine, and of the fabric a job uses.
#pragma once

#include <map>
#include <string>

#include "runtime/fabric/fabric.h"
#include "runtime/machine/topology.h"

namespace stripline::machine {

/// The facts of a machine alone:
///   cpu.architecture  "x86_64"
///   cpu.model         as the processor calls itself
///   cpu.sockets, cpu.cores, cpu.threads, numa.nodes   counts
///   cpu.quota         processors that a control group's quota is worth ("1.5"), where there is one
///   cache.l1d_bytes, cache.l1i_bytes, cache.l2_bytes, cache.l3_bytes   of one cache, where known
///   memory_bytes      rounded to whole GiB (half GiB below 4), since firmware and kernels reserve
///                     a little that varies between equal nodes
///   kernel            release
std::map<std::string, std::string> machine_facts(const Topology& topology);

/// machine_facts() of this machine, with
///   fabric            as the user wrote it
///   fabric.provider   e.g. "tcp;ofi_rxm"
///   clock             "real" or "virtual"
/// and all of info.attributes. What a difference means is decided where models are made (the rule
/// of each field is in the model file).
std::map<std::string, std::string> machine_fingerprint(const fabric::Info& info);

}  // namespace stripline::machine
