// Puts the questions of a probe to the nodes, each on a connection of its own, and has the answers judged.
#pragma once

#include <chrono>
#include <cstddef>
#include <string_view>

#include <holdfast/config.hpp>
#include <holdfast/probe.hpp>

namespace holdfast::face {

/// What a probe may take, all together, on a machine that does not stand still.
constexpr std::chrono::seconds kProbeLimit{10};
/// Of replicas and Sentinels; the rest is not looked at.
constexpr std::size_t kMostProbedNodes = 16;
/// Of a cluster's nodes, primaries first.
constexpr std::size_t kMostProbedClusterNodes = 64;

/// `config` is that of a client which runs: of `local:`, the server has been started. Blocks. Never throws for a
/// server's faults. `lock`: see Client::probe().
ProbeReport probe_servers(const Config& config, std::string_view lock);

}  // namespace holdfast::face
