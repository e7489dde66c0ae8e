#include "gpu_collision/compute_state.hpp"

#include <glad/gl.h>

namespace trocar::gl {
namespace {

GLuint unsigned_name(GLint name) { return static_cast<GLuint>(name); }

}  // namespace

DispatchGuard::DispatchGuard() {
  glGetIntegerv(GL_CURRENT_PROGRAM, &program_);
  glGetIntegerv(GL_DISPATCH_INDIRECT_BUFFER_BINDING, &dispatch_indirect_);
  glGetIntegerv(GL_SHADER_STORAGE_BUFFER_BINDING, &storage_);
  glGetIntegerv(GL_ACTIVE_TEXTURE, &active_texture_);
  for (unsigned i = 0; i < kUnits; ++i) {
    glActiveTexture(GL_TEXTURE0 + kFirstUnit + i);
    glGetIntegerv(GL_TEXTURE_BINDING_BUFFER, &textures_[i]);
  }
  glActiveTexture(static_cast<GLenum>(active_texture_));
  for (unsigned i = 0; i < kBlocks; ++i) {
    GLint64 start = 0, size = 0;
    glGetIntegeri_v(GL_SHADER_STORAGE_BUFFER_BINDING, kFirstBlock + i, &blocks_[i].name);
    glGetInteger64i_v(GL_SHADER_STORAGE_BUFFER_START, kFirstBlock + i, &start);
    glGetInteger64i_v(GL_SHADER_STORAGE_BUFFER_SIZE, kFirstBlock + i, &size);
    blocks_[i].start = start;
    blocks_[i].size = size;
  }
}

DispatchGuard::~DispatchGuard() {
  for (unsigned i = 0; i < kBlocks; ++i) {
    const Block& block = blocks_[i];
    if (block.size > 0) {
      glBindBufferRange(GL_SHADER_STORAGE_BUFFER, kFirstBlock + i, unsigned_name(block.name), block.start, block.size);
    } else {
      glBindBufferBase(GL_SHADER_STORAGE_BUFFER, kFirstBlock + i, unsigned_name(block.name));
    }
  }
  glBindBuffer(GL_SHADER_STORAGE_BUFFER, unsigned_name(storage_));
  for (unsigned i = 0; i < kUnits; ++i) {
    glActiveTexture(GL_TEXTURE0 + kFirstUnit + i);
    glBindTexture(GL_TEXTURE_BUFFER, unsigned_name(textures_[i]));
  }
  glActiveTexture(static_cast<GLenum>(active_texture_));
  glUseProgram(unsigned_name(program_));
  glBindBuffer(GL_DISPATCH_INDIRECT_BUFFER, unsigned_name(dispatch_indirect_));
}

}  // namespace trocar::gl
