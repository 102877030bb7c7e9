#!/bin/bash
# prepare, train, evaluate: each waits for the one before it
set -e
EXP=${1:?name of the experiment}

prep=$(sbatch --parsable --job-name=prep_$EXP jobs/prep.sbatch $EXP)
train=$(sbatch --parsable --job-name=train_$EXP --dependency=afterok:$prep jobs/train.sbatch $EXP)
sbatch --job-name=eval_$EXP --dependency=afterok:$train jobs/eval.sbatch $EXP
echo "submitted $prep -> $train"
