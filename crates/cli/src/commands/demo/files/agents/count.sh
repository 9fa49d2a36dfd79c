#!/bin/sh
# Does half of the work and delegates the other half, one level down.
set -eu
find src tests -type f -exec wc -l {} + > lines.txt
legation delegate --json --agent folder-counter "Count the lines of each folder" > /dev/null
total=$(awk 'END { print $1 }' lines.txt)
legation submit --status completed --summary "$total lines in all; folders were counted below." \
    --artifact report:lines.txt --data "{\"lines\":$total}" \
    --tokens-in 1500 --tokens-out 200 --cost-usd 0.005
