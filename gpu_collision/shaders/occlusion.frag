// Writes no colour: only the sample count matters.
void main() {}
