// Injects faults of an OpenGL driver by replacing entries in glad's table of entry points. A fault lasts as long as the
// InjectedFault object.
#pragma once

#include <memory>
#include <string>

namespace trocar {

enum class GlFault {
  FenceFails,         // glClientWaitSync returns GL_WAIT_FAILED
  FenceTimesOut,      // ... returns GL_TIMEOUT_EXPIRED
  NoFence,            // glFenceSync returns none
  NoMapping,          // glMapNamedBufferRange returns none
  OutOfMemory,        // functions that give a buffer storage do nothing and leave GL_OUT_OF_MEMORY
  CommandRefused,     // glEndQuery, glDispatchCompute and glRenderMode leave GL_INVALID_OPERATION
  ContextLost,        // glGetGraphicsResetStatus reports it, once
  ContextLostError,   // glGetError always returns GL_CONTEXT_LOST
  DispatchSkipped,    // glDispatchCompute does nothing: the buffer still holds the previous answer
  FaceThatIsNot,      // one record read back names the face after the last
  ToolThatIsNot,      // ... the tool after the last
  TooManyHits,        // an impossibly large count (four billion; 2^30 for GL_SELECT)
  NoCount,            // an occlusion query whose result never arrives
  SmallStorageBlock,  // GL_MAX_SHADER_STORAGE_BLOCK_SIZE is 8 KiB
  SmallTextureBuffer  // GL_MAX_TEXTURE_BUFFER_SIZE is 1000 texels
};

// Restores the entry points in its destructor.
class InjectedFault {
 public:
  // Numbers of faces and tools of the query: the first indices that do not exist.
  explicit InjectedFault(GlFault fault, unsigned faces = 0, unsigned tools = 0);
  ~InjectedFault();
  InjectedFault(const InjectedFault&) = delete;
  InjectedFault& operator=(const InjectedFault&) = delete;

  struct Saved;

 private:
  std::unique_ptr<Saved> saved_;
};

}  // namespace trocar
