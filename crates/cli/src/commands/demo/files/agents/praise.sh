#!/bin/sh
# Edits the first line, as somebody else does at the same time.
set -eu
sed -i '1s/ project/, tidy project/' README.md
legation submit --status completed --summary "The title says: $(head -n 1 README.md)" \
    --artifact documentation:README.md --tokens-in 300 --tokens-out 40 --cost-usd 0.001
