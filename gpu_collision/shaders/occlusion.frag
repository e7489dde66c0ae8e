// Nothing is painted: only the samples count.
void main() {}
