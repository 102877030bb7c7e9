#!/bin/bash
#SBATCH --job-name=gnn-hydra
#SBATCH --partition=gpu_h100
#SBATCH --gpus=1
#SBATCH --cpus-per-task=16
#SBATCH --time=10:00:00

source .venv/bin/activate
python -u main.py -m model=gcn,gat,sage seed=0,1,2 dataset=ogbn-arxiv trainer.max_epochs=500 optimizer.lr=0.01 \
    hydra/launcher=basic
