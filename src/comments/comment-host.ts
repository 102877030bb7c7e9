/**
 * A service that shows comments below a change: how a comment is found again, posted and changed there. It says what to ask; asking,
 * waiting and trying again is done in one place for all.
 */
export interface CommentHost {
  readonly name: 'github' | 'gitlab'
  readonly title: string
  /** Largest text it takes, in characters. */
  readonly longestComment: number
  /** Where a change is, from the options and the build machine's environment; throws what is missing. */
  locate(options: ChangeOptions, environment: Environment): Change
  /** Path of the first page of the comments below a change. */
  listing(change: Change): string
  /** The comments of a page, as the service answered. */
  read(answer: unknown): readonly Comment[]
  posting(change: Change, body: string): Call
  updating(change: Change, comment: Comment, body: string): Call
  /** What to do where it refuses for lack of a right. */
  readonly rightHint: string
}

export type Environment = Readonly<Record<string, string | undefined>>

/** What a person may say about the change, where the build machine does not. */
export interface ChangeOptions {
  /** `owner/name` on GitHub, the number or path of the project on GitLab. */
  readonly repo?: string
  /** Number of the pull or merge request. */
  readonly change?: number
  /** Nothing is asked or posted, so no token is needed. */
  readonly dryRun?: true
}

/** A pull or merge request, and how to speak to the service that holds it. */
export interface Change {
  readonly apiUrl: string
  readonly headers: Readonly<Record<string, string>>
  /** The secret among the headers, so that it can be kept out of messages. */
  readonly token: string
  /** Path below `apiUrl` that the host's paths begin with, percent-encoded. */
  readonly path: string
  readonly number: number
  /** How messages call it. */
  readonly label: string
}

/** A comment that is there already. */
export interface Comment {
  readonly id: number
  readonly body: string
}

/** One request that writes. */
export interface Call {
  readonly method: 'POST' | 'PATCH' | 'PUT'
  /** Below the API's address. */
  readonly path: string
  readonly body: Readonly<Record<string, string>>
}
