#! /bin/bash
#SBATCH -A ACD999999
#SBATCH -p gp4d
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=8
#SBATCH --cpus-per-task=4
#SBATCH --gres=gpu:8
#SBATCH -J train
#SBATCH -t 4-00:00:00
#SBATCH -o /work/u999/LLM/logs/zero_3.out

module purge
module load miniconda3/conda24.5.0_py3.9 cmake
conda activate /work/u999/deepspeed-pretrain

export PYTORCH_ALLOC_CONF="max_split_size_mb:128,expandable_segments:True"
export ROOT="/work/u999/LLM"
export CONFIG=$ROOT/configs
export RUN=$ROOT/run

mpirun -np 8 bash -c 'python $RUN/pretrain.py \
    --deepspeed_config $CONFIG/zero_3.json \
    --micro_batch_size 2 \
    --seq_len 2048 \
    --total_steps 20000 --bf16'
