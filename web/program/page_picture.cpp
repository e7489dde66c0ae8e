#include "web/program/page_picture.hpp"

#include "geometry/stopwatch.hpp"

namespace trocar {
namespace {

std::vector<DrawnOrgan> organs_at_start(const PageRun& run) {
  std::vector<DrawnOrgan> organs;
  drawn_organs(run.session(), organs);
  return organs;
}

}  // namespace

PagePicture::PagePicture(GlContext& context, const PageRun& run)
    : organs_(organs_at_start(run)), view_(context, organs_) {}

double PagePicture::draw(const PageRun& run, ViewSettings settings, int width, int height) {
  const auto start = Clock::now();
  const Session& session = run.session();
  drawn_organs(session, organs_);
  drawn_tools(session, tools_);
  drawn_bonds(session, bonds_);
  marks_.targets.clear(), marks_.paths.clear(), marks_.zones.clear();
  if (run.task() && session.frames() > 0) run.task()->draw(marks_);
  settings.time = run.time();
  view_.draw(organs_, tools_, bonds_, session.scope().pose, session.scope().lens, marks_, settings, width, height);
  return milliseconds_since(start);
}

}  // namespace trocar
