#!/bin/tcsh
#SBATCH --job-name=D1203N
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=1
#SBATCH --gres=gpu:a100:1
#SBATCH --cpus-per-task=1
#SBATCH --time=1-00:00:00
#SBATCH --mem=5GB
#SBATCH --output=slurm_%j.out

module purge
module load amber/22.00
setenv CUDA_CACHE_DISABLE 1

set top = ../merged_bound.prmtop
set cnt = 1
set last = 5

while ( $cnt <= $last )
    @ before = $cnt - 1
    pmemd.cuda -O -i prod.in -p $top -c prod$before.rst7 -o prod$cnt.out -r prod$cnt.rst7 -x prod$cnt.nc
    @ cnt += 1
end
