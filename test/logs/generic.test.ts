import { describe, expect, test } from 'vitest'
import { codesIn, figuresIn, linesOf, progressIn, stampAt } from './log-text.ts'

describe('logs of programs that nobody knows', () => {
  test('epochs with their time: what is left follows', () => {
    const progress = progressIn(linesOf(1, 30, 1, epoch => `Epoch ${epoch}/100 - loss: 0.5 - time: 12.0s`))
    expect(progress).toMatchObject({ outcome: 'running', unit: 'epoch' })
    expect(figuresIn(progress)).toEqual({
      stepsDone: 30,
      stepsTotal: 100,
      secondsPerStep: 12,
      epochsDone: 30,
      epochsTotal: 100,
      remainingSeconds: 840,
    })
  })

  test('a pace of iterations beside a count of epochs says nothing of an epoch', () => {
    const progress = progressIn(linesOf(1, 30, 1, epoch => `epoch ${epoch}/100 loss 0.5${epoch} 1.2s/it`))
    expect(figuresIn(progress)).toEqual({ stepsDone: 30, stepsTotal: 100, epochsDone: 30, epochsTotal: 100 })
  })

  test.each([2, 3, 4])('an epoch of %i steps is one epoch, not that of as many processes', length => {
    const epoch = (number: number) =>
      linesOf(1, length, 1, step => `epoch ${number}/10 step ${step}/${length} loss 0.5 1.20s/it`)
    const figures = figuresIn(progressIn([1, 2, 3, 4, 5, 6].map(epoch).join('')))
    expect(figures).toMatchObject({ epochsDone: 6, epochsTotal: 10 })
    expect(figures).not.toHaveProperty('worldSize')
    expect(figures).not.toHaveProperty('secondsPerStep')
  })

  test.each<[what: string, line: (step: number) => string]>([
    ['a key of JSON', step => `{"step": ${step}, "loss": 2.5, "elapsed": ${(step * 0.5).toFixed(1)}}`],
    ['a column of a table', step => `step: ${step}, loss: 2.5, elapsed_s: ${(step * 0.5).toFixed(1)}`],
    [
      'in front',
      step =>
        `[0:${String(Math.floor(step / 120)).padStart(2, '0')}:${String((step / 2) % 60).padStart(2, '0')}] step ${step}, loss: 2.5`,
    ],
    [
      'its name behind it',
      step => `step ${step} [${Math.floor(step / 120)}:${String((step / 2) % 60).padStart(2, '0')} elapsed]`,
    ],
  ])('the seconds since the start are the clock: %s', (_, line) => {
    // 100 steps in 50 s
    expect(figuresIn(progressIn(linesOf(100, 2_000, 100, line)))).toMatchObject({
      stepsDone: 2_000,
      secondsPerStep: 0.5,
    })
  })

  test('numbers have their thousands apart', () => {
    const line = (step: number) => `${stampAt(step / 100)} processed ${step} / 1,281,167 images`
    const progress = progressIn(linesOf(5_000, 100_000, 5_000, line))
    expect(figuresIn(progress)).toMatchObject({ stepsDone: 100_000, stepsTotal: 1_281_167, secondsPerStep: 0.01 })
  })

  test('a table of wide gaps has the losses of an evaluation beside the epochs', () => {
    const row = (epoch: number) => `${String(epoch).padStart(5)}    0.5000        0.6000        60.00s`
    const progress = progressIn(`Epoch    Train loss    Valid loss    Time\n${linesOf(1, 20, 1, row)}`)
    expect(progress.unit).toBe('epoch')
    expect(figuresIn(progress)).toMatchObject({ epochsDone: 20, secondsPerStep: 60 })
  })

  test('the trials of a search are counted, whatever their parameters', () => {
    const trial = (number: number) =>
      `[I ${stampAt(90 * number)},123] Trial ${number} finished with value: 0.8 and parameters: {'lr': 0.001}.`
    expect(figuresIn(progressIn(linesOf(0, 20, 1, trial)))).toMatchObject({ stepsDone: 21, secondsPerStep: 90 })
    expect(progressIn(linesOf(1, 9, 1, part => `loading part ${part}/9 of 7B parameters`)).unit).toBe('none')
  })

  test("spaCy's table counts steps behind its epochs", () => {
    const row = (index: number) =>
      `${String(Math.floor(index / 5)).padStart(3)}  ${String(index * 200).padStart(6)}      0.00      50.00   80.10`
    const head = 'E    #       LOSS TOK2VEC  LOSS NER  ENTS_F\n---  ------  ------------  --------  ------\n'
    expect(figuresIn(progressIn(`${head}${linesOf(1, 20, 1, row)}`))).toMatchObject({ stepsDone: 4_000 })
  })

  test('folds are runs one after the other, neither counts nor processes', () => {
    const fold = (number: number) =>
      `===== Fold ${number}/5 =====\n${linesOf(1, 30, 1, epoch => `Epoch ${epoch}/30 - loss: 0.${epoch + number} - time: 20.0s`)}`
    const progress = progressIn([1, 2, 3].map(fold).join(''))
    expect(progress.runs).toBe(3)
    expect(figuresIn(progress)).toMatchObject({ epochsDone: 30, epochsTotal: 30, secondsPerStep: 20 })
    expect(figuresIn(progress)).not.toHaveProperty('worldSize')
  })

  test('a counter without a total or a clock tells its rate and no more', () => {
    const progress = progressIn(linesOf(0, 900, 100, step => `step ${step} loss 2.3 0.45s/it`))
    // ten reports, the first of a step called 0
    expect(figuresIn(progress)).toEqual({ stepsDone: 901, secondsPerStep: 0.45 })
    expect(codesIn(progress)).toEqual(
      expect.arrayContaining(['total-unknown', 'no-timestamps', 'counter-unit-unknown']),
    )
  })

  test('batches of epochs are added up, zero-based', () => {
    const epoch = (number: number) => linesOf(0, 900, 100, i => `[Epoch ${number}/50] [Batch ${i}/1000] [loss: 0.5]`)
    expect(figuresIn(progressIn(epoch(0) + epoch(1) + epoch(2)))).toEqual({
      stepsDone: 2_901,
      stepsTotal: 50_000,
      epochsDone: 2,
      epochsTotal: 50,
    })
  })

  test('the total of an epoch is none of the run', () => {
    const progress = progressIn(linesOf(10, 200, 10, step => `epoch 0 batch ${step}/500 loss 2.0 0.1 s/batch`))
    expect(figuresIn(progress).stepsTotal).toBeUndefined()
    expect(figuresIn(progress).remainingSeconds).toBeUndefined()
  })

  test('seconds without a name are of the report where the clock says so', () => {
    const text = linesOf(10, 300, 10, step => `${stampAt(step * 0.5)} INFO step ${step}/1000 loss 2 time 5.0s`)
    expect(figuresIn(progressIn(text))).toMatchObject({ secondsPerStep: 0.5, remainingSeconds: 350 })
  })

  test('seconds without a name, a clock or a stride of one are nothing', () => {
    const text = linesOf(10, 300, 10, step => `step ${step}/1000 loss 2 time 5.${step % 7}s`)
    expect(figuresIn(progressIn(text)).secondsPerStep).toBeUndefined()
  })

  test('seconds that grow with the counter are those since the start', () => {
    const text = linesOf(1, 40, 1, step => `Iteration ${step}, loss = 0.1, Time: ${(step * 4.25).toFixed(2)}`)
    expect(figuresIn(progressIn(text))).toMatchObject({ secondsPerStep: 4.25, elapsedSeconds: 170 })
  })

  test('ranks that write the same steps are counted once', () => {
    const text = linesOf(1, 50, 1, step =>
      [2, 0, 3, 1].map(rank => `[rank${rank}]: ${stampAt(step * 2)} step ${step}/100 loss 1.${rank}`).join('\n'),
    )
    const progress = progressIn(text)
    expect(figuresIn(progress)).toMatchObject({ stepsDone: 50, stepsTotal: 100, secondsPerStep: 2, worldSize: 4 })
    expect(codesIn(progress)).toContain('rank-interleaved')
  })

  test('a logger that writes each line twice is no second process', () => {
    const text = linesOf(
      1,
      50,
      1,
      step => `INFO step ${step} loss ${step} 0.5 s/step\nINFO step ${step} loss ${step} 0.5 s/step`,
    )
    expect(figuresIn(progressIn(text))).toEqual({ stepsDone: 50, secondsPerStep: 0.5 })
  })

  test('a rate of one GPU is multiplied, one of nobody knows what is not', () => {
    const perGpu = linesOf(10, 300, 10, step => `step ${step} | throughput: 1000.0 samples/s/gpu | world_size=16`)
    expect(figuresIn(progressIn(perGpu)).samplesPerSecond).toBeCloseTo(16_000)
    const unclear = `Number of GPUs: 8\n${linesOf(10, 300, 10, step => `step ${step} | 1000.0 samples/s`)}`
    expect(figuresIn(progressIn(unclear)).samplesPerSecond).toBeUndefined()
    expect(codesIn(progressIn(unclear))).toContain('per-gpu-or-global-unknown')
  })

  test('arguments whose product is what a step holds prove that it is an optimizer step', () => {
    // 4 samples x 8 x 2 processes x 1,024 tokens = 65,536 tokens in 2 s
    const text = `world_size=2 micro_bsz=4 grad_accum=8 seq=1024\n${linesOf(1, 30, 1, step => `step ${step}/100 step_time 2.00s tok/s 32,768`)}`
    const progress = progressIn(text)
    expect(progress.unit).toBe('optimizer-step')
    expect(figuresIn(progress)).toMatchObject({ globalBatch: 64, samplesPerSecond: 32, tokensPerSecond: 32_768 })
  })

  test('what loads and installs is no progress', () => {
    const text =
      'Downloading shards:  67%|██  | 2/3 [01:12<00:36, 36.20s/it]\rMap:  48%|██  | 9600/20000 [00:03<00:03, 2911.20 examples/s]\n'
    expect(progressIn(text)).toMatchObject({ unit: 'none', outcome: 'unknown' })
    expect(codesIn(progressIn(text))).toEqual(['nothing-known'])
  })

  test('a table of commas is read by the names of its columns', () => {
    const progress = progressIn(`step,loss,step_time\n${linesOf(10, 300, 10, step => `${step},2.5,0.25`)}`)
    expect(figuresIn(progress)).toEqual({ stepsDone: 300, secondsPerStep: 0.25 })
  })

  test('tokens that rise with the counter are those since the start; tokens of a report are not', () => {
    const line = (step: number, tokens: number) =>
      `{"ts": ${1_714_990_000 + step}, "step": ${step}, "tokens": ${tokens}}`
    const seen = progressIn(linesOf(100, 2_000, 100, step => line(step, step * 4_096)))
    expect(figuresIn(seen)).toMatchObject({ secondsPerStep: 1, tokensPerSecond: 4_096 })
    const ofReport = progressIn(linesOf(100, 2_000, 100, step => line(step, 4_096 + (step % 700))))
    expect(figuresIn(ofReport).tokensPerSecond).toBeUndefined()
  })

  test('of lines that name the same epoch those with a clock count, wherever the clock stands', () => {
    const text = linesOf(
      1,
      20,
      1,
      epoch =>
        `INFO:voice:Train Epoch: ${epoch} [20%]\nINFO:voice:====> Epoch: ${epoch} [${stampAt(epoch * 70)}] | (0:01:10.1)`,
    )
    const progress = progressIn(text)
    expect(figuresIn(progress)).toMatchObject({ stepsDone: 20, secondsPerStep: 70 })
    expect(codesIn(progress)).not.toContain('rank-interleaved')
  })

  test('a bar that ends where the header says that optimizer steps do counts these', () => {
    const header =
      '***** Running training *****\n  Total train batch size (w. parallel, distributed & accumulation) = 128\n  Total optimization steps = 800\n'
    const bars = linesOf(
      4,
      320,
      4,
      step =>
        `\r 10%|█   | ${step}/800 [${String(Math.floor(step / 30)).padStart(2, '0')}:${String((step * 2) % 60).padStart(2, '0')}<10:00,  2.00s/it]`,
    )
    const progress = progressIn(header + bars)
    expect(progress.unit).toBe('optimizer-step')
    expect(figuresIn(progress).samplesPerSecond).toBeCloseTo(64, 0)
  })

  test('where epochs of unknown length were added up, nobody knows how many counts are done', () => {
    const epoch = (number: number) =>
      linesOf(0, 400, 100, step => `${stampAt(number * 250 + step / 2)} epoch ${number} iter ${step} loss 2`)
    const progress = progressIn(epoch(0) + epoch(1) + epoch(2))
    expect(figuresIn(progress).stepsDone).toBeUndefined()
    expect(figuresIn(progress).secondsPerStep).toBeCloseTo(0.5)
  })

  test("HOOMD's table has its steps per second by another name", () => {
    const header = 'notice(2): Using domain decomposition\nSimulation.timestep  Simulation.tps  Status.etr\n'
    const rows = linesOf(10_000, 300_000, 10_000, step => `             ${step}     2000.00000     0:05:50`)
    expect(figuresIn(progressIn(header + rows))).toMatchObject({
      stepsDone: 300_000,
      secondsPerStep: 0.0005,
      remainingSeconds: 350,
    })
  })

  test('a number in brackets that stands in front of the metrics is the counter', () => {
    const text = linesOf(
      100,
      2_000,
      100,
      step => `I0503 10:00:00.000000 1 logging_writer.py:48] [${step}] loss=2.5, timing/steps_per_second=2.0`,
    )
    expect(figuresIn(progressIn(text))).toMatchObject({ stepsDone: 2_000, secondsPerStep: 0.5 })
  })

  test('a wall time that is of each report is no clock since the start', () => {
    const text = linesOf(
      100,
      3_000,
      100,
      step => `batch ${step} training time 2.${step % 7} s, testing time 0.01 s, total wall time 2.${step % 7} s`,
    )
    expect(figuresIn(progressIn(text))).toEqual({ stepsDone: 3_000 })
  })

  test('of very many reports a sample tells the rate: the longer every fourth step keeps its weight', () => {
    const text = linesOf(1, 30_000, 1, step => `step ${step}/40000 loss 2 ${step % 4 === 0 ? '0.7' : '0.3'} s/step`)
    const { stepsDone, secondsPerStep } = figuresIn(progressIn(text))
    expect(stepsDone).toBe(30_000)
    expect(secondsPerStep).toBeCloseTo(0.4, 2)
  })

  test('minutes and seconds without a space between them', () => {
    const text = linesOf(
      60,
      1_800,
      60,
      step => `Iter ${step} / 6000 | elapsed ${Math.floor(step / 120)}m${(step / 2) % 60}s | eta 0h35m`,
    )
    expect(figuresIn(progressIn(text))).toMatchObject({
      secondsPerStep: 0.5,
      elapsedSeconds: 900,
      remainingSeconds: 2_100,
    })
  })

  test('epochs of unequal length: what is to come has no number of steps', () => {
    const epoch = (number: number, length: number) =>
      linesOf(50, length, 50, step => `epoch ${number}/6 step ${step}/${length} loss 2.1 time/step 0.25s`)
    const figures = figuresIn(progressIn(epoch(1, 300) + epoch(2, 450) + epoch(3, 200)))
    expect(figures).toMatchObject({ stepsDone: 950, epochsDone: 3, epochsTotal: 6, secondsPerStep: 0.25 })
    expect(figures.stepsTotal).toBeUndefined()
    expect(figures.remainingSeconds).toBeUndefined()
  })
})
