#!/bin/sh
# An agent is any program. This one cleans up and hands in what it did.
set -eu
found=$(grep -rnI '[[:blank:]]$' src tests | cut -d: -f1,2 || true)
for file in $(printf '%s\n' "$found" | cut -d: -f1 | sort -u); do
    sed -i 's/[[:blank:]]*$//' "$file"
done
printf '%s\n' "$found" > lint-report.txt
count=$(printf '%s\n' "$found" | grep -c . || true)
legation submit --status completed \
    --summary "Took blanks off the ends of $count lines." \
    --artifact report:lint-report.txt \
    --tokens-in 1200 --tokens-out 150 --cost-usd 0.004
