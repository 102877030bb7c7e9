import { execFileSync } from 'node:child_process'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeFolder } from '../folders.ts'
import { describeKubernetes, describeSlurm } from '../servers/state.ts'
import { keys, openProgram, toTop } from './program.ts'

const configuration = `clusters:
  - name: gpushop
    scheduler: slurm
    partitions:
      - {name: a100, gpu: a100-80gb, gpus-per-node: 8, nodes: 4, gres: a100, rate: 2.00}
      - {name: t4, gpu: t4, gpus-per-node: 8, nodes: 2, gres: t4, rate: 0.50}
`

describeSlurm('gpufare probe in a real terminal', environment => {
  const slurm = (program: string, ...words: string[]) =>
    execFileSync(program, words, { env: environment, encoding: 'utf8' })

  function openProbe(jobName: string) {
    const folder = makeFolder()
    const head = `#!/bin/bash\n#SBATCH -p a100 --gres=gpu:a100:1 -t 2:00:00 --job-name=${jobName}\n`
    const loop = 'for i in $(seq 1 6000); do sleep 0.2; echo "$(date "+%F %T") step $i/6000 loss 2"; done'
    writeFileSync(join(folder, 'gpufare.yaml'), configuration)
    writeFileSync(join(folder, 'train.sbatch'), `${head}${loop}\n`)
    return { folder, terminal: openProgram(['probe', '--for', '1m', 'train.sbatch'], { environment, folder }) }
  }

  test('yes submits it, shows how far it is, ends it when its rate is steady and quotes the job', async () => {
    const { terminal } = openProbe('probe-yes')
    await terminal.waitFor('the probe runs the script as it is for 1m at most, $0.03 at most')
    await terminal.waitFor('Submit to Slurm (cluster gpushop, partition a100)?')
    await terminal.waitFor('as written, 1x A100-80GB, up to $0.03')
    await terminal.waitFor('stop')
    // On a T4 it would measure another job.
    expect(terminal.text()).not.toMatch(/instead|show every candidate/)
    await terminal.type(...toTop, keys.enter)
    await terminal.waitFor(' is the probe; Ctrl-C ends it')
    await terminal.waitFor('the probe runs: ', 40_000)
    await terminal.waitFor('runtime by measured', 40_000)
    expect(await terminal.ended).toBe(0)
    const [, id = ''] = /job (\d+) is the probe/.exec(terminal.text()) ?? []
    expect(slurm('scontrol', 'show', 'job', id)).toMatch(/JobState=CANCELLED/)
  }, 90_000)

  test('stop, where the question stands first, submits nothing', async () => {
    const { folder, terminal } = openProbe('probe-stop')
    await terminal.waitFor('stop')
    await terminal.type(keys.enter)
    expect(await terminal.ended).toBe(4)
    expect(terminal.text()).toContain('stopped: nothing was submitted')
    expect(readdirSync(folder).sort()).toEqual(['gpufare.yaml', 'train.sbatch'])
    expect(slurm('squeue', '--noheader', '--states=all', '--name=probe-stop')).toBe('')
  })

  test('Ctrl-C while it runs ends the job and nothing else', async () => {
    const { terminal } = openProbe('probe-interrupted')
    await terminal.waitFor('stop')
    await terminal.type(...toTop, keys.enter)
    await terminal.waitFor('the probe runs: ', 40_000)
    await terminal.type(keys.controlC)
    expect(await terminal.ended).toBe(130)
    expect(terminal.text()).toContain('the probe was interrupted and is ended')
    const [, id = ''] = /job (\d+) is the probe/.exec(terminal.text()) ?? []
    expect(slurm('scontrol', 'show', 'job', id)).toMatch(/JobState=CANCELLED/)
  }, 90_000)
})

describeKubernetes('gpufare probe in a real terminal', environment => {
  test('Ctrl-C while the Job waits or runs deletes it', async () => {
    const folder = makeFolder()
    const text = `apiVersion: batch/v1
kind: Job
metadata: {name: probe-interrupted-${process.pid}, namespace: team-b}
spec:
  template:
    metadata: {annotations: {fake-kubelet/run-seconds: forever}}
    spec:
      restartPolicy: Never
      containers: [{name: a, image: busybox, command: [./train], resources: {limits: {nvidia.com/gpu: 1}}}]
`
    writeFileSync(join(folder, 'job.yaml'), text)
    const terminal = openProgram(['probe', '--for', '1m', 'job.yaml'], { environment, folder })
    await terminal.waitFor('Submit to Kubernetes (context admin, namespace team-b)?')
    await terminal.waitFor('stop')
    await terminal.type(...toTop, keys.enter)
    await terminal.waitFor(' is the probe; Ctrl-C ends it')
    await terminal.waitFor('the probe ', 40_000)
    const jobs = ['get', 'jobs', '--namespace=team-b', '--output=name']
    const [name = ''] = /job\.batch\/probe-interrupted-\d+-probe-\w+/.exec(terminal.text()) ?? []
    expect(execFileSync('kubectl', jobs, { env: environment, encoding: 'utf8' }).split('\n')).toContain(name)
    await terminal.type(keys.controlC)
    expect(await terminal.ended).toBe(130)
    expect(terminal.text()).toContain('the probe was interrupted and is ended')
    expect(execFileSync('kubectl', jobs, { env: environment, encoding: 'utf8' }).split('\n')).not.toContain(name)
  }, 90_000)
})
