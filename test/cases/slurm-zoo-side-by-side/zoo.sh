#!/bin/bash
#SBATCH -J zoo
#SBATCH -p gpu
#SBATCH --gres=gpu:gtx1080ti:1
#SBATCH -n 1 -c 16
#SBATCH --mem=32G
#SBATCH -t 1-00

module load python/3.10
source ~/envs/sb3/bin/activate

for SEED in 1 2 3 4; do
    python -m rl_zoo3.train --algo ppo --env BreakoutNoFrameskip-v4 \
        --n-timesteps 10000000 --seed $SEED --vec-env subproc -f logs/ &
done
wait
