#!/usr/bin/env bash
# submits every combination; run on the login node
set -euo pipefail

PART=gpu
DATASETS="cifar100 tinyimagenet"
SEEDS="0 1 2"

mkdir -p logs
for ds in $DATASETS; do
  for seed in $SEEDS; do
    name=distill_${ds}_${seed}
    sbatch --job-name=$name -p $PART \
      --gres=gpu:a5000:1 --cpus-per-task=8 --mem=32G --time=08:00:00 \
      --output=logs/$name.out \
      --wrap="python distill.py --dataset $ds --seed $seed --teacher resnet110 --student resnet20 --epochs 240 --batch_size 64"
  done
done
