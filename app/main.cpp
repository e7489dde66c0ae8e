// The trocar program.
int main() { return 0; }
