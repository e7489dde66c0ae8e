#include "app/window/key_table.hpp"

namespace trocar {
namespace {

constexpr KeyLine kInstrument[] = {
    {"move the mouse", "swing the handle about the trocar: the tip moves in the opposite direction"},
    {"wheel, up  down", "insert, withdraw"},
    {"Q  W, left  right", "roll the instrument; for the scope, turn the light post"},
    {"Shift, held", "fine movement: swing, insertion and roll are a quarter as large"},
    {"left button, click", "close the jaws with a light grip; the next click opens them"},
    {"left button, held", "close the jaws with a firm grip; they stay closed. Scissors: closed while held"},
    {"E or Space, held", "diathermy on, cut: the hook removes the tissue around its wire"},
    {"R, held", "diathermy on, coagulate: tissue at the wire turns pale, then black"},
    {"E  R, held", "suction: E removes the fluid near the tip, R rinses the tissue with water"},
    {"Tab", "select the next instrument or the scope"},
    {"right button, held", "move the scope, whichever instrument is selected"},
};
constexpr KeyLine kSession[] = {
    {"Enter or Space", "start, when the instructions are shown"},
    {"Esc", "pause: resume, finish or restart"},
    {"F2", "settings"},
    {"T", "technical overlay: forces, pressures, backend, checks, touched faces: on, off"},
    {"H", "times of each stage, and of the session's backend and the OBB tree: on, off"},
    {"O", "switch between the session's backend and the OBB tree"},
    {"C", "check every frame with the OBB tree: on, off"},
    {"L", "list of contacts: on, off"},
    {"G", "touched faces: show, hide"},
    {"X", "the expert's ghost: off, in time, by progress"},
    {"P", "save a picture (picture.png)"},
    {"F11", "full screen: on, off"},
    {"F1", "this help"},
};
constexpr KeyLine kReplay[] = {
    {"Space", "play, pause"},
    {"left  right", "previous frame, next frame"},
    {"Home  End", "first frame, last frame"},
    {"up  down", "faster, slower"},
    {"N, Shift N", "next error, previous error: from two seconds before it"},
    {"Esc", "back"},
};
constexpr KeyLine kEditor[] = {
    {"left button", "select or add; drag to move"},
    {"right button + move", "turn the view around the organs"},
    {"wheel", "zoom in, zoom out"},
    {"Ctrl Z", "undo"},
    {"Ctrl Y, Ctrl Shift Z", "redo"},
    {"Ctrl S", "save"},
    {"Delete", "remove the selected item"},
};
constexpr KeyGroup kGroups[] = {
    {"Instruments", kInstrument}, {"Session", kSession}, {"Replay", kReplay}, {"Scene editor", kEditor}};

constexpr KeyLine kScissors[] = {{"left button, held", "close the blades: they cut once"}};
constexpr KeyLine kGrasper[] = {{"left button, click", "close the jaws lightly; the next click opens them"},
                                {"left button, held", "close them firmly; they stay closed"}};
constexpr KeyLine kClipApplier[] = {{"left button, held", "close the jaws firmly: the clip closes"},
                                    {"left button, click", "open them wide: the next clip is loaded"}};
constexpr KeyLine kHook[] = {
    {"Q  W", "turn the hook's foot"}, {"E or Space, held", "diathermy: cut"}, {"R, held", "diathermy: coagulate"}};
constexpr KeyLine kSuction[] = {{"E, held", "suck"}, {"R, held", "rinse"}};
constexpr KeyLine kScope[] = {{"Q  W", "turn the light post"}};

std::span<const KeyLine> work_of(std::optional<InstrumentKind> kind) {
  if (!kind) return kScope;
  switch (*kind) {
    case InstrumentKind::Grasper:
      return kGrasper;
    case InstrumentKind::Hook:
      return kHook;
    case InstrumentKind::Scissors:
      return kScissors;
    case InstrumentKind::ClipApplier:
      return kClipApplier;
    case InstrumentKind::Suction:
      return kSuction;
    case InstrumentKind::Probe:
      break;
  }
  return {};
}

}  // namespace

std::vector<KeyLine> keys_of(std::optional<InstrumentKind> kind) {
  std::vector<KeyLine> lines = {
      {"mouse", kind ? "swing the handle: the tip moves against the hand" : "swing the scope"},
      {"wheel, up  down", "insert, withdraw"}};
  const auto work = work_of(kind);
  lines.insert(lines.end(), work.begin(), work.end());
  lines.push_back({"Shift, held", "fine movement"});
  return lines;
}

std::span<const KeyGroup> key_table() { return kGroups; }

}  // namespace trocar
