import { describe, expect, test } from 'vitest'
import { codesIn, figuresIn, linesOf, progressIn, stampAt } from './log-text.ts'

describe('formats of programs', () => {
  test('verl: the step with its whole time, the total from the bar', () => {
    const progress = progressIn(
      linesOf(1, 20, 1, step =>
        [
          `(TaskRunner pid=16) step:${step} - actor/pg_loss:0.001 - perf/max_memory_reserved_gb:61.5 - timing_s/gen:74.02 - timing_s/step:96.5`,
          `Training Progress:   1%|  | ${step}/624 [10:00<9:00:00, 96.00s/it]`,
        ].join('\n'),
      ),
    )
    expect(progress).toMatchObject({ framework: 'verl', unit: 'other' })
    expect(figuresIn(progress)).toMatchObject({
      stepsDone: 20,
      stepsTotal: 624,
      secondsPerStep: 96.5,
      peakMemoryBytes: 61.5 * 2 ** 30,
    })
  })

  test('old Keras counts samples', () => {
    const epoch = (number: number) =>
      `Epoch ${number}/12\n  128/60000 [....] - ETA: 9s - loss: 0.3\r60000/60000 [====] - 9s 150us/sample - loss: 0.2 - val_loss: 0.1\n`
    const progress = progressIn(epoch(1) + epoch(2))
    expect(progress.unit).toBe('sample')
    expect(figuresIn(progress)).toMatchObject({
      stepsDone: 120_000,
      stepsTotal: 720_000,
      epochsDone: 2,
      elapsedSeconds: 18,
    })
    expect(figuresIn(progress).secondsPerStep).toBeCloseTo(0.00015)
  })

  test('DeepSpeed pipelines state the time of a step', () => {
    const progress = progressIn(
      linesOf(
        10,
        300,
        10,
        step => `[INFO] [engine.py:333:train_batch] steps: ${step} loss: 2.1 iter time (s): 1.25 samples/sec: 102.4`,
      ),
    )
    expect(progress).toMatchObject({ framework: 'deepspeed', unit: 'optimizer-step' })
    // 102.4 samples/s x 1.25 s
    expect(figuresIn(progress)).toMatchObject({ stepsDone: 300, secondsPerStep: 1.25, globalBatch: 128 })
    expect(figuresIn(progress).samplesPerSecond).toBeCloseTo(102.4)
  })

  test('LAMMPS: of several runs the loop that took longest tells the step', () => {
    const table = (from: number, to: number) =>
      `   Step          Temp\n${linesOf(from, to, (to - from) / 10, step => `   ${step}   1.44`)}`
    const progress = progressIn(
      [
        'LAMMPS (2 Aug 2023)',
        `${table(0, 1000)}Loop time of 10.5 on 8 procs for 1000 steps with 4000 atoms`,
        `${table(1000, 101_000)}Loop time of 1000 on 8 procs for 100000 steps with 4000 atoms`,
        'Total wall time: 0:16:52',
      ].join('\n'),
    )
    expect(progress).toMatchObject({ framework: 'lammps', outcome: 'finished' })
    expect(figuresIn(progress)).toMatchObject({
      stepsDone: 101_000,
      secondsPerStep: 0.01,
      elapsedSeconds: 1012,
      worldSize: 8,
    })
  })

  test('GROMACS: md.log has the step in picoseconds and the speed in ns/day', () => {
    const progress = progressIn(
      [
        'GROMACS:      gmx mdrun, version 2023',
        '   nsteps                         = 5000000',
        '   dt                             = 0.002',
        '       Time:    43200.000     5400.000      800.0',
        'Performance:      160.000        0.150',
      ].join('\n'),
    )
    // 86,400 s x 0.002 ps / 1,000 / 160 ns
    expect(figuresIn(progress)).toMatchObject({
      stepsDone: 5_000_000,
      secondsPerStep: 0.00108,
      elapsedSeconds: 5400,
      remainingSeconds: 0,
    })
  })

  test('engines of a server add up, idle lines do not count', () => {
    const line = (engine: string, rate: number, running: number) =>
      `INFO 06-16 10:03:38 [loggers.py:87] Engine ${engine}: Avg prompt throughput: 1.0 tokens/s, Avg generation throughput: ${rate} tokens/s, Running: ${running} reqs, Waiting: 0 reqs`
    const text = linesOf(1, 10, 1, () => `${line('000', 900, 40)}\n${line('001', 1100, 40)}\n`) + line('000', 0, 0)
    const progress = progressIn(text)
    expect(figuresIn(progress).tokensPerSecond).toBeCloseTo(2000)
    expect(codesIn(progress)).toEqual(expect.arrayContaining(['serving-no-end', 'rate-depends-on-load']))
  })

  test('YOLOv5 counts epochs from 0', () => {
    const progress = progressIn(
      linesOf(
        1,
        78,
        1,
        i =>
          `     0/299     5.2G   0.11   0.16   0.01     28    640:  1%|█ | ${i}/78 [00:${String(Math.floor(i / 2)).padStart(2, '0')}<00:27,  2.00it/s]`,
      ),
    )
    expect(progress.framework).toBe('ultralytics')
    expect(figuresIn(progress)).toMatchObject({ stepsDone: 78, stepsTotal: 23_400, epochsDone: 1, epochsTotal: 300 })
  })

  test('a figure that is stated has its line, one that follows says from what', () => {
    const progress = progressIn(linesOf(1, 12, 1, epoch => `Epoch ${epoch}/20 - loss: 0.5 - time: 12.0s`))
    expect(progress.stepsDone?.origin).toEqual({ kind: 'file', place: { file: 'run.log', line: 12 } })
    expect(progress.remainingSeconds?.origin.kind).toBe('computed')
  })

  test('darknet: the time of a step leaves out what loading took; the time left is stated', () => {
    const progress = progressIn(
      linesOf(
        1,
        50,
        1,
        step =>
          ` ${step}: 900.1, 950.2 avg loss, 0.001000 rate, 3.000000 seconds, ${step * 64} images, 5.5 hours left\nLoaded: 1.000000 seconds`,
      ),
    )
    expect(progress).toMatchObject({ framework: 'darknet', unit: 'optimizer-step' })
    expect(figuresIn(progress)).toMatchObject({
      stepsDone: 50,
      secondsPerStep: 4,
      samplesPerSecond: 16,
      globalBatch: 64,
      remainingSeconds: 19_800,
      dataShare: 0.25,
    })
  })

  test('a Trainer without bars whose head is cut: epochs tell how many steps lie between reports', () => {
    // 500 steps of 5 s, 250 an epoch, reported every 10; the first 200 are not in the file
    const reports = linesOf(
      210,
      500,
      10,
      step => `${stampAt(step * 5)} {'loss': 1.5, 'learning_rate': 2e-05, 'epoch': ${step / 250}}`,
    )
    const summary =
      "{'train_runtime': 2500.0, 'train_samples_per_second': 6.4, 'train_steps_per_second': 0.2, 'train_loss': 1.5, 'epoch': 2.0}"
    expect(figuresIn(progressIn(`${reports}${summary}\n`))).toMatchObject({
      stepsDone: 500,
      stepsTotal: 500,
      secondsPerStep: 5,
    })
  })

  test("NVIDIA's JSON lines name epoch and iteration in one list", () => {
    const line = (epoch: number, step: number) =>
      `DLLL {"timestamp": "1714989640", "elapsedtime": "${(epoch * 200 + step) * 0.25}", "type": "LOG", "step": [${epoch}, ${step}], "data": {"train.loss": 5.1}}`
    const progress = progressIn(linesOf(0, 190, 10, step => line(0, step)) + linesOf(0, 190, 10, step => line(1, step)))
    expect(progress.framework).toBe('dllogger')
    expect(figuresIn(progress)).toMatchObject({ secondsPerStep: 0.25 })
    expect(figuresIn(progress).stepsTotal).toBeUndefined()
  })

  test('the best iteration of boosted trees is named at their end, and no run of its own', () => {
    const progress = progressIn(
      `${linesOf(10, 500, 10, step => `[${step}]\ttraining's auc: 0.9\tvalid_1's auc: 0.85`)}Early stopping, best iteration is:\n[420]\ttraining's auc: 0.99\tvalid_1's auc: 0.86\n`,
    )
    expect(progress).toMatchObject({ framework: 'lightgbm', outcome: 'finished', runs: 1 })
    expect(figuresIn(progress).stepsDone).toBe(500)
  })

  test("the Trainer's header tells how many devices share a batch", () => {
    const header = [
      '***** Running training *****',
      '  Instantaneous batch size per device = 4',
      '  Total train batch size (w. parallel, distributed & accumulation) = 128',
      '  Gradient Accumulation steps = 4',
      '  Total optimization steps = 500',
    ].join('\n')
    const reports = linesOf(10, 100, 10, step => `{'loss': 1.5, 'learning_rate': 2e-05, 'epoch': ${step / 250}}`)
    expect(figuresIn(progressIn(`${header}\n${reports}`))).toMatchObject({ globalBatch: 128, worldSize: 8 })
  })

  test('trials of a search are no run: neither as a table nor as results', () => {
    const table = (at: number) =>
      [
        '| Trial name | status  | iter | total time (s) |',
        '|------------+---------+------+----------------|',
        `| PPO_a      | RUNNING | ${at} | ${at * 10} |`,
        `| PPO_b      | RUNNING | ${at} | ${at * 10} |`,
      ].join('\n')
    const results = (at: number) =>
      ['a', 'b']
        .map(trial => `Result for PPO_${trial}:\n  iterations_since_restore: ${at}\n  time_this_iter_s: 12.5\n`)
        .join('')
    expect(figuresIn(progressIn(linesOf(5, 60, 2, table)))).toEqual({})
    expect(figuresIn(progressIn(linesOf(5, 60, 2, results))).secondsPerStep).toBeUndefined()
  })

  test('GROMACS: the end it foresees, held against the end of the job', () => {
    const progress = progressIn(
      [
        'starting mdrun',
        '50000 steps, 100.0 ps.',
        'step 10000, will finish Tue Mar  5 14:00:00 2024',
        'step 20000, will finish Tue Mar  5 14:00:00 2024',
        'slurmstepd: error: *** JOB 3 ON g2 CANCELLED AT 2024-03-05T12:30:00 DUE TO TIME LIMIT ***',
      ].join('\n'),
    )
    expect(figuresIn(progress)).toMatchObject({ stepsDone: 20_000, remainingSeconds: 5400, secondsPerStep: 0.18 })
  })
})
