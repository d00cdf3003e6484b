#!/usr/bin/env bash
# Tamis next to LIBSVM: its option letters, its model files, and a proof that both have the same optimum.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

tamis generate checkerboard --rows 2000 -o train.svm -q
tamis generate checkerboard --rows 1000 --seed 2 -o test.svm -q

# svm-train -c 10 -g 100 -w1 2 train.svm
tamis train -c 10 -g 100 -w1 2 train.svm --model-format libsvm -o libsvm.model
head -3 libsvm.model

# svm-predict test.svm libsvm.model labels.txt
tamis predict libsvm.model test.svm -o labels.txt

# Whether the model, of either program, is the optimum for these parameters.
tamis certify libsvm.model train.svm -c 10 -w1 2
