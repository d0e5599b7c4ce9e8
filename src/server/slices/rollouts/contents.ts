import { notContent } from '../../sql/contents.ts'

/** Whether rows of this slice keep a Domain from being deleted. */
export const contents = [
  notContent('domains', 'rollouts', 'a rollout is about the nodes of its Domain, and goes with it'),
]
