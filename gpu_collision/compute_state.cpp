#include "gpu_collision/compute_state.hpp"

#include <glad/gl.h>

namespace trocar::gl {
namespace {

GLuint unsigned_name(GLint name) { return static_cast<GLuint>(name); }

// Enums that read one binding of a kind of indexed buffers.
struct IndexedBinding {
  GLenum target, name, start, size;
};
constexpr IndexedBinding kStorage{GL_SHADER_STORAGE_BUFFER, GL_SHADER_STORAGE_BUFFER_BINDING,
                                  GL_SHADER_STORAGE_BUFFER_START, GL_SHADER_STORAGE_BUFFER_SIZE};
constexpr IndexedBinding kUniform{GL_UNIFORM_BUFFER, GL_UNIFORM_BUFFER_BINDING, GL_UNIFORM_BUFFER_START,
                                  GL_UNIFORM_BUFFER_SIZE};

template <class Block>
Block saved(const IndexedBinding& binding, GLuint index) {
  Block block;
  GLint64 start = 0, size = 0;
  glGetIntegeri_v(binding.name, index, &block.name);
  glGetInteger64i_v(binding.start, index, &start);
  glGetInteger64i_v(binding.size, index, &size);
  block.start = start;
  block.size = size;
  return block;
}

template <class Block>
void restore(const IndexedBinding& binding, GLuint index, const Block& block) {
  if (block.size > 0) {
    glBindBufferRange(binding.target, index, unsigned_name(block.name), block.start, block.size);
  } else {
    glBindBufferBase(binding.target, index, unsigned_name(block.name));
  }
}

}  // namespace

DispatchGuard::DispatchGuard() {
  glGetIntegerv(GL_CURRENT_PROGRAM, &program_);
  glGetIntegerv(GL_DISPATCH_INDIRECT_BUFFER_BINDING, &dispatch_indirect_);
  glGetIntegerv(GL_SHADER_STORAGE_BUFFER_BINDING, &storage_);
  glGetIntegerv(GL_UNIFORM_BUFFER_BINDING, &uniform_);
  glGetIntegerv(GL_ACTIVE_TEXTURE, &active_texture_);
  for (unsigned i = 0; i < kUnits; ++i) {
    glActiveTexture(GL_TEXTURE0 + kFirstUnit + i);
    glGetIntegerv(GL_TEXTURE_BINDING_BUFFER, &textures_[i]);
  }
  glActiveTexture(static_cast<GLenum>(active_texture_));
  for (unsigned i = 0; i < kBlocks; ++i) blocks_[i] = saved<Block>(kStorage, kFirstBlock + i);
  tools_ = saved<Block>(kUniform, kToolsBlock);
}

DispatchGuard::~DispatchGuard() {
  for (unsigned i = 0; i < kBlocks; ++i) restore(kStorage, kFirstBlock + i, blocks_[i]);
  restore(kUniform, kToolsBlock, tools_);
  glBindBuffer(GL_SHADER_STORAGE_BUFFER, unsigned_name(storage_));
  glBindBuffer(GL_UNIFORM_BUFFER, unsigned_name(uniform_));
  for (unsigned i = 0; i < kUnits; ++i) {
    glActiveTexture(GL_TEXTURE0 + kFirstUnit + i);
    glBindTexture(GL_TEXTURE_BUFFER, unsigned_name(textures_[i]));
  }
  glActiveTexture(static_cast<GLenum>(active_texture_));
  glUseProgram(unsigned_name(program_));
  glBindBuffer(GL_DISPATCH_INDIRECT_BUFFER, unsigned_name(dispatch_indirect_));
}

}  // namespace trocar::gl
