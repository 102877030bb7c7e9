import { GpufareError } from '../errors.ts'
import type { CommentHost } from './comment-host.ts'
import { GithubComments } from './schema.ts'

/** Comments of pull requests, which are issues to its API (docs.github.com/rest/issues/comments). */
export const github: CommentHost = {
  name: 'github',
  title: 'GitHub',
  longestComment: 65_536,
  rightHint:
    'the workflow needs `permissions: pull-requests: write`; for pull requests from forks the token can only read: let a workflow_run job comment',

  locate({ repo, change, dryRun }, environment) {
    const repository = repo ?? environment['GITHUB_REPOSITORY']
    if (repository === undefined || !/^[\w.-]+\/[\w.-]+$/.test(repository)) {
      throw new GpufareError(
        `no repository: ${repository ?? 'GITHUB_REPOSITORY is not set'}`,
        2,
        'name it: --repo owner/name',
      )
    }
    // refs/pull/12/merge where a pull request started the workflow
    const number = change ?? Number(/^refs\/pull\/(\d+)\//.exec(environment['GITHUB_REF'] ?? '')?.[1])
    if (!Number.isSafeInteger(number)) {
      throw new GpufareError('no pull request started this run', 2, 'name it: --change NUMBER')
    }
    const token = environment['GITHUB_TOKEN'] ?? ''
    if (token === '' && dryRun !== true)
      throw new GpufareError('GITHUB_TOKEN is not set', 2, 'the step passes github.token to it under env')
    return {
      apiUrl: environment['GITHUB_API_URL'] ?? 'https://api.github.com',
      headers: {
        authorization: `Bearer ${token}`,
        accept: 'application/vnd.github+json',
        'x-github-api-version': '2022-11-28',
      },
      token,
      path: `/repos/${repository}/issues`,
      label: `${repository}#${number}`,
      number,
    }
  },

  listing: ({ path, number }) => `${path}/${number}/comments?per_page=100`,
  read: answer => GithubComments.parse(answer).map(({ id, body }) => ({ id, body: body ?? '' })),
  posting: ({ path, number }, body) => ({ method: 'POST', path: `${path}/${number}/comments`, body: { body } }),
  updating: ({ path }, { id }, body) => ({ method: 'PATCH', path: `${path}/comments/${id}`, body: { body } }),
}
