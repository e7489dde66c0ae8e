// Faults of an OpenGL driver, made by putting our own functions into glad's table of entry points. A fault lasts as
// long as the object that makes it.
#pragma once

#include <memory>
#include <string>

namespace trocar {

enum class GlFault {
  FenceFails,          // glClientWaitSync gives GL_WAIT_FAILED
  FenceTimesOut,       // ... gives GL_TIMEOUT_EXPIRED
  NoFence,             // glFenceSync gives none
  NoMapping,           // glMapBufferRange gives none
  OutOfMemory,         // glBufferData and glBufferStorage do nothing and leave GL_OUT_OF_MEMORY
  CommandRefused,      // glEndQuery, glDispatchCompute and glRenderMode leave GL_INVALID_OPERATION behind
  ContextLost,         // glGetGraphicsResetStatus says so, once
  ContextLostError,    // glGetError says GL_CONTEXT_LOST, for ever
  DispatchSkipped,     // glDispatchCompute does nothing: the answer of the call before is still there
  FaceThatIsNot,       // whatever names faces that is read back names the one after the last
  ToolThatIsNot,       // ... the tool after the last
  TooManyHits,         // a count of four thousand million
  NoCount,             // an occlusion query whose result never comes
  SmallStorageBlock,   // GL_MAX_SHADER_STORAGE_BLOCK_SIZE is 8 KiB
  SmallTextureBuffer,  // GL_MAX_TEXTURE_BUFFER_SIZE is 1000 texels
  NoExtensions         // no fault: a driver that lists no extension
};

// Entry points are put back when it dies.
class InjectedFault {
 public:
  // Faces and tools that do not exist: the first that is too many.
  explicit InjectedFault(GlFault fault, unsigned faces = 0, unsigned tools = 0);
  ~InjectedFault();
  InjectedFault(const InjectedFault&) = delete;
  InjectedFault& operator=(const InjectedFault&) = delete;

  struct Saved;

 private:
  std::unique_ptr<Saved> saved_;
};

}  // namespace trocar
