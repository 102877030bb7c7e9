#!/usr/bin/env bash
NGPUS=$1
PY_ARGS=${@:2}
python -m torch.distributed.launch --nproc_per_node=${NGPUS} --rdzv_endpoint=localhost:23456 \
    train.py --launcher pytorch ${PY_ARGS}
