#!/bin/bash
#SBATCH -A comp_dls
#SBATCH -p polar
#SBATCH -N 4
#SBATCH -t 1-12:00:00
#SBATCH --ntasks-per-node=8
#SBATCH --gpus-per-node=8
#SBATCH --mem=0
#SBATCH -J "siskin-1b"
#SBATCH --requeue

CONTAINER="nvcr.io#nvidia/nemo:24.07"
DATA="[1.0,/data/prep/pile_text_document]"

read -r -d '' CMD <<EOT || true
python -u /opt/NeMo/examples/nlp/language_modeling/megatron_gpt_pretraining.py \
    --config-path=/opt/NeMo/examples/nlp/language_modeling/conf \
    --config-name=megatron_gpt_config \
    trainer.devices=8 \
    trainer.num_nodes=${SLURM_JOB_NUM_NODES} \
    trainer.precision=bf16 \
    trainer.max_steps=150000 \
    trainer.val_check_interval=2000 \
    trainer.limit_val_batches=50 \
    model.micro_batch_size=4 \
    model.global_batch_size=256 \
    model.tensor_model_parallel_size=1 \
    model.pipeline_model_parallel_size=1 \
    model.encoder_seq_length=2048 \
    model.max_position_embeddings=2048 \
    model.num_layers=24 \
    model.hidden_size=2048 \
    model.ffn_hidden_size=8192 \
    model.num_attention_heads=16 \
    model.optim.name=distributed_fused_adam \
    model.data.data_prefix=${DATA} \
    exp_manager.create_checkpoint_callback=True \
    exp_manager.resume_if_exists=True
EOT

srun --container-image="$CONTAINER" --container-mounts=/data:/data --no-container-mount-home \
    bash -c "$CMD"
