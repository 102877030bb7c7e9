import { GpufareError } from '../errors.ts'
import { type Answer, askProgram } from '../programs.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Asks git something in one folder. */
export type AskGit = (words: readonly string[], input?: string) => Promise<Answer>

/** A large history on a slow disk may take a while. */
const patienceMilliseconds = 60_000

/**
 * Git in a folder. Inside a hook git has set GIT_DIR and its like, which are left as they are: they name the repository
 * that is pushed from. It asks nobody, takes no lock, fetches nothing and reads the very objects that are pushed.
 */
export function gitIn(folder: string, environment: Environment, timeoutMilliseconds = patienceMilliseconds): AskGit {
  return (words, input) =>
    askProgram('git', ['-C', folder, ...words], {
      environment: silentGit(environment),
      timeoutMilliseconds,
      ...(input !== undefined && { input: new TextEncoder().encode(input) }),
    })
}

/** Variables with which git never waits for anybody (git(1), "Environment Variables"). */
export function silentGit(environment: Environment): Environment {
  return {
    ...environment,
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    // a partial clone would fetch what it lacks; no protocol has this name
    GIT_ALLOW_PROTOCOL: 'none',
    // replaced objects are pushed as they were
    GIT_NO_REPLACE_OBJECTS: '1',
    LC_ALL: 'C',
  }
}

/** The one answer of git, without its line end; paths may hold line ends of their own. Undefined where git says no. */
export async function answerOf(git: AskGit, words: readonly string[]): Promise<string | undefined> {
  const { exitCode, stdout } = await git(words)
  return exitCode === 0 ? stdout.replace(/\n$/, '') : undefined
}

/** Lines of an answer. Throws GpufareError with git's own words where it fails. */
export async function linesOf(git: AskGit, words: readonly string[], input?: string): Promise<readonly string[]> {
  const { exitCode, stdout, stderr } = await git(words, input)
  if (exitCode !== 0) throw new GpufareError(`git ${words[0]} failed: ${stderr.trim()}`, 1)
  return stdout.split('\n').filter(line => line !== '')
}
