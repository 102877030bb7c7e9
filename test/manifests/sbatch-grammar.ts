import * as fc from 'fast-check'
import type { SbatchCase } from './sbatch-oracle.ts'

/** Random scripts, options and environments that reach every rule of how sbatch reads them. */
export function sbatchCases(): fc.Arbitrary<SbatchCase> {
  return fc.record({
    script: fc.oneof({ weight: 30, arbitrary: scripts() }, { weight: 1, arbitrary: oddScripts() }),
    schedulerArguments: fc.oneof(
      { weight: 6, arbitrary: fc.constant<string[]>([]) },
      { weight: 4, arbitrary: optionWords(3) },
      { weight: 1, arbitrary: heterogeneousOptions() },
      {
        weight: 1,
        arbitrary: fc.constantFrom(
          ['--wrap=echo'],
          ['--wrap', '#SBATCH -p x'],
          ['-Q'],
          ['-v'],
          ['-vv', '-p', 'x'],
          ['--help'],
          ['--ignore-pbs'],
          ['-N'],
          ['--nope'],
        ),
      },
    ),
    environment: environments(),
  })
}

const pick = <const T extends readonly [string, ...string[]]>(...values: T): fc.Arbitrary<string> =>
  fc.constantFrom(...values)

/** Any of these; the last is there for the odd forms, and rare. */
const mostly = (...arbitraries: readonly fc.Arbitrary<string>[]): fc.Arbitrary<string> =>
  fc.oneof(...arbitraries.map((arbitrary, index) => ({ arbitrary, weight: index === arbitraries.length - 1 ? 1 : 7 })))

const counts = fc.oneof(
  { weight: 40, arbitrary: fc.integer({ min: 1, max: 8 }).map(String) },
  {
    weight: 1,
    arbitrary: pick('0', '-1', '2k', '', '+3', '1.5', 'two', '08', ' 4', '4 ', '0x3', '-', '16', '32', '3;'),
  },
)
const times = mostly(
  fc.array(fc.integer({ min: 0, max: 99 }), { minLength: 1, maxLength: 3 }).map(parts => parts.join(':')),
  fc
    .tuple(fc.integer({ min: 0, max: 9 }), fc.array(fc.integer({ min: 0, max: 99 }), { maxLength: 3 }))
    .map(([days, rest]) => `${days}-${rest.join(':')}`),
  pick(
    'UNLIMITED',
    'infinite',
    '-1',
    '0',
    '00',
    '0:0',
    '0-0:0:0',
    '-5',
    '30s',
    '1h',
    '2h30m',
    '1.5',
    '1:',
    '1::3',
    '1:2:3:4',
    '1-2-3',
    '+5',
    '',
    '1-',
    '-',
    ':',
    'banana',
    '1-2:',
    '100:00',
    '01:02:03',
    '1 - 2',
    '-0',
    '-1:2',
    '24:00:00',
    '0-',
    '--5',
  ),
)
const memories = mostly(
  fc
    .tuple(fc.integer({ min: 0, max: 5000 }), pick('', 'K', 'M', 'G', 'T', 'k', 'm', 'g', 't', 'GB', 'Gb', 'KB', 'mb'))
    .map(([amount, unit]) => `${amount}${unit}`),
  pick(
    '1.5G',
    '2P',
    '1B',
    '1GiB',
    '1e3',
    '1 G',
    '-1',
    '',
    '0',
    '0G',
    'x',
    '1GG',
    '+4G',
    ' 4G',
    '4G ',
    '1024',
    '1048576M',
    '-0',
    '00',
  ),
)
const gpuTypes = pick('a100', 't4', 'H100', 'v100-32g', 'a100_3g.20gb', 'gpu', '1g.5gb', 'l40s')
const gpuCounts = fc.oneof(
  fc.integer({ min: 0, max: 8 }).map(String),
  pick('1K', '2', '4', '8', '-1', 'two', '2*2', '=2', ''),
)
const gpuItems = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 1, max: 8 }).map(String) },
  {
    weight: 3,
    arbitrary: fc.tuple(gpuTypes, fc.integer({ min: 0, max: 8 })).map(([type, count]) => `${type}:${count}`),
  },
  { weight: 1, arbitrary: gpuTypes },
  { weight: 1, arbitrary: fc.tuple(gpuTypes, gpuCounts).map(parts => parts.join(':')) },
  { weight: 1, arbitrary: gpuCounts },
)
const gpuLists = fc.oneof(
  { weight: 6, arbitrary: gpuItems },
  { weight: 1, arbitrary: fc.array(gpuItems, { minLength: 1, maxLength: 3 }).map(items => items.join(',')) },
  { weight: 1, arbitrary: pick('none', 'gpu:4', 'gpu:a100:4', '4:a100', '', ',', ':', 'a100:', 'a100=4') },
)
const gresLists = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .array(gpuItems, { minLength: 1, maxLength: 2 })
      .map(items => items.map(item => `gpu:${item}`).join(',')),
  },
  {
    weight: 1,
    arbitrary: pick(
      'gpu',
      'gres:gpu:2',
      'none',
      'NONE',
      'gpu:',
      'gpu::2',
      'gpu:2:a100',
      'gpu:a100:2:3',
      'gpu:a100:two',
      'GPU:2',
      'gpu=2',
      'gres/gpu:2',
      'gpu(2)',
      '',
      ',',
      'gpu:2,',
      ',gpu:2',
      'help',
      'gpu:a100:x',
    ),
  },
)
const nodeCounts = fc.oneof(
  { weight: 5, arbitrary: fc.integer({ min: 1, max: 8 }).map(String) },
  {
    weight: 2,
    arbitrary: fc.tuple(fc.integer({ min: 0, max: 4 }), fc.integer({ min: 0, max: 8 })).map(pair => pair.join('-')),
  },
  {
    weight: 1,
    arbitrary: pick(
      '0',
      '1-',
      '-2',
      'a',
      '1,3',
      '1.5',
      '2,',
      '2k',
      'two',
      '',
      '3-1',
      '1-2-3',
      '=2',
      ' 2',
      '2 ',
      '1--3',
      '-',
      '2m',
      '2km',
      '2mk',
      'k',
    ),
  },
)
const words = pick(
  'a100',
  'research',
  'x',
  'a,b',
  'gpu_h100',
  'train.%j',
  'it-s',
  '$USER',
  '~/x',
  'zzq@a100',
  'a=b',
  'é',
  '50%',
  '-x',
  '--mem',
  'a&b',
  'h200|h100',
  '[a*2&b*1]',
  '0',
  'none',
)

/** Long name, letter, whether a value is required (r), possible only with `=` (o) or impossible (n), and values. */
const options: readonly (readonly [
  name: string,
  letter: string,
  argument: 'r' | 'o' | 'n',
  values: fc.Arbitrary<string>,
  weight: number,
])[] = [
  ['time', 't', 'r', times, 8],
  ['time-min', '', 'r', times, 1],
  ['nodes', 'N', 'r', nodeCounts, 8],
  ['ntasks', 'n', 'r', counts, 6],
  ['cpus-per-task', 'c', 'r', counts, 4],
  ['ntasks-per-node', '', 'r', counts, 4],
  ['tasks-per-node', '', 'r', counts, 1],
  ['gres', '', 'r', gresLists, 8],
  ['gpus', 'G', 'r', gpuLists, 6],
  ['gpus-per-node', '', 'r', gpuLists, 5],
  ['gpus-per-task', '', 'r', gpuLists, 4],
  ['gpus-per-socket', '', 'r', gpuLists, 1],
  ['sockets-per-node', '', 'r', counts, 1],
  ['ntasks-per-gpu', '', 'r', counts, 2],
  ['ntasks-per-tres', '', 'r', counts, 1],
  ['cpus-per-gpu', '', 'r', counts, 2],
  ['mem', '', 'r', memories, 4],
  ['mem-per-cpu', '', 'r', memories, 3],
  ['mem-per-gpu', '', 'r', memories, 3],
  ['tmp', '', 'r', memories, 1],
  ['partition', 'p', 'r', words, 6],
  ['account', 'A', 'r', words, 2],
  ['qos', 'q', 'r', words, 2],
  ['job-name', 'J', 'r', words, 4],
  ['constraint', 'C', 'r', words, 3],
  ['comment', '', 'r', words, 3],
  ['output', 'o', 'r', words, 3],
  ['error', 'e', 'r', words, 1],
  ['input', 'i', 'r', words, 1],
  ['chdir', 'D', 'r', pick('/tmp', 'sub/dir'), 1],
  ['reservation', '', 'r', words, 1],
  ['array', 'a', 'r', pick('0-3', '0-3%2', '1,3,5-7', '0-10:3', 'a-b', '', '%2'), 3],
  ['exclusive', '', 'o', pick('', 'user', 'mcs', 'exclusive', 'oversubscribe', 'me', 'USER'), 4],
  ['oversubscribe', 's', 'n', pick(''), 1],
  ['hold', 'H', 'n', pick(''), 1],
  ['requeue', '', 'n', pick(''), 1],
  ['no-requeue', '', 'n', pick(''), 1],
  ['overcommit', 'O', 'n', pick(''), 1],
  ['contiguous', '', 'n', pick(''), 1],
  ['reboot', '', 'n', pick(''), 1],
  ['spread-job', '', 'n', pick(''), 1],
  ['use-min-nodes', '', 'n', pick(''), 1],
  ['wait', 'W', 'n', pick(''), 1],
  ['parsable', '', 'n', pick(''), 1],
  ['quiet', 'Q', 'n', pick(''), 1],
  ['verbose', 'v', 'n', pick(''), 1],
  ['help', 'h', 'n', pick(''), 1],
  ['ignore-pbs', '', 'n', pick(''), 1],
  [
    'mail-type',
    '',
    'r',
    pick(
      'END',
      'END,FAIL',
      'ALL',
      'NONE',
      'none',
      'END,NONE',
      'begin',
      'TIME_LIMIT_80,TIME_LIMIT',
      'nope',
      'nope,END',
      '',
      'ARRAY_TASKS',
      'REQUEUE,STAGE_OUT',
    ),
    2,
  ],
  ['mail-user', '', 'r', words, 1],
  [
    'signal',
    '',
    'r',
    pick(
      'USR1',
      'B:USR1@120',
      'R:TERM',
      'RB:10@300',
      'BR:KILL@60',
      'SIGUSR1@30',
      '10',
      'nope',
      '0',
      'USR1@',
      'USR1@x',
      'B',
      '@60',
      'usr2',
      'b:int@70000',
      'B:70000',
      '99',
    ),
    2,
  ],
  [
    'distribution',
    'm',
    'r',
    pick(
      'block',
      'cyclic:block',
      '*',
      '*:*',
      'block:cyclic:fcyclic',
      'block,pack',
      'cyclic,nopack',
      'nope',
      'plane=2',
      'plane',
      'plane=0',
      'plane=x',
      '',
      ',pack',
      'block:*:*',
      'arbitrary',
      'block,x',
      'a:b:c:d',
      'cyclic:cyclic',
      'BLOCK',
      'pack',
      'block,',
    ),
    2,
  ],
  ['nice', '', 'o', pick('', '5', '-5', 'x', '99999999999', '10x', '+7'), 1],
  ['no-kill', 'k', 'o', pick('', 'off', 'no', 'set', 'OFF', 'x'), 1],
  ['get-user-env', '', 'o', pick('', '5', '5L', '10s', 'x', 'L'), 1],
  ['propagate', '', 'o', pick('', 'ALL', 'STACK'), 1],
  ['priority', '', 'r', pick('TOP', '5', '0', '-1', 'x', 'top', '4294967295', '3000000000', '12x'), 1],
  ['open-mode', '', 'r', pick('append', 'truncate', 'a', 'T', 'x', ''), 1],
  ['kill-on-invalid-dep', '', 'r', pick('yes', 'no', 'YES', 'x'), 1],
  ['gres-flags', '', 'r', pick('disable-binding', 'enforce-binding', 'Enforce-Binding', 'x'), 1],
  ['profile', '', 'r', pick('none', 'all', 'task', 'energy,task', 'lustre,network', 'x', '', 'ALL,none'), 1],
  ['switches', '', 'r', pick('1', '2@5', '0', 'x', '1@1:00:00', '3@2-0', '1@UNLIMITED', '1@x'), 1],
  ['wait-all-nodes', '', 'r', pick('0', '1', '2', 'x', ''), 1],
  ['hint', '', 'r', pick('nomultithread', 'multithread', 'compute_bound', 'memory_bound', 'nope', 'NOMULTITHREAD'), 1],
  ['ntasks-per-core', '', 'r', counts, 1],
  ['threads-per-core', '', 'r', counts, 1],
  ['ntasks-per-socket', '', 'r', counts, 1],
  ['mincpus', '', 'r', counts, 1],
  ['core-spec', 'S', 'r', counts, 1],
  ['extra-node-info', 'B', 'r', pick('2', '2:4', '*:4', '2:4:1', 'x', '*', ''), 1],
  ['delay-boot', '', 'r', times, 1],
  ['begin', 'b', 'r', pick('now', 'now+1hour', '16:00', 'tomorrow', '2035-01-20T12:34:00'), 1],
  ['nodelist', 'w', 'r', pick('a100-1', 'a100-[1-3]', 'a,b', 'n[01-02,5]', 'a,a'), 1],
  ['exclude', 'x', 'r', pick('a100-1', 'bn[0026,0098]'), 1],
  ['dependency', 'd', 'r', pick('afterok:12', 'singleton'), 1],
  ['export', '', 'r', pick('ALL', 'NONE', 'ALL,A=9', 'A=b c'), 2],
  ['licenses', 'L', 'r', words, 1],
  [
    'cpu-freq',
    '',
    'r',
    pick(
      'low',
      'high',
      'medium-high',
      '2400000',
      'performance',
      '1000-2000:ondemand',
      'x',
      'low-x',
      'high:performance',
      'himself',
      'med',
      '100-low',
    ),
    1,
  ],
  ['mem-bind', '', 'r', pick('local', 'none', 'rank', 'verbose,local', 'nope', 'q'), 1],
  [
    'gpu-bind',
    '',
    'r',
    pick(
      'closest',
      'none',
      'single:1',
      'per_task:2',
      'map_gpu:0,1',
      'mask_gpu:0x3',
      'verbose,closest',
      'nope',
      'map_gpu:x',
    ),
    1,
  ],
  ['gpu-freq', '', 'r', pick('low', 'high,memory=low', '1200', 'verbose', 'nope', ''), 1],
  ['power', '', 'r', pick('level', 'x'), 1],
  ['wckey', '', 'r', words, 1],
  ['container', '', 'r', words, 1],
  ['bb', '', 'r', words, 1],
]

const wrongOptions = pick(
  '--cpus-per-tsk=8',
  '--gpu=2',
  '--PARTITION=x',
  '--foo',
  '-y',
  '-y5',
  '--hold=x',
  '--no',
  '--n=2',
  '-',
  '--',
  'stray',
  '--partition',
  '-t',
  '--mem',
  '-=',
  '--=x',
  '---p',
  '-partition=x',
  '–time=5',
  '--=',
  '--tasks_per_node=2',
)
/** Unique beginnings of names, as people shorten them. */
const shortenings: Readonly<Record<string, readonly string[]>> = {
  time: ['tim', 'ti'],
  nodes: ['node'],
  partition: ['part', 'par', 'parti'],
  'gpus-per-node': ['gpus-per-n'],
  'cpus-per-task': ['cpus-per-t'],
  'job-name': ['job', 'j'],
  'mem-per-gpu': ['mem-per-g'],
  array: ['arr', 'ar'],
  error: ['err', 'er'],
  output: ['out', 'o'],
  'ntasks-per-node': ['ntasks-per-n'],
  exclusive: ['exclusi', 'excl'],
  account: ['acco', 'ac'],
  wait: ['wai'],
}

interface OptionText {
  readonly words: readonly string[]
}

/** One option in one of its forms, as words that no shell has touched. */
function optionTexts(): fc.Arbitrary<OptionText> {
  const good = fc
    .oneof(...options.map(option => ({ weight: option[4], arbitrary: fc.constant(option) })))
    .chain(([name, letter, argument, values]) =>
      fc.record({ value: values, form: fc.nat(9), shortening: fc.nat(20) }).map(({ value, form, shortening }) => {
        const shortened = shortening < 3 ? (shortenings[name]?.[shortening] ?? name) : name
        if (argument === 'n') return { words: [letter !== '' && form < 5 ? `-${letter}` : `--${shortened}`] }
        if (argument === 'o' && name === 'propagate') return { words: [`--${name}`] }
        if (argument === 'o') {
          if (letter !== '' && form < 3) return { words: [`-${letter}${value}`] }
          return { words: [value === '' && form < 8 ? `--${shortened}` : `--${shortened}=${value}`] }
        }
        if (letter === '' || form < 4)
          return { words: form % 3 === 2 ? [`--${shortened}`, value] : [`--${shortened}=${value}`] }
        if (form < 6) return { words: [`-${letter}${value}`] }
        if (form === 6) return { words: [`-${letter}=${value}`] }
        if (form === 7) return { words: [`-H${letter}${value}`] }
        return { words: [`-${letter}`, value] }
      }),
    )
  return fc.oneof(
    { weight: 250, arbitrary: good },
    { weight: 1, arbitrary: wrongOptions.map(word => ({ words: [word] })) },
  )
}

function optionWords(most: number): fc.Arbitrary<string[]> {
  return fc
    .array(optionTexts(), { minLength: 1, maxLength: most })
    .map(options => options.flatMap(option => [...option.words]))
}

/**
 * Options for several components on the command line. 22.05 looks through all of them once before it begins, and while it puts the
 * values back it keeps that they came from there; which of its checks then misfire is left out of this grammar.
 */
function heterogeneousOptions(): fc.Arbitrary<string[]> {
  const checked = /^--?(mem|ntasks-per|tasks-per|gpus-per|hint|core|thread|extra|S|B|H[SB])|^-\w$|^--$/
  const part = optionWords(2).filter(words => !words.some(word => checked.test(word)))
  return fc
    .array(part, { minLength: 2, maxLength: 3 })
    .map(parts => parts.flatMap((part, index) => (index === 0 ? part : [':', ...part])))
}

/** Writes a word into a directive line: plain where it can be, in quotes, partly in quotes, or with backslashes. */
function written(word: string): fc.Arbitrary<string> {
  const plain = word !== '' && !/[\s"'\\#]/.test(word) && !word.startsWith(':')
  const at = fc.nat(Math.max(0, word.length))
  return fc.tuple(fc.nat(20), at).map(([form, cut]) => {
    if (plain && form > 4) return word
    if (form === 0) return `'${word}'`
    if (form === 1) return `${word.slice(0, cut)}"${word.slice(cut)}"`
    if (form === 2) return [...word].map((character, index) => (index === cut ? `\\${character}` : character)).join('')
    return `"${word}"`
  })
}

const gaps = fc.oneof(
  { weight: 12, arbitrary: pick(' ') },
  { weight: 1, arbitrary: pick('  ', '\t', ' \t ', '\v', '\f', '\u00a0') },
)
const comments = fc.oneof(
  { weight: 30, arbitrary: pick('') },
  {
    weight: 1,
    arbitrary: pick(
      ' # note',
      ' #note',
      '#note',
      ' # "open',
      ' \\',
      ' ""',
      " ''",
      '\\#x',
      ' "it\'s"',
      ' "open',
      " 'open",
      ' :x',
      ' two\\ words',
      ' "x # y"',
      ' hetjob',
      ' stray',
      ' "" -p lost',
      ' \\ -p lost',
      '\t# -t 5',
    ),
  },
)
const marks = fc.oneof(
  { weight: 40, arbitrary: pick('#SBATCH ') },
  {
    weight: 1,
    arbitrary: pick(
      '#SBATCH',
      '#SBATCH\t',
      '#SLURM ',
      ' #SBATCH ',
      '##SBATCH ',
      '# SBATCH ',
      '#sbatch ',
      '#SBATCHX ',
      '#SBATCH: ',
      '#SBATCH  ',
      '#Sbatch ',
      '\t#SBATCH ',
      '#SLURM',
    ),
  },
)

function directiveLines(): fc.Arbitrary<string> {
  return fc.array(optionTexts(), { minLength: 1, maxLength: 2 }).chain(options =>
    fc
      .record({
        mark: marks,
        words: fc.tuple(...options.flatMap(option => option.words).map(word => fc.tuple(written(word), gaps))),
        comment: comments,
        breaks: fc.nat(40),
      })
      .map(({ mark, words, comment, breaks }) => {
        const text = words.map(([word, gap], index) => (index === 0 ? word : `${gap}${word}`)).join('')
        if (breaks !== 0 || words.length < 2) return `${mark}${text}${comment}`
        // The words of all lines are one list: a value may stand on the next one.
        return words.map(([word]) => `#SBATCH ${word}`).join('\n# between\n')
      }),
  )
}

const pbsResources = pick(
  'walltime=01:00:00',
  'nodes=2:ppn=4',
  'nodes=2:ppn=4:gpus=2,walltime=00:05:00,mem=4gb',
  'select=2:ncpus=4:mpiprocs=2',
  'select=2:ncpus=4:ngpus=1',
  'mem=4gb',
  'nodes=1:ppn=2+2:ppn=1',
  'naccelerators=2',
  'accelerator=True',
  'walltime=1h',
  'ncpus=8',
  'pmem=2gb',
  'pvmem=1gb,vmem=2gb',
  'nodes=gpu7:ppn=4',
  'cput=30',
  'file=3gb',
  'nice=4',
  'proc=a100',
  'proc=a100,xx,mem=2gb',
  'arch=x86,walltime=2:00',
  'ngpus=2',
  'software=x,mem=1gb',
  'select=1:ncpus=9:mpiprocs=2',
)
const foreignLines = fc.oneof(
  fc
    .oneof(
      pbsResources.map(resource => `-l ${resource}`),
      pick(
        '-N pbsname',
        '-q t4',
        '-A acct',
        '-m abe',
        '-m n',
        '-m x',
        '-M a@b.c',
        '-t 0-3',
        '-J 1-4',
        '-o out',
        '-e err',
        '-h',
        '-V',
        '-v A=1',
        '-j oe',
        '-k oe',
        '-r n',
        '-p 5',
        '-W depend=afterok:1',
        '-W umask=022',
        '-W umask=9999',
        '-W x',
        '-S /bin/sh',
        '-I',
        '-z',
        'stray',
        '--foo',
        '-y',
        '-c s',
        '-C x',
        '-u me',
        '--job_name=x',
        '--resource_list=walltime=10',
        '-l',
        '-N a -q b',
        '-V -N x',
      ),
    )
    .map(line => `#PBS ${line}`),
  pick(
    '-J bsubname',
    '-q a100',
    '-W 5',
    '-W 1:30',
    '-n 4',
    '-n 2,8',
    '-n 2,',
    '-M 4000',
    '-M 4G',
    '-x',
    '-o out',
    '-e err',
    '-cwd /tmp',
    '-c /tmp',
    '-m "a b"',
    '-R x',
    'stray',
    '-J x -W 10',
    '--time=5',
    '--queue_name x',
    '-W banana',
  ).map(line => `#BSUB ${line}`),
)

const otherLines = fc.oneof(
  {
    weight: 6,
    arbitrary: pick('', '   ', '\t', '# comment', '  # indented', '#', '##', '#PB', '\f', '# SBATCH -p no'),
  },
  {
    weight: 2,
    arbitrary: fc.oneof(
      pick(
        '#SBATCH hetjob',
        '#SBATCH packjob',
        '#SBATCH HetJob',
        '#SBATCHhetjob',
        '#SBATCH hetjobs',
        '#SBATCH hetjob -n 2',
        '#SBATCH hetjob # x',
      ),
    ),
  },
  { weight: 1, arbitrary: pick(':', 'set -e', 'X=1', 'echo', 'cat <<E') },
)

function scripts(): fc.Arbitrary<string> {
  const line = fc.oneof(
    { weight: 20, arbitrary: directiveLines() },
    { weight: 5, arbitrary: otherLines },
    { weight: 1, arbitrary: foreignLines },
  )
  return fc
    .record({
      shebang: fc.oneof(
        { weight: 30, arbitrary: pick('#!/bin/bash') },
        {
          weight: 1,
          arbitrary: pick('#!/usr/bin/env python3', '#! /bin/sh', '#!', '#!/bin/bash #SBATCH -p a100', '#!/bin/csh -f'),
        },
      ),
      lines: fc.array(line, { maxLength: 5 }),
      body: fc.array(
        fc.oneof(
          { weight: 5, arbitrary: pick('python train.py', '#SBATCH -p late', '', '# x') },
          { weight: 1, arbitrary: foreignLines },
        ),
        { maxLength: 4 },
      ),
      padding: fc.oneof(
        { weight: 20, arbitrary: fc.constant(0) },
        { weight: 1, arbitrary: fc.integer({ min: 95, max: 105 }) },
      ),
      end: pick('\n', ''),
    })
    .map(
      ({ shebang, lines, body, padding, end }) =>
        [shebang, ...lines, ...Array.from({ length: padding }, () => 'true'), ...body].join('\n') + end,
    )
}

/** Files that sbatch does not take for batch scripts, and some that it takes although they look wrong. */
function oddScripts(): fc.Arbitrary<string> {
  return pick(
    '',
    '  \n\t\n',
    'python train.py\n',
    '\n#!/bin/sh\n',
    ' #!/bin/sh\n',
    '\ufeff#!/bin/sh\n',
    '#!/bin/sh\r\n#SBATCH -p x\r\n',
    '#!/bin/sh\n#SBATCH -p x\necho\r\n',
    '#!/bin/sh\r#SBATCH -p x\r',
    '#!/bin/sh\n#SBATCH -p x\necho \0\n',
    '# comment\n#SBATCH -p x\n',
    '#!',
    '#!/bin/sh',
  )
}

function environments(): fc.Arbitrary<Record<string, string>> {
  const entries: readonly (readonly [string, fc.Arbitrary<string>])[] = [
    ['SBATCH_PARTITION', words],
    ['SBATCH_TIMELIMIT', times],
    ['SBATCH_GRES', gresLists],
    ['SBATCH_GPUS', gpuLists],
    ['SBATCH_GPUS_PER_NODE', gpuLists],
    ['SBATCH_GPUS_PER_TASK', gpuLists],
    ['SBATCH_MEM_PER_NODE', memories],
    ['SBATCH_MEM_PER_CPU', memories],
    ['SBATCH_MEM_PER_GPU', memories],
    ['SBATCH_EXCLUSIVE', pick('', 'user', 'x')],
    ['SBATCH_ACCOUNT', words],
    ['SBATCH_QOS', words],
    ['SBATCH_CONSTRAINT', words],
    ['SBATCH_JOB_NAME', words],
    ['SBATCH_ARRAY_INX', pick('0-3', '')],
    ['SBATCH_REQUEUE', pick('', 'yes', 'no', '1', '0')],
    ['SBATCH_NO_REQUEUE', pick('', 'yes', 'no')],
    ['SBATCH_WAIT', pick('', 'no', '2x')],
    ['SBATCH_OVERCOMMIT', pick('', '-1', 'YES')],
    ['SBATCH_IGNORE_PBS', pick('', '1', 'no')],
    ['SBATCH_CPUS_PER_GPU', counts],
    ['SBATCH_HINT', pick('nomultithread', 'nope')],
    ['SBATCH_OUTPUT', words],
    ['SBATCH_DISTRIBUTION', pick('block', 'cyclic')],
    ['SBATCH_NODES', counts],
    ['SBATCH_NTASKS', counts],
    ['SLURM_PARTITION', words],
    ['SLURM_NTASKS', counts],
    ['SBATCH_TIME', times],
  ]
  const one = fc.oneof(...entries.map(([name, values]) => values.map(value => [name, value] as const)))
  return fc.oneof(
    { weight: 5, arbitrary: fc.constant<Record<string, string>>({}) },
    { weight: 2, arbitrary: fc.array(one, { minLength: 1, maxLength: 2 }).map(pairs => Object.fromEntries(pairs)) },
  )
}
