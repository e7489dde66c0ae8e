#include "sim/scene/scene_access.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "geometry/error.hpp"
#include "geometry/printable.hpp"
#include "sim/scene/igtl_source.hpp"
#include "sim/support/data_folder.hpp"

namespace trocar {
namespace {

namespace fs = std::filesystem;

bool is_this_machine(std::string host) {
  std::transform(host.begin(), host.end(), host.begin(), [](unsigned char c) { return std::tolower(c); });
  if (host == "localhost" || host == "::1" || host == "[::1]") return true;
  in_addr address{};
  return inet_pton(AF_INET, host.c_str(), &address) == 1 && (ntohl(address.s_addr) >> 24) == 127;
}

}  // namespace

std::vector<NamedFile> files_of(const Scene& scene) {
  std::vector<NamedFile> files = {{"the scene", scene.file}};
  for (const OrganScene& organ : scene.organs)
    if (!organ.tube) files.push_back({fmt::format("the mesh of organ {}", organ.name), organ.mesh});
  for (const OrganScene& organ : scene.organs)
    if (!organ.material.empty()) files.push_back({fmt::format("the material of organ {}", organ.name), organ.material});
  for (const InstrumentScene& instrument : scene.instruments)
    if (!instrument.trajectory.empty())
      files.push_back({fmt::format("the trajectory of instrument {}", instrument.name), instrument.trajectory});
  if (scene.task)
    for (const TaskStep& step : scene.task->steps)
      if (!step.picture.empty())
        files.push_back({fmt::format("the picture of the step {}", printable(step.title)), step.picture});
  if (scene.scope.device == "trajectory" && !scene.scope.source.empty())
    files.push_back({"the source of the scope", scene.file.parent_path() / scene.scope.source});
  return files;
}

void refuse_outside_files(const Scene& scene, const SceneAccess& access) {
  if (access.outside) return;
  std::error_code error;
  const fs::path own = fs::weakly_canonical(fs::absolute(scene.file), error).parent_path();
  for (const NamedFile& named : files_of(scene)) {
    if (named.file == scene.file || in_data_folder(named.file)) continue;
    const fs::path real = fs::weakly_canonical(fs::absolute(named.file), error);
    if (!error && is_below(real, own)) continue;
    throw InputError(
        fmt::format("{}: {} is {}, outside the folder of the scene and Trocar's data; move it there, or allow it with "
                    "--allow-outside",
                    scene.file.string(), named.option, printable(named.file.string(), kLongestText)));
  }
}

std::vector<std::string> hosts_to_allow(const Scene& scene, const SceneAccess& access) {
  std::vector<std::string> hosts;
  const auto add = [&](const std::string& device, const std::string& source) {
    if (device != "igtl") return;
    const std::string host = parse_igtl_source(source).host;
    const auto listed = [&](const std::vector<std::string>& list) {
      return std::ranges::find(list, host) != list.end();
    };
    if (!is_this_machine(host) && !listed(access.hosts) && !listed(hosts)) hosts.push_back(host);
  };
  for (const InstrumentScene& instrument : scene.instruments) add(instrument.device, instrument.source);
  add(scene.scope.device, scene.scope.source);
  return hosts;
}

}  // namespace trocar
