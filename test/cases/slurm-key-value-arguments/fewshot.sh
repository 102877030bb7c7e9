#!/bin/bash
#SBATCH --job-name=fewshot
#SBATCH --partition=gpu_8
#SBATCH --nodes=1
#SBATCH --mem=32000
#SBATCH --gres=gpu:1
#SBATCH --time=01:00:00

EPOCHS=60000
BENCHMARK=omniglot

for ARGUMENT in "$@"
do
    KEY=$(echo $ARGUMENT | cut -f1 -d=)
    VALUE=$(echo $ARGUMENT | cut -f2 -d=)
    export "$KEY"=$VALUE
done

python train.py --algorithm $ALGORITHM \
                --num_epochs $EPOCHS \
                --benchmark $BENCHMARK \
                --batch_size $BATCH
