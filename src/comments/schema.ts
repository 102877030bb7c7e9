import * as z from 'zod'

/** The comments of a page, as GitHub lists them. Only the fields that are used. */
export const GithubComments = z.array(z.object({ id: z.int(), body: z.string().nullish() }))

/** The notes of a page, as GitLab lists them; `system` ones are its own. */
export const GitlabNotes = z.array(z.object({ id: z.int(), body: z.string(), system: z.boolean().optional() }))

/** What both answer when they refuse. */
export const Refusal = z.object({ message: z.unknown().optional(), error: z.unknown().optional() })
