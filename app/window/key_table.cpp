#include "app/window/key_table.hpp"

namespace trocar {
namespace {

constexpr KeyLine kInstrument[] = {
    {"move the mouse", "swing the handle about the trocar: the tip goes the other way"},
    {"wheel", "push it in, pull it out"},
    {"Q  W, left  right", "roll it; of the scope: turn the light post"},
    {"left button", "close the jaws; let go to open them"},
    {"E or Space, held", "energise the hook: burn what it touches"},
    {"Tab", "take the next instrument, or the scope, in the hand"},
    {"right button, held", "move the scope whatever is in the hand"},
};
constexpr KeyLine kSession[] = {
    {"Enter or Space", "start, when the instructions are shown"},
    {"Esc", "pause: go on, again, stop and see the results"},
    {"F2", "settings"},
    {"H", "times of each stage, the session's against the OBB tree's"},
    {"O", "let the OBB tree answer instead of the session's backend, and back"},
    {"C", "check every frame with the OBB tree: on, off"},
    {"L", "list of contacts: on, off"},
    {"G", "touched faces: shown, hidden"},
    {"P", "save a picture (picture.png)"},
    {"F1", "this help"},
};
constexpr KeyLine kReplay[] = {
    {"Space", "play, pause"},
    {"left  right", "one frame back, on"},
    {"Home  End", "first frame, last frame"},
    {"up  down", "faster, slower"},
    {"Esc", "back"},
};
constexpr KeyLine kEditor[] = {
    {"left button", "place or choose; drag to move"},
    {"right button + move", "turn the view about the organs"},
    {"wheel", "nearer, farther"},
    {"Ctrl Z", "undo"},
    {"Ctrl S", "save"},
    {"Delete", "remove what is chosen"},
};
constexpr KeyGroup kGroups[] = {
    {"Instruments", kInstrument}, {"Session", kSession}, {"Replay", kReplay}, {"Scene editor", kEditor}};

}  // namespace

std::span<const KeyGroup> key_table() { return kGroups; }

}  // namespace trocar
