// The functions that the page calls (web/page/trocar.js). One practice or one replay exists at a time. A function that
// returns a text returns it until the next call of a function that returns a text. Texts are JSON (UTF-8) unless noted.
// Nothing throws: a function that can fail returns 0, and trocar_error() gives the reason in one sentence.
// Units: metres, seconds, degrees; pixels of the canvas.   Tested in tests/web/page_test.mjs
#pragma once

#include <cstdint>

extern "C" {

// Returns {"program": "1.0.0", "model_version": 10}.
const char* trocar_version();

// Returns the tasks in order of difficulty, then free practice:
// [{"file": "scenes/tasks/touch_targets.toml", "title": "...", "kind": "touch_targets" | "" (free practice),
//   "levels": ["", "small targets, deep breathing", ...], "picture": "touch_targets.png" | "", "seconds": 35.0}]
const char* trocar_tasks();

// Prepares a practice of a scene at a level (from 1). `shown`: 1: the scripted expert shows the task. The page has made
// the canvas "#picture" before. Returns 1, or 0.
int trocar_open(const char* scene, int level, int shown);
// Prepares the replay of an attempt (the text of attempt.json). Returns 1, or 0.
int trocar_open_replay(const char* attempt);
void trocar_close();
const char* trocar_error();  // plain text

void trocar_start();  // time runs from now on
void trocar_pause();  // also when the page loses the focus or shows a panel
void trocar_resume();
void trocar_finish();  // ends the practice before its task is done

// Input since the last picture. Buttons: 1 left (jaws), 2 right (the scope while held). Notches: of the wheel,
// positive: into the body. Keys: those of `enum PageKey`.
void trocar_pointer(double right_pixels, double down_pixels, int buttons);
void trocar_wheel(double notches);
void trocar_key(int key, int down);
// Selects an instrument by its number, or the scope by the number of instruments.
void trocar_take(int number);
// sensitivity: 0.25 .. 4. quality: 0 low, 1 medium, 2 high. Other arguments are 0 or 1.
void trocar_settings(double sensitivity, int fulcrum, int quality, int show_touched);

// Advances by `elapsed` seconds and draws a picture of this size. Returns the phase: 0 ready, 1 running, 2 paused,
// 3 finished.
int trocar_picture(double elapsed, int width, int height);

// Returns {"phase": 1, "title": "...", "instructions": "...", "hint": "...", "warning": "", "elapsed": 12.3,
//  "time_limit": 120.0, "progress": 0.25, "score": 22.0, "errors": 0,
//  "instruments": [{"name": "grasper", "kind": "grasper", "touched": 5}], "in_hand": 0, "scope_moves": true,
//  "lost": 0.0, "frames": 740, "touched": 5, "disagreements": 0, "compared": 740,
//  "stage_ms": {"query": 0.1, "tissue": 3.2, ...}, "draw_ms": 8.0, "replay": false, "differs": 0}
// "differs": frames of a replay whose touched faces or tissue differ from the attempt.
const char* trocar_status();

// The result of a finished practice or replay: {"finished": true, "score": 87.5, "critical": "",
//  "measures": [{"id": "duration", "label": "Time", "unit": "s", "value": 31.2, "reference": "good up to 25 s, poor
//  from 90 s"}], "no_judgement": "" (a sentence in free practice),
//  "parts": [{"id": "task_time", "label": "Time", "unit": "s", "value": 31.2, "grade": 0.93,
//  "counted": 0.93, "why": "...", "advice": "..."}], "counted": "", "costly": [0], "events": [{"time": 3.2, "error":
//  false, "text": "target 1 reached"}], "duration": 31.2, "lost": 0.0}. A value that is undefined is null.
const char* trocar_result();

// Returns the attempt as the text of attempt.json (sim/inputs/attempt_file.hpp).
const char* trocar_attempt();
}

// Keys that act while they are held. Numbers, because the page passes them.
enum class PageKey : std::int32_t {
  RollLeft = 0,   // Q, Left
  RollRight = 1,  // W, Right
  In = 2,         // Up
  Out = 3,        // Down
  Cut = 4,        // E, Space: left pedal (cut, suction)
  Coagulate = 5,  // R: right pedal (coagulate, irrigation)
  Fine = 6        // Shift: a quarter of every movement
};
