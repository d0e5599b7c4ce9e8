import { notContent } from '../../sql/contents.ts'

export const contents = [notContent('domains', 'sessions', 'Belong to its principals.')]
