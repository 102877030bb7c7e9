#!/bin/bash
#SBATCH -n 8
#SBATCH --ntasks-per-node 4
#SBATCH --gpus-per-task 1
#SBATCH --gpu-bind=none
#SBATCH -c 16
#SBATCH --constraint=a100
#SBATCH -t 1-12
#SBATCH -A vis
#SBATCH --image=docker:pytorch/pytorch:2.3.0-cuda12.1-cudnn8-runtime
#SBATCH --module=gpu,nccl-2.18

export MASTER_ADDR=$(hostname)
export MASTER_PORT=29400
export OMP_NUM_THREADS=8

cd $HOME/pytorch-image-models
set -x
srun -u shifter bash -c "
    export RANK=\$SLURM_PROCID LOCAL_RANK=\$SLURM_LOCALID WORLD_SIZE=\$SLURM_NTASKS
    python train.py \
      --data-dir $SCRATCH/imagenet \
      --model convnextv2_tiny \
      --batch-size 128 --grad-accum-steps 4 \
      --epochs 300 --warmup-epochs 20 \
      --opt adamw --lr 4e-3 --weight-decay 0.05 \
      --amp --amp-dtype bfloat16 \
      --mixup 0.8 --cutmix 1.0 --drop-path 0.1 --model-ema \
      --output $SCRATCH/out
"
