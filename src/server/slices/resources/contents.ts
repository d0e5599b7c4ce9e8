import { content, notContent } from '../../sql/contents.ts'

export const contents = [
  content('projects', 'resources'),
  notContent('domains', 'resources', 'Contents of its Projects.'),
]
