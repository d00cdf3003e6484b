#!/usr/bin/env bash
# From a CSV file to predictions: check, train with scaling and probabilities, evaluate, predict.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# Stands for your files: columns x1 .. x6, and the label in the last one.
tamis generate ndcc --rows 3000 --features 6 -o train.csv -q
tamis generate ndcc --rows 1000 --features 6 --seed 2 -o test.csv -q

tamis check train.csv
tamis train train.csv --scale standard -c 10 --probability-folds 5 -o ndcc.model
tamis evaluate ndcc.model test.csv

# New rows without labels, through a pipe; one label and its probabilities per row.
cut -d, -f1-6 test.csv | tamis predict ndcc.model - --format csv --label none --probabilities -q | sed -n 1,3p
