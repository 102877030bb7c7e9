import { describe, expect, test } from 'vitest'
import { findCommandLines } from '../src/command-lines.ts'
import { findSession, hasIdleLimit } from '../src/sessions.ts'
import { jobOf } from './builders.ts'

function jobRunning(script: string) {
  const { commandLines } = findCommandLines(script, { file: 'job.sh', firstLine: 1, variables: {}, arguments: [] })
  const job = jobOf()
  return { ...job, roles: job.roles.map(role => ({ ...role, commandLines })) }
}

describe('a session', () => {
  test.each([
    ['jupyter lab --no-browser --ip=0.0.0.0', 'jupyter lab'],
    ['jupyter-notebook', 'jupyter-notebook'],
    ['apptainer exec --nv image.sif jupyter notebook --port=8888', 'jupyter notebook'],
    ['start-notebook.sh --NotebookApp.token=x', 'start-notebook.sh'],
    ['/usr/bin/code-server --bind-addr 0.0.0.0:8080', 'code-server'],
    ['code tunnel --accept-server-license-terms', 'code tunnel'],
    ['srun --pty bash', 'bash'],
    ['srun --gres=gpu:1 --pty /bin/bash -i', 'bash'],
    ['salloc --gres=gpu:8 --time=8:00:00', 'salloc'],
    ['mkdir -p /logs\nsleep infinity', 'sleep infinity'],
    ['bash -c "sleep 7d"', 'sleep 7d'],
    ['while true; do sleep 60; done', 'sleep infinity'],
    ['until false; do\n  date\n  sleep 5m\ndone', 'sleep infinity'],
    ['for ((;;)); do sleep 600; done', 'sleep infinity'],
    ['tail -f /dev/null', 'tail -f /dev/null'],
    ['/usr/sbin/sshd -D', 'sshd'],
    ['marimo edit notebook.py', 'marimo edit'],
    ['codercom/code-server:4.96.2 --auth none', 'code-server'],
    ['quay.io/jupyter/scipy-notebook', 'scipy-notebook'],
  ])('%s', (script, what) => {
    expect(findSession(jobRunning(script))?.what).toBe(what)
  })

  test.each([
    'python train.py',
    'sleep 60',
    'while true; do [ -f done ] && break; sleep 60; done',
    'while kill -0 $PID; do sleep 60; done',
    'while true; do nvidia-smi; sleep 5; done &\npython train.py',
    'for ((i = 0; i < 3; i++)); do sleep 60; done\npython train.py',
    'constructor',
    'toString lab',
    'sleep 3h\npython train.py',
    'jupyter nbconvert --execute run.ipynb',
    'marimo run app.py',
    'srun bash run.sh',
    'tail -n 5 train.log',
    'code --version',
    'vllm serve m &\nsleep infinity',
    'srun --pty python train.py',
    'example/notebook-converter:1 --all',
  ])('is not %j', script => {
    expect(findSession(jobRunning(script))).toBeUndefined()
  })

  test('says the line', () => {
    expect(findSession(jobRunning('module load cuda\n\njupyter lab'))?.place.line).toBe(3)
  })

  test('may end itself once nobody uses it', () => {
    expect(hasIdleLimit(jobRunning('jupyter lab --ServerApp.shutdown_no_activity_timeout=3600'))).toBe(true)
    expect(hasIdleLimit(jobRunning('jupyter lab'))).toBe(false)
  })
})
