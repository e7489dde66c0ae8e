#include "app/window/key_table.hpp"

namespace trocar {
namespace {

constexpr KeyLine kInstrument[] = {
    {"move the mouse", "swing the handle about the trocar: the tip moves in the opposite direction"},
    {"wheel", "insert, withdraw"},
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
    {"H", "times of each stage, and of the session's backend and the OBB tree: on, off"},
    {"O", "switch between the session's backend and the OBB tree"},
    {"C", "check every frame with the OBB tree: on, off"},
    {"L", "list of contacts: on, off"},
    {"G", "touched faces: show, hide"},
    {"P", "save a picture (picture.png)"},
    {"F1", "this help"},
};
constexpr KeyLine kReplay[] = {
    {"Space", "play, pause"},
    {"left  right", "previous frame, next frame"},
    {"Home  End", "first frame, last frame"},
    {"up  down", "faster, slower"},
    {"Esc", "back"},
};
constexpr KeyLine kEditor[] = {
    {"left button", "select or add; drag to move"},
    {"right button + move", "turn the view around the organs"},
    {"wheel", "zoom in, zoom out"},
    {"Ctrl Z", "undo"},
    {"Ctrl S", "save"},
    {"Delete", "remove the selected item"},
};
constexpr KeyGroup kGroups[] = {
    {"Instruments", kInstrument}, {"Session", kSession}, {"Replay", kReplay}, {"Scene editor", kEditor}};

}  // namespace

std::span<const KeyGroup> key_table() { return kGroups; }

}  // namespace trocar
