// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the texts are bash
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type CommandLine, findCommandLines, peelCommand } from '../src/command-lines.ts'

interface Known {
  readonly variables?: Readonly<Record<string, string>>
  readonly arguments?: readonly string[]
}

function find(script: string, known: Known = {}) {
  return findCommandLines(script, { file: 'job.sh', firstLine: 1, variables: {}, arguments: [], ...known })
}

/** Program and arguments in one line, what is not known in angle brackets. */
function show({ program, arguments: words }: CommandLine): string {
  return [program, ...words.map(word => word.text ?? `<${word.written}>`)].join(' ')
}

/** Only what Python runs, the rest being shell housekeeping. */
function programs(script: string, known: Known = {}): string[] {
  return find(script, known)
    .commandLines.filter(line => /\.py$/.test(line.program))
    .map(show)
}

test.each<[depth: number, programs: readonly string[], codes: readonly string[]]>([
  [30, ['t.py'], []],
  [20_000, [], ['cannot-parse-script']],
])('%i substitutions in one another are read or refused', (depth, programs, codes) => {
  const { commandLines, warnings } = find(`python t.py ${'$(x '.repeat(depth)}${')'.repeat(depth)}`)
  expect(commandLines.map(line => line.program)).toEqual(programs)
  expect(warnings.map(({ code }) => code)).toEqual(codes)
})

test('what a substitution of a page prints is known, what one of many pages prints is not', () => {
  expect(programs(`python t.py $(echo ${'x'.repeat(5_000)})`)).toEqual([`t.py ${'x'.repeat(5_000)}`])
  const long = `$(echo ${'x'.repeat(20_000)})`
  expect(programs(`python t.py ${long}`)).toEqual([`t.py <${long}>`])
})

test('a word of thousands of variables is not known', () => {
  expect(programs(`python t.py ${'$a'.repeat(6_000)}`)).toEqual([`t.py <${'$a'.repeat(6_000)}>`])
  expect(programs(`python t.py "${'$a'.repeat(6_000)}"`)).toEqual([`t.py <${'$a'.repeat(6_000)}>`])
})

test('each of very many lines keeps its number', () => {
  const { commandLines } = find('python t.py\n'.repeat(3_000))
  expect(commandLines.map(({ place }) => place.line)).toEqual(Array.from({ length: 3_000 }, (_, index) => index + 1))
})

describe('what bash would make of a script', () => {
  test.each<[what: string, script: string, expected: readonly string[], known?: Known]>([
    ['a variable', 'N=3\npython t.py --epochs $N', ['t.py --epochs 3']],
    ['a variable in braces beside text', 'N=3\npython t.py --out=run${N}b', ['t.py --out=run3b']],
    ['single quotes keep a dollar', "python t.py '$N'", ['t.py $N']],
    ['a variable set twice has its last value', 'N=1\nN=2\npython t.py $N', ['t.py 2']],
    ['the program that `which` finds', '$(which relion_refine) --j 4\n`command -v t.py` x', ['t.py x']],
    ['a field of a line', "S='a,b,c'\npython t.py $(echo $S | awk -F, '{print $2}')", ['t.py b']],
    ['a line of a text', 'python t.py $(printf "a\\nb\\n" | sed -n 2p)', ['t.py b']],
    [
      'each line of a text in turn',
      'while read -r name size; do\npython t.py $name $size\ndone <<EOF\na 1\nb 2\nEOF',
      ['t.py a 1', 't.py b 2'],
    ],
    [
      'a line without a name for it',
      'while read -r; do\nargs+=("$REPLY")\ndone <<< "x y"\npython t.py ${args[0]}',
      ['t.py x y'],
    ],
    [
      'variables whose names are arguments',
      'for each in "$@"; do export "${each%%=*}"="${each#*=}"; done\npython t.py $N',
      ['t.py 3'],
      { arguments: ['N=3'] },
    ],
    ['a name that is not known may be any', 'N=1\nexport "$(get_name)"=2\npython t.py $N', ['t.py <$N>']],
    [
      'options by letters',
      'E=1\nwhile getopts "e:vb:" o; do case $o in e) E=$OPTARG;; v) V=yes;; b) B=$OPTARG;; esac; done\nshift $((OPTIND - 1))\npython t.py $E $V $B $1',
      ['t.py 40 yes 8 x'],
      { arguments: ['-e', '40', '-v', '-b8', 'x'] },
    ],
    [
      'whether it is in a job of Slurm, which a batch script is',
      'if [ -z "$SLURM_JOB_ID" ]; then python t.py outside; exit; fi\npython t.py inside',
      ['t.py inside'],
      { variables: { SLURM_NNODES: '1' } },
    ],
    [
      'which task of an array it is, where it is none',
      'python t.py ${SLURM_ARRAY_TASK_ID:-0}',
      ['t.py 0'],
      { variables: { SLURM_NNODES: '1' } },
    ],
    [
      'which task of an array it is, where it is one',
      'python t.py ${SLURM_ARRAY_TASK_ID:-0}',
      ['t.py <${SLURM_ARRAY_TASK_ID:-0}>'],
      { variables: { SLURM_NNODES: '1', SLURM_ARRAY_TASK_COUNT: '4' } },
    ],
    ['a value set after the command does not count', 'python t.py $N\nN=2', ['t.py <$N>']],
    ['a variable that nobody sets is not known', 'python t.py --lr $LR', ['t.py --lr <$LR>']],
    [
      'a partly known word says which part is not',
      'python t.py --data=$DATA/x',
      ['t.py --data=$DATA/x'].map(() => 't.py <--data=$DATA/x>'),
    ],
    [
      'an environment variable of the job',
      'python t.py $SLURM_NNODES',
      ['t.py 4'],
      { variables: { SLURM_NNODES: '4' } },
    ],
    ['a default for what nobody sets', 'python t.py ${N:-7}', ['t.py 7']],
    ['a default is not taken when the variable is set', 'N=3\npython t.py ${N:-7}', ['t.py 3']],
    [
      'a default for what the scheduler sets is not the answer',
      'python t.py ${SLURM_NTASKS:-7}',
      ['t.py <${SLURM_NTASKS:-7}>'],
    ],
    ['an assigning default', ': "${N:=7}"\npython t.py $N', ['t.py 7']],
    ['an empty value is not a default for ${N-…}', 'N=\npython t.py ${N-7} end', ['t.py end']],
    ['an alternative where the variable is set', 'N=3\npython t.py ${N:+--resume}', ['t.py --resume']],
    ['no alternative where it is not', 'python t.py ${N:+--resume} end', ['t.py end']],
    ['a suffix cut off', 'F=conf/a.yaml\npython t.py ${F%.yaml}', ['t.py conf/a']],
    ['the longest prefix cut off', 'F=conf/a.yaml\npython t.py ${F##*/}', ['t.py a.yaml']],
    ['the shortest prefix cut off', 'F=a/b/c\npython t.py ${F#*/}', ['t.py b/c']],
    ['the longest suffix cut off', 'F=a.b.c\npython t.py ${F%%.*}', ['t.py a']],
    ['a replacement', 'F=a-b-c\npython t.py ${F//-/_}', ['t.py a_b_c']],
    [
      'one of several texts has what all have in common',
      'A=("--m a --n 3" "--m b --n 3")\nB=(5 5)\npython t.py ${A[$SLURM_ARRAY_TASK_ID]} ${B[$SLURM_ARRAY_TASK_ID]}',
      ['t.py --m <…> --n 3 5'],
    ],
    [
      'one of several that differ is not known',
      'A=(a b)\npython t.py ${A[$SLURM_ARRAY_TASK_ID]}',
      ['t.py <${A[$SLURM_ARRAY_TASK_ID]}>'],
    ],
    ['arguments from the third on', 'python t.py ${@:3} ${@:2:1}', ['t.py c d b'], { arguments: ['a', 'b', 'c', 'd'] }],
    ['elements from the third on', 'A=(a b c)\npython t.py ${A[@]:2}', ['t.py c']],
    ['a slice', 'F=abcdef\npython t.py ${F:1:3}', ['t.py bcd']],
    ['upper and lower case', 'F=Abc\npython t.py ${F^^} ${F,,}', ['t.py ABC abc']],
    ['a length', 'F=abcd\npython t.py ${#F}', ['t.py 4']],
    ['an indirect variable', 'A=B\nB=5\npython t.py ${!A}', ['t.py 5']],
    ['arithmetic', 'A=4\npython t.py $((A * 2 + 1))', ['t.py 9']],
    ['arithmetic over $names', 'A=4\nB=2\npython t.py $(($A*$B)) $(( ($A + ${B}) / 2 ))', ['t.py 8 3']],
    ['arithmetic over an argument', 'python t.py $(($1*2))', ['t.py 6'], { arguments: ['3'] }],
    ['arithmetic over what a command prints', 'python t.py $(($(seq 5 | wc -l) * 2))', ['t.py 10']],
    [
      'numbers of equal width',
      'for i in $(seq -w 9 10); do python t.py $i; done\npython t.py {08..10}',
      ['t.py 09', 't.py 10', 't.py 08 09 10'],
    ],
    ['a here-document without expansions', 'read -r A <<E\n\\$5\nE\npython t.py "$A"', ['t.py $5']],
    ['a here-document as written', 'read -r A <<\'E\'\n\\$5\nE\npython t.py "$A"', ['t.py \\$5']],
    ['integer division', 'python t.py $((7 / 2))', ['t.py 3']],
    ['arithmetic over something unknown', 'python t.py $((SLURM_NNODES * 2))', ['t.py <$((SLURM_NNODES * 2))>']],
    ['arithmetic by zero is not known', 'A=0\npython t.py $((1 / A))', ['t.py <$((1 / A))>']],
    ['arithmetic as a command', '((A = 3, A += 2))\npython t.py $A', ['t.py 5']],
    ['let', 'let A=3*4\npython t.py $A', ['t.py 12']],
    ['a string that holds arguments', 'ARGS="--a 1 --b 2"\npython t.py $ARGS', ['t.py --a 1 --b 2']],
    ['a quoted string stays one word', 'ARGS="--a 1"\npython t.py "$ARGS"', ['t.py --a 1']],
    ['a string that grows', 'ARGS="--a 1"\nARGS+=" --b 2"\npython t.py $ARGS', ['t.py --a 1 --b 2']],
    ['an array', 'ARGS=(--a 1 --b "x y")\npython t.py "${ARGS[@]}"', ['t.py --a 1 --b x y']],
    [
      'an array over lines with comments',
      'declare -a A=(\n  --a 1 # one\n  # nothing\n  --b 2\n)\npython t.py ${A[@]}',
      ['t.py --a 1 --b 2'],
    ],
    ['an array that grows', 'A=(1)\nA+=(2 3)\npython t.py "${A[@]}"', ['t.py 1 2 3']],
    ['one cell, its number and a slice', 'A=(5 6 7)\npython t.py ${A[1]} ${#A[@]} "${A[@]:1:2}"', ['t.py 6 3 6 7']],
    ['a cell by a variable', 'A=(5 6)\nI=1\npython t.py ${A[$I]} ${A[I]}', ['t.py 6 6']],
    ['an associative array', 'declare -A M=([small]=7b [large]=70b)\nK=large\npython t.py ${M[$K]}', ['t.py 70b']],
    [
      'an array of what a command prints has no known length',
      'A=($(scontrol show hostnames $X))\npython t.py ${#A[@]}',
      ['t.py <${#A[@]}>'],
    ],
    ['lines joined by a backslash', 'python t.py \\\n  --a 1 \\\n  --b 2', ['t.py --a 1 --b 2']],
    ['comments, also between joined commands', '# python old.py\npython t.py # --b 3', ['t.py']],
    ['a block behind the no-op is no command', ": '\npython old.py\n'\npython t.py", ['t.py']],
    ['an environment prefix', 'CUDA_VISIBLE_DEVICES=0 python t.py', ['t.py']],
    ['several commands on a line', 'cd x && python a.py; python b.py', ['a.py', 'b.py']],
    ['what comes after a program that may fail', 'python a.py && python b.py || exit 1', ['a.py', 'b.py']],
    ['a pipe into tee', 'python t.py 2>&1 | tee log', ['t.py']],
    ['a negated command', '! python t.py', ['t.py']],
    ['a subshell keeps its variables', 'N=1\n(N=2; python a.py $N)\npython b.py $N', ['a.py 2', 'b.py 1']],
    ['a group does not', 'N=1\n{ N=2; }\npython b.py $N', ['b.py 2']],
    ['backticks and echo', 'N=`echo 5`\npython t.py $N', ['t.py 5']],
    ['basename and dirname', 'F=a/b.yaml\npython t.py $(basename $F .yaml) $(dirname $F)', ['t.py b a']],
    ['a sum by expr or bc', 'A=3\npython t.py $(expr $A \\* 2) $(echo "$A + 4" | bc)', ['t.py 6 7']],
    ['the number of words of a list', 'G=0,1,2\npython t.py $(echo $G | tr "," "\\n" | wc -l)', ['t.py 3']],
    [
      'hosts counted, where the request says how many',
      'python t.py $(scontrol show hostnames "$SLURM_JOB_NODELIST" | wc -l)',
      ['t.py 2'],
      { variables: { SLURM_NNODES: '2' } },
    ],
    ['a command whose output is not known', 'python t.py --port $(shuf -n 1)', ['t.py --port <$(shuf -n 1)>']],
    ['an unknown folder before a known name', 'python $(pwd)/t.py', ['$(pwd)/t.py']],
    ['eval', 'CMD="python t.py --a 1"\neval "$CMD"', ['t.py --a 1']],
    ['a command in a string', 'CMD="python t.py --a 1"\n$CMD --b 2', ['t.py --a 1 --b 2']],
    ['a command in an array', 'CMD=(python t.py)\n"${CMD[@]}" --b 2', ['t.py --b 2']],
    [
      'a here-document read into a variable',
      'read -r -d "" CMD <<X\npython t.py \\\n --a 1\nX\nbash -c "$CMD"',
      ['t.py --a 1'],
    ],
    ['a here-document that keeps dollars', 'CMD=$(cat <<\'X\'\npython t.py $N\nX\n)\nN=2 bash -c "$CMD"', ['t.py 2']],
    ['a here-document as a script', 'N=3\nbash <<X\npython t.py $N\nX', ['t.py 3']],
    ['bash -c with a variable of its own', "srun bash -c 'N=4; python t.py $N'", ['t.py 4']],
    ['bash -c sees what is exported', "export N=4\nM=5\nbash -c 'python t.py $N $M'", ['t.py 4 <$M>']],
    [
      'bash -c with an escaped variable',
      'bash -c "python t.py --rank \\$SLURM_PROCID"',
      ['t.py --rank <$SLURM_PROCID>'],
    ],
    ['options before -c', "bash -euo pipefail -c 'python t.py'", ['t.py']],
    ['bash within bash', `bash -c "bash -c 'python t.py'"`, ['t.py']],
    ['positional arguments', 'python t.py $1 ${2:-b}', ['t.py a b'], { arguments: ['a'] }],
    ['all arguments', 'python t.py "$@"', ['t.py --x 1'], { arguments: ['--x', '1'] }],
    ['arguments after a shift', 'A=$1; shift\npython t.py $A "$@"', ['t.py a b c'], { arguments: ['a', 'b', 'c'] }],
    ['no arguments at all', 'python t.py --a 1 "$@"', ['t.py --a 1']],
    ['the number of arguments', 'if [ $# -lt 2 ]; then exit 1; fi\npython t.py', [], { arguments: ['a'] }],
    ['arguments set by the script', 'set -- 5 6\npython t.py $2', ['t.py 6']],
    ['a function', 'run() { python t.py "$1"; }\nrun 3\nrun 4', ['t.py 3', 't.py 4']],
    ['a function with a local variable', 'run() { local n=$1; python t.py $n; }\nrun 3', ['t.py 3']],
    ['a function that is never called', 'again() { python t.py; }\ntrap again TERM\npython u.py', ['u.py']],
    [
      'a branch that is decided',
      'N=8\nif [ "$N" -le 4 ]; then B=1; elif [[ $N -ge 8 ]]; then B=2; else B=3; fi\npython t.py $B',
      ['t.py 2'],
    ],
    ['a pattern', 'M=llama-7b\nif [[ $M == llama* ]]; then python a.py; else python b.py; fi', ['a.py']],
    ['a regular expression', 'M=llama-7b\nif [[ $M =~ -([0-9]+)b$ ]]; then python a.py; fi', ['a.py']],
    ['both of two conditions', 'A=1\nif [ "$A" = 1 ] && [ "$A" != 2 ]; then python a.py; fi', ['a.py']],
    ['one of two conditions', 'A=1\nif [[ $A == 2 || $A == 1 ]]; then python a.py; fi', ['a.py']],
    ['old-style conditions', 'A=1\nif [ "$A" -gt 0 -a "$A" -lt 5 ]; then python a.py; fi', ['a.py']],
    ['a condition in arithmetic', 'A=3\nif (( A > 2 )); then python a.py; fi', ['a.py']],
    ['what nobody sets is empty in a test', 'if [ ! -z $IMAGE ]; then python a.py; else python b.py; fi', ['b.py']],
    [
      'an option that only a debug switch adds',
      'ARGS="--a 1"\n[[ $DEBUG == 1 ]] && ARGS+=" --b 2"\npython t.py $ARGS',
      ['t.py --a 1'],
    ],
    ['a choice', 'S=large\ncase $S in small) L=12;; medium|large) L=24;; *) L=0;; esac\npython t.py $L', ['t.py 24']],
    ['a choice with a pattern', 'S=v100-32g\ncase "$S" in v100*) B=1;; *) B=2;; esac\npython t.py $B', ['t.py 1']],
    ['what both ways agree on is known', 'A=1\nB=1\nif [ -f x ]; then B=2; fi\npython t.py $A $B', ['t.py 1 <$B>']],
    [
      'an option that may be there stands apart',
      'A="--a 1"\nif [ -d ckpt ]; then A="$A --resume ckpt"; fi\npython t.py $A',
      ['t.py --a 1 <[--resume ckpt]>'],
    ],
    [
      'an array that may grow',
      'A=(--a 1)\nif [ -d ckpt ]; then A+=(--resume); fi\npython t.py "${A[@]}"',
      ['t.py --a 1 <[--resume]>'],
    ],
    ['a way that ends the script has no say', 'A=1\nif [ ! -f x ]; then A=2; exit 1; fi\npython t.py $A', ['t.py 1']],
    ['nothing after exit', 'python a.py\nexit 0\npython b.py', ['a.py']],
    ['a loop over words', 'for s in 1 2; do python t.py --seed $s; done', ['t.py --seed 1', 't.py --seed 2']],
    ['a loop over a range', 'for s in {1..3}; do python t.py $s; done', ['t.py 1', 't.py 2', 't.py 3']],
    ['a loop over seq', 'for s in $(seq 2 3); do python t.py $s; done', ['t.py 2', 't.py 3']],
    ['a loop over an array', 'A=(a b)\nfor x in "${A[@]}"; do python t.py $x; done', ['t.py a', 't.py b']],
    ['a loop that counts', 'for ((i=0; i<2; i++)); do python t.py $i; done', ['t.py 0', 't.py 1']],
    [
      'a loop that breaks',
      'for ((i=8; i>=1; i--)); do if ((12 % i == 0)); then TP=$i; break; fi; done\npython t.py $TP',
      ['t.py 6'],
    ],
    ['a loop with a known end', 'i=0\nwhile [ $i -lt 2 ]; do python t.py $i; i=$((i+1)); done', ['t.py 0', 't.py 1']],
    ['a loop that never ends is one pass', 'while true; do python t.py; sleep 1; done', ['t.py']],
    ['a loop over files is one pass', 'for f in $(ls conf); do python t.py $f; done', ['t.py <$f>']],
    ['split at a comma by read', 'IFS=, read -r A B <<< "x,y"\npython t.py $B', ['t.py y']],
    [
      'a sourced file may set anything',
      'source env.sh\nif [ -z "$N" ]; then python a.py; else python b.py; fi',
      ['a.py', 'b.py'],
    ],
    [
      'a sourced environment sets nothing of the run',
      'source venv/bin/activate\nif [ -z "$N" ]; then python a.py; else python b.py; fi',
      ['a.py'],
    ],
    ['a file that the script wrote and sources', 'cat > env.sh <<X\nN=4\nX\nsource env.sh\npython t.py $N', ['t.py 4']],
    [
      'a copy is read as its original',
      'T=$(mktemp)\ncp conf/a.yaml $T\npython t.py --config $T',
      ['t.py --config conf/a.yaml'],
    ],
    [
      'a script that explains its use is followed as if it had been used',
      '[ -z "$M" ] && exit 1\nif [ $# -lt 2 ]; then usage; exit 1; fi\npython t.py $M',
      ['t.py <$M>'],
    ],
    [
      'options that were not given leave the defaults',
      'E=3\nwhile getopts "e:" o; do case $o in e) E=$OPTARG;; esac; done\npython t.py $E',
      ['t.py 3'],
    ],
    [
      'options by hand that were not given',
      'E=3\nwhile [ $# -gt 0 ]; do case $1 in --e) E=$2; shift 2;; esac; done\npython t.py $E',
      ['t.py 3'],
    ],
    [
      'options by hand that were given',
      'E=3\nwhile [ $# -gt 0 ]; do case $1 in --e) E=$2; shift 2;; *) shift;; esac; done\npython t.py $E',
      ['t.py 5'],
      { arguments: ['--e', '5'] },
    ],
    [
      'a cell by the number of the array task',
      'A=(1 2)\npython t.py ${A[$SLURM_ARRAY_TASK_ID]}',
      ['t.py <${A[$SLURM_ARRAY_TASK_ID]}>'],
    ],
    ['a way for each array task', 'case $SLURM_ARRAY_TASK_ID in 0) L=1;; 1) L=2;; esac\npython t.py $L', ['t.py <$L>']],
    [
      'what Slurm would only set when asked',
      'python t.py ${SLURM_GPUS_PER_NODE:-4}',
      ['t.py 4'],
      { variables: { SLURM_NNODES: '1' } },
    ],
    [
      'GPUs counted by the node',
      'python t.py $(nvidia-smi -L | wc -l) $(python -c "import torch; print(torch.cuda.device_count())")',
      ['t.py 8 8'],
      { variables: { SLURM_GPUS_ON_NODE: '8' } },
    ],
    [
      'a comment between joined lines ends the command',
      'python t.py \\\n  --a 1 \\\n  # --b 2 \\\n  --c 3',
      ['t.py --a 1'],
    ],
    ['a function that is the whole script', 'main() { python t.py ${1:-5} "$@"; }\nmain "$@"', ['t.py 5']],
    [
      'a copy that is edited is not its original',
      'cp conf/a.yaml b.yaml\nsed -i "s/x/y/" b.yaml\npython t.py --config b.yaml',
      ['t.py --config <b.yaml>'],
    ],
    [
      'a file of unknown content',
      'envsubst < a.json > b.json\npython t.py --deepspeed b.json',
      ['t.py --deepspeed <b.json>'],
    ],
    ['quotes and escapes', 'python t.py "a b" c\\ d $\'e\\tf\' ""', ['t.py a b c d e\tf ']],
    ['a windows path in double quotes', 'python t.py "a\\b"', ['t.py a\\b']],
  ])('%s', (_, script, expected, known) => {
    expect(programs(script, known)).toEqual(expected)
  })
})

describe('how often and whether', () => {
  test('equal commands of a loop are one with repetitions', () => {
    const [line] = find('for i in 1 2 3; do python t.py; done').commandLines
    expect(line?.repetitions).toBe(3)
  })

  test('a loop over more values than are followed counts them', () => {
    const lines = find('for i in {1..5000}; do python t.py --seed $i; done').commandLines
    expect(lines.map(line => [show(line), line.repetitions])).toEqual([['t.py --seed <$i>', 5000]])
  })

  test('a command on one of two unknown ways is conditional and says which way', () => {
    const lines = find('if [ -f last.pt ]; then python t.py --resume; else python t.py; fi\npython u.py').commandLines
    expect(lines.map(line => [line.program, line.conditional, line.arm?.arm])).toEqual([
      ['t.py', true, 0],
      ['t.py', true, 1],
      ['u.py', false, undefined],
    ])
  })

  test('what stands in for a failed program is conditional', () => {
    const lines = find('python a.py || python b.py').commandLines
    expect(lines.map(line => line.conditional)).toEqual([false, true])
  })

  test('a command behind & runs in the background', () => {
    const lines = find('srun python a.py &\npython b.py\nwait').commandLines
    expect(lines.map(line => line.background)).toEqual([true, false])
  })

  test('any text is read without an error', () => {
    const piece = fc.constantFrom(
      '$',
      '{',
      '}',
      '(',
      ')',
      '"',
      "'",
      '`',
      '\\',
      '\n',
      ' ',
      ';',
      '&',
      '|',
      '<<E\n',
      'if ',
      'then ',
      'fi',
      'for i in ',
      'do ',
      'done',
      'case ',
      'esac',
      '[[ ',
      ']]',
      '((',
      '))',
      '${A[',
      ':-',
      '##',
      'A=',
      'A+=(',
      'bash -c ',
      'srun ',
      'eval ',
      'python t.py ',
      '--x=',
      '$1',
      '$@',
      '*',
      '1',
      'read -r ',
      'set -- ',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), pieces => {
        expect(find(pieces.join('')).commandLines).toBeInstanceOf(Array)
      }),
      { numRuns: 500 },
    )
  })

  test('a loop without end in sight does not hang', () => {
    // vitest's own time limit ends a test that hangs
    find('for i in {1..200}; do for j in {1..200}; do for k in {1..200}; do x=$((i*j*k)); done; done; done')
    find('f() { f; f; }; f')
    find('x=a; while :; do x=$x$x; done')
    find(`A=(a b c)\n${'A=("${A[@]}" "${A[@]}")\n'.repeat(40)}echo "${'${A[@]}'}"`)
    find(`A=${'a'.repeat(50)}\n[[ $A =~ ^(a+)+$b ]] && echo\nB=${'${A##*a*a*a*a*a*a*a*a*a*a*a*b}'}`)
    find(`echo ${'{1..100}'.repeat(5)}`)
    find(`python t.py --x a${'"'.repeat(100_000)}`)
    find(`A="--x ${'{"a":'.repeat(20_000)}"\npython t.py $A`)
    expect(find('python t.py')).toBeDefined()
  })
})

describe('where it stands', () => {
  test('a program carries the line of its command', () => {
    const lines = find('#!/bin/bash\n\npython a.py \\\n  --x 1\npython b.py').commandLines
    expect(lines.map(line => line.place.line)).toEqual([3, 5])
    expect(lines[0]?.arguments[0]?.place.line).toBe(4)
  })

  test('a script that begins further down counts from there', () => {
    const { commandLines } = findCommandLines('cd app\npython t.py', {
      file: 'job.yaml',
      firstLine: 40,
      variables: {},
      arguments: [],
    })
    expect(commandLines[0]?.place).toMatchObject({ file: 'job.yaml', line: 41 })
  })

  test.each([
    ['cd app\npython t.py', 'app'],
    ['cd app/\ncd ../lib\npython t.py', 'lib'],
    ['cd app && cd .. && python t.py', undefined],
    ['(cd app && true)\npython t.py', undefined],
    ['srun bash -c "cd app && python t.py"', 'app'],
    ['cd app\ncd $SLURM_SUBMIT_DIR/jobs\npython t.py', 'jobs'],
    ['cd $SCRATCH/run\npython t.py', undefined],
    ['cd /opt/run\npython t.py', undefined],
  ])('%s: the folder that is entered', (script, folder) => {
    const { commandLines } = find(script)
    expect(commandLines.find(line => line.program === 't.py')?.folder).toBe(folder)
  })

  test('a file that is sourced is named, and followed where its text is known', () => {
    const script =
      'source ./env.sh\n. $SLURM_SUBMIT_DIR/conf/more.sh\nsource $HOME/x.sh\nsource venv/bin/activate\npython t.py $N'
    expect(find(script).sources).toEqual(['./env.sh', 'conf/more.sh'])
    const sourcedFiles = new Map([['conf/more.sh', '# how long\nN=3\nreturn\nN=4']])
    const { commandLines } = findCommandLines(script, {
      file: 'job.sh',
      firstLine: 1,
      variables: {},
      arguments: [],
      sourcedFiles,
    })
    expect(commandLines.map(show)).toContain('t.py 3')
    const last = commandLines.at(-1)?.arguments[0]
    expect(last?.place).toMatchObject({ file: 'conf/more.sh', line: 2 })
  })

  test('a shell inside sees what is exported, whole or in parts', () => {
    const script = 'export CMD="t.py --out $OUT/x --lr 3"\nN=4\nsrun bash -c \'python $CMD --n ${N:-0}\''
    expect(programs(script)).toEqual(['t.py --out <$OUT/x> --lr 3 --n 0'])
  })

  test('a program inside bash -c has its own line', () => {
    const [line] = find("srun bash -c '\n  export A=1\n  python t.py\n'").commandLines
    expect(line?.place.line).toBe(3)
  })

  test('an argument of an array points to where the array says it', () => {
    const [line] = find('A=(\n  --epochs 3\n)\npython t.py "${A[@]}"').commandLines
    expect(line?.arguments[0]?.place.line).toBe(2)
  })

  test('an argument in a string over several lines points to its own', () => {
    const [line] = find(
      'LR=3\nARGS="--a 1 \\\n  --b $OUT/x \\\n  --lr $LR"\nMORE="$ARGS \\\n  --c"\nMORE+=" --d"\npython t.py $MORE --e',
    ).commandLines
    expect(line?.arguments.map(word => [word.written, word.place.line])).toEqual([
      ['--a', 2],
      ['1', 2],
      ['--b', 3],
      ['$OUT/x', 3],
      ['--lr', 4],
      ['3', 1],
      ['--c', 6],
      ['--d', 7],
      ['--e', 8],
    ])
  })

  test('a program in a string that bash -c is given points to where the string says it', () => {
    const [line] = find('CMD="python t.py \\\n  --a 1"\nsrun bash -c "cd x; $CMD --rank \\$SLURM_PROCID"').commandLines
    expect([line?.place.line, ...(line?.arguments ?? []).map(word => word.place.line)]).toEqual([1, 2, 2, 3, 3])
  })

  test('a script that is no bash is warned about with its line, and the rest is read', () => {
    const { commandLines, warnings } = find('python a.py\nif [ 1 ; then\n')
    expect(commandLines.map(show)).toContain('a.py')
    expect(warnings).toMatchObject([{ code: 'cannot-parse-script', place: { file: 'job.sh' } }])
  })
})

describe('what the user should know', () => {
  test('defaults of the script are named with their values', () => {
    const { warnings } = find('TP=${TP:-8}\n: "${PP:=4}"\npython t.py $TP $PP')
    expect(warnings).toMatchObject([{ code: 'default-filled', place: { line: 1 } }])
    expect(warnings[0]?.text).toMatch(/TP=8.*PP=4/)
  })

  test('defaults that say where something lies or listens are left out', () => {
    const { warnings } = find(
      'IMAGE=${IMAGE:-/apps/a.sqsh}\nPORT=${MASTER_PORT:-29500}\npython ${T:-./t.py} $IMAGE $PORT',
    )
    expect(warnings).toEqual([])
    expect(find('python t.py ${1:-org/model}').warnings).toMatchObject([{ code: 'default-filled' }])
  })

  test('so are settings of libraries', () => {
    const script = 'export XLA_FLAGS="${XLA_FLAGS:---a=b}" OMP_NUM_THREADS=${OMP_NUM_THREADS:-8}\npython t.py'
    expect(find(script).warnings).toEqual([])
  })

  test('arguments that a loop looks for and the script cannot do without are said to be missing', () => {
    const script =
      'M=""\nwhile [[ $# -gt 0 ]]; do case $1 in --m) M=$2; shift 2;; esac; done\n[[ -z "$M" ]] && exit 1\npython t.py'
    const { commandLines, warnings } = find(script)
    expect(commandLines.map(show)).toEqual(['t.py'])
    expect(warnings.map(warning => warning.code)).toEqual(['unknown-arguments'])
  })

  test.each([
    'M=base\nwhile [[ $# -gt 0 ]]; do case $1 in --m) M=$2; shift 2;; esac; done\npython t.py $M',
    'M=base\nwhile [ -n "$1" ]; do M=$1; shift; done\npython t.py $M',
    'M=base\nwhile getopts m: option; do M=$OPTARG; done\npython t.py $M',
    'M=base\npython t.py $M "$@"',
    'M=base\nfor each in "$@"; do case $each in m=*) M=${each#m=};; esac; done\npython t.py $M',
  ])('options of the script’s own are said to be missing: %s', script => {
    expect(find(script).warnings).toMatchObject([{ code: 'unknown-arguments' }])
    expect(find(script).commandLines.map(show)).toEqual(['t.py base'])
    expect(find(script, { arguments: ['x'] }).warnings).toEqual([])
  })

  test('a program that is told something besides may be told more', () => {
    expect(find('python t.py --lr 1 "$@"').warnings).toEqual([])
  })

  test('a loop that reads a file looks for no arguments', () => {
    expect(find('while read -r line; do python t.py $line; done < list.txt').warnings).toEqual([])
  })

  test('a default of a variable that the script sets itself is none', () => {
    expect(find('N=\nN=${N:-3}\npython t.py $N').warnings).toEqual([])
  })

  test('arguments that were not given are named', () => {
    const { warnings } = find('CONFIG=$1\npython t.py $CONFIG')
    expect(warnings).toMatchObject([{ code: 'unknown-arguments', place: { line: 1 } }])
  })

  test('arguments that were given are not', () => {
    expect(find('python t.py $1', { arguments: ['a'] }).warnings).toEqual([])
  })
})

describe('files and variables', () => {
  test('a file that the script writes is kept with what it holds', () => {
    const script =
      'MBS=2\ncat <<EOF > ds.$SLURM_JOB_ID.json\n{"micro": $MBS}\nEOF\npython t.py --deepspeed ds.$SLURM_JOB_ID.json'
    const line = find(script).commandLines.find(each => each.program === 't.py')
    expect(line?.writtenFiles.get('ds.$SLURM_JOB_ID.json')).toBe('{"micro": 2}\n')
    expect(line?.arguments.at(-1)?.written).toBe('ds.$SLURM_JOB_ID.json')
  })

  test('lines appended to a written file belong to it', () => {
    const line = find('echo a: 1 > c.yaml\necho b: 2 >> c.yaml\npython t.py').commandLines.find(
      each => each.program === 't.py',
    )
    expect(line?.writtenFiles.get('c.yaml')).toBe('a: 1\nb: 2\n')
  })

  test('exported variables and prefixes reach the program, others do not', () => {
    const [line] = find('export A=1\nB=2\nC=3 env D=4 python t.py').commandLines
    expect(line?.environment).toEqual({ A: '1', C: '3', D: '4' })
  })
})

describe('launchers and containers', () => {
  const counts = (script: string, known: Known = {}) =>
    find(script, known).commandLines[0]?.launches.map(({ launcher, nodes, processesPerNode, processes }) => [
      launcher,
      nodes,
      processesPerNode,
      processes,
    ])

  test.each<[what: string, command: string, expected: string]>([
    ['python', 'python -u t.py a', 't.py a'],
    ['python with options that take a value', 'python3.11 -W ignore -X dev t.py', 't.py'],
    ['a module', 'python -m pkg.train a', 'pkg.train a'],
    [
      'srun with glued and spaced options',
      'srun -n4 -N 2 --gpus-per-task=1 -l --cpu-bind none -K1 python t.py',
      't.py',
    ],
    [
      'srun in a container',
      'srun --container-image=a.sqsh --container-mounts /a:/b --no-container-mount-home python t.py',
      't.py',
    ],
    ['srun with options that are not known', 'srun $OPTS python t.py', 't.py'],
    ['mpirun', 'mpirun -np 8 -N 4 --mca btl tcp -x A=b --bind-to none python t.py', 't.py'],
    ['torchrun', 'torchrun --standalone --nproc_per_node=8 t.py --a', 't.py --a'],
    ['torchrun with a module', 'torchrun --nproc-per-node 8 -m pkg.train --a', 'pkg.train --a'],
    ['the long form of torchrun', 'python -m torch.distributed.run --nproc_per_node 8 t.py', 't.py'],
    ['its older form', 'python -m torch.distributed.launch --use_env --nproc_per_node 8 t.py', 't.py'],
    ['accelerate', 'accelerate launch --multi_gpu --num_processes 8 --mixed_precision bf16 t.py', 't.py'],
    ['accelerate with a module', 'accelerate launch -m pkg.train c.yml', 'pkg.train c.yml'],
    ['deepspeed', 'deepspeed --num_gpus=8 --hostfile h t.py --deepspeed z.json', 't.py --deepspeed z.json'],
    ['horovodrun', 'horovodrun -np 4 -H a:2,b:2 python t.py', 't.py'],
    ['singularity', 'singularity exec --nv -B /a:/b img.sif python t.py', 't.py'],
    ['apptainer with a script', "apptainer exec --nv --bind /a img.sif bash -c 'python t.py'", 't.py'],
    ['an image that is not known', 'singularity exec --nv $SIF python t.py', 't.py'],
    ['docker', 'docker run --rm --gpus all -v /a:/b -e A=1 --ipc=host img:1 python t.py', 't.py'],
    ['podman of a computing center', 'podman-hpc run --rm --gpu -v /a:/b -w /b img:1 bash -c "python t.py"', 't.py'],
    ['podman with combined switches', 'podman run -it --device nvidia.com/gpu=all img python t.py', 't.py'],
    ['enroot', 'enroot start --rw -m /a:/b img python t.py', 't.py'],
    ['wrappers in a row', 'nohup time env A=1 numactl --cpunodebind=0 nice -n 5 python t.py', 't.py'],
    ['timeout', 'timeout -k 10 23h python t.py', 't.py'],
    ['nvprof', 'nvprof --print-gpu-trace -o out.nvvp python t.py', 't.py'],
    ['apptainer without mounts', 'apptainer run --nv --no-mount bind-paths --cleanenv img.sif python t.py', 't.py'],
    ['nsys', 'nsys profile -o out --trace cuda,nvtx python t.py', 't.py'],
    ['conda run', 'conda run -n env --no-capture-output python t.py', 't.py'],
    ['a script that is handed a command', './bind_gpu.sh python -u t.py', 't.py'],
    [
      'what Ray starts on every node',
      'ray symmetric-run --address h:6379 --min-nodes 4 --num-gpus=4 -- python -u t.py',
      't.py',
    ],
    ['Julia', 'julia --project=. --threads=4 t.jl', 't.jl'],
    ['R', 'Rscript --vanilla t.R', 't.R'],
    ['a script that is handed a container', 'scripts/with_env.sh singularity exec -B /a:/a x.sif python t.py', 't.py'],
    ['a script with arguments of its own', './run.sh python', './run.sh python'],
    ['uv, poetry', 'uv run --with x poetry run python t.py', 't.py'],
    ['a launcher in a launcher', 'srun -N2 singularity exec img.sif torchrun --nproc_per_node 4 t.py', 't.py'],
  ])('%s', (_, command, expected) => {
    expect(programs(command)).toEqual([expected].filter(line => line.includes('.py')))
    expect(find(command).commandLines.map(show)).toEqual([expected])
  })

  test('each says what it starts', () => {
    expect(counts('srun -N 2 --ntasks-per-node=4 python t.py')).toEqual([
      ['srun', 2, 4, undefined],
      ['python', undefined, undefined, undefined],
    ])
    expect(counts('torchrun --nnodes=2 --nproc_per_node=8 t.py')).toEqual([['torchrun', 2, 8, undefined]])
    expect(counts('torchrun t.py')).toEqual([['torchrun', 1, 1, undefined]])
    expect(counts('torchrun --nnodes=1:4 --nproc_per_node=gpu t.py')).toEqual([
      ['torchrun', undefined, undefined, undefined],
    ])
    expect(counts('accelerate launch --num_machines 2 --num_processes 16 t.py')).toEqual([
      ['accelerate', 2, undefined, 16],
    ])
    expect(counts('deepspeed --num_nodes 2 --num_gpus 8 t.py')).toEqual([['deepspeed', 2, 8, undefined]])
    expect(counts('mpirun -np 32 -N 8 python t.py')?.[0]).toEqual(['mpirun', undefined, 8, 32])
  })

  test('srun takes its counts from the allocation unless it narrows it', () => {
    const variables = { SLURM_NNODES: '4', SLURM_NTASKS: '32' }
    expect(counts('srun python t.py', { variables })?.[0]).toEqual(['srun', 4, undefined, 32])
    expect(counts('srun -N1 -n1 python t.py', { variables })?.[0]).toEqual(['srun', 1, undefined, 1])
  })

  test('a container without a command starts what nobody here knows', () => {
    expect(find('docker run --gpus all img').commandLines).toEqual([])
  })

  test('an argument vector is peeled like a command', () => {
    const place = { file: 'job.yaml', line: 7 }
    const words = ['/bin/sh', '-c', 'cd app && accelerate launch --num_processes=2 t.py --a=$N'].map(text => ({
      text,
      written: text,
      place,
    }))
    const lines = peelCommand(words, { file: 'job.yaml', firstLine: 7, variables: { N: '3' }, arguments: [] })
    expect(lines.map(show)).toEqual(['t.py --a=3'])
    expect(lines[0]?.launches.map(launch => launch.launcher)).toEqual(['accelerate'])
  })

  test('words that are not known stay so', () => {
    const place = { file: 'job.yaml', line: 7 }
    const words = [
      { text: 'torchrun', written: 'torchrun', place },
      { text: undefined, written: '--nproc_per_node=$(GPUS)', place },
      { text: 't.py', written: 't.py', place },
    ]
    const [line] = peelCommand(words, { file: 'job.yaml', firstLine: 7, variables: {}, arguments: [] })
    expect(line).toMatchObject({ program: 't.py', launches: [{ launcher: 'torchrun', nodes: 1 }] })
    expect(line?.launches[0]?.processesPerNode).toBeUndefined()
  })
})

describe('files beside the manifest that a script reads', () => {
  const sourcedFiles = new Map([
    ['grid.txt', '--lr 1 --epochs 9\n--lr 2 --epochs 9\n\n--lr 3 --epochs 9\n'],
    ['table.csv', 'id,model,epochs\n1,gat,5\n2,gcn,5\n'],
    ['conf/a.yaml', 'model: tiny\nsteps: 40\n'],
  ])
  const read = (script: string) =>
    findCommandLines(script, { file: 'job.sh', firstLine: 1, variables: {}, arguments: [], sourcedFiles })

  test.each<[script: string, expected: string]>([
    ['python t.py $(sed -n 2p grid.txt)', 't.py --lr 2 --epochs 9'],
    ['python t.py $(sed -n "${SLURM_ARRAY_TASK_ID}p" grid.txt)', 't.py --lr <…> --epochs 9'],
    ['python t.py $(head -n $SLURM_ARRAY_TASK_ID grid.txt | tail -n 1)', 't.py --lr <…> --epochs 9'],
    ['python t.py `cat grid.txt | tail -n +$SLURM_ARRAY_TASK_ID | head -1`', 't.py --lr <…> --epochs 9'],
    ['python t.py $(awk "NR==$SLURM_ARRAY_TASK_ID" grid.txt)', 't.py --lr <…> --epochs 9'],
    ["python t.py $(awk -F, -v n=2 '$1==n {print $2}' table.csv)", 't.py gcn'],
    ["python t.py $(awk -F, -v n=$SLURM_ARRAY_TASK_ID '$1==n {print $3}' table.csv)", 't.py 5'],
    [
      'IFS=, read -r id model epochs < <(sed -n "$((SLURM_ARRAY_TASK_ID + 1))p" table.csv)\npython t.py $model $epochs',
      't.py <…> <…>',
    ],
    [
      'mapfile -t lines < grid.txt\npython t.py ${lines[$SLURM_ARRAY_TASK_ID]}',
      't.py <${lines[$SLURM_ARRAY_TASK_ID]}>',
    ],
    ['mapfile -t lines < grid.txt\npython t.py ${lines[1]}', 't.py --lr 2 --epochs 9'],
    ["python t.py $(grep '^model:' conf/a.yaml | awk '{print $2}')", 't.py tiny'],
    ['cd conf\npython t.py "$(< a.yaml)"', 't.py model: tiny\nsteps: 40'],
    ['python t.py $(wc -l < grid.txt)', 't.py 4'],
    ['python t.py $(sort grid.txt)', 't.py <$(sort grid.txt)>'],
    ['python t.py $(sed -n "s/a/b/p" grid.txt)', 't.py <$(sed -n "s/a/b/p" grid.txt)>'],
    ['python t.py $(head -n $N grid.txt)', 't.py <$(head -n $N grid.txt)>'],
    ['python t.py $(cat /etc/hostname)', 't.py <$(cat /etc/hostname)>'],
  ])('%s', (script, expected) => {
    expect(read(script).commandLines.map(show)).toEqual([expected])
  })

  test('are named as what the script reads, whether they are there or not', () => {
    expect(read('cd conf\npython t.py $(cat a.yaml) $(sed -n 3p other.txt)').sources).toEqual([
      'conf/a.yaml',
      'conf/other.txt',
    ])
  })
})

describe('what csh would make of a script', () => {
  test.each<[what: string, script: string, expected: readonly string[]]>([
    ['variables', 'set n = 3\nsetenv LR 0.1\npython t.py $n $LR', ['t.py 3 0.1']],
    ['arithmetic', 'set n = 3\n@ n += 1\n@ m = $n * 2\npython t.py $n $m', ['t.py 4 8']],
    ['a loop over a list', 'foreach t ( 300 310 )\n  python t.py $t\nend', ['t.py 300', 't.py 310']],
    ['a loop with a condition', 'set i = 1\nwhile ( $i <= 2 )\n  python t.py $i\n  @ i++\nend', ['t.py 1', 't.py 2']],
    ['elements, of which the first is 1', 'set names = ( a b c )\npython t.py $names[2]', ['t.py b']],
    [
      'branches',
      'set kind = nvt\nif ( $kind == "npt" ) then\n  python t.py a\nelse if ( $kind == "nvt" ) then\n  python t.py b\nelse\n  python t.py c\nendif',
      ['t.py b'],
    ],
    ['a branch on one line', 'set i = 2\nif ( $i > 1 ) python t.py', ['t.py']],
    [
      'a choice',
      'set k = b\nswitch ( $k )\ncase a:\n  python t.py a\n  breaksw\ndefault:\n  python t.py d\n  breaksw\nendsw',
      ['t.py d'],
    ],
  ])('%s', (_, script, expected) => {
    expect(programs(`#!/bin/tcsh -f\n${script}`)).toEqual(expected)
  })

  test('each command keeps its line', () => {
    const { commandLines } = find('#!/bin/csh\nset n = 1\nif ( $n == 1 ) then\n  python t.py\nendif')
    expect(commandLines.map(({ place }) => place.line)).toEqual([4])
  })
})
