#!/bin/bash
#SBATCH -p gpu-el8
#SBATCH -J class3d_ribo
#SBATCH -N 1
#SBATCH --ntasks=5
#SBATCH --cpus-per-task=6
#SBATCH -o Class3D/job021/run.out
#SBATCH -e Class3D/job021/run.err
#SBATCH --open-mode=append
#SBATCH --gres=gpu:4
#SBATCH -C gpu=3090
#SBATCH --mem=160GB
#SBATCH --time=1-00:00:00
#SBATCH --export=NONE

module purge
module load RELION/4.0.1-foss-2022a-CUDA-11.7.0

mpirun -n 5 `which relion_refine_mpi` \
    --o Class3D/job021/run \
    --i Select/job018/particles.star \
    --ref InitialModel/job012/initial_model.mrc \
    --ini_high 50 --dont_combine_weights_via_disc --pool 30 --pad 2 \
    --ctf --iter 25 --tau2_fudge 4 --particle_diameter 320 --K 6 \
    --flatten_solvent --zero_mask --oversampling 1 --healpix_order 2 \
    --offset_range 5 --offset_step 2 --sym C1 --norm --scale \
    --j 6 --gpu "0:1:2:3"
