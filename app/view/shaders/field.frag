// Blackens the picture outside the circular view, with a soft edge.
in float share;
out vec4 result;
void main() { result = vec4(0.0, 0.0, 0.0, smoothstep(0.986, 1.0, share)); }
