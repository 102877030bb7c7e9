#!/bin/bash
#SBATCH --constraint=gpu
#SBATCH --nodes=1
#SBATCH --time=4:00:00
#SBATCH --cpus-per-task=10
#SBATCH --gpus=4
#SBATCH --account=m9999
#SBATCH -J train-cgpu
#SBATCH -o logs/%x-%j.out

EPOCHS=1000
G=4
B=32
LR=0.0001
MODEL=roznet

while getopts "e:b:l:m:g:" opt; do
  case $opt in
    e) EPOCHS=$OPTARG ;;
    b) B=$OPTARG ;;
    l) LR=$OPTARG ;;
    m) MODEL=$OPTARG ;;
    g) G=$OPTARG ;;
    *) echo "usage: train.sh [-e epochs] [-b batch]"; exit 1 ;;
  esac
done
shift $((OPTIND - 1))

OPTIONS="-e $EPOCHS -b $B --lr $LR"
srun -n 1 deep-index train --gpus $G --epochs $EPOCHS --batch_size $B --lr $LR --arch $MODEL input.h5
