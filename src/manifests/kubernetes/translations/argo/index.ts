import { unknownMark } from '../../../../bash/text.ts'
import { type DocumentPath, inWords, isMapping, type Mapping, readYaml, valueAt } from '../../../../document.ts'
import { type Fault, InputError, NothingToPrice } from '../../../../errors.ts'
import type { Warning } from '../../../../warning.ts'
import { type KubernetesObject, readObjects } from '../../objects.ts'
import { holdsInFigures } from '../../placeholders.ts'
import { deviceOf } from '../../resources.ts'
import type { TranslatedRole, Translation } from '../translation.ts'
import { type FanOut, fanOutOf, holds } from './fan-out.ts'
import {
  asText,
  fill,
  fillText,
  itemScope,
  markOpen,
  openPlaceholders,
  parameterValues,
  type Scope,
} from './parameters.ts'
import { countPods, heaviest, NOTHING, type Plan } from './plan.ts'
import { podOf, type TemplatePod } from './pods.ts'
import { fieldOf, findTemplate, specsOf, type Template, templateOf, type WorkflowSpec } from './templates.ts'

/** Templates within templates that are followed. */
const DEEPEST = 40
/** Runs of templates that are followed one by one. */
const MOST_RUNS = 20_000

/**
 * Argo's Workflow, CronWorkflow and WorkflowTemplate: steps and graphs are followed from the entrypoint, and each template
 * that runs pods becomes a role, with as many runs as there are and as may be there at one time.
 */
export function workflow(object: KubernetesObject, objects: readonly KubernetesObject[]): Translation {
  const specs = specsOf(object, objects)
  return new Walk(object, specs, objects).translation()
}

/** What a walk found of one template's pods. */
interface FoundRole {
  readonly template: Template
  readonly task: string
  readonly pod: TemplatePod
  readonly scopes: Scope[]
}

class Walk {
  private readonly object: KubernetesObject
  private readonly specs: readonly WorkflowSpec[]
  private readonly objects: readonly KubernetesObject[]
  private readonly workflowScope: Scope
  private readonly roles: FoundRole[] = []
  private readonly byShape = new Map<string, number>()
  private readonly warnings = new Map<string, Warning>()
  private readonly created: KubernetesObject[] = []
  private runs = 0

  constructor(object: KubernetesObject, specs: readonly WorkflowSpec[], objects: readonly KubernetesObject[]) {
    this.object = object
    this.specs = specs
    this.objects = objects
    const own = new Map<string, string>()
    for (const { holder, path } of [...specs].reverse()) {
      const values = parameterValues(valueAt(holder.value, [...path, 'arguments', 'parameters']), new Map())
      for (const [name, value] of values) own.set(`workflow.parameters.${name}`, value)
    }
    if (object.name !== undefined) own.set('workflow.name', object.name)
    this.workflowScope = own
  }

  translation(): Translation {
    const plan = this.wholePlan()
    const gpus = this.roles.map(gpusOf)
    const limit = this.number('parallelism') ?? Number.POSITIVE_INFINITY
    const counts = countPods(plan)
    const atOnce = this.roles.map(
      (_, role) =>
        heaviest(
          plan,
          this.roles.map((_, other) => Number(other === role)),
          limit,
        ).get(role) ?? 1,
    )
    const names = this.roleNames()
    const roles = this.roles.map((role, index): TranslatedRole => {
      const { template, pod } = this.agreed(role)
      const at = [...template.holder.path, ...template.path]
      return {
        name: names[index] ?? template.name,
        from: at,
        document: template.holder.document,
        template: pod.entries,
        runs: { tasks: counts.get(index) ?? 1, atOnce: Math.max(1, atOnce[index] ?? 1) },
      }
    })
    const all = gpus.reduce((sum, count) => sum + count, 0)
    const held = [
      gpus,
      ...gpus.map((count, role) => gpus.map((each, other) => (other === role && count > 0 ? each * (all + 1) : each))),
    ]
    const together = held.map(weights =>
      [...heaviest(plan, weights, limit)].flatMap(([role, tasks]) =>
        gpus[role] === 0 ? [] : [{ role: names[role] ?? '', tasks }],
      ),
    )
    const seconds = this.number('activeDeadlineSeconds')
    const withGpus = gpus.filter(count => count > 0).length
    return {
      roles,
      whole: this.whole(),
      endless: false,
      ...(withGpus > 1 && {
        turns: { together: distinct(together), ...(seconds !== undefined && { limitSeconds: seconds }) },
      }),
      warnings: [...this.warnings.values(), ...this.retryWarnings()],
      creates: this.created,
    }
  }

  private wholePlan(): Plan {
    const { value, at } = this.required('entrypoint')
    const entry = findTemplate(this.specs, fillText(value, this.workflowScope))
    if (entry === undefined) this.refuse(at, `entrypoint: there is no template ${value} in this file`)
    const exit = fieldOf(this.specs, 'onExit')
    const handler = typeof exit?.value === 'string' ? findTemplate(this.specs, exit.value) : undefined
    const plans = [entry, ...(handler === undefined ? [] : [handler])].map(template =>
      this.follow(template, template.name, this.entryScope(template), []),
    )
    return { kind: 'turns', plans }
  }

  /** The workflow's arguments are those of its first template too. */
  private entryScope(template: Template): Scope {
    const prefix = 'workflow.parameters.'
    const given = [...this.workflowScope].flatMap(([name, value]) =>
      name.startsWith(prefix) ? [{ name: name.slice(prefix.length), value }] : [],
    )
    return this.inputs(template, { arguments: { parameters: given } }, new Map())
  }

  private required(key: string): { readonly value: string; readonly at: DocumentPath } {
    const found = fieldOf(this.specs, key)
    const path = [...(this.specs[0]?.path ?? []), key]
    if (found === undefined || typeof found.value !== 'string')
      return this.refuse(path, `${inWords(path)} is missing: the template that a workflow begins with`)
    return { value: found.value, at: path }
  }

  private refuse(path: DocumentPath, message: string): never {
    throw new InputError([{ place: this.object.document.placeOf([...this.object.path, ...path]), message }])
  }

  /** What one template does when it is given these arguments. */
  private follow(template: Template, task: string, scope: Scope, above: readonly Template[]): Plan {
    const isWithinItself = isAmong(template, above)
    if (isWithinItself || above.length > DEEPEST || ++this.runs > MOST_RUNS) {
      this.warn(
        template,
        [],
        'gpu-count-unknown',
        `template ${template.name} calls itself: how often shows only when it runs; it is counted once`,
      )
      return NOTHING
    }
    const inner = [...above, template]
    const limit = countIn(template.value['parallelism'], scope)
    const { value } = template
    if (Array.isArray(value['steps'])) return this.followSteps(template, value['steps'], scope, inner, limit)
    const tasks = valueAt(value, ['dag', 'tasks'])
    if (Array.isArray(tasks)) return this.followGraph(template, tasks, scope, inner, limit)
    if (isMapping(value['resource'])) this.create(template, value['resource'], scope)
    if (isMapping(value['suspend']) && value['suspend']['duration'] == null) {
      this.warn(template, ['suspend'], 'suspended', `it waits at ${template.name} until somebody resumes it`)
    }
    const pod = podOf(template, this.specs, scope)
    return pod === undefined ? NOTHING : this.pod(template, task, pod, scope)
  }

  private followSteps(
    template: Template,
    steps: readonly unknown[],
    scope: Scope,
    above: readonly Template[],
    limit: number | undefined,
  ): Plan {
    const groups = steps.map((group, index): Plan => {
      const each = Array.isArray(group) ? group : [group]
      const plans = each.map((step, inner) =>
        this.followCall(
          template,
          step,
          Array.isArray(group) ? ['steps', index, inner] : ['steps', index],
          scope,
          above,
          limit,
        ),
      )
      return { kind: 'together', plans, ...(limit !== undefined && { limit }) }
    })
    return { kind: 'turns', plans: groups }
  }

  private followGraph(
    template: Template,
    tasks: readonly unknown[],
    scope: Scope,
    above: readonly Template[],
    limit: number | undefined,
  ): Plan {
    const names = tasks.map(task => valueAt(task, ['name']))
    const plans = tasks.map((task, index) =>
      this.followCall(template, task, ['dag', 'tasks', index], scope, above, limit),
    )
    const after = tasks.map(task =>
      waitedFor(task).flatMap(name => (names.includes(name) ? [names.indexOf(name)] : [])),
    )
    return { kind: 'graph', plans, after, ...(limit !== undefined && { limit }) }
  }

  /** A step or task: another template with arguments, once or for each of many items. */
  private followCall(
    caller: Template,
    step: unknown,
    path: DocumentPath,
    scope: Scope,
    above: readonly Template[],
    limit: number | undefined,
  ): Plan {
    if (!isMapping(step)) return NOTHING
    const at = { holder: caller.holder, path: [...caller.path, ...path] }
    const name = typeof step['name'] === 'string' ? step['name'] : 'step'
    const verdict = holds(step, scope)
    if (verdict === false) return NOTHING
    if (verdict === undefined && openPlaceholders(step['when']).every(open => !open.startsWith('item'))) {
      this.warn(
        caller,
        [...path, 'when'],
        'multiple-runs',
        `${name} runs only when a condition holds that shows as it runs: it is counted in full`,
      )
    }
    const called = templateOf(step, this.specs, at, this.objects)
    if ('missing' in called) {
      this.warn(
        caller,
        path,
        'external-file-missing',
        `${name} runs the template ${called.missing}, which is not in this file: what it asks for is not counted`,
      )
      return NOTHING
    }
    const { template } = called
    const run = (item: Scope) =>
      this.follow(template, name, this.inputs(template, step, new Map([...scope, ...item])), above)
    const fanOut = fanOutOf(step, scope)
    if (fanOut === undefined) return run(new Map())
    return this.fanOut(caller, path, name, fanOut, run, limit)
  }

  private fanOut(
    caller: Template,
    path: DocumentPath,
    name: string,
    fanOut: FanOut,
    run: (item: Scope) => Plan,
    limit: number | undefined,
  ): Plan {
    const bound = limit === undefined ? {} : { limit }
    if (fanOut.kind === 'items') {
      return { kind: 'together', plans: fanOut.items.map(item => run(itemScope(item))), ...bound }
    }
    if (fanOut.kind === 'count') return { kind: 'times', plan: run(new Map()), count: fanOut.count, ...bound }
    this.warn(
      caller,
      path,
      'gpu-count-unknown',
      `${name} runs once for each item of ${fanOut.source}, which is known only as it runs: figures are for one`,
    )
    return run(new Map())
  }

  /** A template sees its own inputs and the workflow's parameters, nothing of its caller's. */
  private inputs(template: Template, step: Mapping, scope: Scope): Scope {
    const given = parameterValues(valueAt(step, ['arguments', 'parameters']), scope)
    const defaults = parameterValues(valueAt(template.value, ['inputs', 'parameters']), this.workflowScope)
    const values = [...new Map([...defaults, ...given])].map(
      ([name, value]) => [`inputs.parameters.${name}`, value] as const,
    )
    return new Map([...this.workflowScope, ...values])
  }

  private pod(template: Template, task: string, pod: TemplatePod, scope: Scope): Plan {
    const key = JSON.stringify([
      template.holder.document.placeOf([...template.holder.path, ...template.path]),
      pod.shape,
    ])
    const known = this.byShape.get(key)
    if (known !== undefined) {
      this.roles[known]?.scopes.push(scope)
      return { kind: 'pod', role: known }
    }
    this.refuseOpenAmounts(template, pod)
    const role = this.roles.push({ template, task, pod, scopes: [scope] }) - 1
    this.byShape.set(key, role)
    return { kind: 'pod', role }
  }

  /** A pod whose size hangs on a parameter without a value has no figures; what else is open is named. */
  private refuseOpenAmounts(template: Template, pod: TemplatePod): void {
    const amounts = pod.entries.map(({ value, at }) =>
      at.includes('resources') ? value : valueAt(value, ['resources']),
    )
    const place = template.holder.document.placeOf([...template.holder.path, ...template.path])
    const missing = openPlaceholders(amounts)
    if (missing.length > 0) {
      const message = `an unrendered template: ${missing.map(name => `{{${name}}}`).join(', ')} of template ${template.name} ${missing.length === 1 ? 'has' : 'have'} no value`
      const fault: Fault = {
        code: 'unresolved-template',
        place,
        message,
        hint: 'give each parameter a value in the file; one that a step hands over is known only as it runs',
      }
      throw new NothingToPrice([fault], 'template')
    }
    if (pod.open.length === 0) return
    this.warn(
      template,
      [],
      'unresolved-template',
      `${template.name}: these have no value in the file: ${pod.open.map(name => `{{${name}}}`).join(', ')}`,
    )
  }

  /** Of runs with different arguments only what all of them share is known. */
  private agreed({ template, pod, scopes }: FoundRole): { readonly template: Template; readonly pod: TemplatePod } {
    const [first, ...others] = scopes
    if (first === undefined || others.length === 0) return { template, pod }
    const shared = new Map([...first].filter(([name, value]) => others.every(scope => scope.get(name) === value)))
    return { template, pod: podOf(template, this.specs, shared) ?? pod }
  }

  /** A manifest that a template creates is a job of its own. */
  private create(template: Template, resource: Mapping, scope: Scope): void {
    const { holder, path } = template
    const at = [...holder.path, ...path, 'resource', 'manifest']
    if (typeof resource['manifest'] !== 'string' || !/^(?:create|apply|replace)$/.test(asText(resource['action'])))
      return
    const text = asText(markOpen(fill(resource['manifest'], scope)))
    const firstLine = holder.document.scalarAt(at)?.firstLine ?? 1
    const lines = '\n'.repeat(firstLine - 1)
    const objects = readManifest(`${lines}${text}`, holder.document.file)
    if (objects === undefined) {
      this.warn(
        template,
        ['resource'],
        'unresolved-template',
        `${template.name}: what it creates can be read only once it runs`,
      )
      return
    }
    const sized = objects.filter(({ value }) => !holdsInFigures(value, unknownMark))
    this.created.push(...sized)
    if (sized.length < objects.length) {
      const open = openPlaceholders(fill(resource['manifest'], scope)).map(name => `{{${name}}}`)
      const text = `${template.name}: what it creates asks for as much as these say when it runs, and is not counted: ${open.join(', ')}`
      this.warn(template, ['resource'], 'unresolved-template', text)
    }
    const kinds = sized.map(({ kind }) => kind).join(', ')
    if (kinds !== '')
      this.warn(template, ['resource'], 'child-jobs', `${template.name} creates ${kinds}, quoted as a job of its own`)
  }

  private warn(template: Template, path: DocumentPath, code: Warning['code'], text: string): void {
    const { holder } = template
    const place = holder.document.placeOf([...holder.path, ...template.path, ...path])
    this.warnings.set(`${code} ${text}`, { code, text, place })
  }

  /** Templates by name; where one has several shapes, with the step that runs it. */
  private roleNames(): readonly string[] {
    const templates = this.roles.map(({ template }) => template.name)
    const names = this.roles.map(({ template, task }) =>
      templates.filter(name => name === template.name).length > 1 ? `${template.name} (${task})` : template.name,
    )
    return names.map((name, index) => {
      const before = names.slice(0, index).filter(other => other === name).length
      return before === 0 ? name : `${name} ${before + 1}`
    })
  }

  private number(key: string): number | undefined {
    return countIn(fieldOf(this.specs, key)?.value, this.workflowScope)
  }

  private whole(): NonNullable<Translation['whole']> {
    const deadline = fieldOf(this.specs, 'activeDeadlineSeconds')
    const seconds = this.number('activeDeadlineSeconds')
    const { holder } = this.specs[0] ?? { holder: this.object }
    const suspendAt = ['spec', 'suspend']
    const suspend = valueAt(this.object.value, suspendAt)
    const [scheduleAt = [], schedule] = this.schedule()
    return {
      ...(deadline !== undefined &&
        seconds !== undefined && {
          deadline: {
            from: [...deadline.spec.holder.path, ...deadline.spec.path, 'activeDeadlineSeconds'],
            document: deadline.spec.holder.document,
            value: seconds,
          },
        }),
      ...(suspend != null && { suspend: { from: [...holder.path, ...suspendAt], value: suspend } }),
      ...(schedule !== undefined && { schedule: { from: [...holder.path, ...scheduleAt], value: schedule } }),
    }
  }

  private schedule(): readonly [DocumentPath, string] | readonly [] {
    if (this.object.kind !== 'CronWorkflow') return []
    for (const key of ['schedules', 'schedule']) {
      const value = valueAt(this.object.value, ['spec', key])
      if (value != null) return [['spec', key], Array.isArray(value) ? value.map(String).join(' and ') : String(value)]
    }
    return []
  }

  /** A template's own retryStrategy, or the workflow's; without a limit it is repeated without end. */
  private retryWarnings(): readonly Warning[] {
    const strategies = this.roles.flatMap(role => {
      const { template } = role
      if (gpusOf(role) === 0) return []
      const own = template.value['retryStrategy']
      const strategy = own ?? fieldOf(this.specs, 'retryStrategy')?.value
      if (!isMapping(strategy)) return []
      const limit = countIn(strategy['limit'], role.scopes[0] ?? this.workflowScope)
      return limit === 0 ? [] : [{ template, limit }]
    })
    const [first] = strategies
    if (first === undefined) return []
    const times = (limit: number | undefined) =>
      limit === undefined ? 'without a limit' : limit === 1 ? 'once' : `up to ${limit} times`
    const said = strategies.map(({ template, limit }) => `${template.name} ${times(limit)}`)
    const text = `what fails is run again: ${[...new Set(said)].join(', ')}; each attempt costs as much again`
    const { holder, path } = first.template
    const place = holder.document.placeOf([...holder.path, ...path, 'retryStrategy'])
    return [{ code: 'retries-multiply-cost', text, place }]
  }
}

/** The objects of a manifest within a manifest; undefined where it is no YAML before its placeholders are filled in. */
function readManifest(text: string, file: string): readonly KubernetesObject[] | undefined {
  try {
    return readObjects(readYaml(text, file, 'kubectl').filter(({ value }) => isMapping(value))).objects
  } catch (error) {
    if (error instanceof InputError) return undefined
    throw error
  }
}

function isAmong({ holder, path }: Template, above: readonly Template[]): boolean {
  return above.some(other => other.holder === holder && inWords(other.path) === inWords(path))
}

function distinct<T>(values: readonly T[]): readonly T[] {
  return [...new Map(values.map(value => [JSON.stringify(value), value])).values()]
}

/** `dependencies: [a, b]` or `depends: "a.Succeeded && (b || c)"`. */
function waitedFor(task: unknown): readonly unknown[] {
  const listed = valueAt(task, ['dependencies'])
  const depends = valueAt(task, ['depends'])
  const named = typeof depends === 'string' ? Array.from(depends.matchAll(/[\w-]+(?=\.?)/g), ([name]) => name) : []
  return [...(Array.isArray(listed) ? listed : []), ...named]
}

function countIn(value: unknown, scope: Scope): number | undefined {
  if (value == null) return undefined
  const count = Number(fillText(asText(value), scope))
  return Number.isInteger(count) && count >= 0 ? count : undefined
}

/** GPUs of one pod. What is no amount is found by whoever checks the pod. */
function gpusOf({ pod }: FoundRole): number {
  let gpus = 0
  for (const { at, value } of pod.entries) {
    const amounts = at.includes('limits') ? { [String(at.at(-1))]: value } : valueAt(value, ['resources', 'limits'])
    for (const [name, amount] of Object.entries(isMapping(amounts) ? amounts : {})) {
      if (deviceOf(name)?.kind === 'gpu' || deviceOf(name)?.kind === 'share') gpus += Number(amount) || 0
    }
  }
  return gpus
}
