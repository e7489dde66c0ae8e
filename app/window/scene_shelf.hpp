// The list of scenes on the start screen: groups of cards in two columns, each with a thumbnail and a title.
// Driven in tests/app/window_path_test.sh
#pragma once

#include <optional>
#include <span>

#include "app/window/screens/scene_list.hpp"
#include "app/window/thumbnails.hpp"

namespace trocar {

// Follows keyboard and gamepad through a list: a card is selected when they move the focus to it, not when the focus
// returns because the list appears again.
class CardFocus {
 public:
  void begin();  // before the cards of a frame
  bool fresh() const { return fresh_ > 0; }
  // Call after the card's item. Returns true when the focus has moved to it from another card.
  bool moved_to(std::size_t card);

 private:
  std::optional<std::size_t> last_;
  int fresh_ = 0;   // frames after the list appears
  int frame_ = -1;  // of the last begin()
};

class SceneShelf {
 public:
  // Draws the list into the current panel; returns the scene that the user selects in this frame.
  std::optional<std::size_t> draw(std::span<const ListedScene> scenes, std::size_t selected);
  // Scrolls to the selected scene in the next frames.
  void reveal() { reveal_ = true; }

 private:
  bool card(const ListedScene& listed, std::size_t number, bool selected);

  Thumbnails thumbnails_;
  CardFocus focus_;
  bool reveal_ = true;
};

// Notes the position of the last item (theme::note_item) when its middle is visible: what is scrolled out of the panel
// cannot be pressed.
void note_visible_item(std::string_view label);

}  // namespace trocar
