import { content, notContent } from '../../sql/contents.ts'

/** Whether rows of this slice keep a Domain or a Project from being deleted. */
export const contents = [
  content('projects', 'resources'),
  notContent('domains', 'resources', 'Contents of its Projects.'),
]
