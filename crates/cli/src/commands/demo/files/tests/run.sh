#!/bin/sh
. ./src/sum.sh
check() {
    if [ "$2" = "$3" ]; then echo "ok $1"; else echo "not ok $1: $2 is not $3"; bad=1; fi
}
bad=0
check "one and two" "$(add 1 2)" 3
check "twice four" "$(twice 4)" 8
exit $bad
