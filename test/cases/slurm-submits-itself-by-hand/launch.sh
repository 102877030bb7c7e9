#!/bin/bash
# started once for each task; tells torch who it is
export RANK=$SLURM_PROCID
export LOCAL_RANK=$SLURM_LOCALID
export PYTHONPATH=/workdir/pythonuserbase/lib/python3.9/site-packages:$PYTHONPATH
python -u "$@"
