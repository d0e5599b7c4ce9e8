import { content } from '../../sql/contents.ts'

/** A secret keeps its Project from being deleted, so that none is destroyed by accident. */
export const contents = [content('projects', 'project_secrets')]
