import { content } from '../../sql/contents.ts'

/** Whether rows of this slice keep a Domain from being deleted. */
export const contents = [content('domains', 'groups')]
