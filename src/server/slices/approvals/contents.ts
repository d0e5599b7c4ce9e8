import { notContent } from '../../sql/contents.ts'

const RECORD = 'an approval is a record; those that are pending are withdrawn with their Domain or Project'

export const contents = [
  notContent('domains', 'approvals', RECORD),
  notContent('projects', 'approvals', RECORD),
  notContent('domains', 'approval_policies', 'a policy is a setting of its Domain'),
]
