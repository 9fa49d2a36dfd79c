#!/bin/sh
# Never comes to an end by itself. The time limit ends it, and what it wrote stays.
echo "It began well, and then" > half-a-thought.txt
sleep 300
