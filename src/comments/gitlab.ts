import { GpufareError } from '../errors.ts'
import type { CommentHost } from './comment-host.ts'
import { GitlabNotes } from './schema.ts'

/** Notes of merge requests (docs.gitlab.com/api/notes). The token of a CI job cannot write them. */
export const gitlab: CommentHost = {
  name: 'gitlab',
  title: 'GitLab',
  longestComment: 1_000_000,
  rightHint: 'GITLAB_TOKEN must be a project or group access token with the scope api and at least the role Reporter',

  locate({ repo, change, dryRun }, environment) {
    const project = repo ?? environment['CI_PROJECT_ID']
    if (project === undefined || project === '') {
      throw new GpufareError('no project: CI_PROJECT_ID is not set', 2, 'name it: --repo group/project')
    }
    const number = change ?? Number(environment['CI_MERGE_REQUEST_IID'] || Number.NaN)
    if (!Number.isSafeInteger(number)) {
      throw new GpufareError(
        'no merge request: CI_MERGE_REQUEST_IID is not set',
        2,
        'run it in a merge request pipeline, or name it: --change NUMBER',
      )
    }
    const token = environment['GITLAB_TOKEN'] ?? ''
    if (token === '' && dryRun !== true) {
      throw new GpufareError(
        'GITLAB_TOKEN is not set',
        2,
        "make it a masked CI/CD variable; a job's own CI_JOB_TOKEN cannot comment",
      )
    }
    return {
      apiUrl: environment['CI_API_V4_URL'] ?? 'https://gitlab.com/api/v4',
      headers: { 'private-token': token },
      token,
      path: `/projects/${encodeURIComponent(project)}/merge_requests/${number}/notes`,
      label: `${project}!${number}`,
      number,
    }
  },

  listing: ({ path }) => `${path}?per_page=100&sort=asc&order_by=created_at`,
  read: answer =>
    GitlabNotes.parse(answer)
      .filter(note => note.system !== true)
      .map(({ id, body }) => ({ id, body })),
  posting: ({ path }, body) => ({ method: 'POST', path, body: { body } }),
  updating: ({ path }, { id }, body) => ({ method: 'PUT', path: `${path}/${id}`, body: { body } }),
}
