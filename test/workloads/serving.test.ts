import { describe, expect, test } from 'vitest'
import { readScript, type Setting, valuesOf } from './runs.ts'

type Row = [what: string, script: string, values: Record<string, unknown>, setting?: Setting]

/** Rows compare the keys they name; undefined = has to be absent. `tensor` and `pipeline` stand for the split. */
function compare(script: string, values: Record<string, unknown>, setting: Setting = {}) {
  const read = valuesOf(script, setting)
  const split = readScript(script, setting).workloads[0]?.parallelism?.value
  const all: Record<string, unknown> = { ...read, tensor: split?.tensor, pipeline: split?.pipeline }
  expect(Object.fromEntries(Object.keys(values).map(key => [key, all[key]]))).toEqual(values)
}

describe('inference engines', () => {
  test.each<Row>([
    [
      'vLLM by its command',
      'vllm serve org/tiny-1b-AWQ --tensor-parallel-size 4 --max-model-len 8192 --dtype half',
      {
        purpose: 'serve',
        framework: 'vllm',
        modelName: 'org/tiny-1b-AWQ',
        tensor: 4,
        pipeline: 1,
        processes: 4,
        sequenceLength: 8192,
        precision: 'fp16',
        weightBits: 4,
      },
      { gpus: 8 },
    ],
    [
      'vLLM as a module, with both ways to split and copies',
      'python3 -m vllm.entrypoints.openai.api_server --model tiny-1b -tp 2 -pp=2 --data-parallel-size 2 --quantization fp8',
      { purpose: 'serve', modelName: 'tiny-1b', tensor: 2, pipeline: 2, processes: 8, weightBits: 8 },
      { gpus: 8 },
    ],
    [
      'vLLM behind a trainer of TRL',
      'trl vllm-serve --model org/tiny-1b --tensor_parallel_size 4',
      { purpose: 'serve', framework: 'vllm', modelName: 'org/tiny-1b', tensor: 4, processes: 4 },
      { gpus: 8 },
    ],
    [
      'vLLM uses one GPU where nothing is said',
      'vllm serve tiny-1b --dtype auto',
      { tensor: 1, processes: 1, precision: undefined, sequenceLength: undefined, weightBits: undefined },
      { gpus: 8 },
    ],
    [
      'a split that is not known',
      'vllm serve tiny-1b --tensor-parallel-size $TP',
      { tensor: undefined, processes: undefined, modelName: 'tiny-1b' },
      { gpus: 8 },
    ],
    [
      'an image that is given options alone',
      'docker run --gpus all -p 8000:8000 vllm/vllm-openai:v0.8.4 --model tiny-1b --tensor-parallel-size 2',
      { purpose: 'serve', framework: 'vllm', modelName: 'tiny-1b', tensor: 2 },
      { gpus: 2 },
    ],
    [
      'settings of vLLM in a file',
      'vllm serve tiny-1b --config serve.yaml',
      { tensor: 8, sequenceLength: 4096 },
      { gpus: 8, files: { 'serve.yaml': 'tensor-parallel-size: 8\nmax-model-len: 4096\n' } },
    ],
    [
      'a batch file is worked off',
      'vllm run-batch -i in.jsonl -o out.jsonl --model tiny-1b',
      { purpose: 'infer', framework: 'vllm', modelName: 'tiny-1b' },
    ],
    [
      'a script that generates with vLLM',
      'python generate.py --model tiny-1b --tensor-parallel-size 2 --gpu-memory-utilization 0.9',
      { purpose: 'infer', framework: 'vllm', modelName: 'tiny-1b', processes: 2 },
      { gpus: 2 },
    ],
    [
      'an image of somebody’s own with options of an engine',
      'docker run --gpus all registry.example/lab/engine:3 --model org/tiny-1b --tensor-parallel-size 2 --dtype half',
      { purpose: 'infer', framework: undefined, modelName: 'org/tiny-1b', tensor: 2, precision: 'fp16' },
      { gpus: 2 },
    ],
    [
      'a benchmark of a published model',
      'python -m bench --model org/tiny-1b --batch-size 4',
      { purpose: 'infer', modelName: 'org/tiny-1b', globalBatch: 4, steps: undefined },
    ],
    [
      'SGLang',
      'python -m sglang.launch_server --model-path tiny-1b --tp 4 --dp 2 --context-length 32768',
      { framework: 'sglang', modelName: 'tiny-1b', tensor: 4, processes: 8, sequenceLength: 32768 },
      { gpus: 8 },
    ],
    [
      'TGI takes every GPU unless told how many',
      'text-generation-launcher --model-id tiny-1b --max-total-tokens 4096 --quantize eetq',
      { framework: 'tgi', tensor: 4, processes: 4, sequenceLength: 4096, weightBits: 8 },
      { gpus: 4 },
    ],
    [
      'TGI by its variables',
      'docker run -e MODEL_ID=tiny-1b -e NUM_SHARD=2 ghcr.io/huggingface/text-generation-inference:2.4 --port 80',
      { framework: 'tgi', modelName: 'tiny-1b', tensor: 2 },
      { gpus: 4 },
    ],
    [
      'TensorRT-LLM',
      'trtllm-serve org/tiny-1b --tp_size 4 --pp_size 2 --max_seq_len 2048',
      { framework: 'tensorrt-llm', modelName: 'org/tiny-1b', tensor: 4, pipeline: 2, sequenceLength: 2048 },
      { gpus: 8 },
    ],
    [
      'Triton',
      'tritonserver --model-repository=/models',
      { purpose: 'serve', framework: 'triton', modelName: undefined },
    ],
    [
      'llama.cpp: the mixture of the file says the bits',
      'llama-server -m models/tiny-1b.Q4_K_M.gguf -c 8192 -ngl 99',
      { framework: 'llama.cpp', sequenceLength: 8192, weightBits: 4.89, tensor: undefined },
    ],
    [
      'lmdeploy',
      'lmdeploy serve api_server tiny-1b --tp 2 --session-len 8192',
      { framework: 'lmdeploy', modelName: 'tiny-1b', tensor: 2, sequenceLength: 8192 },
      { gpus: 2 },
    ],
    ['ollama', 'ollama run tiny:1b', { purpose: 'infer', framework: 'ollama', modelName: 'tiny:1b' }],
  ])('%s', (_, script, values, setting) => compare(script, values, setting))

  test('a benchmark that trains a network of its own is no inference', () => {
    const { workloads } = readScript('python synthetic_benchmark.py --model resnet50 --batch-size 64 --num-iters 10')
    expect(workloads.filter(({ purpose }) => purpose === 'infer')).toEqual([])
  })

  test.each([
    ['python embed.py --model org/tiny-1b --batch-size 256', ['infer']],
    ['python caption.py --model org/tiny-1b --batch-size 32 --fp16', ['infer']],
    ['python shard.py --model org/tiny-1b --batch-size 32', []],
    ['python shard.py --model org/tiny-1b --batch-size 32 --lr 1e-4', ['train']],
  ])('a batch alone is no training: %s', (script, purposes) => {
    expect(readScript(script).workloads.map(({ purpose }) => purpose)).toEqual(purposes)
  })

  test('a training that is split as vLLM would be is no inference', () => {
    const script = 'torchrun --nproc_per_node=8 run_llama.py --tensor_parallel_size 8 --max_steps 100 --seq_len 4096'
    const [run] = readScript(script, { gpus: 8 }).workloads
    expect([run?.purpose, run?.steps?.value, run?.sequenceLength?.value]).toEqual(['train', 100, 4096])
  })

  test('a training script that also generates is no inference', () => {
    const { workloads } = readScript('python train_grpo.py --tensor-parallel-size 2 --epochs 1 --batch-size 4')
    expect(workloads.map(({ purpose }) => purpose)).toEqual(['train'])
  })
})

describe('evaluation harnesses', () => {
  test.each<Row>([
    [
      'lm-eval, a process for each GPU',
      'accelerate launch -m lm_eval --model hf --model_args pretrained=org/tiny-1b,dtype=bfloat16 --tasks hellaswag --batch_size 16',
      {
        purpose: 'evaluate',
        framework: 'lm-eval',
        modelName: 'org/tiny-1b',
        precision: 'bf16',
        microBatch: 16,
        processes: 4,
        epochs: undefined,
      },
      { gpus: 4 },
    ],
    [
      'lm-eval within vLLM',
      'lm_eval --model vllm --model_args "pretrained=tiny-1b,tensor_parallel_size=2,data_parallel_size=2,max_model_len=4096" --tasks gsm8k --batch_size auto',
      { modelName: 'tiny-1b', tensor: 2, processes: 4, sequenceLength: 4096, microBatch: undefined },
      { gpus: 4 },
    ],
    [
      'pairs that stand apart; a name that is not known',
      'lm_eval run --model hf --model_args pretrained=$MODEL load_in_4bit=True --tasks mmlu',
      { purpose: 'evaluate', modelName: undefined, weightBits: 4 },
    ],
    [
      'lighteval',
      'lighteval vllm "model_name=org/tiny-1b,dtype=float16" "leaderboard|gsm8k|5|0"',
      { purpose: 'evaluate', framework: 'lighteval', modelName: 'org/tiny-1b', precision: 'fp16' },
    ],
    [
      'lighteval of older versions',
      'lighteval accelerate --model_args "pretrained=org/tiny-1b" --tasks "lighteval|arc:easy|0|0" --override_batch_size 8',
      { modelName: 'org/tiny-1b', microBatch: 8 },
    ],
    [
      'HELM',
      'helm-run --run-entries mmlu:subject=law,model=org/tiny-1b --suite v1 --max-eval-instances 10',
      { purpose: 'evaluate', framework: 'helm', modelName: 'org/tiny-1b' },
    ],
    [
      'answers that a server gives are computed elsewhere',
      'lm_eval --model local-completions --model_args model=tiny-1b,base_url=http://x/v1 --tasks gsm8k',
      { purpose: 'other', modelName: undefined },
    ],
  ])('%s', (_, script, values, setting) => compare(script, values, setting))
})
