#include "scan/proof/proof.c"
#include "scan/proof/proof_graph.c"
#include "scan/proof/proof_roots.c"
