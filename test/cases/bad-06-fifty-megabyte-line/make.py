"""Writes a manifest of fifty megabytes in one line: make.py sbatch|yaml|flags"""
import sys

LENGTH = 50 * 1024 * 1024
TEXTS = {
    "sbatch": ("#!/bin/bash\n#SBATCH -t 60 --gres=gpu:2\npython train.py --tag ", "t"),
    "yaml": ("apiVersion: v1\nkind: Pod\nmetadata:\n  name: long\nspec:\n  containers: []\n  hostname: ", "h"),
    "flags": ("#!/bin/bash\n#SBATCH -t 60 --gres=gpu:2\ntorchrun train.py ", "--x "),
}
head, part = TEXTS[sys.argv[1]]
sys.stdout.write(head + part * (LENGTH // len(part)) + "\n")
