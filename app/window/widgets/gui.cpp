#include "app/window/widgets/gui.hpp"

#include <backends/imgui_impl_glfw.h>
#include <backends/imgui_impl_opengl3.h>
#include <imgui.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include "geometry/error.hpp"
#include "sim/support/files.hpp"

namespace trocar {
namespace {

// Folders of the fonts of Debian, Arch and Fedora. The folder for other distributions has fonts in its data; without a
// font the library's own is used, which lacks some signs.
constexpr const char* kFontFolders[] = {"/usr/share/fonts/truetype/dejavu", "/usr/share/fonts/TTF",
                                        "/usr/share/fonts/dejavu-sans-fonts",
                                        "/usr/share/fonts/dejavu-sans-mono-fonts"};
constexpr const char *kSans = "DejaVuSans.ttf", *kMono = "DejaVuSansMono.ttf";

// Units, in the order of theme::Letters.
constexpr float kLetterHeights[] = {15.f, 14.f, 20.f, 44.f, 14.f};
constexpr float kSmallestUnit = 0.75f, kLargestUnit = 6.f;  // pixels

// Returns an empty path when no folder has the font.
std::filesystem::path font_file(const std::string& name) {
  std::error_code none;
  for (const std::filesystem::path folder : kFontFolders)
    if (std::filesystem::exists(folder / name, none)) return folder / name;
  try {
    return data_file("fonts/" + name);
  } catch (const InputError&) {
    return {};
  }
}

// Text has the names of people: Latin, Greek and Cyrillic letters.
void add_letters(theme::Letters letters, float height) {
  ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
  static const ImWchar few[] = {0x20, 0xFF, 0x2013, 0x2026, 0x2190, 0x2193, 0x25A0, 0x25CF, 0};
  static const ImWchar many[] = {0x20,   0x24F,  0x370,  0x3FF,  0x400,  0x52F,  0x1E00, 0x1EFF,
                                 0x2013, 0x2026, 0x2190, 0x2193, 0x25A0, 0x25CF, 0};
  const bool text = letters == theme::Letters::Text || letters == theme::Letters::Small;
  const auto file = font_file(letters == theme::Letters::Numbers ? kMono : kSans);
  if (!file.empty() && atlas.AddFontFromFileTTF(file.c_str(), height, nullptr, text ? many : few)) return;
  ImFontConfig config;
  config.SizePixels = height;
  atlas.AddFontDefault(&config);
}

ImVec4 shade(float grey, float alpha = 1.f) { return {grey * 0.94f, grey, grey * 1.06f, alpha}; }

ImVec4 of(const glm::vec3& colour, float alpha) { return {colour.r, colour.g, colour.b, alpha}; }

void set_colours(ImGuiStyle& style) {
  ImGui::StyleColorsDark(&style);
  auto& c = style.Colors;
  c[ImGuiCol_WindowBg] = shade(0.075f);
  c[ImGuiCol_PopupBg] = shade(0.10f, 0.98f);
  c[ImGuiCol_ChildBg] = shade(0.f, 0.f);
  c[ImGuiCol_Border] = shade(0.24f);
  c[ImGuiCol_Separator] = shade(0.24f);
  c[ImGuiCol_FrameBg] = shade(0.155f);
  c[ImGuiCol_FrameBgHovered] = shade(0.20f);
  c[ImGuiCol_FrameBgActive] = shade(0.24f);
  c[ImGuiCol_Button] = shade(0.19f);
  c[ImGuiCol_ButtonHovered] = shade(0.27f);
  c[ImGuiCol_ButtonActive] = shade(0.33f);
  c[ImGuiCol_Header] = of(theme::kBlue, 0.75f);
  c[ImGuiCol_HeaderHovered] = of(theme::kBlue, 0.45f);
  c[ImGuiCol_HeaderActive] = of(theme::kBlue, 0.9f);
  c[ImGuiCol_CheckMark] = c[ImGuiCol_SliderGrab] = of(theme::kSkyBlue, 1.f);
  c[ImGuiCol_SliderGrabActive] = of(theme::kYellow, 1.f);
  c[ImGuiCol_NavHighlight] = of(theme::kYellow, 0.9f);
  c[ImGuiCol_Text] = of(theme::kText, 1.f);
}

void set_style(float unit) {
  ImGuiStyle style;
  style.WindowRounding = 7.f;
  style.ChildRounding = style.PopupRounding = 6.f;
  style.FrameRounding = style.GrabRounding = 4.f;
  style.WindowPadding = {12.f, 11.f};
  style.FramePadding = {9.f, 5.f};
  style.ItemSpacing = {8.f, 6.f};
  style.ScrollbarSize = 11.f;
  style.WindowBorderSize = 0.f;
  set_colours(style);
  style.ScaleAllSizes(unit);
  ImGui::GetStyle() = style;
}

// Returns the pixels of a unit of the layout (theme.hpp).
float unit_for(const glm::vec2& size) {
  return std::clamp(std::min(size.x / 1280.f, size.y / 720.f), kSmallestUnit, kLargestUnit);
}

// `unit`: pixels
void set_look(float unit) {
  set_style(unit);
  ImGui_ImplOpenGL3_DestroyFontsTexture();
  ImGui::GetIO().Fonts->Clear();
  for (std::size_t k = 0; k < std::size(kLetterHeights); ++k)
    add_letters(static_cast<theme::Letters>(k), kLetterHeights[k] * unit);
  ImGui_ImplOpenGL3_CreateFontsTexture();
}

// `shown` takes what a frame shows.
ImGuiIO& begin_library(theme::ShownFrame& shown) {
  IMGUI_CHECKVERSION();
  ImGui::CreateContext();
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;  // no settings file
  io.UserData = &shown;
  return io;
}

}  // namespace

Gui::Gui(Window& window) : window_(window) {
  ImGuiIO& io = begin_library(shown_);
  io.ConfigFlags |= ImGuiConfigFlags_NavEnableKeyboard | ImGuiConfigFlags_NavEnableGamepad;
  // Input comes from the window, picture by picture.
  ImGui_ImplGlfw_InitForOpenGL(static_cast<GLFWwindow*>(window.handle()), false);
  ImGui_ImplOpenGL3_Init("#version 330");
}

Gui::~Gui() {
  ImGui_ImplOpenGL3_Shutdown();
  ImGui_ImplGlfw_Shutdown();
  ImGui::DestroyContext();
}

// Gives the picture's input to the panels. Letters go by their label, for shortcuts in text fields.
void Gui::hear() {
  ImGuiIO& io = ImGui::GetIO();
  const WindowInput& input = window_.input();
  if (input.focus_lost) io.AddFocusEvent(false);
  for (const InputEvent& event : window_.events()) {
    if (event.kind == InputEvent::Kind::Key) io.KeysDown[event.position] = event.down;
    if (event.kind == InputEvent::Kind::Text) io.AddInputCharacter(event.letter);
  }
  const auto down = [&](int one, int other) { return io.KeysDown[one] || io.KeysDown[other]; };
  io.KeyCtrl = down(GLFW_KEY_LEFT_CONTROL, GLFW_KEY_RIGHT_CONTROL);
  io.KeyShift = down(GLFW_KEY_LEFT_SHIFT, GLFW_KEY_RIGHT_SHIFT);
  io.KeyAlt = down(GLFW_KEY_LEFT_ALT, GLFW_KEY_RIGHT_ALT);
  io.KeySuper = down(GLFW_KEY_LEFT_SUPER, GLFW_KEY_RIGHT_SUPER);
  io.MouseWheel += static_cast<float>(input.wheel);
  io.MousePos = {static_cast<float>(input.pointer.x), static_cast<float>(input.pointer.y)};
  std::ranges::fill(io.MouseDown, false);
  io.MouseDown[0] = input.left_button;
  io.MouseDown[1] = input.right_button;
}

void Gui::begin(float letters) {
  shown_.items.clear(), shown_.words.clear();
  if (const float unit = letters * unit_for(window_.size()); unit != unit_) set_look(unit_ = unit);
  ImGui_ImplOpenGL3_NewFrame();
  ImGui_ImplGlfw_NewFrame();
  hear();
  ImGui::NewFrame();
}

void Gui::end() {
  ImGui::Render();
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
}

bool Gui::wants_letters() const { return ImGui::GetIO().WantTextInput; }

void Gui::listen(bool on) {
  ImGuiIO& io = ImGui::GetIO();
  const auto set = [](ImGuiConfigFlags& flags, ImGuiConfigFlags which, bool value) {
    flags = value ? flags | which : flags & ~which;
  };
  set(io.ConfigFlags, ImGuiConfigFlags_NoMouse, !on);
  set(io.ConfigFlags, ImGuiConfigFlags_NavEnableKeyboard | ImGuiConfigFlags_NavEnableGamepad, on);
}

PictureGui::PictureGui(const glm::ivec2& size) : size_(size) {
  ImGuiIO& io = begin_library(shown_);
  io.DisplaySize = {static_cast<float>(size.x), static_cast<float>(size.y)};
  ImGui_ImplOpenGL3_Init("#version 330");
  set_look(unit_for(size));
}

PictureGui::~PictureGui() {
  ImGui_ImplOpenGL3_Shutdown();
  ImGui::DestroyContext();
}

void PictureGui::draw(const std::function<void()>& panels) {
  // A panel that fits its content has its size only in its second picture.
  for (int times = std::exchange(first_, false) ? 2 : 1; times > 0; --times) {
    shown_.items.clear();
    ImGui_ImplOpenGL3_NewFrame();
    ImGui::NewFrame();
    panels();
    ImGui::Render();
  }
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
}

}  // namespace trocar
