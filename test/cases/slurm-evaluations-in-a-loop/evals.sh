#!/bin/bash
#SBATCH --job-name=evals
#SBATCH -p p_nlp
#SBATCH --nodes=1
#SBATCH --gres=gpu:l40s:2
#SBATCH --cpus-per-task=16
#SBATCH --mem=120G
#SBATCH --time=1-6:00:00

export HF_HOME=/nlpdata/hf
export HF_ALLOW_CODE_EVAL=1
MODELS=(
# allenai/OLMo-2-1124-7B-Instruct
# tiiuae/Falcon3-7B-Instruct
mistralai/Mistral-7B-Instruct-v0.3
meta-llama/Llama-3.1-8B-Instruct
)
TASKS="gsm8k,mmlu,ifeval"

for model in "${MODELS[@]}"; do
    name=$(echo $model | tr '/' '_')
    [ -d results/$name ] && continue
    lm_eval --model vllm \
        --model_args pretrained=$model,tensor_parallel_size=2,dtype=bfloat16,gpu_memory_utilization=0.85,max_model_len=4096 \
        --tasks $TASKS --batch_size auto \
        --apply_chat_template --log_samples \
        --output_path results/$name
done
