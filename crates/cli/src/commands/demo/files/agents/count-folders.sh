#!/bin/sh
# Counts, then tries to hand on what is left. It stands too deep for that: the
# refusal is an answer like any other, and goes into the return.
set -u
for folder in src tests; do
    printf '%s %s\n' "$(cat "$folder"/* | wc -l)" "$folder"
done > folders.txt
refusal=$(legation delegate --json --agent linter "Count once more, to be sure")
legation submit --status completed --summary "Counted two folders; going deeper was refused." \
    --artifact report:folders.txt --data "{\"refused\":$refusal}" \
    --tokens-in 600 --tokens-out 60 --cost-usd 0.002
