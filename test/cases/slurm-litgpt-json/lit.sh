#!/bin/bash
#SBATCH --partition=rtx
#SBATCH -N 1
#SBATCH -n 2
#SBATCH --gres=gpu:rtx4090:2
#SBATCH -c 8
#SBATCH --mem=96G
#SBATCH -t 0-09:00
#SBATCH --output=%j.out
#SBATCH --ntasks-per-node=2

source ~/venvs/litgpt/bin/activate
export NCCL_P2P_DISABLE=1

srun litgpt finetune_lora meta-llama/Llama-3.2-1B \
    --data JSON --data.json_path data/recipes.json --data.val_split_fraction 0.05 \
    --devices 2 --precision bf16-true \
    --lora_r 16 --lora_alpha 32 \
    --train.epochs 3 --train.global_batch_size 64 --train.micro_batch_size 4 \
    --train.max_seq_length 1024 --train.save_interval 500 \
    --out_dir out/llama1b-recipes
