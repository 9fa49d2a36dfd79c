#!/bin/sh
# Runs the project's own tests; what it says is what came out.
set -u
sh tests/run.sh > test-output.txt 2>&1
code=$?
passed=$(grep -c '^ok' test-output.txt || true)
if [ "$code" -eq 0 ]; then
    legation submit --status completed --summary "All $passed tests passed." \
        --artifact report:test-output.txt \
        --tokens-in 900 --tokens-out 80 --cost-usd 0.003
else
    legation submit --status failed --summary "$passed tests passed, others did not." \
        --error "test_failure:the tests ended with $code" --artifact report:test-output.txt
fi
