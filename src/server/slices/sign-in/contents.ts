import { notContent } from '../../sql/contents.ts'

/** Whether rows of this slice keep a Domain from being deleted. */
export const contents = [notContent('domains', 'sign_ins', 'A sign-in without a session.')]
