import type { Placement } from '../candidates.ts'
import type { Fault } from '../errors.ts'
import { visibleJson } from '../escaping.ts'
import { canRun, type Fare } from '../fare.ts'
import { gpusAtOnce } from '../gpus-in-use.ts'
import type { Job, Role } from '../job.ts'
import { totalToApprove } from '../policy.ts'
import type { Price } from '../prices/price-source.ts'
import type { Quote } from '../quote.ts'
import type { Sourced } from '../sourced.ts'
import { secondsPerHour } from '../units.ts'
import type { Workload } from '../workload.ts'
import type { Reporter } from './reporter.ts'

/** Raised when a reader of the old form would misread the new one. */
const schemaVersion = 1

/** The report for programs: plain numbers with the unit in the key, US dollars; `gpufare-report.schema.json` describes it. */
export const json: Reporter = {
  name: 'json',
  render(report) {
    const totalUsd = totalToApprove(report.fares)
    const document = {
      schemaVersion,
      currency: report.currency,
      jobs: report.fares.map(jobOf),
      totalUsdToApprove: totalUsd,
      remarks: report.remarks,
    }
    return visibleJson(JSON.stringify(document, null, 2))
  },
}

/** What stands in the place of the report where a manifest or the configuration is wrong: every fault of every file. */
export function faultsAsJson(faults: readonly Fault[]): string {
  const errors = faults.map(({ code, place, message, hint }) => ({ code, ...place, message, hint }))
  return visibleJson(JSON.stringify({ schemaVersion, errors }, null, 2))
}

function jobOf(fare: Fare): object {
  const { job } = fare
  return {
    name: job.name,
    file: job.place.file,
    line: job.place.line,
    scheduler: job.scheduler,
    kind: job.kind,
    endless: job.endless,
    destination: job.destination,
    roles: job.roles.map(role => roleOf(role, fare.gpuNames)),
    totals: totalsOf(job),
    session: fare.session,
    workloads: fare.workloads.map(workload => workloadOf(workload, job)),
    quotes: fare.quotes.map(quoteOf),
    warnings: fare.warnings,
  }
}

function roleOf(role: Role, gpuNames: Fare['gpuNames']): object {
  return {
    name: role.name,
    replicas: role.replicas,
    replicaRange: role.replicaRange,
    gpusPerReplica: role.gpusPerReplica,
    gpuCount: role.gpuCount,
    gpuTypes: role.gpuType.names.flatMap(name => {
      const gpus = gpuNames.get(name.value) ?? []
      return gpus.length === 0 ? [name] : gpus.map(gpu => ({ ...name, gpu }))
    }),
    gpuTypeBasis: role.gpuType.basis,
    deviceShare: role.deviceShare,
    otherAccelerators: role.otherAccelerators,
    cpusPerReplica: role.cpusPerReplica,
    memoryBytesPerReplica: role.memoryBytesPerReplica,
    exclusive: role.exclusive,
    partitions: role.partitions.map(partition => partition.value),
    tasks: role.tasks,
    concurrentTasks: role.concurrentTasks,
    timeLimitSeconds: role.timeLimitSeconds,
  }
}

/** Most GPUs held at one time, and GPU-hours if every task runs until its limit. */
function totalsOf(job: Job): object {
  const { roles, turns } = job
  const gpus = gpusAtOnce(job)
  const limits = roles
    .filter(role => role.gpuCount.value > 0)
    .map(role =>
      role.timeLimitSeconds === undefined
        ? undefined
        : (role.gpuCount.value *
            (role.limitSpansTasks === true ? role.concurrentTasks : role.tasks) *
            role.timeLimitSeconds.value) /
          secondsPerHour,
    )
  return {
    gpus,
    gpuHoursAtLimit: limits.includes(undefined)
      ? undefined
      : Math.min(
          limits.reduce((sum: number, hours) => sum + (hours ?? 0), 0),
          turns?.limitSeconds === undefined ? Number.POSITIVE_INFINITY : (gpus * turns.limitSeconds) / secondsPerHour,
        ),
  }
}

function workloadOf(workload: Workload, { roles }: Job): object {
  const { model, parallelism, processes, ...rest } = workload
  const tasks = roles.find(({ name }) => name === workload.role)?.tasks ?? 1
  return {
    ...rest,
    runs: workload.repetitions * tasks,
    processes,
    ...(parallelism !== undefined && { parallelism: withDataParallel(parallelism, processes) }),
    ...(model !== undefined && {
      model: {
        value: {
          name: model.value.name,
          kind: model.value.kind,
          parameterCount: model.value.parameterCount,
          activeParameterCount: model.value.activeParameterCount,
        },
        origin: model.origin,
      } satisfies Sourced<object>,
    }),
  }
}

/** Copies of the model that are trained side by side: what the processes leave over the other ways to split. */
function withDataParallel(
  { value, origin }: NonNullable<Workload['parallelism']>,
  processes: Workload['processes'],
): Sourced<object> {
  const copies = (processes?.value ?? Number.NaN) / (value.tensor * value.pipeline * value.context)
  return { value: { ...value, ...(Number.isInteger(copies) && { data: copies }) }, origin }
}

function quoteOf(quote: Quote): object {
  const { candidate } = quote
  const ranged = quote.runtime === undefined || quote.runtime.basis === 'limit' ? undefined : quote.runtime
  return {
    asRequested: candidate.asRequested,
    canRun: canRun(candidate),
    obstacles: candidate.obstacles,
    remarks: candidate.remarks,
    tier: quote.tier,
    placements: candidate.placements.map((placement, index) => placementOf(placement, quote.prices[index])),
    memory: {
      verdict: candidate.fit.verdict,
      needBytes: candidate.fit.needBytes,
      leastBytes: candidate.fit.leastBytes,
      haveBytes: candidate.fit.haveBytes,
      items: candidate.fit.items,
      assumed: candidate.fit.assumed,
    },
    basis: quote.runtime?.basis,
    runtimeSeconds: ranged?.seconds,
    narrow: ranged?.narrow,
    evidence: ranged?.evidence,
    earlierRuns: ranged?.endings,
    completedRuns: ranged?.completed,
    runtimeUpperBoundSeconds: quote.runtime?.basis === 'limit' ? quote.runtime.upperBoundSeconds : undefined,
    tasks: quote.tasks,
    concurrentTasks: quote.concurrentTasks,
    usdPerHour: quote.usdPerHour,
    costUsd: quote.cost.kind === 'range' ? quote.cost.usd : undefined,
    costUpperBoundUsd: quote.cost.kind === 'bound' ? quote.cost.upperBoundUsd : undefined,
    costMissing: quote.cost.kind === 'unknown' ? quote.cost.missing : undefined,
    wholeRunUsd: quote.wholeRunUsd,
    stoppedByLimit: quote.stop,
    limitUsd: quote.limitUsd,
    gpuHours: quote.gpuHours,
    earlierLogs: ranged?.logs,
    correction: ranged?.correction,
    working: quote.runtime?.working ?? [],
  }
}

function placementOf(placement: Placement, price: Price | undefined): object {
  return {
    role: placement.role,
    gpu: placement.gpu.name,
    gpuCount: placement.gpuCount,
    provider: placement.machine.provider,
    machine: placement.machine.name,
    machineCount: placement.machineCount,
    gpusPerMachine: placement.machine.gpuCount,
    wholeMachine: placement.wholeMachine,
    price:
      price === undefined
        ? undefined
        : {
            region: price.region,
            tier: price.tier,
            listedFor: price.listedFor,
            usdPerMachineHour: price.usdPerMachineHour,
            discount: price.discount,
            lowestZone: price.lowestZone,
            asOf: price.asOf,
            source: price.source,
          },
  }
}
