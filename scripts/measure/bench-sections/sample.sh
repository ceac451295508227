# shellcheck shell=bash
# A server under load, alone, with a sample of the backtraces and with all of them.
sample_section() {
  "$root/scripts/measure/server-load" --section load --rounds "$rounds" --only undead --undead "$undead"
}
