import type { CommandLine } from '../../command-lines.ts'
import { valueAt } from '../../document.ts'
import { withEntrypoint } from './entrypoints.ts'
import type { Kind } from './kinds.ts'
import type { KubernetesObject } from './objects.ts'
import type { RoleReading } from './roles.ts'

/** Puts each program where its GPUs are, and lists once what several roles run together. */
export function placePrograms(
  kind: Kind,
  roles: readonly RoleReading[],
  object: KubernetesObject,
): readonly RoleReading[] {
  const held = withEntrypoint(kind, roles, object)
  const startsOn = kind.startsOn ?? (kind.runsOneProgram === true ? launcherAmong(held) : undefined)
  const moved = startsOn === undefined ? held : moveLaunched(held, startsOn)
  if (kind.runsOneProgram !== true) return moved
  const launched = moved.map(role => withOperatorLaunch(kind, role, moved, object))
  const listed = new Set<string>()
  // The roles with GPUs first, so that the program is listed where they are.
  const order = launched.toSorted((a, b) => Number(b.reading.gpus.value > 0) - Number(a.reading.gpus.value > 0))
  const programs = new Map(
    order.map(role => [
      role.name,
      role.reading.commandLines.filter(line => {
        const words = [line.program, ...line.arguments.map(word => word.written)].join('\0')
        return !listed.has(words) && listed.add(words)
      }),
    ]),
  )
  return launched.map(role => withCommandLines(role, programs.get(role.name) ?? []))
}

const REMOTE_LAUNCHERS: readonly string[] = ['mpirun', 'mpiexec', 'horovodrun']

/** A role without GPUs that starts its program by ssh, and the only one with GPUs: what MPIJob has by name, others have by habit. */
function launcherAmong(roles: readonly RoleReading[]): Kind['startsOn'] {
  const [workers, ...more] = roles.filter(role => role.reading.gpus.value > 0)
  const launcher = roles.find(
    role =>
      role.reading.gpus.value === 0 &&
      role.reading.commandLines.some(line => line.launches.some(each => REMOTE_LAUNCHERS.includes(each.launcher))),
  )
  if (workers === undefined || more.length > 0 || launcher === undefined) return undefined
  return { launcher: launcher.name, workers: workers.name }
}

/** mpirun in the launcher starts its program on the workers. */
function moveLaunched(
  roles: readonly RoleReading[],
  { launcher, workers }: NonNullable<Kind['startsOn']>,
): readonly RoleReading[] {
  const launched = roles.find(role => role.name === launcher)?.reading.commandLines ?? []
  const hasWorkers = roles.some(role => role.name === workers)
  return roles.map(role => {
    if (role.name === launcher && hasWorkers) return withCommandLines(role, [])
    return role.name === workers ? withCommandLines(role, [...launched, ...role.reading.commandLines]) : role
  })
}

/** training-operator sets the rendezvous and, as variables of torchrun, the size of the job: a program needs no launcher for that. */
function withOperatorLaunch(
  kind: Kind,
  role: RoleReading,
  roles: readonly RoleReading[],
  object: KubernetesObject,
): RoleReading {
  const launcher = kind.preparedFor
  const processesPerNode = processesOf(kind, role, object)
  if (launcher === undefined || processesPerNode === undefined) return role
  const nodes = roles.reduce((sum, other) => sum + other.replicas.value, 0)
  const lines = role.reading.commandLines.map(line => {
    const [launch, ...inner] = line.launches
    if (launch === undefined) return { ...line, launches: [{ launcher, nodes, processesPerNode, options: [] }] }
    const isOpen = launch.launcher === launcher && launch.nodes === undefined && launch.processesPerNode === undefined
    return isOpen ? { ...line, launches: [{ ...launch, nodes, processesPerNode }, ...inner] } : line
  })
  return withCommandLines(role, lines)
}

/** `nprocPerNode`: a number, often in quotes, or `auto` or `gpu` for one process on each GPU. */
function processesOf(kind: Kind, role: RoleReading, object: KubernetesObject): number | undefined {
  const written = kind.processesPerPod && valueAt(object.value, kind.processesPerPod)
  if (written === 'auto' || written === 'gpu') return role.reading.gpus.value
  const processes = typeof written === 'string' || typeof written === 'number' ? Number(written) : Number.NaN
  return Number.isInteger(processes) ? processes : undefined
}

function withCommandLines(role: RoleReading, commandLines: readonly CommandLine[]): RoleReading {
  return { ...role, reading: { ...role.reading, commandLines } }
}
