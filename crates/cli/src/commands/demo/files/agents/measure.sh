#!/bin/sh
# Edits the same line, a little later. Asked again, it starts from what the other one made.
set -eu
sleep 0.5
sed -i '1s/small/very small/' README.md
legation submit --status completed --summary "The title says: $(head -n 1 README.md)" \
    --artifact documentation:README.md --tokens-in 300 --tokens-out 40 --cost-usd 0.001
