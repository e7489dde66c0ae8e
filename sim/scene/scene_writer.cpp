#include "sim/scene/scene.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

#include "geometry/error.hpp"
#include "sim/scene/scene_keys.hpp"
#include "sim/scene/task_scene.hpp"
#include "sim/support/files.hpp"
#include "sim/support/text.hpp"

namespace trocar {
namespace {

// Returns the shortest decimal number that `back` converts to exactly `value`.
template <typename Number, typename Back>
std::string shortest(Number value, double written, Back back) {
  for (int digits = 1; digits <= 17; ++digits) {
    const double rounded = std::strtod(fmt::format("{:.{}g}", written, digits).c_str(), nullptr);
    if (back(rounded) == value) return fmt::format("{}", rounded);
  }
  // The product is rounded, so a neighbouring number may be the exact one.
  for (const double side : {-1e300, 1e300}) {
    double near = written;
    for (int step = 0; step < 4; ++step) {
      near = std::nextafter(near, side);
      if (back(near) == value) return fmt::format("{}", near);
    }
  }
  return fmt::format("{}", written);
}

template <typename Number>
std::string plain(Number value) {
  return shortest(value, static_cast<double>(value), [](double read) { return static_cast<Number>(read); });
}

template <typename Number>
std::string in_mm(Number value) {
  return shortest(value, static_cast<double>(value) * 1e3, [](double mm) { return static_cast<Number>(mm * 1e-3); });
}

template <typename Vector>
std::string plain3(const Vector& v) {
  return fmt::format("[{}, {}, {}]", plain(v.x), plain(v.y), plain(v.z));
}

template <typename Vector>
std::string in_mm3(const Vector& v) {
  return fmt::format("[{}, {}, {}]", in_mm(v.x), in_mm(v.y), in_mm(v.z));
}

// The path is relative to the folder of the file; where the file is a symbolic link and only its target has the path in
// its folder, relative to that one.
std::string path_text(const std::filesystem::path& path, const std::filesystem::path& file) {
  const auto whole = std::filesystem::absolute(path).lexically_normal();
  auto folder = std::filesystem::absolute(file).parent_path().lexically_normal();
  std::error_code error;
  if (std::filesystem::is_symlink(file, error) && !is_below(whole, folder)) {
    const auto target = std::filesystem::canonical(file, error).parent_path();
    if (!error && is_below(whole, target)) folder = target;
  }
  const auto beside = whole.lexically_relative(folder);
  return quoted_text((beside.empty() ? path : beside).generic_string());
}

// Writes the keys of one table, by the declarations of scene_keys.hpp. A table without lines is not written.
template <typename Struct>
class KeyWriter {
 public:
  // Starts a table. `name`: its full name, for example "organ.tissue"; empty for the whole file. `file`: the target
  // file.
  KeyWriter(std::string name, const Struct& object, const std::filesystem::path& file)
      : name_(std::move(name)), object_(object), file_(file) {}

  void schema(const SceneKey& key) { add(key, fmt::format("{}", kSceneSchema)); }
  template <typename Number>
  void number(const SceneKey& key, Number Struct::*member, Limits) {
    if (written(key, member)) add(key, plain(object_.*member));
  }
  template <typename Number>
  void scaled(const SceneKey& key, Number Struct::*member, Limits) {
    if (written(key, member)) add(key, in_mm(object_.*member));
  }
  template <typename Number>
  void number(const SceneKey& key, std::optional<Number> Struct::*member, Limits) {
    if (object_.*member) add(key, plain(*(object_.*member)));
  }
  template <typename Number>
  void scaled(const SceneKey& key, std::optional<Number> Struct::*member, Limits) {
    if (object_.*member) add(key, in_mm(*(object_.*member)));
  }
  template <typename Vector>
  void position(const SceneKey& key, std::optional<Vector> Struct::*member) {
    if (object_.*member) add(key, in_mm3(*(object_.*member)));
  }
  template <typename Vector>
  void vector(const SceneKey& key, Vector Struct::*member, Limits) {
    if (written(key, member)) add(key, plain3(object_.*member));
  }
  template <typename Vector>
  void position(const SceneKey& key, Vector Struct::*member) {
    if (written(key, member)) add(key, in_mm3(object_.*member));
  }
  void far_position(const SceneKey& key, glm::vec3 Struct::*member, double) { position(key, member); }
  void text(const SceneKey& key, std::string Struct::*member) {
    if (written(key, member)) add(key, quoted_text(object_.*member));
  }
  void unique_name(const SceneKey& key, std::string Struct::*member) { text(key, member); }
  void flag(const SceneKey& key, bool Struct::*member) {
    if (written(key, member)) add(key, object_.*member ? "true" : "false");
  }
  template <typename Value, typename Values>
  void choice(const SceneKey& key, Value Struct::*member, const Values&) {
    if (written(key, member)) add(key, quoted_text(std::string(name_of(object_.*member))));
  }
  void file(const SceneKey& key, std::filesystem::path Struct::*member) { add(key, path_text(object_.*member, file_)); }
  template <typename Condition>
  void file(const SceneKey& key, std::filesystem::path Struct::*member, Condition condition) {
    if (condition(object_)) file(key, member);
  }
  void optional_file(const SceneKey& key, std::filesystem::path Struct::*member) {
    if (!(object_.*member).empty()) file(key, member);
  }
  void outline(const SceneKey& key, std::vector<glm::dvec2> Struct::*member) {
    std::string corners;
    for (const glm::dvec2& corner : object_.*member)
      corners += fmt::format("{}[{}, {}]", corners.empty() ? "" : ", ", plain(corner.x), plain(corner.y));
    add(key, fmt::format("[{}]", corners));
  }
  void optional_path(const SceneKey& key, std::vector<glm::dvec3> Struct::*member) {
    if (!(object_.*member).empty()) path(key, member);
  }
  void path(const SceneKey& key, std::vector<glm::dvec3> Struct::*member) {
    std::string points;
    for (const glm::dvec3& point : object_.*member) points += (points.empty() ? "" : ", ") + in_mm3(point);
    add(key, fmt::format("[{}]", points));
  }
  template <typename Part>
  void part(Part Struct::*member) {
    KeyWriter<Part> keys("", object_.*member, file_);
    declare(keys, std::type_identity<Part>());
    lines_ += keys.text();
  }
  template <typename Part>
  void table(const char* name, Part Struct::*member) {
    add_table(name, object_.*member, "[{}]\n");
  }
  template <typename Part>
  void table(const char* name, std::optional<Part> Struct::*member) {
    if (object_.*member) add_table(name, *(object_.*member), "[{}]\n", true);
  }
  template <typename Part>
  void list(const char* name, std::vector<Part> Struct::*member) {
    for (const Part& part : object_.*member) add_table(name, part, "[[{}]]\n");
  }

  // `always`: an empty table means something too.
  std::string text(const std::string& header = "", bool always = false) const {
    return (lines_.empty() && !always ? "" : header) + lines_ + tables_;
  }

 private:
  template <typename Value>
  bool written(const SceneKey& key, Value Struct::*member) const {
    return key.need != Need::Optional || !(object_.*member == usual_.*member);
  }
  void add(const SceneKey& key, const std::string& value) { lines_ += fmt::format("{} = {}\n", key.name, value); }
  template <typename Part>
  void add_table(const char* name, const Part& part, fmt::format_string<const std::string&> header,
                 bool always = false) {
    const std::string full = name_.empty() ? name : name_ + "." + name;
    KeyWriter<Part> keys(full, part, file_);
    declare(keys, std::type_identity<Part>());
    tables_ += keys.text((name_.empty() ? "\n" : "") + fmt::format(header, full), always);
  }

  std::string name_, lines_, tables_;
  const Struct& object_;
  const Struct usual_ = {};
  const std::filesystem::path& file_;
};

}  // namespace

std::string scene_text(const Scene& scene, const std::filesystem::path& file) {
  KeyWriter<Scene> keys("", scene, file);
  declare(keys, std::type_identity<Scene>());
  return "# Millimetres; -x patient right, +y head, +z anterior.\n" + keys.text();
}

void save_scene(const Scene& scene, const std::filesystem::path& file, bool replace) {
  if (!replace && std::filesystem::exists(file))
    throw InputError(
        fmt::format("{}: exists already; choose another name, or allow it to be overwritten", file.string()));
  const std::string text = scene_text(scene, file);
  parse_scene(text, file);  // refuses a scene that could not be loaded again, for example because of a name
  OutputFile out = OutputFile::replacing(file);
  out.stream() << text;
  out.commit();
}

}  // namespace trocar
