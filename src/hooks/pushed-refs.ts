import { GpufareError } from '../errors.ts'

/** One ref that a push sets, as git tells a pre-push hook (githooks(5)). */
export interface PushedRef {
  /** `refs/heads/main`, or what was typed for it: `HEAD~2`. */
  readonly localRef: string
  /** Undefined where the remote's ref is to be deleted. */
  readonly localObject: string | undefined
  readonly remoteRef: string
  /** What the remote has there; undefined where it has no such ref. */
  readonly remoteObject: string | undefined
}

/** Where a push goes to. */
export interface PushTarget {
  /** Name of the remote, or its URL where it was typed as such. */
  readonly name: string
  readonly url: string | undefined
}

/** A revision may be typed with spaces in it, `HEAD^{/fix this}`, so the line is read from its end. */
const refLine = /^(.+) ([0-9a-f]{40,64}) (\S+) ([0-9a-f]{40,64})$/

/** Reads the lines on a pre-push hook's standard input. Throws GpufareError on anything else. */
export function readPushedRefs(text: string): readonly PushedRef[] {
  const lines = text.split('\n').filter(line => line.trim() !== '')
  return lines.map(line => {
    const [, localRef, localObject, remoteRef, remoteObject] = refLine.exec(line) ?? []
    if (localRef === undefined || remoteRef === undefined) {
      throw new GpufareError(
        `standard input says "${line.slice(0, 80)}", not "local-ref object remote-ref object" as git tells a pre-push hook`,
        1,
      )
    }
    return { localRef, localObject: present(localObject), remoteRef, remoteObject: present(remoteObject) }
  })
}

/**
 * The push that the pre-commit framework is running hooks for, which tells it in variables instead of on standard input
 * (pre-commit.com, "pre-push"); undefined outside of it.
 */
export function readPreCommitPush(
  environment: Readonly<Record<string, string | undefined>>,
): { readonly refs: readonly PushedRef[]; readonly target: PushTarget } | undefined {
  const {
    PRE_COMMIT_LOCAL_BRANCH: localRef,
    PRE_COMMIT_REMOTE_BRANCH: remoteRef,
    PRE_COMMIT_FROM_REF: base,
    PRE_COMMIT_TO_REF: head,
    PRE_COMMIT_REMOTE_NAME: name,
    PRE_COMMIT_REMOTE_URL: url,
  } = environment
  if (localRef === undefined || remoteRef === undefined || name === undefined) return undefined
  // Where the push begins with a first commit, pre-commit tells no range. What it tells as its start, the remote has.
  const ref = { localRef, localObject: head ?? localRef, remoteRef, remoteObject: base }
  return { refs: [ref], target: { name, url } }
}

/** Git writes an object that is not there as zeros. */
function present(object: string | undefined): string | undefined {
  return object === undefined || /^0+$/.test(object) ? undefined : object
}
