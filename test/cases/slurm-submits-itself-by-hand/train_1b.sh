#!/bin/bash

#SBATCH --job-name=fin-1b
#SBATCH --nodes=16
#SBATCH --cpus-per-task=7
#SBATCH --ntasks-per-node=8
#SBATCH --mem=0
#SBATCH --partition=standard-g
#SBATCH --time=2-00:00:00
#SBATCH --gpus-per-node=mi250:8
#SBATCH --exclusive=user
#SBATCH --hint=nomultithread
#SBATCH --account=project_462000999
#SBATCH --output=logs/%j.out
#SBATCH --error=logs/%j.err

mkdir -p workdir
wd=$(realpath workdir)

# if run without sbatch, invoke here
if [ -z $SLURM_JOB_ID ]; then
    mkdir -p logs
    sbatch "$0"
    exit
fi

# distributed setup
export MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
export MASTER_PORT=9999
export WORLD_SIZE=$SLURM_NTASKS
export CUDA_DEVICE_MAX_CONNECTIONS=1
export CC=gcc-10 CXX=g++-10

CHECKPOINT_PATH=checkpoints
TRAIN_DATA="0.5415810341 data/parsebank_text_document 0.4584189659 data/mc4_fi_text_document"

PP_SIZE=2
TP_SIZE=2
MICRO_BATCH_SIZE=4
GLOBAL_BATCH_SIZE=512
TRAIN_ITERS=50000

NLAYERS=24
NHIDDEN=2048
NHEADS=16
SEQ_LEN=2048

GPT_ARGS=" \
    --num-layers $NLAYERS \
    --hidden-size $NHIDDEN \
    --num-attention-heads $NHEADS \
    --seq-length $SEQ_LEN \
    --max-position-embeddings $SEQ_LEN \
    --micro-batch-size $MICRO_BATCH_SIZE \
    --global-batch-size $GLOBAL_BATCH_SIZE \
    --train-iters $TRAIN_ITERS \
    --vocab-file gpt2-vocab.json \
    --merge-file gpt2-merges.txt \
    --bf16 \
    "
OPTIMIZER_ARGS=" --optimizer adam --lr 2.0e-4 --min-lr 1e-5 --lr-decay-style cosine --lr-warmup-iters 500 --clip-grad 1.0 --weight-decay 1e-1 "
OUTPUT_ARGS=" --log-interval 10 --save-interval 1000 --eval-interval 1000 --eval-iters 10 --tensorboard-dir tb "
PARALLEL_ARGS=" --tensor-model-parallel-size $TP_SIZE --pipeline-model-parallel-size $PP_SIZE "
DEEPSPEED_ARGS=" --deepspeed --deepspeed_config ds_config.json --zero-stage 1 "

CMD=" \
    Megatron-DeepSpeed/pretrain_gpt.py \
    $PARALLEL_ARGS $GPT_ARGS $OPTIMIZER_ARGS $OUTPUT_ARGS \
    --save $CHECKPOINT_PATH --load $CHECKPOINT_PATH \
    --data-path $TRAIN_DATA --data-impl mmap --split 949,50,1 \
    --dataloader-type single --num-workers 2 \
    $DEEPSPEED_ARGS \
    "

c=fe
BIND_MASK="0x${c}000000000000,0x${c}00000000000000,0x${c}0000,0x${c}000000,0x${c},0x${c}00,0x${c}00000000,0x${c}0000000000"

echo "START $SLURM_JOBID: $(date)"
srun --label --cpu-bind=mask_cpu:$BIND_MASK \
    singularity exec -B $PWD -B /opt/cray:/opt/cray -B "$wd:/workdir" $CONTAINER \
    ./launch.sh $CMD
echo "END $SLURM_JOBID: $(date)"
