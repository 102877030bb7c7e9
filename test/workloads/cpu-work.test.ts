import { describe, expect, test } from 'vitest'
import { readScript, type Setting } from './runs.ts'

function saysCpuWork(script: string, setting: Setting = {}): boolean {
  return readScript(script, setting).warnings.some(({ code }) => code === 'cpu-work')
}

describe('a job that does nothing for which it needs a GPU', () => {
  test.each([
    'python tools/preprocess_data.py --input a.jsonl --workers 32',
    'srun python -m corpus.tokenize_shards --tokenizer gpt2',
    'pip install datasets\nhuggingface-cli download org/corpus --repo-type dataset',
    'aws s3 sync s3://b/data data',
    'for f in *.mp4; do ffmpeg -i $f -vf fps=2 out/%d.png; done',
    'fairseq-preprocess --source-lang de --target-lang en --workers 20',
    'bwa mem ref.fa a.fq > a.sam\nsamtools sort a.sam',
    'cat hyps.txt | sacrebleu refs.txt',
    'python compute_wer.py --hyp h.txt --ref r.txt',
  ])('%s', script => {
    expect(saysCpuWork(script)).toBe(true)
  })

  test.each([
    ['a training follows', 'python preprocess_data.py\npython train.py --epochs 3 --batch-size 8'],
    ['a program follows of which nothing is known', 'python preprocess_data.py\n./simulate --input out'],
    ['code that is not read follows', 'python preprocess_data.py\npython -c "import mymodel; mymodel.go()"'],
    ['it is told of a GPU', 'python preprocess_data.py --device cuda:0'],
    ['it is started on each GPU', 'torchrun --nproc_per_node 8 preprocess_data.py'],
    ['it encodes on the GPU', 'ffmpeg -i a.mp4 -c:v h264_nvenc b.mp4'],
    ['it runs a network over the data', 'python prepare_latents.py --data d'],
    ['an evaluation needs the GPU', 'lm_eval --model hf --model_args pretrained=gpt2 --tasks hellaswag'],
    ['a container may run what its image says', 'wget https://example.org/a.tar\ndocker run --gpus all lab/fit:1.3'],
    ['nothing is prepared', 'module load cuda\nnvidia-smi'],
  ])('not where %s', (_why, script) => {
    expect(saysCpuWork(script)).toBe(false)
  })

  test('a script that is here shows by its text whether it uses a GPU', () => {
    const script = 'python preprocess.py --out d'
    expect(saysCpuWork(script, { files: { 'preprocess.py': 'import json\nprint(json.load(open("a")))' } })).toBe(true)
    expect(saysCpuWork(script, { files: { 'preprocess.py': 'import torch\nmodel.cuda()' } })).toBe(false)
  })

  test('a job without GPUs is at its place', () => {
    expect(saysCpuWork('python preprocess_data.py', { gpus: 0 })).toBe(false)
  })

  test('what cannot be read beside it is still named', () => {
    const { warnings } = readScript('python preprocess_data.py\n./simulate --input out')
    expect(warnings.map(({ text }) => text)).toContainEqual(expect.stringMatching(/cannot read what `\.\/simulate/))
  })
})
