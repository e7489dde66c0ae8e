#version 330 core
// Nothing is painted: only the samples count.
void main() {}
