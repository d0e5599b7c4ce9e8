import { notContent } from '../../sql/contents.ts'

/** Whether rows of this slice keep a Domain from being deleted. */
export const contents = [
  notContent('domains', 'policies', 'a policy says what the nodes of its Domain may do, and goes with it'),
  notContent('domains', 'policy_groups', 'a group is part of the policies of its Domain'),
  notContent('domains', 'policy_rematches', 'work on the nodes of a Domain ends with it'),
]
