import { existsSync, readFileSync } from 'node:fs'
import { delimiter } from 'node:path'
import { describe } from 'vitest'

/** A real scheduler for tests: the environment that its programs need, or why there is none. */
export type Server = { readonly environment: NodeJS.ProcessEnv } | { readonly missing: string }

/** The Slurm that `npm run servers:up` started; never the user's own. */
export function slurmServer(): Server {
  return server('slurm', 'SLURM_UP_STATE', 'slurmctld', record => ({ SLURM_CONF: record['SLURM_CONF'] }))
}

/** The Kubernetes control plane that `npm run servers:up` started, with a kubectl of its version first in PATH. */
export function kubeServer(): Server {
  return server('kubernetes', 'KUBE_UP_STATE', 'apiserver', record => ({
    KUBECONFIG: record['KUBECONFIG'],
    PATH: [record['KUBE_UP_BIN'], process.env['PATH']].join(delimiter),
  }))
}

/** Tests against the real Slurm: skipped where it is not up. `environment` is what its programs need. */
export function describeSlurm(name: string, tests: (environment: NodeJS.ProcessEnv) => void): void {
  describeServer('Slurm', slurmServer(), name, tests)
}

/** Tests against the real API server: skipped where it is not up. `environment` is what kubectl needs. */
export function describeKubernetes(name: string, tests: (environment: NodeJS.ProcessEnv) => void): void {
  describeServer('Kubernetes', kubeServer(), name, tests)
}

function describeServer(
  scheduler: string,
  found: Server,
  name: string,
  tests: (environment: NodeJS.ProcessEnv) => void,
) {
  const title = `real ${scheduler}: ${name}`
  if ('missing' in found) describe.skip(title, () => tests({}))
  else describe(title, () => tests(found.environment))
}

function server(
  name: string,
  stateKey: string,
  daemon: string,
  variables: (record: Readonly<Record<string, string>>) => NodeJS.ProcessEnv,
): Server {
  const file = new URL(`.state/${name}`, import.meta.url)
  if (!existsSync(file)) return { missing: `${name} is not up; npm run servers:up starts it` }
  const lines = readFileSync(file, 'utf8').matchAll(/^export (\w+)='([^']*)'/gm)
  const record = Object.fromEntries(Array.from(lines, ([, key = '', value = '']) => [key, value]))
  if (!runs(`${record[stateKey]}/run/${daemon}.pid`)) {
    return { missing: `${name} has stopped; npm run servers:up starts it again` }
  }
  // What the user's own clusters need must not leak into a test.
  const others = Object.entries(process.env).filter(([key]) => !/^(SLURM|SBATCH|KUBE)/.test(key))
  return { environment: { ...Object.fromEntries(others), ...variables(record) } }
}

function runs(pidFile: string): boolean {
  if (!existsSync(pidFile)) return false
  try {
    process.kill(Number(readFileSync(pidFile, 'utf8')), 0)
    return true
  } catch {
    return false
  }
}
