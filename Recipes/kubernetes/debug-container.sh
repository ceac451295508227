#!/usr/bin/env bash
# An ephemeral container beside a running pod's server, for one look at it; the pod is not restarted.
#
#   debug-container.sh POD CONTAINER IMAGE-WITH-UNDEAD [FILE]
set -euo pipefail

pod=${1:?POD} container=${2:?CONTAINER} image=${3:?IMAGE} file=${4:-heap.undead}
# --target: the processes of that container; the profile adds SYS_PTRACE.
kubectl debug "$pod" --image="$image" --target="$container" --profile=general --container=undead-look --quiet \
  --env=TMPDIR=/tmp -- sleep 600
kubectl wait --for=jsonpath='{.status.ephemeralContainerStatuses[?(@.name=="undead-look")].state.running}' "pod/$pod" \
  --timeout=120s
# The target's process 1 is the server, unless the pod shares its processes.
kubectl exec "$pod" --container=undead-look -- undead leaks 1 --heap /tmp/heap.undead --exit-code 0
kubectl cp "$pod:/tmp/heap.undead" "$file" --container=undead-look
