#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#include "scan/proof/proof.c"
#include "scan/proof/proof_graph.c"
#include "scan/proof/proof_roots.c"
#endif
