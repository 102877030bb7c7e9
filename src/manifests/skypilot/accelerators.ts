import { isMapping } from '../../document.ts'

/** One kind of accelerator that a task would take, and how many of them a node has. */
export interface Accelerator {
  readonly name: string
  readonly count: number
}

/**
 * `A100:8`, `A100`, `{A100: 8}`, `{A100:8, L4:1}` (which YAML reads as keys without values) or a list of such
 * (sky/resources.py, _set_accelerators and from_yaml_config); undefined where it is none of these.
 */
export function readAccelerators(value: unknown): readonly Accelerator[] | undefined {
  if (typeof value === 'string') return listOrNothing([parse(value)])
  if (Array.isArray(value)) {
    const parts = value.map(readAccelerators)
    return parts.includes(undefined) ? undefined : parts.flatMap(part => part ?? [])
  }
  if (!isMapping(value)) return undefined
  return listOrNothing(
    Object.entries(value).map(([key, count]) => (count === null ? parse(key) : parse(`${key}:${String(count)}`))),
  )
}

function parse(text: string): Accelerator | undefined {
  const [name = '', count = '1', ...rest] = text.trim().split(':')
  const number = Number(count)
  const isOne = name !== '' && rest.length === 0 && count.trim() !== '' && number > 0 && Number.isFinite(number)
  return isOne ? { name: name.trim(), count: number } : undefined
}

function listOrNothing(list: readonly (Accelerator | undefined)[]): readonly Accelerator[] | undefined {
  const known = list.filter(each => each !== undefined)
  return known.length === list.length && known.length > 0 ? known : undefined
}

/** Whether it is no GPU: TPUs, AWS Inferentia and Trainium, by the names of SkyPilot's catalog. */
export function isOtherAccelerator(name: string): boolean {
  return /^(?:tpu|inferentia|trainium|gaudi)/i.test(name)
}
