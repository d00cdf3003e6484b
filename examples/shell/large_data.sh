#!/usr/bin/env bash
# Steps for many rows: parameters on a sample, methods side by side, then one of them with a limit.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

tamis generate checkerboard --rows 40000 -o train.svm -q
tamis generate checkerboard --rows 5000 --seed 2 -o test.svm -q

# C and gamma by cross-validation on 2,000 rows.
tamis tune train.svm --rows 2000 --grid cost=1,10,100 --grid gamma=10,100,1000 | grep best

# What the faster methods lose.
tamis compare train.svm --test test.svm -c 10 -g 100 --methods exact,falk-c,subsample | cut -c1-24

# Read in blocks, for files larger than memory; at most a minute.
tamis train train.svm --stream --method leader -c 10 -g 100 --max-seconds 60 -o leaders.model -q
tamis evaluate leaders.model test.svm | sed -n 1p
