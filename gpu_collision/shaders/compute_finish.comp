#version 430
// Ends a call: copies the counts to host memory, where the records are, and resets them for the next call.
layout(local_size_x = 1) in;

layout(std430, binding = 4) writeonly buffer Reply {
  uint reply_count, reply_call;
};
layout(std430, binding = 6) buffer Counters {
  uint record_count, call_done, unused_0, unused_1;
  uint group_count, one_y, one_z;
};

void main() {
  reply_count = record_count;
  reply_call = call_done;
  record_count = 0u;
  group_count = 0u;
}
