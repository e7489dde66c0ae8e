// Draws what the page shows into its canvas.   Tested in tests/web/page_test.mjs
#pragma once

#include <memory>

#include "app/view/view.hpp"
#include "web/program/page_run.hpp"

namespace trocar {

class PagePicture {
 public:
  PagePicture(GlContext& context, const PageRun& run);
  // Returns the time that drawing took, ms; the graphics hardware may go on after it.
  double draw(const PageRun& run, ViewSettings settings, int width, int height);

 private:
  std::vector<DrawnOrgan> organs_;
  std::vector<DrawnTool> tools_;
  DrawnBonds bonds_;
  DrawnMarks marks_;
  View view_;
};

}  // namespace trocar
