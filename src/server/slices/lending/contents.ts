import { notContent } from '../../sql/contents.ts'

const LENT = 'what is lent to a Project goes with it, and the rights with it'

export const contents = [
  notContent('projects', 'cloud_assignments', LENT),
  notContent('projects', 'credential_assignments', LENT),
]
