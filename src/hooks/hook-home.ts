/** What is found where a hook belongs. */
export interface HookState {
  readonly installed: boolean
  /** Sentences for `gpufare hook status`. */
  readonly words: readonly string[]
}

/**
 * One way in which a repository runs hooks: git's own folder, or a framework that has taken it over. Installing twice is as
 * installing once, and uninstalling leaves every byte as it was. Each says what it did, and throws GpufareError where it
 * would have to touch what it does not understand.
 */
export interface HookHome {
  /** `git`, or the framework's name. */
  readonly title: string
  state(): HookState
  install(): readonly string[]
  uninstall(): readonly string[]
}
