// Reads one mouse of several on Linux, which the window's pointer mixes: a second mouse moves the other hand or the
// scope. Based on: the kernel's event interface, Documentation/input/event-codes.rst. Mice are found in sysfs, which
// every user may read; their events need the permission of /dev/input/eventN (the group `input`). While a reader
// exists, the mouse is grabbed: the pointer of the desktop does not follow it. Units: counts of the mouse, notches.
// Tested in tests/app/window_input_test.cpp with the kernel's structures from a pipe, and with uinput where the machine
// has it.
#pragma once

#include <linux/input.h>

#include <array>
#include <filesystem>
#include <string>
#include <vector>

namespace trocar {

// Motion since the last reading, and the buttons.
struct MouseCounts {
  bool connected = false;
  double right = 0.0, up = 0.0;   // counts
  double wheel = 0.0;             // notches, away from the user is positive
  std::array<bool, 3> buttons{};  // down: left, right, middle
  std::array<bool, 3> pressed{};  // went down, even if they are up again
};

// Takes events one by one; those of a report count at its end. After an overflow of the kernel's queue (SYN_DROPPED)
// the rest of the report is void, and the buttons are up until they are pressed again.
class MouseEvents {
 public:
  void take(const input_event& event);
  // Returns what the reports since the last call said.
  MouseCounts counts();

 private:
  MouseCounts whole_, report_;  // report_: of the report that is not complete
  bool dropped_ = false;
};

// A mouse that sysfs lists.
struct ListedMouse {
  int number = 0;  // of /dev/input/eventN
  std::string name;
};
// Returns the mice, by number: input devices with relative x and y and a left button. `sysfs`: /sys/class/input.
std::vector<ListedMouse> list_mice(const std::filesystem::path& sysfs = "/sys/class/input");

// Returns the number of the mouse that `which` means: a number, a part of a name, or empty for the last one. Throws
// InputError with what to do when there is none, or, without `which`, only one.
int find_mouse(const std::vector<ListedMouse>& mice, const std::string& which);

class EvdevMouse {
 public:
  // Opens /dev/input/eventN and grabs it. Throws InputError with what to do.
  explicit EvdevMouse(int number, const std::filesystem::path& folder = "/dev/input");
  // Reads kernel structures from a descriptor, which it closes at the end: a pipe or a file.
  static EvdevMouse from_descriptor(int descriptor) { return EvdevMouse(Open{descriptor}); }
  ~EvdevMouse();
  EvdevMouse(EvdevMouse&& other) noexcept;
  EvdevMouse& operator=(EvdevMouse&&) = delete;

  // Returns the motion since the last call. Never waits. Unplugged: not connected, all buttons up.
  MouseCounts read();

 private:
  struct Open {
    int descriptor;
  };
  explicit EvdevMouse(Open open);

  int descriptor_ = -1;
  bool connected_ = true;
  MouseEvents events_;
  std::array<char, sizeof(input_event)> part_{};  // of an event that a pipe delivered in two pieces
  std::size_t part_size_ = 0;
};

}  // namespace trocar
