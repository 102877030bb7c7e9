#!/bin/bash
#SBATCH -J nmt-is-en
#SBATCH -p ml
#SBATCH --gres=gpu:tesla_v100:4
#SBATCH --cpus-per-task=8
#SBATCH --mem=80GB
#SBATCH --time=7-00:00:00
#SBATCH --signal=B:USR1@300

MARIAN=$HOME/marian-dev/build
DATA=$HOME/is-en

$MARIAN/marian \
    --devices 0 1 2 3 --workspace 9500 \
    --model models/is-en.npz --type transformer \
    --train-sets $DATA/train.is $DATA/train.en \
    --vocabs $DATA/vocab.spm $DATA/vocab.spm \
    --max-length 100 --mini-batch-fit --maxi-batch 1000 \
    --enc-depth 6 --dec-depth 6 --transformer-heads 8 \
    --valid-freq 5000 --save-freq 5000 --disp-freq 500 \
    --early-stopping 10 --after-epochs 20 \
    --learn-rate 0.0003 --lr-warmup 16000 --sync-sgd --fp16 \
    --log train.log

$MARIAN/marian-decoder -c models/is-en.npz.decoder.yml -d 0 1 2 3 -b 6 < $DATA/test.is > out.en
sacrebleu $DATA/test.en < out.en
