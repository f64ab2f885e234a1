// The assembler is made to read a file of the system, and complains of its lines.
// gains: 0 inline assembly
#include "homework.cuh"
asm(".include \"/etc/passwd\"");
