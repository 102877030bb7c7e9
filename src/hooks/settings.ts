import { GpufareError } from '../errors.ts'
import type { AskGit } from './ask-git.ts'

/** How strictly a push is watched. */
export interface PushSettings {
  /** After that the push goes on unpriced, or stops where `strict`. 0 = no limit. */
  readonly timeoutSeconds: number
  /** Stops a push that could not be checked, or whose jobs cannot be estimated. */
  readonly strict: boolean
}

/** Long enough for thousands of manifests, short enough to be waited for. */
const usualTimeoutSeconds = 20
/** As long as a timer of Node.js can be, nearly: 2^31 milliseconds. */
const longestTimeoutSeconds = 2_000_000

/** What was typed, else `gpufare.timeout` and `gpufare.strict` of the git configuration, which no commit can bring along. */
export async function readPushSettings(
  given: { readonly timeout?: number; readonly strict?: true },
  git: AskGit,
): Promise<PushSettings> {
  const { stdout } = await git(['config', '-z', '--get-regexp', '^gpufare\\.(timeout|strict)$'])
  const configured = new Map(
    stdout.split('\0').map(setting => {
      const [key = '', ...value] = setting.split('\n')
      return [key, value.length === 0 ? 'true' : value.join('\n')] as const
    }),
  )
  const timeout = configured.get('gpufare.timeout')
  return {
    timeoutSeconds: Math.min(
      given.timeout ?? (timeout === undefined ? usualTimeoutSeconds : readTimeout(timeout)),
      longestTimeoutSeconds,
    ),
    strict: given.strict ?? readBoolean(configured.get('gpufare.strict')),
  }
}

function readTimeout(text: string): number {
  const seconds = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN
  if (Number.isFinite(seconds)) return seconds
  throw new GpufareError(`gpufare.timeout of the git configuration is "${text}": seconds are expected, such as 20`, 2)
}

/** As git reads a boolean; a key without a value says yes (git-config(1), "Values"). */
function readBoolean(text: string | undefined): boolean {
  return text !== undefined && !/^(false|no|off|0|)$/i.test(text)
}
