#!/bin/bash
#SBATCH --job-name=olmo1b-nordic
#SBATCH --account=project_462000999
#SBATCH --partition=standard-g
#SBATCH --output=/scratch/project_462000999/logs/%j.log
#SBATCH --nodes=16
#SBATCH --ntasks-per-node=8
#SBATCH --gpus-per-node=8
#SBATCH --cpus-per-task=6
#SBATCH --time=48:00:00
#SBATCH --time-min=8:00:00
#SBATCH --mem=0			# all memory on the node

module load LUMI/22.08 partition/G

export OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK
export MPICH_GPU_SUPPORT_ENABLED=1
export NCCL_SOCKET_IFNAME=hsn
export SINGULARITYENV_TORCH_DIST_INIT_BARRIER=1
export OLMO_CONTAINER=llm-lumi_latest.sif
export PROJECT_DIR=/project/project_462000999

# Ensure that each process sees all GPUs
export ROCR_VISIBLE_DEVICES=0,1,2,3,4,5,6,7

srun \
  --cpus-per-task=$SLURM_CPUS_PER_TASK \
  --distribution=block:block \
  --kill-on-bad-exit \
  scripts/run_with_environment.sh \
    singularity exec \
    -B"$PROJECT_DIR:$PROJECT_DIR" \
    -B"$SCRATCH_DIR:$SCRATCH_DIR" \
    -B /opt/cray:/opt/cray \
    $PROJECT_DIR/containers/$OLMO_CONTAINER \
    python scripts/train.py configs/OLMo-1B-nordic.yaml \
      --run_name=${SLURM_JOB_ID} \
      --max_duration=200000 \
      ${@}
