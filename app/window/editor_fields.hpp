// The fields of the scene editor's panels: each a grey label and a control. A value is written only after a change, so
// that an unchanged number keeps its bits.   Driven in tests/app/window_path_test.sh
#pragma once

#include <glm/glm.hpp>
#include <string>
#include <vector>

namespace trocar::editor_fields {

// Shows a number in the file's unit: `value` times `per_unit`, from `low` to `high` of that unit.
void number(const char* label, double& value, double per_unit, double low, double high, const char* format);
void number(const char* label, float& value, double per_unit, double low, double high, const char* format);
void number(const char* label, int& value, int low, int high);
void flag(const char* label, bool& value);
// A position, in millimetres.
void position(const char* label, glm::dvec3& point);
void position(const char* label, glm::vec3& point);
// A direction without unit, each component from -1 to 1.
void direction(const char* label, glm::vec3& vector);
void words(const char* label, std::string& text);
// `none`: what an empty value is called; null: it must not be empty. Returns whether the value changed.
bool choice(const char* label, const std::vector<std::string>& names, std::string& value, const char* none = nullptr);

}  // namespace trocar::editor_fields
