import { notContent } from '../../sql/contents.ts'

export const contents = [notContent('domains', 'sign_ins', 'A sign-in without a session.')]
