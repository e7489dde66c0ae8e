#include "app/view/session_picture.hpp"

namespace trocar {
namespace {

std::vector<DrawnOrgan> organs_of(const Session& session) {
  std::vector<DrawnOrgan> organs;
  drawn_organs(session, organs);
  return organs;
}

}  // namespace

SessionPicture::SessionPicture(GlContext& context, const Session& session)
    : organs_(organs_of(session)), view_(context, organs_) {}

void SessionPicture::draw(const Session& session, const SessionLook& look, int width, int height) {
  drawn_organs(session, organs_);
  drawn_tools(session, tools_);
  tools_.insert(tools_.end(), look.ghosts.begin(), look.ghosts.end());
  drawn_bonds(session, bonds_);
  marks_.targets.clear(), marks_.paths.clear(), marks_.zones.clear();
  if (look.task && session.frames() > 0) look.task->draw(marks_);
  view_.draw(organs_, tools_, bonds_, look.scope.value_or(session.scope().pose),
             look.lens.value_or(session.scope().lens), marks_, look.settings, width, height);
}

}  // namespace trocar
