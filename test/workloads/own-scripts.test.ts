import { describe, expect, test } from 'vitest'
import { readScript, type Setting, valuesOf } from './runs.ts'

type Row = [what: string, script: string, values: Record<string, unknown>, setting?: Setting]

function compare(script: string, values: Record<string, unknown>, setting: Setting = {}) {
  const read = valuesOf(script, setting)
  expect(Object.fromEntries(Object.keys(values).map(key => [key, read[key]]))).toEqual(values)
}

const ARGPARSE = `
import argparse
parser = argparse.ArgumentParser()
parser.add_argument('-b', '--batch-size', default=64, type=int, help='images (per process, not in all)')
parser.add_argument("--epochs",
                    type=int,
                    default=3 * 10,  # two weeks
                    help="how long, 1,000 at most")
parser.add_argument('--seq_len', default=None, type=int)
parser.add_argument('--accum-iter', default=int(os.environ['ACC']), type=int)
parser.add_argument('--amp', action='store_true')
model = DistributedDataParallel(model)
`
const MINIMAL = `
parser.add_argument('total_epochs', type=int, help='Total epochs to train the model')
parser.add_argument('save_every', type=int)
parser.add_argument('--batch_size', default=32, type=int)
sampler = DistributedSampler(data)
`
const CLICK = `
@click.command()
@click.option('--max-steps', default=500)
@click.option("--batch-size", "batch_size", default=8, show_default=True)
`
const TYRO = `
import tyro
@dataclass
class Args:
    epochs: int = 5
    """how often"""
    batch_size: int = 16  # each
    lr: float = 1e-3
    steps: int = field(default=10)
`

describe('a program beside the manifest', () => {
  test.each<Row>([
    [
      'defaults of argparse, where nothing is said',
      'python train.py',
      {
        epochs: 30,
        microBatch: 64,
        sequenceLength: undefined,
        gradientAccumulation: undefined,
        globalBatch: undefined,
      },
      { files: { 'train.py': ARGPARSE } },
    ],
    [
      'what is said wins',
      'python train.py -b 8 --epochs 2 --accum-iter 1',
      { epochs: 2, globalBatch: 8 },
      { files: { 'train.py': ARGPARSE } },
    ],
    [
      'arguments by their place; each process has a batch of its own',
      'torchrun --nproc_per_node=4 multigpu.py 50 10',
      { epochs: 50, microBatch: 32, globalBatch: 128 },
      { gpus: 4, files: { 'multigpu.py': MINIMAL } },
    ],
    [
      'a batch that processes share',
      'torchrun --nproc_per_node=4 train.py --epochs 2 --batch-size 64',
      { globalBatch: 64 },
      {
        gpus: 4,
        files: { 'train.py': 'loader = DataLoader(data, batch_size=args.batch_size // dist.get_world_size())' },
      },
    ],
    ['click', 'python train.py', { steps: 500, globalBatch: 8 }, { files: { 'train.py': CLICK } }],
    [
      'fields of a dataclass',
      'python train.py --batch-size 32',
      { epochs: 5, globalBatch: 32, steps: undefined },
      { files: { 'train.py': TYRO } },
    ],
    [
      'constants',
      'python train.py',
      { epochs: 12, globalBatch: 256 },
      { files: { 'train.py': 'NUM_EPOCHS = 12\nBATCH_SIZE = 4 * 64\nNAME = "x"\n' } },
    ],
    [
      'defaults that are set elsewhere are not known',
      'python train.py --epochs 4',
      { epochs: 4, globalBatch: undefined, microBatch: undefined },
      { files: { 'train.py': `${ARGPARSE}\nparser.set_defaults(**config)\n` } },
    ],
    [
      'a program that the job writes',
      'cat > train.py <<EOF\nEPOCHS = 7\nBATCH_SIZE = 5\nEOF\npython train.py',
      { epochs: 7, globalBatch: 5 },
    ],
  ])('%s', (_, script, values, setting) => compare(script, values, setting))

  test('defaults are marked and told, constants are read', () => {
    const { workloads, warnings } = readScript('python train.py', { files: { 'train.py': ARGPARSE } })
    expect(workloads[0]?.epochs?.origin).toEqual({ kind: 'assumed', reason: 'the default in train.py, line 5' })
    expect(warnings.map(({ code }) => code)).toContain('default-filled')
    const constant = readScript('python train.py', { files: { 'train.py': 'EPOCHS = 7\n\nBATCH_SIZE = 5' } })
    expect(constant.workloads[0]?.globalBatch?.origin).toEqual({ kind: 'file', place: { file: 'train.py', line: 3 } })
    expect(constant.warnings).toEqual([])
  })

  test('whose batch it is, is assumed without the program, and told', () => {
    const { workloads, warnings } = readScript('torchrun --nproc_per_node=4 train.py --epochs 2 --batch-size 64', {
      gpus: 4,
    })
    expect(workloads[0]).toMatchObject({
      microBatch: { value: 64, origin: { kind: 'assumed' } },
      globalBatch: { value: 256, origin: { kind: 'assumed' } },
    })
    expect(warnings).toContainEqual(
      expect.objectContaining({ code: 'assumed', text: expect.stringContaining('the batch of each process') }),
    )
  })

  test.each([
    ['nothing starts a second process', 'srun python train.py --epochs 2 --batch-size 64', 64],
    ['the program starts others by itself', 'srun python train.py --epochs 2 --batch-size 64 --distributed', undefined],
  ])('one task on two GPUs: %s', (_, script, batch) => {
    const variables = { SLURM_NTASKS: '1', SLURM_NNODES: '1' }
    const [workload] = readScript(script, { gpus: 2, variables }).workloads
    expect(workload?.globalBatch?.value).toBe(batch)
    expect(workload?.globalBatch?.origin.kind).toBe(batch === undefined ? undefined : 'assumed')
  })

  test('a program that is not there is no warning', () => {
    expect(readScript('python train.py').warnings).toEqual([])
  })
})

describe('what a program is for', () => {
  test.each([
    ['its name', 'python fit.py --config $1', 'train'],
    ['its name, of several words', 'torchrun --nproc_per_node=2 tools/train_net.py', 'train'],
    ['an option', 'python runner.py --mode train --conf $CONF', 'train'],
    ['a type of run', 'python -u run.py --run-type train', 'train'],
    ['a switch', 'python main.py run_name=a do_train=True', 'train'],
    ['its first argument', 'python main.py train', 'train'],
    ['an option that it is tested', 'python main.py mode=ppl_eval batch_size=4', 'evaluate'],
    ['an option that beats its name', 'python train.py --phase test', 'evaluate'],
    ['a task', 'python train_net.py --task=eval --batch-size 8', 'evaluate'],
    ['a switch that it evaluates', 'python train_net.py --eval --resume last.pth --batch-size 8', 'evaluate'],
    ['a switch beside a length, that it evaluates as well', 'python train_net.py --eval --epochs 8', 'train'],
    ['a switch that it does nothing else', 'python train_net.py --eval-only --epochs 8', 'evaluate'],
    ['the first of several words', 'python train_and_eval.py', 'train'],
  ])('says %s', (_, script, purpose) => {
    expect(readScript(script).workloads.map(workload => workload.purpose)).toEqual([purpose])
  })

  test.each([
    ['the first of several words that is no training', 'python make_train_set.py'],
    ['a simulation, whatever it counts', 'python simulate_box.py --steps 1000000'],
  ])('is no training by %s', (_, script) => {
    expect(readScript(`python fit.py\n${script}`).workloads.map(({ purpose }) => purpose)).toEqual(['train', 'other'])
    expect(readScript(script).workloads).toEqual([])
  })

  test.each(['python main.py', 'python -m rl.runner --gamma 1', 'python constrain.py', 'python fitness.py'])(
    'is not known of `%s`',
    script => {
      expect(readScript(script).workloads).toEqual([])
    },
  )

  test('starting anew or resuming is one run, wherever the checkpoint lies', () => {
    const script = 'if [ -f last.pt ]; then\n python fit.py --resume last.pt\nelse\n python fit.py\nfi'
    const { workloads, warnings } = readScript(script)
    expect(workloads).toMatchObject([{ purpose: 'train', conditional: false, repetitions: 1 }])
    expect(warnings).toEqual([])
  })
})

describe('names', () => {
  test.each<Row>([
    [
      'a way to train is no network',
      'python train.py --model copy --n_epochs 1 --n_epochs_decay 1',
      { modelName: undefined },
    ],
    [
      'but a published one is',
      'python train.py --model pix2pix --n_epochs 1 --n_epochs_decay 1',
      { modelName: 'pix2pix' },
    ],
    ['how large is no name', 'python train.py --model large --epochs 1', { modelName: undefined }],
    ['a file is no name', 'python train.py --model conf/net.yaml --epochs 1', { modelName: undefined }],
    ['epochs of a trainer', 'python main.py trainer.epochs=20', { epochs: 20 }],
    ['a network', 'python train.py --model efficientnet-b4 --epochs 1', { modelName: 'efficientnet-b4' }],
    ['a data set by --data', 'python train.py --data traffic --epochs 1', { dataset: 'traffic' }],
    ['a folder by --data', 'python train.py --data data --epochs 1', { dataset: undefined }],
  ])('%s', (_, script, values) => compare(script, values))
})

describe('the dimensions of a language model on the command line', () => {
  const shape = '--hidden_width=4096 --num_layers=32 --num_heads=32 --num_key_value_heads=32 --intermediate_size=11008'
  const model = (options: string) =>
    readScript(`python pretrain.py --max_steps 9 --max_context_width 4096 ${shape} ${options}`).workloads[0]?.model
      ?.value

  test('are its network, where family and tokenizer are named', () => {
    // The card of meta-llama/Llama-2-7b-hf: 6,738,415,616 parameters.
    expect(model('--model_type=llama_v2 --tokenizer=meta-llama/Llama-2-7b-hf')).toMatchObject({
      name: 'llama_v2 32x4096',
      parameterCount: 6_738_415_616,
    })
  })

  test.each(['--model_type=llama_v2', '--tokenizer=meta-llama/Llama-2-7b-hf', '--model_type=gpt9 --vocab_size 32000'])(
    'and nothing with only %s',
    options => {
      expect(model(options)).toBeUndefined()
    },
  )
})

describe('the framework of a script', () => {
  test.each([
    ['assumed', 'python train.py --epochs 2', {}, 'pytorch', 'assumed'],
    ['what it imports', 'python train.py --epochs 2', { 'train.py': 'import torch\n' }, 'pytorch', 'file'],
    [
      'what it imports is something else',
      'python train.py --epochs 2',
      { 'train.py': 'import jax\n' },
      undefined,
      undefined,
    ],
    ['options of Horovod', 'mpirun -np 4 python train.py --epochs 2 --fp16-allreduce', {}, 'horovod', 'manifest'],
    ['MPI may be any', 'mpirun -np 4 python train.py --epochs 2', {}, undefined, undefined],
    [
      'parameter servers',
      'python rank.py --ps_hosts=a:1 --worker_hosts=b:1 --train_steps=5',
      {},
      'tensorflow',
      'manifest',
    ],
  ])('%s', (_, script, files, framework, kind) => {
    const [workload] = readScript(script, { files }).workloads
    expect(workload?.framework?.value).toBe(framework)
    expect(workload?.framework?.origin.kind).toBe(kind)
  })
})

describe('a configuration of its own', () => {
  const config = `
train:
  epochs: 40
  batch_size: 16
eval:
  batch_size: 128
scheduler:
  warmup: {steps: 100}
model:
  name: tiny-1b
`
  test.each<Row>([
    [
      'its sections',
      'python train.py --config conf.yaml',
      { epochs: 40, globalBatch: 16, steps: undefined, modelName: 'tiny-1b' },
      { files: { 'conf.yaml': config } },
    ],
    [
      'options over it',
      'python train.py --config conf.yaml --epochs 2',
      { epochs: 2, globalBatch: 16 },
      { files: { 'conf.yaml': config } },
    ],
    ['the first argument', 'python train.py conf.yaml', { epochs: 40 }, { files: { 'conf.yaml': config } }],
    [
      'two that disagree say nothing',
      'python train.py --config conf.yaml --epochs 1',
      { globalBatch: undefined },
      { files: { 'conf.yaml': 'train: {batch_size: 4}\ndata: {batch_size: 8}\n' } },
    ],
    [
      "it may say what the program's defaults say",
      'python train.py --config other.yaml --epochs 1',
      { globalBatch: undefined },
      { files: { 'train.py': ARGPARSE } },
    ],
  ])('%s', (_, script, values, setting) => compare(script, values, setting))
})

describe('public data', () => {
  const assumed = { kind: 'assumed' }
  const read = (script: string, setting: Setting = {}) => readScript(script, setting).workloads[0]

  test('epochs over a data set that is named give steps, which are marked', () => {
    const run = read('python train.py --dataset tiny-images --epochs 5 --batch-size 50')
    expect(run?.samples).toMatchObject({ value: 1000, origin: assumed })
    expect(run?.steps).toMatchObject({ value: 100, origin: assumed })
    expect(run?.steps?.origin).toMatchObject({ reason: expect.stringContaining('datasets.csv: made up for a test') })
    expect(run?.dataset?.origin).toMatchObject({ kind: 'manifest' })
  })

  test('and are told of, with the row they rest on', () => {
    const { warnings } = readScript('python train.py --dataset tiny-images --epochs 5 --batch-size 50')
    expect(warnings).toEqual([
      expect.objectContaining({
        code: 'assumed',
        text: 'how much of the data is used is not said; taken is the training split of tiny-images, 1,000 samples (datasets.csv: made up for a test)',
      }),
    ])
  })

  test('the name of a folder is a hint', () => {
    const run = read('python train.py --data-path /data/tiny_images/train --epochs 5 --batch-size 50')
    expect(run?.dataset).toMatchObject({ value: 'tiny-images', origin: assumed })
    expect(run?.steps).toMatchObject({ value: 100, origin: assumed })
  })

  test.each([
    ['a part that is said', '--dataset tiny-images --dataset_split "train[:10%]"', 10],
    ['so many of it', '--dataset tiny-images --train-split "train[:200]"', 20],
    ['all of it', '--dataset tiny-images --split train', 100],
  ])('%s', (_, options, steps) => {
    expect(read(`python train.py ${options} --epochs 5 --batch-size 50`)?.steps?.value).toBe(steps)
  })

  test.each([
    ['a subset', '--dataset tiny-images --subset cats'],
    ['fewer samples', '--dataset tiny-images --max-train-samples $N'],
    ['another split', '--dataset tiny-images --split validation'],
    ['a part that is not known', '--dataset tiny-images --split "train[10%:20%]"'],
    ['somebody else’s', '--dataset other/tiny-images'],
    ['one that no table has', '--dataset huge-images'],
  ])('%s is not counted', (_, options) => {
    expect(read(`python train.py ${options} --epochs 5 --batch-size 50`)?.steps).toBeUndefined()
  })

  test('steps that are said are not touched', () => {
    const run = read('python train.py --dataset tiny-images --max-steps 7 --batch-size 50')
    expect(run?.steps).toMatchObject({ value: 7, origin: { kind: 'manifest' } })
    expect(run?.samples).toBeUndefined()
  })

  const trainer = '--model_name_or_path tiny-1b --per_device_train_batch_size 4 --num_train_epochs 2'
  test.each([
    ['each sample once', `python run_glue.py --dataset_name tiny-images ${trainer}`, 500],
    [
      'text that is joined: 8,192 tokens in sequences of 512',
      `python run_clm.py --dataset_name lab/tiny-text --dataset_config_name raw --block_size 512 ${trainer}`,
      8,
    ],
    [
      'text that is packed',
      `python sft.py --dataset_name lab/tiny-text --dataset_config raw --packing --max_seq_length 512 ${trainer}`,
      8,
    ],
    [
      'joined text of which no tokens are known',
      `python run_clm.py --dataset_name tiny-images --block_size 512 ${trainer}`,
      undefined,
    ],
    [
      'answers that are generated',
      `python grpo.py --dataset_name tiny-images --num_generations 8 ${trainer}`,
      undefined,
    ],
    [
      'another configuration of the data',
      `python run_clm.py --dataset_name lab/tiny-text --dataset_config_name other --block_size 512 ${trainer}`,
      undefined,
    ],
  ])('the Trainer: %s', (_, script, steps) => {
    const run = read(script)
    expect(run?.steps?.value).toBe(steps)
    expect(run?.steps?.origin.kind).toBe(steps === undefined ? undefined : 'assumed')
  })
})

test.each([
  ['--dataset_name /data/sets/ours --model_name_or_path org/net', undefined, 'org/net'],
  ['--dataset_name data/ours.jsonl --model_name_or_path /models/Llama-2-7b-hf', undefined, '/models/Llama-2-7b-hf'],
  ['--dataset_name org/set --model_name_or_path ./runs/7/checkpoint-1200', 'org/set', undefined],
  ['--dataset_name org/set --model_name_or_path ../configs/small.json', 'org/set', undefined],
])('where something lies is not its name: %s', (options, dataset, modelName) => {
  const [workload] = readScript(`python fit.py --num_train_epochs 1 ${options}`).workloads
  expect([workload?.dataset?.value, workload?.modelName?.value]).toEqual([dataset, modelName])
})

test('steps beside epochs are those of one epoch, unless they are called a limit', () => {
  const [plain, limit] = readScript(
    'python fit.py --steps 400 --epochs 100\npython fit.py --max_steps 400 --epochs 100',
  ).workloads
  expect(plain).toMatchObject({ epochs: { value: 100 } })
  expect(plain).not.toHaveProperty('steps')
  expect(limit).toMatchObject({ steps: { value: 400 } })
})

test('the epochs of federated learning are those of one turn', () => {
  const [workload] = readScript(
    'python fl_train.py --epochs 10 --batch-size 64 --n_parties 50 --comm_round 200',
  ).workloads
  expect(workload).toMatchObject({ purpose: 'train' })
  expect(workload).not.toHaveProperty('epochs')
})

test('a program in a folder for training trains', () => {
  expect(readScript('python train/simclr_stl10.py $OPTIONS').workloads).toMatchObject([{ purpose: 'train' }])
})

test('one epoch counts epochs where nothing else does, and a program that tests loads one', () => {
  expect(readScript('python main.py --epoch 500').workloads).toMatchObject([{ epochs: { value: 500 } }])
  expect(readScript('python fit.py --epoch 3 --epochs 100').workloads).toMatchObject([{ epochs: { value: 100 } }])
  expect(readScript('python test.py --epoch 500').workloads[0]).not.toHaveProperty('epochs')
})

test('a program that is called after another library is not taken for one of PyTorch', () => {
  expect(readScript('python keras_fit.py --epochs 3').workloads[0]).not.toHaveProperty('framework')
})

test.each([
  ['a session', 'jupyter lab --no-browser'],
  ['a session in a container', 'apptainer exec --nv img.sif jupyter notebook'],
])('%s computes what its user will', (_, script) => {
  expect(readScript(script).warnings).toEqual([])
})

test('what is compiled first is not what the job is for', () => {
  const { warnings } = readScript('nvcc -o run run.cu\n./run 1000\nmake clean')
  expect(warnings).toMatchObject([{ code: 'no-training-facts', text: expect.stringContaining('./run 1000') }])
})

test.each([
  ['a rank', 'python fit.py --epochs 3 --lora_r 8', 'lora'],
  ['a switch', 'python fit.py --epochs 3 --use_lora', 'lora'],
  ['a switch that is off', 'python fit.py --epochs 3 --use_lora false', 'full'],
  ['a rank over four bits', 'python fit.py --epochs 3 --lora_r 8 --load_in_4bit', 'qlora'],
  ['weights of four bits', 'python fit.py --max_steps 60 --model org/net-1B-bnb-4bit', 'qlora'],
  ['nothing but the name of its program', 'python fit_unsloth.py --max_steps 60 --model org/net-1B', undefined],
  ['nothing', 'python fit.py --epochs 3', 'full'],
])('what a script of its own trains, told %s', (_, script, method) => {
  expect(readScript(script).workloads[0]?.method?.value).toBe(method)
})

test.each([
  ['says nothing of one', 'trainer:\n  max_epochs: 3\n', 'full'],
  ['speaks of one', 'trainer:\n  max_epochs: 3\nnet:\n  lora_layers: 4\n', undefined],
])('no adapter is trained where the configuration %s', (_, text, method) => {
  const files = { 'conf/own.yaml': text }
  const script = 'python main.py fit --config conf/own.yaml --trainer.devices 1'
  expect(readScript(script, { files }).workloads[0]?.method?.value).toBe(method)
  expect(readScript(script).workloads[0]?.method).toBeUndefined()
})

test.each([
  ['julia --project train.jl --epochs 100 --batchsize 256', { purpose: 'train', epochs: 100, globalBatch: 256 }],
  ['Rscript train.R --epochs 20', { purpose: 'train', epochs: 20 }],
  ['deep-index train --gpus 4 --epochs 40 input.h5', { purpose: 'train', epochs: 40 }],
])('%s trains, by whatever framework', (script, expected) => {
  const read = valuesOf(script)
  expect(read).toMatchObject(expected)
  expect(read['framework']).toBeUndefined()
})

test.each(['deep-index train --gpus 4 input.h5', 'git fit --epochs', 'tool.sh train --epochs 3'])(
  '%s is nothing that is known to train',
  script => {
    expect(readScript(script).workloads.filter(({ purpose }) => purpose === 'train')).toEqual([])
  },
)

test.each(['--train-dir $SCRATCH/tiny-images/train', '--dataset $SCRATCH/tiny-images'])(
  '%s names its data, wherever that lies',
  option => {
    const script = `srun python train_resnet.py --epochs 90 --batch-size 128 ${option}`
    expect(valuesOf(script, { gpus: 1 })['dataset']).toBe('tiny-images')
  },
)
