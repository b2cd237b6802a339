#include "base/host_load.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <chrono>
#include <thread>
#include <unistd.h>

#include "base/formatted.h"
#include "base/whole_file.h"

namespace stripline {
namespace {

namespace fs = std::filesystem;

// A task that sleeps and wakes is seen as often as it runs.
constexpr int kLooks = 4;
constexpr std::chrono::milliseconds kBetweenLooks{4};

std::string text_of(const fs::path& file) {
  auto text = read_whole_file(file);
  return text.ok() ? *std::move(text) : std::string();
}

// The value behind a name at the start of a line: "procs_running 4".
std::optional<double> value_of(std::string_view text, std::string_view name) {
  for (size_t at = 0; at < text.size();) {
    const std::string_view line = text.substr(at, text.find('\n', at) - at);
    at += line.size() + 1;
    if (!line.starts_with(name) || line.size() <= name.size() || line[name.size()] != ' ') continue;
    const std::string_view digits = line.substr(name.size() + 1);
    double value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error == std::errc()) return value;
  }
  return std::nullopt;
}

bool is_number(const std::string& name) {
  return !name.empty() &&
         std::ranges::all_of(name, [](unsigned char c) { return std::isdigit(c) != 0; });
}

// What /proc/PID/stat, or that of a thread, says of a task: "12 (name) R ...", where R stands for
// running, or ready to run.
struct Task {
  std::string_view name;
  bool runs = false;
};
std::optional<Task> task_of(std::string_view stat) {
  const size_t open = stat.find('(');
  const size_t close = stat.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open ||
      close + 2 >= stat.size()) {
    return std::nullopt;
  }
  return Task{stat.substr(open + 1, close - open - 1), stat[close + 2] == 'R'};
}

// How many threads run, or are ready to, of this process and of all processes of our programs, by
// their names in /proc.
double own_running(const fs::path& proc) {
  double running = 0;
  const std::string self = std::to_string(::getpid());
  std::error_code failure;
  for (const auto& process : fs::directory_iterator(proc, failure)) {
    const std::string name = process.path().filename().string();
    if (!is_number(name)) continue;
    const std::string stat = text_of(process.path() / "stat");
    const auto task = task_of(stat);
    if (!task) continue;
    if (name != self && std::ranges::find(kOwnPrograms, task->name) == kOwnPrograms.end()) continue;
    std::error_code gone;
    for (const auto& thread : fs::directory_iterator(process.path() / "task", gone)) {
      const std::string of_thread = text_of(thread.path() / "stat");
      if (const auto one = task_of(of_thread); one && one->runs) ++running;
    }
  }
  return running;
}

}  // namespace

std::optional<HostLoad> read_host_load(const fs::path& proc) {
  HostLoad load;
  const std::string averages = text_of(proc / "loadavg");
  const auto [end, error] =
      std::from_chars(averages.data(), averages.data() + averages.size(), load.average);
  if (error != std::errc()) return std::nullopt;
  for (int look = 0; look < kLooks; ++look) {
    if (look > 0) std::this_thread::sleep_for(kBetweenLooks);
    const double ours = own_running(proc);
    const std::string stat = text_of(proc / "stat");
    const auto running = value_of(stat, "procs_running");
    if (!running) return std::nullopt;
    load.running += std::max(0.0, *running - ours) / kLooks;
    load.processors = 0;
    while (value_of(stat, "cpu" + std::to_string(load.processors))) ++load.processors;
  }
  if (load.processors == 0) return std::nullopt;
  return load;
}

std::optional<ProcessorTimes> read_processor_times(const fs::path& proc) {
  // "cpu  user nice system idle iowait irq softirq steal ..."
  const std::string stat = text_of(proc / "stat");
  if (!stat.starts_with("cpu ")) return std::nullopt;
  std::array<double, 8> ticks{};
  const char* at = stat.data() + 4;
  const char* const end = stat.data() + std::min(stat.find('\n'), stat.size());
  for (double& value : ticks) {
    while (at < end && *at == ' ') ++at;
    const auto [next, error] = std::from_chars(at, end, value);
    if (error != std::errc()) return std::nullopt;
    at = next;
  }
  const auto per_second = static_cast<double>(::sysconf(_SC_CLK_TCK));
  const double used = ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6];
  return ProcessorTimes{used / per_second, ticks[7] / per_second};
}

std::string host_load_text(const HostLoad& load) {
  return formatted("load %.1f, %.0f other task%s on %u processor%s", load.average, load.running,
                   load.running >= 0.5 && load.running < 1.5 ? "" : "s", load.processors,
                   load.processors == 1 ? "" : "s");
}

}  // namespace stripline
