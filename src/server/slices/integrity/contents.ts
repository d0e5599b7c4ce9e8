import { notContent } from '../../sql/contents.ts'

/** Whether rows of this slice keep a Domain from being deleted. */
export const contents = [notContent('domains', 'integrity_artifacts', 'belong to the violations of its nodes')]
