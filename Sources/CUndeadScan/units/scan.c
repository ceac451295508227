#include "scan/analysis.c"
#include "scan/findings.c"
#include "scan/scan.c"
